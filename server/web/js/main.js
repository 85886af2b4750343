// @ts-check
// Startup: sets everything up, takes the token from the address, and connects.

import { registerActions } from "./actions.js";
import { initAnswers } from "./answers.js";
import { App, lazyView } from "./app.js";
import { initAppearance } from "./appearance.js";
import { initGuest, openGuestLink, showGuestEnd } from "./guest.js";
import { initKeys } from "./keys.js";
import { getToken, offerToken } from "./net.js";
import { initProgram } from "./program.js";
import { initPwa } from "./pwa.js";
import { initShell } from "./shell.js";
import { initTree } from "./tree.js";
import { homeView } from "./views/home.js";

/** Take the token from the address (`#token=…&go=/session/…`), which is replaced: nothing that is drawn can show it. */
function takeToken() {
  const params = new URLSearchParams(location.hash.slice(1));
  const token = params.get("token");
  const isInQuery = new URLSearchParams(location.search).has("token"); // which does not sign in
  const hash = token !== null ? `#${params.get("go") ?? ""}` : location.hash;
  if (token !== null || isInQuery) history.replaceState(null, "", location.pathname + hash);
  return token?.trim() ?? ""; // copied with what stood around it
}

/** Sign in with the token of an address. @param {string} token */
async function signIn(token) {
  const before = getToken();
  if (!(await offerToken(token))) app.toast("The token in the address was not accepted, so nothing has changed.", { bad: true });
  else if (app.connection.isOpen && token !== before) location.reload(); // as another user
}

const openSession = () => import("./session/view.js");
const openNewTask = () => import("./views/new.js");

/** Preload the session view: immediately if the address is a session, else after the page has started. */
const preloadSession = () => openSession().catch(() => {});

/** @type {Promise<void> | undefined} */
let alerts;
/** @type {Promise<void> | undefined} */
let notices;

/** What the first view does not need. A part that could not be loaded is loaded with the next connection. */
function loadRest() {
  preloadSession();
  openNewTask().catch(() => {}); // who opens it types at once
  alerts ??= import("./session/alerts.js").then(
    (module) => module.initAlerts(app),
    () => {
      alerts = undefined;
      app.reportUnloaded();
    },
  );
  notices ??= import("./notices.js").then(
    (module) => module.initNotices(app),
    () => {
      notices = undefined;
      app.reportUnloaded();
    },
  );
}

// Before any other part of the page learns of the address.
addEventListener("hashchange", (event) => {
  const token = takeToken();
  if (token) signIn(token).then(() => app.connection.start());
  else if (new URLSearchParams(location.hash.slice(1)).has("guest")) {
    event.stopImmediatePropagation();
    location.reload(); // as another user
  }
});
// Modules that buttons load; each browser has other words for one that it could not.
addEventListener("unhandledrejection", (event) => {
  if (!/dynamically imported|importing a module/i.test(event.reason?.message ?? "")) return;
  event.preventDefault();
  app.reportUnloaded();
});
const firstToken = takeToken();
registerActions();
if (location.hash.startsWith("#/session/")) preloadSession();
const app = new App();
app.addView("needs", homeView);
app.addView("session", lazyView(openSession, "sessionView"));
app.addView("worktree", lazyView(() => import("./views/worktree.js"), "worktreeView"));
app.addView("diff", lazyView(() => import("./views/diff.js"), "diffView"));
app.addView("canvas", lazyView(() => import("./views/canvas.js"), "canvasView"));
app.addView("project", lazyView(() => import("./views/project.js"), "projectView"));
app.addView("folder", lazyView(() => import("./views/project.js"), "projectView"));
app.addView("conflicts", lazyView(() => import("./views/conflicts.js"), "conflictsView"));
app.addView("landing", lazyView(() => import("./views/landing.js"), "landingView"));
app.addView("sweep", lazyView(() => import("./views/sweep.js"), "sweepView"));
app.addView("work", lazyView(() => import("./views/work.js"), "workView"));
app.addView("compare", lazyView(() => import("./views/compare.js"), "compareView"));
app.addView("pull-request", lazyView(() => import("./views/pull_request.js"), "pullRequestView"));
app.addView("new", lazyView(openNewTask, "newView"));
app.addView("search", lazyView(() => import("./views/search.js"), "searchView"));
app.addView("raw", lazyView(() => import("./views/raw_log.js"), "rawLogView"));
app.addView("archive", lazyView(() => import("./views/archive.js"), "archiveView"));
app.addView("preferences", lazyView(() => import("./views/preferences.js"), "preferencesView"));
app.addView("usage", lazyView(() => import("./views/usage.js"), "usageView"));
app.addView("guests", lazyView(() => import("./views/guests.js"), "guestsView"));
app.addView("server", lazyView(() => import("./views/server.js"), "serverView"));
app.addView("help", lazyView(() => import("./views/help.js"), "helpView"));
initShell(app);
initGuest(app);
initTree(app);
initKeys(app);
initAppearance(app);
initAnswers(app);
initPwa(app);
initProgram(app);
app.onEvent((name, body) => {
  // Failures of a worktree's task are shown by whatever started it, or by the worktree's view.
  if (name === "task:completed" && !body.ok && !body.worktree_id) app.toast(body.detail, { bad: true });
});
app.onConnection((status) => status.state === "open" && loadRest());
if (firstToken) await signIn(firstToken);
const problem = await openGuestLink();
if (problem) showGuestEnd(problem, "This guest link cannot be opened");
else app.connection.start();
