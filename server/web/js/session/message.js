// @ts-check
// One message: who said it, its text as blocks, and its tools, each one line that opens.

import { blockElement } from "./blocks.js";
import { button, make } from "../dom.js";
import { setDay } from "./days.js";
import { diffOf } from "./edits.js";
import { saidElement } from "./fences.js";
import { nameOf } from "./images.js";

/**
 * @typedef {import("../state.js").Resource} Resource
 *
 * @typedef {object} Around what a message needs to know of its place
 * @property {import("../app.js").App} app
 * @property {string} sessionId
 * @property {string} agent what people call the session's agent
 */

/** @param {Resource} message @param {Around} around */
export function messageElement(message, around) {
  const element = make("article.message", { id: `m-${message.id}`, "data-role": message.role });
  setDay(element, message.timestamp);
  fillMessage(element, message, around);
  return element;
}

/** Draw all of a message. @param {HTMLElement} element @param {Resource} message @param {Around} around */
export function fillMessage(element, message, around) {
  element.replaceChildren(
    head(message, around),
    // Blocks may be told of out of turn, so that some may be missing.
    ...Array.from(message.content, (_, index) => contentElement(message, index, around)).filter((made) => made !== null),
    ...(message.files ?? []).map((/** @type {string} */ path) => make("p.file", `▤ ${path}`)),
    message.context ? make("p.file", `▤ ${message.context.split("/").at(-1)} goes to the agent with this`) : "",
    ...tail(message),
  );
}

/**
 * Draw these blocks of a message in their places, each once.
 * @param {HTMLElement} element @param {Resource} message @param {Iterable<number>} indices @param {Around} around
 */
export function fillContents(element, message, indices, around) {
  const shown = new Set();
  for (const index of indices) shown.add(shownAt(message, index));
  for (const index of shown) {
    const old = element.querySelector(`:scope > [data-index="${index}"]`);
    const made = contentElement(message, index, around);
    if (!made) old?.remove();
    else if (old) exchange(old, made);
    else placeAfter(element, index).after(made);
  }
}

/** Put an element where another was; who had the keys on a fold there keeps them. @param {Element} old @param {HTMLElement} made */
function exchange(old, made) {
  const folds = [...old.querySelectorAll("summary")];
  const place = folds.findIndex((fold) => fold === document.activeElement);
  old.replaceWith(made);
  if (place >= 0) made.querySelectorAll("summary")[place]?.focus({ preventScroll: true });
}

/** Draw how a message ended: its text stays as it stands. @param {HTMLElement} element @param {Resource} message @param {Around} around */
export function endMessage(element, message, around) {
  for (const old of element.querySelectorAll(":scope > .pulse, :scope > .error, :scope > .ended")) old.remove();
  element.append(...tail(message));
  const cutOff = message.content.flatMap((/** @type {any} */ block, /** @type {number} */ index) =>
    block?.type === "tool_use" && !resultOf(message, block) ? [index] : []);
  fillContents(element, message, cutOff, around);
}

/** Where a block is drawn: a result with its tool, a sub-agent's tool with the one that began it. @param {Resource} message @param {number} index @returns {number} */
function shownAt(message, index) {
  const block = message.content[index];
  const tool = block?.type === "tool_result" ? block.tool_use_id : block?.parent_tool_use_id;
  if (!tool) return index;
  const place = message.content.findIndex((/** @type {any} */ other) => other?.type === "tool_use" && other.id === tool);
  return place < 0 || place === index ? index : shownAt(message, place);
}

/** The last block before this place, or the message's head. @param {Element} element @param {number} index */
function placeAfter(element, index) {
  const blocks = /** @type {HTMLElement[]} */ ([...element.children]);
  const before = blocks.findLast((child) => Number(child.dataset.index ?? Infinity) < index);
  return before ?? blocks[0];
}

/** @param {Resource} message @param {Around} around */
function head(message, { agent }) {
  const time = new Date(message.timestamp * 1000);
  const clock = make("time", time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }), {
    dateTime: time.toISOString(),
    title: time.toLocaleString(),
  });
  return make("h2.who", message.role === "user" ? "you" : agent, " ", clock);
}

/** @param {Resource} message */
function tail(message) {
  const streaming = message.role === "assistant" && message.status === "processing";
  return [
    ...(streaming ? [make("p.pulse", "writing…")] : []),
    ...(message.error ? [make("p.error", message.error.error, { role: "alert" })] : []),
    ...endedEarly(message),
  ];
}

/** @type {Record<string, string>} */
const ENDED = { stopped: "Stopped by you", interrupted: "Interrupted: Spinney was quit. Send a message to go on." };

/** Why an answer ends in the middle. @param {Resource} message */
function endedEarly(message) {
  const words = message.role === "assistant" && ENDED[message.stop_reason];
  // What waits for a person goes on waiting while Spinney is away.
  const waits = message.stop_reason === "interrupted" && ["plan", "question"].includes(message.content.at(-1)?.type);
  return words && !waits ? [make("p.notice.ended", words)] : [];
}

/** @param {Resource} message @param {number} index @param {Around} around */
function contentElement(message, index, around) {
  const block = message.content[index] ?? {};
  const made = drawn(message, block, around);
  if (made) made.dataset.index = String(index);
  return made;
}

/** A block's element, where it has one of its own. @param {Resource} message @param {any} block @param {Around} around @returns {HTMLElement | null} */
function drawn(message, block, around) {
  switch (block.type) {
    case "text":
      return message.role === "user"
        ? saidElement(block.text)
        : make("div.prose", (block.blocks ?? []).map(blockElement));
    case "thinking":
      return folded("thinking", `${message.id}/${message.content.indexOf(block)}`, [thought(block)], () => make("p.said", block.text));
    case "tool_use":
      return block.parent_tool_use_id ? null : toolElement(message, block, around);
    case "plan":
      return make(
        "section.plan",
        make("h3", "Plan", block.approved ? ` · approved → ${block.approved}` : ""),
        make("div.prose", (block.blocks ?? []).map(blockElement)),
      );
    case "question":
      return questionElement(block);
    case "image":
      return make("p.file", `▧ ${nameOf(block.path)}`, { title: block.path });
    case "notice":
      return make("p.notice", block.text);
    case "unreadable":
      return unreadable(block);
    default:
      return null;
  }
}

/** What is damaged in the database, and what is left of it. @param {any} block */
function unreadable(block) {
  const told = block.text ? "This part is damaged in the database. What is left of it:" : "This part is damaged in the database.";
  return make("div", make("p.bad", `unreadable: ${told}`), block.text && make("p.said", block.text));
}

/** @param {any} block */
const thought = (block) =>
  block.seconds === null || block.seconds === undefined ? "thinking…" : `thought for ${Math.max(1, Math.round(block.seconds))} s`;

/** Folds that were opened, by their keys: they stay open when they are drawn anew. @type {Set<string>} */
const opened = new Set();

/**
 * A fold whose inside is made when it is opened first.
 * @param {string} kind @param {string} key @param {(Node | string)[]} title @param {() => Node} inside
 */
export function folded(kind, key, title, inside) {
  const fold = make("details", make("summary", title), { className: kind, open: opened.has(key) });
  if (fold.open) fold.append(inside());
  fold.addEventListener("toggle", () => {
    if (fold.open) opened.add(key);
    else opened.delete(key);
    if (fold.open && fold.children.length === 1) fold.append(inside());
  });
  return fold;
}

/** @param {Resource} message @param {any} tool */
const resultOf = (message, tool) =>
  message.content.find((/** @type {any} */ other) => other?.type === "tool_result" && other.tool_use_id === tool.id);

/** @param {Resource} message @param {any} block @param {Around} around */
function toolElement(message, block, around) {
  const result = resultOf(message, block);
  const below = message.content.filter((/** @type {any} */ other) => other?.parent_tool_use_id === block.id && other.type === "tool_use");
  const state = result ? (result.is_error ? "✗" : "✓") : message.status === "processing" ? "◌" : "";
  const denied = result?.denied ?? null;
  const isRunning = !result && state !== "";
  const words = result ? (denied !== null ? "denied" : result.is_error ? "failed" : "done") : state && "running";
  const title = [
    make("b", block.name),
    make("span.subject", subject(block.input ?? {})),
    isRunning ? make("span.hint.time", timeOf(block)) : "",
    make("span.outcome", denied === null ? state : `${state} denied`, { title: words, "aria-label": words, role: "img" }),
  ];
  const fold = folded("tool", `${message.id}/${block.id}`, title, () => {
    const edit = block.name === "edit" && typeof block.input?.new_content === "string";
    const todos = block.input?.todos;
    return make(
      "div.inside",
      Array.isArray(todos) ? todoList(todos) : edit ? diffOf(block.input.old_content ?? "", block.input.new_content) : make("pre", inputText(block.input), { tabIndex: 0 }),
      below.map((/** @type {any} */ child) => toolElement(message, child, around)),
      result && output(result, block.id, around),
    );
  });
  if (result?.is_error) fold.classList.add("failed");
  if (denied) return make("div", fold, make("p.answer", `→ ${denied}`));
  if (!isRunning) return fold;
  const live = make("pre.live", printed(block), { hidden: !printed(block) });
  const tool = make("div", fold, live);
  tool.dataset.tool = block.id;
  return tool;
}

/** Draw what a tool has printed since, and nothing else: somebody may read or mark what is there. @param {HTMLElement} element @param {Resource} message @param {number} index @param {Around} around */
export function fillRunning(element, message, index, around) {
  const block = message.content[index];
  const tool = element.querySelector(`[data-tool="${CSS.escape(block?.id ?? "")}"]`);
  const live = tool?.querySelector(":scope > .live");
  const time = tool?.querySelector(":scope > details > summary > .time");
  if (!(live instanceof HTMLElement) || !time) return fillContents(element, message, [index], around);
  time.textContent = timeOf(block);
  live.textContent = printed(block);
  live.hidden = !live.textContent;
}

/** @param {any} block */
const printed = (block) => block.output_so_far?.trimEnd() ?? "";

/** @param {any} block */
function timeOf({ running_for: seconds }) {
  if (!seconds) return "";
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** @type {Record<string, [string, string]>} */
const TODO = { completed: ["☑", "done"], in_progress: ["◐", "under way"], pending: ["☐", "to do"] };

/** @param {any[]} todos */
function todoList(todos) {
  return make("ul.todos", todos.map((todo) => {
    const [sign, words] = TODO[todo?.status] ?? TODO.pending;
    const text = typeof todo === "string" ? todo : String(todo?.content ?? todo?.step ?? "");
    return make("li", make("span", sign, { role: "img", "aria-label": words, title: words }), " ", text, { "data-status": todo?.status ?? "pending" });
  }));
}

/** What a tool is about, in a few words. @param {Record<string, any>} input */
function subject(input) {
  if (Array.isArray(input.todos)) return `${input.todos.filter((todo) => todo?.status === "completed").length} of ${input.todos.length} done`;
  const { file_path, command, pattern, url, path, description } = input;
  return String(file_path ?? command ?? pattern ?? url ?? path ?? description ?? "").split("\n")[0];
}

/** @param {any} input */
const inputText = (input) =>
  typeof input?.command === "string" && Object.keys(input).length <= 2 ? input.command : JSON.stringify(input ?? {}, null, 2);

/** How Spinney says that it left out the middle of a long result. */
const CUT = /^\[… [\d,]+ lines, [\d,]+ bytes are left out here …\]$/m;

/** @param {any} result @param {string} toolUseId @param {Around} around */
function output(result, toolUseId, { app, sessionId }) {
  const text = make("pre.output", result.content, { tabIndex: 0 });
  if (result.is_error) text.classList.add("failed");
  if (!CUT.test(result.content)) return text;
  let offset = 0;
  const all = button("show all", async () => {
    const piece = await app.run("get_tool_output", { sessionId, toolUseId, offset });
    if (!piece) return;
    if (offset === 0) text.replaceChildren();
    text.append(piece.content);
    offset = piece.next_offset;
    all.textContent = "show more";
    if (offset === null) all.remove();
  });
  return make("div.output-all", text, all);
}

/** @param {any} block */
function questionElement(block) {
  const answers = typeof block.answer === "string" ? { "": block.answer } : (block.answer ?? {});
  return make(
    "section.questions",
    block.questions.map((/** @type {any} */ one) => [
      make("p", make("b", one.question)),
      make("ul", one.options.map((/** @type {any} */ option) => make("li", option.label, option.preview && make("span.preview", option.preview)))),
      (answers[one.question] ?? answers[""]) && make("p.answer", `→ ${answers[one.question] ?? answers[""]}`),
    ]).flat(),
  );
}
