// @ts-check
// Spinney's own few `/commands` in the message box; every other one is the agent's.

import { list, perform } from "../perform.js";

/** The action that each stands for. @type {Record<string, string>} */
export const ORDERS = {
  agent: "choose_agent",
  archive: "archive_worktree",
  clear: "begin_afresh",
  help: "help",
  mode: "cycle_mode",
  model: "choose_model",
  new: "new_session",
  rename: "rename_session",
  thinking: "choose_thinking",
};

/** @param {string} id */
export const titleOf = (id) => list().find((action) => action.id === id)?.title ?? id;

/** Whether a message is one of them: a single line that begins with it. @param {string} text */
export function isOrder(text) {
  const line = text.trim();
  return line.startsWith("/") && !line.includes("\n") && Object.hasOwn(ORDERS, line.slice(1).split(" ")[0]);
}

/** Do what it stands for; gives why it is not done. @param {import("../app.js").App} app @param {string} text */
export function runOrder(app, text) {
  const [name, ...more] = text.trim().slice(1).split(" ");
  if (more.join("").trim()) {
    return `/${name} is a command of Spinney and takes nothing after it. Begin with //${name} to send it to the agent.`;
  }
  perform(app, ORDERS[name]);
  return "";
}

/** `//word` is how a command of the agent is written that is called like one of Spinney's. @param {string} text */
export const forTheAgent = (text) => (text.startsWith("//") && isOrder(text.slice(1)) ? text.slice(1) : text);
