// @ts-check
// The frame around every view: header with connection status, drawer, and sign-in form.

import { make } from "./dom.js";
import { showGuestEnd } from "./guest.js";
import { saveToken, getToken, isRemembered } from "./net.js";
import { closeOnBack } from "./overlays.js";
import { formatTime } from "./format.js";

/** @template {HTMLElement} T @param {string} id @returns {T} */
const byId = (id) => /** @type {T} */ (document.getElementById(id));

/** As in layout.css: the projects are in a drawer. */
const NARROW = matchMedia("(max-width: 48rem)");

/** @param {import("./app.js").App} app */
export function initShell(app) {
  const menu = byId("menu");
  const isDrawerOpen = () => document.body.classList.contains("drawer");
  /** @type {(() => void) | undefined} */ let release;
  /** @param {boolean} isOpen */
  const toggleDrawer = (isOpen) => {
    if (isOpen === isDrawerOpen()) return;
    document.body.classList.toggle("drawer", isOpen);
    menu.ariaExpanded = String(isOpen);
    if (isOpen) release = closeOnBack(() => toggleDrawer(false), () => toggleDrawer(true));
    else release?.();
  };
  menu.addEventListener("click", () => toggleDrawer(!isDrawerOpen()));
  NARROW.addEventListener("change", () => toggleDrawer(false));
  // As a link it would change the address, which selects the view.
  const skip = /** @type {HTMLElement} */ (document.querySelector(".skip"));
  skip.addEventListener("click", (event) => {
    event.preventDefault();
    byId("content").focus();
  });
  // The backdrop is a pseudo-element of the body.
  document.body.addEventListener("click", (event) => event.target === document.body && toggleDrawer(false));
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isDrawerOpen()) {
      event.preventDefault();
      toggleDrawer(false);
      menu.focus();
    }
  });
  byId("bar").after(make("p.offline", { id: "offline", role: "status", hidden: true }));
  app.onConnection((status) => showStatus(app, status));
  app.onChange(() => showWaitingCount(app));
  initSignIn(app);
}

/** When the connection was lost, in ms; 0 while it is open. */
let offlineSince = 0;

/** @param {import("./app.js").App} app @param {import("./net.js").ConnectionStatus} status */
function showStatus(app, status) {
  const labels = {
    connecting: "connecting…",
    open: "connected",
    lost: `offline, next try in ${status.seconds} s`,
    refused: "not signed in",
  };
  const element = byId("link");
  element.textContent = labels[status.state];
  element.dataset.state = status.state;
  showOffline(status);
  const hasEnded = status.state === "refused" && status.isGuest;
  if (hasEnded) showGuestEnd(status.reason ?? "");
  byId("sign-in").hidden = status.state !== "refused" || Boolean(hasEnded);
  byId("content").hidden = status.state === "refused" && !hasEnded;
  if (status.state === "refused" && !hasEnded) {
    byId("sign-in-error").textContent = status.reason ?? "";
    if (isRemembered()) /** @type {HTMLInputElement} */ (byId("remember")).checked = true;
    byId("token").focus();
  }
}

/** Show since when the page is offline. @param {import("./net.js").ConnectionStatus} status */
function showOffline(status) {
  if (status.state === "lost") offlineSince ||= Date.now();
  else if (status.state !== "connecting") offlineSince = 0;
  const element = byId("offline");
  element.hidden = offlineSince === 0;
  const text = offlineSince ? `Offline since ${formatTime(offlineSince)}. Messages are kept and sent when you are back online.` : "";
  // Only when it changes, so that screen readers announce it once.
  if (element.textContent !== text) element.textContent = text;
}

/** @param {import("./app.js").App} app */
function showWaitingCount(app) {
  const count = app.state.waiting().length;
  const element = byId("needs");
  element.hidden = count === 0;
  element.replaceChildren(String(count), make("span.words", ` need${count === 1 ? "s" : ""} you`));
}

/** @param {import("./app.js").App} app */
function initSignIn(app) {
  const form = /** @type {HTMLFormElement} */ (byId("sign-in"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const token = /** @type {HTMLInputElement} */ (byId("token"));
    const remember = /** @type {HTMLInputElement} */ (byId("remember"));
    saveToken(token.value.trim(), remember.checked);
    token.value = "";
    app.connection.start();
  });
  byId("token").addEventListener("input", () => {
    byId("sign-in-error").textContent = "";
  });
  if (!getToken()) byId("sign-in-error").textContent = "";
}
