// @ts-check
// Cards for a session's request: plan approval, questions, or permission to use a tool.

import { loadAnswer, saveAnswer } from "./answers.js";
import { guest, may, mayUse } from "./guest.js";
import { guardPresses } from "./press_guard.js";
import { button, make } from "./dom.js";
import { hashFor } from "./router.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./state.js").Resource} Resource
 */

/**
 * The card for a session's request, or `null` if it has none.
 * @param {App} app @param {Resource} session
 * @param {{ hasBox: boolean }} options whether the session's message box is visible, which can be used to discuss a plan
 * @returns {HTMLElement | null}
 */
export function requestCard(app, session, options) {
  const { request } = session;
  const create = { plan: planCard, question: questionCard, permission: permissionCard }[/** @type {"plan"} */ (request?.kind)];
  if (!create) return null;
  const card = create(new PendingAnswer(app, session), request, options);
  guardPresses(card);
  if (!may(COMMANDS[/** @type {"plan"} */ (request.kind)])) return withoutAnswers(card);
  return card;
}

/** The command that answers each kind of request. */
const COMMANDS = { plan: "approve_plan", question: "answer_question", permission: "answer_permission" };

/** A card for a guest who may only read it. @param {HTMLElement} card */
function withoutAnswers(card) {
  for (const element of card.querySelectorAll(".choices:not(.options), .answer-line, label.check, input, textarea")) element.remove();
  for (const option of card.querySelectorAll("button")) option.disabled = true;
  card.append(make("p.hint", "Only the owner, approvers and drivers can answer."));
  return card;
}

/** A request that is being answered; keeps the texts of its fields until they are sent. */
class PendingAnswer {
  #isSending = false;

  /** @param {App} app @param {Resource} session */
  constructor(app, session) {
    this.app = app;
    this.sessionId = session.id;
    this.requestId = session.request.id;
    this.isAside = !session.waiting_for;
    this.written = loadAnswer(this.sessionId, this.requestId);
  }

  /**
   * Restore a field's text, and keep what is typed.
   * @template {HTMLInputElement | HTMLTextAreaElement} Field
   * @param {string} name @param {Field} field @returns {Field}
   */
  field(name, field) {
    field.value = this.written[name] ?? field.value;
    field.addEventListener("input", () => this.#save(name, field.value));
    return field;
  }

  /** Submit a field on Enter. @param {HTMLInputElement | HTMLTextAreaElement} field @param {() => unknown} send */
  submitOnEnter(field, send) {
    field.addEventListener("keydown", (event) => {
      const { key, shiftKey, isComposing } = /** @type {KeyboardEvent} */ (event);
      const isMultiline = field instanceof HTMLTextAreaElement && matchMedia("(pointer: coarse)").matches;
      if (key !== "Enter" || shiftKey || isComposing || isMultiline) return;
      event.preventDefault();
      if (field.value.trim()) send();
    });
  }

  /** @param {string} name @param {string} text */
  #save(name, text) {
    this.written[name] = text;
    saveAnswer(this.sessionId, this.requestId, name, text);
  }

  /**
   * Send an answer; the texts of the used fields are kept if that fails.
   * @param {string} command @param {Record<string, unknown>} args @param {string[]} [fieldNames] names of the fields
   */
  async send(command, args, fieldNames = []) {
    if (this.#isSending) return undefined;
    this.#isSending = true;
    const texts = fieldNames.map((name) => this.written[name] ?? "");
    for (const name of fieldNames) this.#save(name, "");
    const done = await this.app.run(command, { sessionId: this.sessionId, requestId: this.requestId, ...args });
    this.#isSending = false;
    if (done !== undefined) return done;
    for (const [index, name] of fieldNames.entries()) this.#save(name, texts[index]);
    this.app.invalidate({ tree: true }); // the request may be gone, and its texts must move
    return undefined;
  }

  /** Answer with a chat message. @param {string} name of the field @param {string} text */
  discuss(name, text) {
    this.#save(name, "");
    this.app.outbox.add(this.sessionId, text);
  }
}

/** @param {PendingAnswer} pending @param {any} request @param {{ hasBox: boolean }} options */
function planCard(pending, request, { hasBox }) {
  const editor = pending.field("plan", make("textarea", { rows: 12, "aria-label": "Edited plan" }));
  editor.hidden = !editor.value;
  const edit = button("Edit first", () => {
    editor.hidden = !editor.hidden;
    editor.value ||= request.plan ?? "";
    editor.focus();
  });
  /** @param {"build" | "yolo"} mode */
  const approve = async (mode) => {
    const args = { mode, ...(editor.hidden ? {} : { plan: editor.value }), ...(fresh.checked ? { fresh: true } : {}) };
    const session = await pending.send("approve_plan", args, ["plan"]);
    if (session && session.id !== pending.sessionId && location.hash.startsWith(hashFor("session", pending.sessionId))) pending.app.go("session", session.id);
  };
  const fresh = make("input", { type: "checkbox" });
  return make(
    "section.request",
    make("h3", pending.isAside ? "This plan was set aside. Approve it now?" : "Approve this plan?"),
    planText(pending, request, { isShown: hasBox && !pending.isAside, isFolded: hasBox }),
    editor,
    !guest() && make("label.check", fresh, "In a new session that only knows the plan"),
    make("div.choices", button("Build", () => approve("build"), ".primary"), mayUse("yolo") && yolo(() => approve("yolo")), may("send_chat_message") && edit),
    !hasBox && may("send_chat_message") && discussion(pending),
  );
}

/** The plan, unless the conversation shows it just above. @param {PendingAnswer} pending @param {any} request @param {{ isShown: boolean, isFolded: boolean }} options */
function planText(pending, request, { isShown, isFolded }) {
  if (!request.plan || isShown) return null;
  const text = make("div.plan-text", make("p.verbatim", request.plan));
  renderPlan(pending, request, text);
  return isFolded ? make("details", make("summary", "Plan"), text) : text;
}

/** Show the plan as in its conversation, as soon as that is read; offline, its plain text stays. @param {PendingAnswer} pending @param {any} request @param {HTMLElement} element */
async function renderPlan({ app, sessionId }, request, element) {
  try {
    const [page, { blockElement }] = await Promise.all([app.connection.call("get_message_blocks", { sessionId, limit: PLAN_MESSAGES }), import("./session/blocks.js")]);
    const message = page.messages.find((/** @type {Resource} */ { id }) => id === request.message_id);
    const plan = message?.content.findLast((/** @type {any} */ block) => block.type === "plan" && block.blocks);
    if (plan) element.replaceChildren(make("div.prose", plan.blocks.map(blockElement)));
  } catch {
    // The next change of the request, or of the connection, draws it again.
  }
}

const PLAN_MESSAGES = 3; // a message of the user may follow the plan

/** A field for requested changes, if no message box is visible. @param {PendingAnswer} pending */
function discussion(pending) {
  const field = pending.field("discuss", make("textarea", { rows: 1, placeholder: "Changes you want", "aria-label": "Changes you want" }));
  const send = () => {
    const text = field.value.trim();
    field.value = "";
    if (text) pending.discuss("discuss", text);
    else field.focus();
  };
  pending.submitOnEnter(field, send);
  return make("div.answer-line", field, button("Discuss", send));
}

/** The yolo button needs a second press, because nothing is asked afterward. @param {() => unknown} approve */
function yolo(approve) {
  let confirmableFrom = Infinity;
  const control = button("Yolo", () => {
    if (performance.now() >= confirmableFrom) return approve();
    if (confirmableFrom < Infinity) return undefined; // the second click of a double click
    confirmableFrom = performance.now() + DOUBLE_CLICK;
    control.textContent = "Confirm: it will not ask again";
    return setTimeout(() => {
      confirmableFrom = Infinity;
      control.textContent = "Yolo";
    }, 5000);
  });
  return control;
}

const DOUBLE_CLICK = 500; // ms within which two presses count as one

/** @param {PendingAnswer} pending @param {any} request */
function questionCard(pending, request) {
  /** @type {Map<string, string[]>} */
  const chosen = new Map();
  const names = request.questions.map((/** @type {any} */ question) => question.question);
  const answer = () => {
    const args = Object.fromEntries(request.questions.map((/** @type {any} */ question) => [question.question, answerFor(question)]));
    return pending.send("answer_question", { answer: args }, names);
  };
  // A single choice is an answer by itself.
  const isOneTap = request.questions.length === 1 && !request.questions[0].multi_select && request.questions[0].options.length > 0;
  const send = button("Answer", answer, isOneTap ? "" : ".primary", { disabled: true });
  const freeTexts = new Map();
  /** Free text is added to multiple choices, but replaces a single choice. @param {any} question */
  const answerFor = (question) => {
    const text = freeTexts.get(question.question)?.value.trim();
    const selected = text && !question.multi_select ? [] : (chosen.get(question.question) ?? []);
    return [...selected, text].filter(Boolean).join(", ");
  };
  const updateButton = () => {
    send.disabled = !request.questions.every(answerFor);
  };
  /** @param {any} question @param {string[]} labels */
  const choose = (question, labels) => {
    chosen.set(question.question, labels);
    updateButton();
    if (isOneTap) pending.send("answer_question", { answer: { [question.question]: labels[0] } });
  };
  const card = make(
    "section.request",
    request.questions.map((/** @type {any} */ question) => {
      const freeText = pending.field(question.question, make("input", { placeholder: "Other answer", "aria-label": question.question }));
      freeText.addEventListener("input", updateButton);
      pending.submitOnEnter(freeText, () => send.disabled || answer());
      freeTexts.set(question.question, freeText);
      const field = isOneTap ? make("div.answer-line", freeText, send) : freeText;
      return make("fieldset", make("legend", question.question), optionButtons(question, isOneTap, chosen, choose), field);
    }),
    !isOneTap && make("div.choices", send),
  );
  updateButton();
  return card;
}

/** @param {any} question @param {boolean} isOneTap @param {Map<string, string[]>} chosen @param {(question: any, labels: string[]) => void} choose */
function optionButtons(question, isOneTap, chosen, choose) {
  return make(
    "div.choices.options",
    question.options.map((/** @type {any} */ option) => {
      const control = make("button", make("b", option.label), option.description && make("small", option.description), option.preview && make("span.preview", option.preview), { type: "button" });
      if (!isOneTap) control.ariaPressed = "false";
      control.addEventListener("click", () => {
        const current = chosen.get(question.question) ?? [];
        if (isOneTap) return choose(question, [option.label]);
        const wasChosen = current.includes(option.label);
        const others = question.multi_select ? current.filter((label) => label !== option.label) : [];
        choose(question, wasChosen ? others : [...others, option.label]);
        for (const other of control.parentElement?.children ?? []) {
          other.ariaPressed = String(chosen.get(question.question)?.includes(other.querySelector("b")?.textContent ?? ""));
        }
        return undefined;
      });
      return control;
    }),
  );
}

/** @param {PendingAnswer} pending @param {any} request */
function permissionCard(pending, request) {
  const reason = pending.field("reason", make("input", { placeholder: "Why, or what instead", "aria-label": "Reason for denial" }));
  /** @param {string} decision */
  const decide = (decision) => {
    const denial = decision === "deny" && reason.value.trim();
    return pending.send("answer_permission", { decision, ...(denial ? { reason: denial } : {}) }, decision === "deny" ? ["reason"] : []);
  };
  pending.submitOnEnter(reason, () => decide("deny"));
  const { command } = request.tool_input ?? {};
  const isCommand = typeof command === "string";
  const { worktree } = pending.app.state.parentsOf(pending.app.state.sessions.get(pending.sessionId));
  return make(
    "section.request",
    make("h3", isCommand ? "Run this command?" : `Allow ${request.tool_name || "a tool"}?`),
    request.description && make("p", renderCode(request.description)),
    make("pre", isCommand ? command : JSON.stringify(request.tool_input, null, 2), { tabIndex: 0 }),
    request.directory && request.directory !== worktree?.path && make("p.path", `In ${request.directory}`),
    make(
      "div.choices",
      button("Allow", () => decide("allow"), ".primary"),
      may("send_chat_message") && button("Allow for this session", () => decide("allow_session")),
      may("send_chat_message") && request.session_scope && make("small", `For this session: ${request.session_scope}.`),
    ),
    make("div.answer-line", reason, button("Deny", () => decide("deny"))),
  );
}

/** Render parts between backticks as code. @param {string} text @returns {(Node | string)[]} */
function renderCode(text) {
  // Parts with odd indexes were between backticks.
  return text.split(/(?<!`)`([^`\n]+)`(?!`)/).map((part, index) => (index % 2 ? make("code", part) : part));
}
