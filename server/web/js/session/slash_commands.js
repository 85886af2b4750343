// @ts-check
// Spinney's own `/commands` in the message box; all others are the agent's.

import { listActions, performAction } from "../perform.js";

/** The action of each command; the list has them in this order, rare ones last. @type {Record<string, string>} */
export const SLASH_COMMANDS = {
  agent: "choose_agent",
  archive: "archive_worktree",
  budget: "set_budget_of_session",
  clear: "begin_afresh",
  continue: "continue_session",
  elsewhere: "continue_elsewhere",
  fork: "fork_session",
  guests: "show_guests",
  help: "help",
  import: "continue_foreign_session",
  mode: "cycle_mode",
  model: "choose_model",
  new: "new_session",
  rename: "rename_session",
  share: "share_session",
  thinking: "choose_thinking",
  usage: "show_usage",
  undo: "undo_turn",
  redo: "redo_turn",
};

/** @param {string} id */
export const actionTitle = (id) => listActions().find((action) => action.id === id)?.title ?? id;

/** Whether a message is one of Spinney's commands: a single line that starts with it. @param {string} text */
export function isSlashCommand(text) {
  const line = text.trim();
  return line.startsWith("/") && !line.includes("\n") && Object.hasOwn(SLASH_COMMANDS, line.slice(1).split(" ")[0]);
}

/** Run a command; returns an error message, or an empty string. @param {import("../app.js").App} app @param {string} text */
export function runSlashCommand(app, text) {
  const [name, ...args] = text.trim().slice(1).split(" ");
  if (args.join("").trim()) {
    return `/${name} is a Spinney command and takes no arguments. Start with //${name} to send it to the agent.`;
  }
  performAction(app, SLASH_COMMANDS[name]);
  return "";
}

/** Remove the escape of `//name`, an agent's command with the name of one of Spinney's. @param {string} text */
export const unescapeCommand = (text) => (text.startsWith("//") && isSlashCommand(text.slice(1)) ? text.slice(1) : text);
