// @ts-check
// A message: author, text, and tools as expandable lines.

import { blockElement, copyText } from "./blocks.js";
import { button, make } from "../dom.js";
import { formatDuration } from "../format.js";
import { VERBS } from "../generated.js";
import { guest, may } from "../guest.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { setDivider } from "./dividers.js";
import { editDiff } from "./edit_diff.js";
import { setRewound } from "./rewound.js";
import { withTurnActions } from "./turns.js";
import { userTextElement } from "./user_text.js";
import { nameOf, originalName } from "./attachments.js";
import { pictureElement } from "./pictures.js";

/**
 * @typedef {import("../state.js").Resource} Resource
 *
 * @typedef {object} MessageContext
 * @property {import("../app.js").App} app
 * @property {string} sessionId
 * @property {(name: string | null) => string} labelOf the display name of an agent
 */

/** @param {Resource} message @param {MessageContext} context */
export function messageElement(message, context) {
  const element = make("article.message", { id: `m-${message.id}`, "data-role": message.role });
  setDivider(element, message);
  setRewound(element, message);
  drawMessage(element, message, context);
  return element;
}

/** Render a whole message. @param {HTMLElement} element @param {Resource} message @param {MessageContext} context */
export function drawMessage(element, message, context) {
  element.replaceChildren(
    head(message, context),
    // Events of blocks can arrive out of order, so that some are missing.
    ...Array.from(message.content, (_, index) => contentElement(message, index, context)).filter((created) => created !== null),
    ...(message.files ?? []).map((/** @type {string} */ path) => fileLine("file", originalName(path), path)),
    message.context ? fileLine("file", `${nameOf(message.context)} is sent to the agent with this message`) : "",
    ...tail(message, context),
  );
}

/**
 * Render some blocks of a message, each once.
 * @param {HTMLElement} element @param {Resource} message @param {Iterable<number>} indices @param {MessageContext} context
 */
export function drawBlocks(element, message, indices, context) {
  const shown = new Set();
  for (const index of indices) shown.add(displayIndex(message, index));
  for (const index of shown) {
    const old = element.querySelector(`:scope > [data-index="${index}"]`);
    const newElement = contentElement(message, index, context);
    if (!newElement) old?.remove();
    else if (old) replaceKeepingFocus(old, newElement);
    else blockBefore(element, index).after(newElement);
  }
}

/** Replace an element, keeping the focus on its folds. @param {Element} old @param {HTMLElement} newElement */
function replaceKeepingFocus(old, newElement) {
  const folds = [...old.querySelectorAll("summary")];
  const index = folds.findIndex((fold) => fold === document.activeElement);
  old.replaceWith(newElement);
  if (index >= 0) newElement.querySelectorAll("summary")[index]?.focus({ preventScroll: true });
}

/** Render the end of a message, without its text. @param {HTMLElement} element @param {Resource} message @param {MessageContext} context */
export function drawMessageEnd(element, message, context) {
  for (const old of element.querySelectorAll(":scope > .pulse, :scope > .error, :scope > .ended, :scope > .message-actions")) old.remove();
  element.append(...tail(message, context));
  const unfinished = message.content.flatMap((/** @type {any} */ block, /** @type {number} */ index) =>
    block?.type === "tool_use" && !resultOf(message, block) ? [index] : []);
  drawBlocks(element, message, unfinished, context);
}

/** The index of the block that shows a block: results are part of their tool, a sub-agent's tools of the tool that started it. @param {Resource} message @param {number} index @returns {number} */
function displayIndex(message, index) {
  const block = message.content[index];
  const tool = block?.type === "tool_result" ? block.tool_use_id : block?.parent_tool_use_id;
  if (!tool) return index;
  const toolIndex = message.content.findIndex((/** @type {any} */ other) => other?.type === "tool_use" && other.id === tool);
  return toolIndex < 0 || toolIndex === index ? index : displayIndex(message, toolIndex);
}

/** The last block before this index, or the message's heading. @param {Element} element @param {number} index */
function blockBefore(element, index) {
  const blocks = /** @type {HTMLElement[]} */ ([...element.children]);
  const before = blocks.findLast((child) => Number(child.dataset.index ?? Infinity) < index);
  return before ?? blocks[0];
}

/** The author; of the user, or of the same agent as before, for screen readers only. @param {Resource} message @param {MessageContext} context */
function head(message, { labelOf }) {
  const who = message.role === "user" ? "you" : labelOf(message.backend);
  const model = message.role === "assistant" && message.model;
  return make("h2.author", make("span.who", who), model && make("span.model", model), " ", timeElement(message));
}

/** @param {Resource} message */
function timeElement(message) {
  const time = new Date(message.timestamp * 1000);
  return make("time", time.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }), {
    dateTime: time.toISOString(),
    title: time.toLocaleString(),
  });
}

/** @param {Resource} message @param {MessageContext} context */
function tail(message, context) {
  const streaming = message.role === "assistant" && message.status === "processing";
  const isPrompt = message.role === "user" && message.status !== "queued" && !guest();
  return [
    ...(message.steered ? [make("p.notice.ended", "Read during the turn")] : []),
    ...(isPrompt && !message.steered ? [promptActions(message, context)] : []),
    ...(streaming ? [make("p.pulse", "writing…")] : []),
    ...(message.error ? [make("p.error", message.error.error, { role: "alert" })] : []),
    ...endNotice(message),
    ...(message.role === "assistant" && !streaming ? [messageActions(message, context)] : []),
  ];
}

/** What can be done with the turn that a message began. @param {Resource} message @param {MessageContext} context */
function promptActions(message, { app, sessionId }) {
  const open = () => withTurnActions((actions) => actions.showTurnMenu(app, sessionId, message.id));
  const label = "Actions of this message";
  return make("div.message-actions", button(icon("more"), open, ".quiet.icon-only", { "aria-label": label, title: label }));
}

/** Copy an answer, or a link to it. @param {Resource} message @param {MessageContext} context */
function messageActions(message, { app, sessionId }) {
  const copyAnswer = () => {
    const texts = [...document.querySelectorAll(`[id="m-${message.id}"] > .prose`)].map((part) => /** @type {HTMLElement} */ (part).innerText);
    return copyText(texts.join("\n\n")).then(() => app.toast("Copied the answer."));
  };
  const copyLink = () => {
    const { origin } = location;
    return copyText(`${origin}/${hashFor("session", sessionId, { message: message.id })}`).then(() => app.toast("Copied a link to the answer."));
  };
  return make(
    "div.message-actions",
    button(icon("copy"), copyAnswer, ".quiet.icon-only", { "aria-label": "Copy the answer", title: "Copy the answer" }),
    button(icon("link"), copyLink, ".quiet.icon-only", { "aria-label": "Copy a link to the answer", title: "Copy a link to the answer" }),
    make("time", timeElement(message).textContent, { "aria-hidden": "true" }),
  );
}

/** @type {Record<string, string>} */
const END_NOTICES = { stopped: "Stopped by you", interrupted: "Interrupted because Spinney was quit. Send a message to continue." };

/** A notice if an answer is incomplete. @param {Resource} message */
function endNotice(message) {
  const text = message.role === "assistant" && END_NOTICES[message.stop_reason];
  // Plans and questions stay open while Spinney is not running.
  const isWaiting = message.stop_reason === "interrupted" && ["plan", "question"].includes(message.content.at(-1)?.type);
  return text && !isWaiting ? [make("p.notice.ended", text)] : [];
}

/** @param {Resource} message @param {number} index @param {MessageContext} context */
function contentElement(message, index, context) {
  const block = message.content[index] ?? {};
  const created = blockElementFor(message, block, context);
  if (created) created.dataset.index = String(index);
  return created;
}

/** The element of a block, or `null` if it has none of its own. @param {Resource} message @param {any} block @param {MessageContext} context @returns {HTMLElement | null} */
function blockElementFor(message, block, context) {
  switch (block.type) {
    case "text":
      return message.role === "user"
        ? userTextElement(block.text)
        : make("div.prose", (block.blocks ?? []).map(blockElement));
    case "thinking":
      return foldElement("thinking", `${message.id}/${message.content.indexOf(block)}`, [thinkingLabel(block)], () => make("p.verbatim", block.text));
    case "tool_use":
      return block.parent_tool_use_id ? null : toolElement(message, block, context);
    case "plan":
      return make(
        "section.plan",
        make("h3", "Plan", block.approved ? ` · approved → ${block.approved}` : ""),
        make("div.prose", (block.blocks ?? []).map(blockElement)),
      );
    case "question":
      return questionElement(block);
    case "image":
      return pictureElement(block.path) ?? fileLine("image", nameOf(block.path), block.path);
    case "notice":
      return make("p.notice", block.text);
    case "unreadable":
      return unreadable(block);
    default:
      return null;
  }
}

/** @param {string} symbol @param {string} text @param {string} [title] */
const fileLine = (symbol, text, title = text) => make("p.file", icon(symbol), text, { title });

/** A block that is damaged in the database. @param {any} block */
function unreadable(block) {
  const part = `This part is damaged in the database.${block.text ? " What is left of it:" : ""}`;
  const message = "This message is damaged in the database: who wrote it and when may be wrong, and parts of it may be missing.";
  const notice = block.part === "message" ? message : part;
  return make("div", make("p.bad", `unreadable: ${notice}`), block.text && make("p.verbatim", block.text));
}

/** @param {any} block */
const thinkingLabel = (block) =>
  block.seconds === null || block.seconds === undefined ? "thinking…" : `thought for ${Math.max(1, Math.round(block.seconds))} s`;

/** Keys of open folds, so that they stay open when they are rendered again. @type {Set<string>} */
const openFolds = new Set();

/**
 * A fold whose content is created when it is first opened.
 * @param {string} kind @param {string} key @param {(Node | string)[]} title @param {() => Node} makeContent
 */
export function foldElement(kind, key, title, makeContent) {
  const fold = make("details", make("summary", title), { className: kind, open: openFolds.has(key) });
  if (fold.open) fold.append(makeContent());
  fold.addEventListener("toggle", () => {
    if (fold.open) openFolds.add(key);
    else openFolds.delete(key);
    if (fold.open && fold.children.length === 1) fold.append(makeContent());
  });
  return fold;
}

/** @param {Resource} message @param {any} tool */
const resultOf = (message, tool) =>
  message.content.find((/** @type {any} */ other) => other?.type === "tool_result" && other.tool_use_id === tool.id);

/** @param {Resource} message @param {any} block @param {MessageContext} context */
function toolElement(message, block, context) {
  const result = resultOf(message, block);
  const subTools = message.content.filter((/** @type {any} */ other) => other?.parent_tool_use_id === block.id && other.type === "tool_use");
  const state = result ? (result.is_error ? "✗" : "✓") : message.status === "processing" ? "◌" : "";
  const denied = result?.denied ?? null;
  const isRunning = !result && state !== "";
  const text = result ? (denied !== null ? "denied" : result.is_error ? "failed" : "done") : state && "running";
  const edit = block.name === "edit" && typeof block.input?.new_content === "string";
  const title = [
    icon(TOOL_ICONS[VERBS[/** @type {keyof typeof VERBS} */ (block.name.toLowerCase())]] ?? "settings"),
    make("b", block.name),
    make("span.subject", toolSubject(block.input ?? {})),
    isRunning ? make("span.hint.time", runningTime(block)) : "",
    make("span.outcome", denied === null ? state : `${state} denied`, { title: text, "aria-label": text, role: "img" }),
  ];
  const fold = foldElement("tool", `${message.id}/${block.id}`, title, () => {
    const todos = block.input?.todos;
    return make(
      "div.inside",
      Array.isArray(todos) ? todoList(todos) : edit ? editDiff(context.app, block.input) : make("pre", inputText(block.input), { tabIndex: 0 }),
      subTools.map((/** @type {any} */ child) => toolElement(message, child, context)),
      result && outputElements(result, block.id, context),
    );
  });
  if (result?.is_error) fold.classList.add("failed");
  if (denied) return make("div", fold, make("p.answer", `→ ${denied}`));
  if (!isRunning) return fold;
  const outputElement = make("pre.live", outputText(block), { hidden: !outputText(block) });
  const tool = make("div", fold, outputElement);
  tool.dataset.tool = block.id;
  return tool;
}

/** Update only the output of a running tool, so that a selection in the rest is kept. @param {HTMLElement} element @param {Resource} message @param {number} index @param {MessageContext} context */
export function drawRunningTool(element, message, index, context) {
  const block = message.content[index];
  const tool = element.querySelector(`[data-tool="${CSS.escape(block?.id ?? "")}"]`);
  const outputElement = tool?.querySelector(":scope > .live");
  const time = tool?.querySelector(":scope > details > summary > .time");
  if (!(outputElement instanceof HTMLElement) || !time) return drawBlocks(element, message, [index], context);
  time.textContent = runningTime(block);
  outputElement.textContent = outputText(block);
  outputElement.hidden = !outputElement.textContent;
}

/** @param {any} block */
const outputText = (block) => block.output_so_far?.trimEnd() ?? "";

/** @param {any} block */
const runningTime = ({ running_for: seconds }) => (seconds ? formatDuration(seconds) : "");

/** The icon for each verb of a tool. @type {Record<string, string>} */
const TOOL_ICONS = {
  agent: "agent",
  edit: "edit",
  fetch: "external",
  find: "search",
  list: "folder",
  read: "file",
  run: "terminal",
  search: "search",
  "search web": "search",
  todo: "plan",
  write: "edit",
};

/** @type {Record<string, [string, string]>} */
const TODO_MARKS = { completed: ["☑", "done"], in_progress: ["◐", "in progress"], pending: ["☐", "to do"] };

/** @param {any[]} todos */
function todoList(todos) {
  return make("ul.todos", todos.map((todo) => {
    const [symbol, label] = TODO_MARKS[todo?.status] ?? TODO_MARKS.pending;
    const text = typeof todo === "string" ? todo : String(todo?.content ?? todo?.step ?? "");
    return make("li", make("span", symbol, { role: "img", "aria-label": label, title: label }), " ", text, { "data-status": todo?.status ?? "pending" });
  }));
}

/** A short description of a tool call: its file, command or the like. @param {Record<string, any>} input */
function toolSubject(input) {
  if (Array.isArray(input.todos)) return `${input.todos.filter((todo) => todo?.status === "completed").length} of ${input.todos.length} done`;
  const { file_path, command, pattern, url, path, description } = input;
  return String(file_path ?? command ?? pattern ?? url ?? path ?? description ?? "").split("\n")[0];
}

/** @param {any} input */
const inputText = (input) =>
  typeof input?.command === "string" && Object.keys(input).length <= 2 ? input.command : JSON.stringify(input ?? {}, null, 2);

/** The line in place of the omitted middle of a long result. */
const OMITTED = /^\[… [\d,]+ lines, [\d,]+ bytes are left out here …\]$/m;

/** @param {any} result @param {string} toolUseId @param {MessageContext} context */
function outputElements(result, toolUseId, { app, sessionId }) {
  const text = make("pre.output", result.content, { tabIndex: 0 });
  if (result.is_error) text.classList.add("failed");
  if (!OMITTED.test(result.content) || !may("get_tool_output")) return text;
  let offset = 0;
  const showAll = button("Show all", async () => {
    const piece = await app.run("get_tool_output", { sessionId, toolUseId, offset });
    if (!piece) return;
    if (offset === 0) text.replaceChildren();
    text.append(piece.content);
    offset = piece.next_offset;
    showAll.textContent = "Show more";
    if (offset === null) showAll.remove();
  });
  return make("div.output-all", text, showAll);
}

/** @param {any} block */
function questionElement(block) {
  const answers = typeof block.answer === "string" ? { "": block.answer } : (block.answer ?? {});
  return make(
    "section.questions",
    block.questions.map((/** @type {any} */ question) => [
      make("p", make("b", question.question)),
      make("ul", question.options.map((/** @type {any} */ option) => make("li", option.label, option.preview && make("span.preview", option.preview)))),
      (answers[question.question] ?? answers[""]) && make("p.answer", `→ ${answers[question.question] ?? answers[""]}`),
    ]).flat(),
  );
}
