// @ts-check
// What each running session does at the moment: the tool that runs, or that its agent thinks or writes.

import { VERBS } from "./generated.js";
import { formatDuration } from "./format.js";

/**
 * @typedef {object} Activity
 * @property {string} verb such as `run` or `thinking`
 * @property {string} detail the command, file or pattern, in one line
 * @property {number} since in ms, by this device's clock
 * @property {boolean} [isTimed] whether its time was reported, as it is for tools that take long
 */

const MAX_DETAIL = 200; // characters
const DETAIL_FIELDS = ["command", "cmd", "file_path", "filePath", "notebook_path", "pattern", "query", "url", "description", "title", "path", "skill", "prompt"];

/**
 * The activity of a session after an event; `undefined` if the event changes nothing, `null` if none is left.
 * @param {string} name @param {any} body @param {Activity | undefined} before @returns {Activity | null | undefined}
 */
export function activityAfter(name, body, before) {
  switch (name) {
    case "message-started":
      return begin("thinking");
    case "tool-use":
      return body.parent_tool_use_id ? undefined : begin(verbOf(body.tool_name), detailOf(body.tool_input));
    case "tool-running":
      return before && { ...before, since: Date.now() - body.seconds * 1000, isTimed: true };
    case "message-block":
      return body.block?.type === "tool_result" ? begin("thinking") : undefined;
    case "content-delta": // of what it thinks; text arrives as blocks
      return before?.verb === "thinking" ? undefined : begin("thinking");
    case "content-blocks":
      return before?.verb === "writing" ? undefined : begin("writing");
    case "message-completed":
    case "message-error":
      return before && null;
    default:
      return undefined;
  }
}

/** The activity of an unfinished message. @param {any} message @returns {Activity} */
export function activityOf(message) {
  const content = message?.content ?? [];
  const finished = new Set(content.map((/** @type {any} */ block) => block.type === "tool_result" && block.tool_use_id));
  const tool = content.findLast((/** @type {any} */ block) => block.type === "tool_use" && !finished.has(block.id));
  if (!tool) return begin(content.at(-1)?.type === "text" ? "writing" : "thinking");
  const seconds = tool.running_for ?? 0;
  return { ...begin(verbOf(tool.name), detailOf(tool.input)), since: Date.now() - seconds * 1000, isTimed: seconds > 0 };
}

/** `run 41s`. @param {Activity} activity */
export function describeActivity(activity) {
  return activity.isTimed ? `${activity.verb} ${formatDuration((Date.now() - activity.since) / 1000)}` : activity.verb;
}

/** @param {string} verb @param {string} [detail] @returns {Activity} */
const begin = (verb, detail = "") => ({ verb, detail, since: Date.now() });

/** @param {string} name of a tool; those of MCP servers are `mcp__server__tool` */
function verbOf(name) {
  return VERBS[/** @type {keyof typeof VERBS} */ (name.toLowerCase())] ?? name.replace(/^mcp__/, "").replaceAll("__", " ");
}

/** The field of a tool's input that says most, in one line. @param {any} input */
function detailOf(input) {
  const value = DETAIL_FIELDS.map((field) => input?.[field]).find(Boolean) ?? "";
  return (Array.isArray(value) ? value.join(" ") : String(value)).replace(/\s+/g, " ").trim().slice(0, MAX_DETAIL);
}
