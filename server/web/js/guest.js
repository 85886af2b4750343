// @ts-check
// A page that was opened by a guest link: who the guest is, and what the guest may do. The link's token is exchanged
// for one of this device, once.

import { make } from "./dom.js";
import { formatTime } from "./format.js";
import { forgetGuestToken, saveGuestToken } from "./net.js";

/**
 * @typedef {import("./app.js").App} App
 *
 * @typedef {object} Guest as in `GET /api/init`
 * @property {string} name
 * @property {"viewer" | "approver" | "driver"} role
 * @property {string | null} session_id
 * @property {string | null} project_id
 * @property {"plan" | "build" | "yolo"} max_mode
 * @property {number} expires_at
 * @property {string[]} commands
 */

const OPENED_KEY = "spinney-guest-links"; // the tokens of this device, by the tokens of links that it has opened
const MAX_OPENED = 20;
const MODES = ["plan", "build", "yolo"];
const DAY = 24 * 60 * 60 * 1000;

/** @type {Guest | null} */ let current = null;

/** The guest whose page this is; `null` for the owner. */
export const guest = () => current;

/** Whether a command may be called. @param {string} command */
export const may = (command) => !current || current.commands.includes(command);

/** Whether a mode may be set. @param {string} mode */
export const mayUse = (mode) => !current || MODES.indexOf(mode) <= MODES.indexOf(current.max_mode);

/** Whether a view is open to guests: conversations, and their list. @param {string} view */
export const isOpenView = (view) => !current || ["needs", "session", "help"].includes(view);

/** Note who the page is for. @param {Guest | null} found */
export function setGuest(found) {
  current = found;
  if (found) document.body.dataset.guest = found.role;
  else delete document.body.dataset.guest;
}

/**
 * Open the guest link of the address (`#guest=…`), and remove it from there. Returns an error message for the user, or
 * an empty string; `null` if the address is none.
 */
export async function openGuestLink() {
  const params = new URLSearchParams(location.hash.slice(1));
  const link = params.get("guest");
  if (link === null) return null;
  history.replaceState(null, "", `${location.pathname}#${params.get("go") ?? ""}`);
  const opened = readOpened();
  if (opened[link]) {
    saveGuestToken(opened[link]);
    return "";
  }
  try {
    const response = await fetch("/api/guest", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ link }) });
    const body = await response.json();
    if (!response.ok) return String(body.error ?? "This guest link cannot be opened.");
    const kept = Object.entries(opened).slice(1 - MAX_OPENED);
    localStorage.setItem(OPENED_KEY, JSON.stringify({ ...Object.fromEntries(kept), [link]: body.token }));
    saveGuestToken(body.token);
    return "";
  } catch {
    return "Spinney did not respond. Check the connection, and open the link again.";
  }
}

/** @returns {Record<string, string>} */
function readOpened() {
  try {
    return JSON.parse(localStorage.getItem(OPENED_KEY) ?? "{}");
  } catch {
    return {};
  }
}

/** Show what the guest is here for and until when, below the header. @param {App} app */
export function initGuest(app) {
  const banner = make("p.guest-banner", { id: "guest", role: "status", hidden: true });
  document.getElementById("bar")?.after(banner);
  app.onChange(() => {
    const text = current ? describe(app, current) : "";
    banner.hidden = !text;
    if (banner.textContent !== text) banner.textContent = text;
  });
}

/** @type {Record<Guest["role"], string>} */
const MAY = {
  viewer: "You can read.",
  approver: "You can read, and answer what the agent asks.",
  driver: "You can read, answer, and send messages.",
};

/** @param {App} app @param {Guest} found */
function describe(app, found) {
  const { state } = app;
  const session = state.sessions.get(found.session_id ?? "");
  const project = state.projects.get(found.project_id ?? "");
  const scope = session ? `the session “${session.name}”` : project ? `the project “${project.name}”` : "Spinney";
  const end = new Date(found.expires_at * 1000);
  const isSoon = found.expires_at * 1000 - Date.now() < DAY / 2;
  const until = isSoon ? formatTime(end.getTime()) : end.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  return `You are a guest of ${scope}, until ${until}. ${MAY[found.role]}`;
}

/** Show that the access has ended, or that a link could not be opened, instead of the view. @param {string} reason @param {string} [title] */
export function showGuestEnd(reason, title = "This guest access has ended") {
  forgetGuestToken();
  setGuest(null);
  const content = /** @type {HTMLElement} */ (document.getElementById("content"));
  content.hidden = false;
  content.replaceChildren(make("div.page.guest-end", make("h2", title), make("p", reason)));
  for (const id of ["menu", "tree", "needs", "link", "view-bar", "guest"]) {
    const element = document.getElementById(id);
    if (element) element.hidden = true;
  }
  document.getElementById("title")?.replaceChildren("Spinney");
  document.getElementById("subtitle")?.replaceChildren();
}
