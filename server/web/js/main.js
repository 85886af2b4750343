// @ts-check
// The start: parts are joined, the token is taken from the address, and the connection begins.

import { App } from "./app.js";
import { keepToken } from "./net.js";
import { needsView } from "./needs.js";
import { sessionView } from "./session.js";
import { shell } from "./shell.js";
import { tree } from "./tree.js";

/** The token in the address (`#token=…&go=/session/…`), which forgets it at once. */
function takeToken() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  if (token === null) return false;
  history.replaceState(null, "", `${location.pathname}#${given.get("go") ?? ""}`);
  keepToken(token, false);
  return true;
}

takeToken();
const app = new App();
app.addView("needs", needsView);
app.addView("session", sessionView);
shell(app);
tree(app);
addEventListener("hashchange", () => takeToken() && app.connection.start());
app.connection.start();
