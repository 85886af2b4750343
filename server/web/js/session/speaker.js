// @ts-check
// What a screen reader says of an answer that is being written: each block once it is finished, and
// never letter by letter.

import { make } from "../dom.js";
import { counted } from "../words.js";

const LONGEST = 600; // characters that are read out of one block; the rest is there to be read

/** @param {string} sessionId */
export function speaker(sessionId) {
  const element = make("div.aside", { "aria-live": "polite", role: "status" });
  /** @type {Map<string, { final: number, blocks: any[] }>} texts that are being written */
  const texts = new Map();

  /** @param {string} text */
  const say = (text) => {
    if (!text.trim()) return;
    element.append(make("p", text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text));
    while (element.children.length > 8) element.firstElementChild?.remove();
  };
  /** @param {string} key @param {number} until blocks before this one will not change any more */
  const sayUntil = (key, until) => {
    const text = texts.get(key);
    if (!text) return;
    for (; text.final < until; text.final++) say(textOf(text.blocks[text.final]));
  };
  const finish = () => {
    for (const [key, text] of texts) sayUntil(key, text.blocks.length);
    texts.clear();
  };
  return {
    element,
    /** @param {string} name @param {any} body */
    event(name, body) {
      if (body.session_id !== sessionId) return;
      if (name === "content-blocks") {
        const key = `${body.message_id}/${body.content_index}`;
        const text = texts.get(key) ?? { final: 0, blocks: [] };
        if (!texts.has(key)) finish();
        texts.set(key, text);
        const [first, ...rest] = body.blocks;
        const old = text.blocks[body.from];
        const lines = first?.from_line !== undefined && old ? [...old.lines.slice(0, first.from_line), ...first.lines] : first?.lines;
        text.blocks.splice(body.from, Infinity, ...(first ? [{ ...first, lines }] : []), ...rest);
        sayUntil(key, body.from);
      } else if (name === "tool-use") {
        finish();
        say(`${body.tool_name}.`);
      } else if (name === "message-completed" || name === "message-error") {
        finish();
        say(name === "message-error" ? body.error : "Finished.");
      }
    },
  };
}

/** The words of a block tree. @param {any} block @returns {string} */
function textOf(block) {
  if (!block) return "";
  switch (block.type) {
    case "code":
      return `Code, ${counted(block.lines.length, "line")}.`;
    case "list":
      return block.items.map((/** @type {any[]} */ item) => item.map(textOf).join(" ")).join(". ");
    case "quote":
      return block.blocks.map(textOf).join(" ");
    case "table":
      return `Table, ${counted(block.rows.length, "row")}.`;
    default:
      return (block.spans ?? []).map((/** @type {any} */ span) => span.text).join("");
  }
}
