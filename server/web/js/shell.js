// @ts-check
// What stands around every view: the bar with the state of the connection, the drawer, the door.

import { make } from "./dom.js";
import { keepToken, knownToken } from "./net.js";
import { closeOnBack } from "./overlays.js";
import { clock } from "./words.js";

/** @template {HTMLElement} T @param {string} id @returns {T} */
const the = (id) => /** @type {T} */ (document.getElementById(id));

/** As in layout.css: the projects are in a drawer. */
const NARROW = matchMedia("(max-width: 48rem)");

/** @param {import("./app.js").App} app */
export function shell(app) {
  const menu = the("menu");
  const drawer = () => document.body.classList.contains("drawer");
  /** @type {(() => void) | undefined} */ let release;
  /** @param {boolean} wanted */
  const open = (wanted) => {
    if (wanted === drawer()) return;
    document.body.classList.toggle("drawer", wanted);
    menu.ariaExpanded = String(wanted);
    if (wanted) release = closeOnBack(() => open(false), () => open(true));
    else release?.();
  };
  menu.onclick = () => open(!drawer());
  NARROW.onchange = () => open(false);
  // As a link it would change the address, which names a place of the page.
  const skip = /** @type {HTMLElement} */ (document.querySelector(".skip"));
  skip.onclick = (event) => {
    event.preventDefault();
    the("room").focus();
  };
  // What darkens the rest of the page belongs to the body itself.
  document.body.addEventListener("click", (event) => event.target === document.body && open(false));
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && drawer()) {
      open(false);
      menu.focus();
    }
  });
  the("bar").after(make("p.offline", { id: "offline", role: "status", hidden: true }));
  app.watch((link) => showLink(app, link));
  app.follow(() => showNeeds(app));
  door(app);
}

/** When the connection was lost, in ms; 0 while there is one. */
let since = 0;

/** @param {import("./app.js").App} app @param {import("./net.js").Link} link */
function showLink(app, link) {
  const words = {
    connecting: "connecting…",
    open: "connected",
    lost: `offline, next try in ${link.seconds} s`,
    refused: "not signed in",
  };
  const shown = the("link");
  shown.textContent = words[link.state];
  shown.dataset.state = link.state;
  showOffline(link);
  the("door").hidden = link.state !== "refused";
  the("room").hidden = link.state === "refused";
  if (link.state === "refused") {
    the("refused").textContent = link.why ?? "";
    the("token").focus();
  }
}

/** Say since when there is no connection, and what that means. @param {import("./net.js").Link} link */
function showOffline(link) {
  if (link.state === "lost") since ||= Date.now();
  else if (link.state !== "connecting") since = 0;
  const shown = the("offline");
  shown.hidden = since === 0;
  const words = since ? `Offline since ${clock(since)}. This is how it was then; messages are kept and go when the connection is back.` : "";
  // Said once, and not again with every try.
  if (shown.textContent !== words) shown.textContent = words;
}

/** @param {import("./app.js").App} app */
function showNeeds(app) {
  const count = app.state.waiting().length;
  const shown = the("needs");
  shown.hidden = count === 0;
  shown.textContent = `${count} need${count === 1 ? "s" : ""} you`;
}

/** @param {import("./app.js").App} app */
function door(app) {
  const form = /** @type {HTMLFormElement} */ (the("door"));
  form.onsubmit = (event) => {
    event.preventDefault();
    const token = /** @type {HTMLInputElement} */ (the("token"));
    const remember = /** @type {HTMLInputElement} */ (the("remember"));
    keepToken(token.value.trim(), remember.checked);
    token.value = "";
    app.connection.start();
  };
  the("token").oninput = () => {
    the("refused").textContent = "";
  };
  if (!knownToken()) the("refused").textContent = "";
}
