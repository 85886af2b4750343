// @ts-check
// Announces a streamed answer to screen readers: each block once it is complete, never character by character.

import { make } from "../dom.js";
import { pluralize } from "../format.js";

const MAX_LENGTH = 600; // characters announced per block; the rest can be read in the conversation
const END_DELAY = 250; // ms in which the last blocks of an answer arrive after the event of its end

/** @param {string} sessionId */
export function announcer(sessionId) {
  const element = make("div.visually-hidden", { "aria-live": "polite", role: "status" });
  /** @type {Map<string, { final: number, blocks: any[] }>} texts of the current or last answer */
  const texts = new Map();
  let current = ""; // the id of that answer
  let endText = ""; // the announcement of its end, once its last blocks have arrived
  let hasEnded = false; // whether it was announced; blocks that arrive later are complete
  let timer = 0;

  /** @param {string} text */
  const announce = (text) => {
    if (!text.trim()) return;
    element.append(make("p", text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)} …` : text));
    while (element.children.length > 8) element.firstElementChild?.remove();
  };
  /** @param {{ final: number, blocks: any[] }} text @param {number} until blocks before this index are final */
  const announceUntil = (text, until) => {
    for (; text.final < until; text.final++) announce(textOf(text.blocks[text.final]));
  };
  const announceAll = () => {
    for (const text of texts.values()) announceUntil(text, text.blocks.length);
  };
  const announceEnd = () => {
    clearTimeout(timer);
    announceAll();
    if (endText) announce(endText);
    hasEnded ||= Boolean(endText);
    endText = "";
  };
  /** @param {string} id of the answer that an event belongs to */
  const switchTo = (id) => {
    if (id === current) return;
    announceEnd();
    texts.clear();
    current = id;
    hasEnded = false;
  };
  /** @param {any} body of `content-blocks` */
  const applyBlocks = ({ message_id, content_index, from, blocks: [first, ...rest] }) => {
    const key = `${message_id}/${content_index}`;
    if (!texts.has(key)) announceAll();
    const text = texts.get(key) ?? { final: 0, blocks: [] };
    texts.set(key, text);
    const old = text.blocks[from];
    const lines = first?.from_line !== undefined && old ? [...old.lines.slice(0, first.from_line), ...first.lines] : first?.lines;
    text.blocks.splice(from, Infinity, ...(first ? [{ ...first, lines }] : []), ...rest);
    announceUntil(text, hasEnded ? text.blocks.length : from);
  };
  return {
    element,
    /** @param {string} name @param {any} body */
    handleEvent(name, body) {
      if (body.session_id !== sessionId) return;
      if (name === "content-blocks") {
        switchTo(body.message_id);
        applyBlocks(body);
      } else if (name === "tool-use") {
        switchTo(body.message_id);
        announceAll();
        announce(`${body.tool_name}.`);
      } else if (name === "message-completed" || name === "message-error") {
        switchTo(body.message_id);
        endText = name === "message-error" ? body.error : "Finished.";
        timer = setTimeout(announceEnd, END_DELAY);
      }
    },
    close: () => clearTimeout(timer),
  };
}

/** The text of a block tree. @param {any} block @returns {string} */
function textOf(block) {
  if (!block) return "";
  switch (block.type) {
    case "code":
      return `Code, ${pluralize(block.lines.length, "line")}.`;
    case "list":
      return block.items.map((/** @type {any[]} */ item) => item.map(textOf).join(" ")).join(". ");
    case "quote":
      return block.blocks.map(textOf).join(" ");
    case "table":
      return `Table, ${pluralize(block.rows.length, "row")}.`;
    default:
      return (block.spans ?? []).map((/** @type {any} */ span) => span.text).join("");
  }
}
