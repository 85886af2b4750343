// @ts-check
// What a screen reader says of an answer that is being written: each block once it is finished, and
// never letter by letter.

import { make } from "../dom.js";
import { counted } from "../words.js";

const LONGEST = 600; // characters that are read out of one block; the rest is there to be read
const LAST_WORDS = 250; // ms in which an answer's last blocks come after the word that it has ended

/** @param {string} sessionId */
export function speaker(sessionId) {
  const element = make("div.aside", { "aria-live": "polite", role: "status" });
  /** @type {Map<string, { final: number, blocks: any[] }>} texts of the answer that is being written, or was last */
  const texts = new Map();
  let current = ""; // the id of that answer
  let ending = ""; // what is said of its end, once its last blocks are here
  let isOver = false; // it was said; what still comes of its text is whole
  let timer = 0;

  /** @param {string} text */
  const say = (text) => {
    if (!text.trim()) return;
    element.append(make("p", text.length > LONGEST ? `${text.slice(0, LONGEST)} …` : text));
    while (element.children.length > 8) element.firstElementChild?.remove();
  };
  /** @param {{ final: number, blocks: any[] }} text @param {number} until blocks before this one will not change any more */
  const sayUntil = (text, until) => {
    for (; text.final < until; text.final++) say(textOf(text.blocks[text.final]));
  };
  const sayAll = () => {
    for (const text of texts.values()) sayUntil(text, text.blocks.length);
  };
  const sayEnding = () => {
    clearTimeout(timer);
    sayAll();
    if (ending) say(ending);
    isOver ||= Boolean(ending);
    ending = "";
  };
  /** @param {string} id of the answer that something is heard of */
  const turnTo = (id) => {
    if (id === current) return;
    sayEnding();
    texts.clear();
    current = id;
    isOver = false;
  };
  /** @param {any} body of `content-blocks` */
  const hear = ({ message_id, content_index, from, blocks: [first, ...rest] }) => {
    const key = `${message_id}/${content_index}`;
    if (!texts.has(key)) sayAll();
    const text = texts.get(key) ?? { final: 0, blocks: [] };
    texts.set(key, text);
    const old = text.blocks[from];
    const lines = first?.from_line !== undefined && old ? [...old.lines.slice(0, first.from_line), ...first.lines] : first?.lines;
    text.blocks.splice(from, Infinity, ...(first ? [{ ...first, lines }] : []), ...rest);
    sayUntil(text, isOver ? text.blocks.length : from);
  };
  return {
    element,
    /** @param {string} name @param {any} body */
    event(name, body) {
      if (body.session_id !== sessionId) return;
      if (name === "content-blocks") {
        turnTo(body.message_id);
        hear(body);
      } else if (name === "tool-use") {
        turnTo(body.message_id);
        sayAll();
        say(`${body.tool_name}.`);
      } else if (name === "message-completed" || name === "message-error") {
        turnTo(body.message_id);
        ending = name === "message-error" ? body.error : "Finished.";
        timer = setTimeout(sayEnding, LAST_WORDS);
      }
    },
    close: () => clearTimeout(timer),
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
