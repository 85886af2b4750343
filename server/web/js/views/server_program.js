// @ts-check
// The part of the server view about the program: its version, newer ones, and its restart.

import { button, make } from "../dom.js";
import { choose, confirm } from "../dialogs.js";
import { icon } from "../icons.js";

/** @typedef {{ version: string, installed_version: string | null, release: string | null, update_command: string, restart: string | null }} ProgramStatus */

/** @param {import("../app.js").App} app */
export function programSection(app) {
  const { version, installed_version: installed, release, update_command: command, restart } = /** @type {ProgramStatus} */ (app.state.program);
  const waits = restart === "idle";
  return [
    make("h2", "Spinney"),
    make("p", "Version ", make("b", version), "."),
    ...(installed ? [make("p", installed === version ? "Other files of this version are installed. A restart uses them." : `Version ${installed} is installed. A restart uses it.`)] : []),
    ...(release ? [make("p", `Version ${release} is available. To update, on the machine that runs Spinney: `, make("code", command))] : []),
    ...(waits ? [make("p", "It restarts when nothing runs any more.")] : []),
    make(
      "div.choices",
      ...(waits ? [button([icon("close"), "Don't restart"], () => app.run("cancel_restart"))] : []),
      button([icon("refresh"), "Restart"], () => restartProgram(app)),
    ),
  ];
}

/** @param {import("../app.js").App} app */
async function restartProgram(app) {
  const running = [...app.state.sessions.values()].filter(({ status, waiting_for: waitsFor }) => status === "running" || waitsFor === "permission");
  const kept = "Sessions, queues and drafts are kept, and every client reconnects.";
  if (!running.length) {
    if (await confirm("Restart Spinney?", kept, "Restart")) await app.run("restart_spinney");
    return;
  }
  const names = running.map(({ name }) => name).join(", ");
  const when = await choose(`Restart Spinney while ${running.length === 1 ? "a session runs" : `${running.length} sessions run`}? ${names}`, [
    ["When nothing runs", "idle"],
    [running.length === 1 ? "Now, which interrupts it" : "Now, which interrupts them", "now", { danger: true }],
  ]);
  if (when) await app.run("restart_spinney", { when });
}
