// @ts-check
// The start: parts are joined, the token is taken from the address, and the connection begins.

import { actions } from "./actions.js";
import { alerts } from "./alerts.js";
import { answers } from "./answers.js";
import { App, lazy } from "./app.js";
import { looks } from "./looks.js";
import { keys } from "./keys.js";
import { keepToken } from "./net.js";
import { pwa } from "./pwa.js";
import { shell } from "./shell.js";
import { tree } from "./tree.js";
import { needsView } from "./views/needs.js";

/** The token in the address (`#token=…&go=/session/…`), which forgets it at once. */
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  if (token === null) return false;
  history.replaceState(null, "", `${location.pathname}#${given.get("go") ?? ""}`);
  keepToken(token, false);
  return true;
}

const openSession = () => import("./session/view.js");

/** Not part of the shell, and there before anybody wants it: asked for at once by who comes for a session, else behind the start. */
const fetchSession = () => openSession().catch(() => {});

actions();
takeToken();
if (location.hash.startsWith("#/session/")) fetchSession();
const app = new App();
app.addView("needs", needsView);
app.addView("session", lazy(openSession, "sessionView"));
app.addView("worktree", lazy(() => import("./views/worktree.js"), "worktreeView"));
app.addView("diff", lazy(() => import("./views/diff.js"), "diffView"));
app.addView("canvas", lazy(() => import("./views/canvas.js"), "canvasView"));
app.addView("project", lazy(() => import("./views/project.js"), "projectView"));
app.addView("folder", lazy(() => import("./views/project.js"), "projectView"));
app.addView("new", lazy(() => import("./views/new.js"), "newView"));
app.addView("search", lazy(() => import("./views/search.js"), "searchView"));
app.addView("raw", lazy(() => import("./views/raw_log.js"), "rawLogView"));
app.addView("archive", lazy(() => import("./views/archive.js"), "archiveView"));
app.addView("preferences", lazy(() => import("./views/preferences.js"), "preferencesView"));
app.addView("server", lazy(() => import("./views/server.js"), "serverView"));
app.addView("help", lazy(() => import("./views/help.js"), "helpView"));
shell(app);
tree(app);
keys(app);
looks(app);
alerts(app);
answers(app);
pwa(app);
app.listen((name, body) => {
  // What goes wrong with a worktree is told by who began it, or where the worktree is looked at.
  if (name === "task:completed" && !body.ok && !body.worktree_id) app.say(body.detail, { bad: true });
});
addEventListener("hashchange", () => takeToken() && app.connection.start());
app.watch((link) => link.state === "open" && fetchSession());
app.connection.start();
