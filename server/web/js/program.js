// @ts-check
// The program itself: restarts, another installed version, a newer release. Each is said once; the server view has the buttons.

import { hashFor } from "./router.js";

const SEEN_RELEASE = "spinney-seen-release";

/** @param {import("./app.js").App} app */
export function initProgram(app) {
  let startedAt = 0;
  let version = "";
  app.onConnection(({ state }) => {
    const { program } = app.state;
    if (state !== "open" || !program.started_at) return;
    if (startedAt && program.started_at !== startedAt) {
      const change = version === program.version ? "" : `: ${version} is now ${program.version}`;
      app.toast(`Spinney was restarted${change}. Nothing is lost.`);
    }
    startedAt = program.started_at;
    version = program.version;
    announce(app);
  });
  app.onEvent((name) => name === "program:updated" && announce(app));
}

/** Show what is new about the program, once. @param {import("./app.js").App} app */
function announce(app) {
  const { installed_version: installed, release, restart } = app.state.program;
  if (restart === "now") app.toast("Spinney is restarting…");
  if (installed && sessionStorage.getItem("spinney-installed") !== installed) {
    sessionStorage.setItem("spinney-installed", installed);
    app.toast(`Spinney ${installed} is installed. It is used after a restart.`, { action: ["Show", () => (location.hash = hashFor("server"))] });
  }
  if (release && localStorage.getItem(SEEN_RELEASE) !== release) {
    localStorage.setItem(SEEN_RELEASE, release);
    app.toast(`Spinney ${release} is available.`, { action: ["Show", () => (location.hash = hashFor("server"))] });
  }
}
