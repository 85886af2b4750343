// @ts-check
// What a session needs a person for: a plan, questions, or leave to use a tool.

import { answerOf, keepAnswer } from "./answers.js";
import { arm } from "./arming.js";
import { button, make } from "./dom.js";
import { hashOf } from "./router.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./state.js").Resource} Resource
 */

/**
 * The card for a session's request, or nothing.
 * @param {App} app @param {Resource} session
 * @param {{ hasBox: boolean }} place whether the session's message box is in sight: it discusses a plan
 * @returns {HTMLElement | null}
 */
export function requestCard(app, session, place) {
  const { request } = session;
  const draw = { plan: planCard, question: questionCard, permission: permissionCard }[/** @type {"plan"} */ (request?.kind)];
  if (!draw) return null;
  const card = draw(new Answering(app, session), request, place);
  arm(card);
  return card;
}

/** One request that is being answered: what is written is kept until it was sent. */
class Answering {
  #isSending = false;

  /** @param {App} app @param {Resource} session */
  constructor(app, session) {
    this.app = app;
    this.sessionId = session.id;
    this.requestId = session.request.id;
    this.isAside = !session.waiting_for;
    this.written = answerOf(this.sessionId, this.requestId);
  }

  /**
   * Keep what is written in a field, and put back what was.
   * @template {HTMLInputElement | HTMLTextAreaElement} Field
   * @param {string} name @param {Field} field @returns {Field}
   */
  field(name, field) {
    field.value = this.written[name] ?? field.value;
    field.addEventListener("input", () => this.#keep(name, field.value));
    return field;
  }

  /** Have enter in a field send what is written there. @param {HTMLInputElement | HTMLTextAreaElement} field @param {() => unknown} send */
  enter(field, send) {
    field.addEventListener("keydown", (event) => {
      const { key, shiftKey, isComposing } = /** @type {KeyboardEvent} */ (event);
      const breaksLines = field instanceof HTMLTextAreaElement && matchMedia("(pointer: coarse)").matches;
      if (key !== "Enter" || shiftKey || isComposing || breaksLines) return;
      event.preventDefault();
      if (field.value.trim()) send();
    });
  }

  /** @param {string} name @param {string} text */
  #keep(name, text) {
    this.written[name] = text;
    keepAnswer(this.sessionId, this.requestId, name, text);
  }

  /**
   * Answer with these fields; where that fails their texts are kept on.
   * @param {string} command @param {Record<string, unknown>} given @param {string[]} [used] names of the fields
   */
  async send(command, given, used = []) {
    if (this.#isSending) return undefined;
    this.#isSending = true;
    const texts = used.map((name) => this.written[name] ?? "");
    for (const name of used) this.#keep(name, "");
    const done = await this.app.run(command, { sessionId: this.sessionId, requestId: this.requestId, ...given });
    this.#isSending = false;
    if (done !== undefined) return done;
    for (const [at, name] of used.entries()) this.#keep(name, texts[at]);
    this.app.changed({ tree: true }); // the request may be gone, and the texts with it
    return undefined;
  }

  /** Answer in words, as a message. @param {string} name of the field @param {string} words */
  discuss(name, words) {
    this.#keep(name, "");
    this.app.outbox.add(this.sessionId, words);
  }
}

/** @param {Answering} answering @param {any} request @param {{ hasBox: boolean }} place */
function planCard(answering, request, { hasBox }) {
  const edited = answering.field("plan", make("textarea", { rows: 12, "aria-label": "The plan, as it should be carried out" }));
  edited.hidden = !edited.value;
  const edit = button("Edit first", () => {
    edited.hidden = !edited.hidden;
    edited.value ||= request.plan ?? "";
    edited.focus();
  });
  /** @param {"build" | "yolo"} mode */
  const approve = async (mode) => {
    const given = { mode, ...(edited.hidden ? {} : { plan: edited.value }), ...(fresh.checked ? { fresh: true } : {}) };
    const session = await answering.send("approve_plan", given, ["plan"]);
    if (session && session.id !== answering.sessionId && location.hash.startsWith(hashOf("session", answering.sessionId))) answering.app.go("session", session.id);
  };
  const fresh = make("input", { type: "checkbox" });
  return make(
    "section.request",
    make("h3", answering.isAside ? "This plan was set aside. Carry it out after all?" : "Carry out this plan?"),
    request.plan && make("details", make("summary", "the plan"), make("p.said", request.plan), { open: !hasBox }),
    edited,
    make("label.check", fresh, "In a fresh session, whose agent knows the plan alone"),
    make("div.choices", button("Build", () => approve("build"), ".primary"), yolo(() => approve("yolo")), edit),
    hasBox ? make("p.hint", "Or write in the message box what should be different.") : discussion(answering),
  );
}

/** A field for what should be different, where no message box is in sight. @param {Answering} answering */
function discussion(answering) {
  const words = answering.field("discuss", make("textarea", { rows: 1, placeholder: "What should be different", "aria-label": "What should be different" }));
  const send = () => {
    const said = words.value.trim();
    words.value = "";
    if (said) answering.discuss("discuss", said);
    else words.focus();
  };
  answering.enter(words, send);
  return make("div.answer-line", words, button("Discuss", send));
}

/** Yolo asks for a second press: nothing will be asked afterwards. @param {() => unknown} approve */
function yolo(approve) {
  let sureFrom = Infinity;
  const made = button("Yolo", () => {
    if (performance.now() >= sureFrom) return approve();
    if (sureFrom < Infinity) return undefined; // the second half of a double press
    sureFrom = performance.now() + DOUBLE;
    made.textContent = "Really? Nothing will be asked";
    return setTimeout(() => {
      sureFrom = Infinity;
      made.textContent = "Yolo";
    }, 5000);
  });
  return made;
}

const DOUBLE = 500; // ms within which two presses are one that was meant

/** @param {Answering} answering @param {any} request */
function questionCard(answering, request) {
  /** @type {Map<string, string[]>} */
  const chosen = new Map();
  const names = request.questions.map((/** @type {any} */ one) => one.question);
  const answer = () => {
    const given = Object.fromEntries(request.questions.map((/** @type {any} */ one) => [one.question, textOf(one)]));
    return answering.send("answer_question", { answer: given }, names);
  };
  const send = button("Answer", answer, ".primary", { disabled: true });
  const own = new Map();
  /** To several choices own words are added; the one choice they replace. @param {any} one */
  const textOf = (one) => {
    const words = own.get(one.question)?.value.trim();
    const picked = words && !one.multi_select ? [] : (chosen.get(one.question) ?? []);
    return [...picked, words].filter(Boolean).join(", ");
  };
  const look = () => {
    send.disabled = !request.questions.every(textOf);
  };
  const card = make(
    "section.request",
    request.questions.map((/** @type {any} */ one) => {
      const free = answering.field(one.question, make("input", { placeholder: "in your own words", "aria-label": one.question }));
      free.addEventListener("input", look);
      answering.enter(free, () => send.disabled || answer());
      own.set(one.question, free);
      return make("fieldset", make("legend", one.question), options(one, chosen, look), free);
    }),
    make("div.choices", send),
  );
  look();
  return card;
}

/** @param {any} one @param {Map<string, string[]>} chosen @param {() => void} look */
function options(one, chosen, look) {
  return make(
    "div.choices",
    one.options.map((/** @type {any} */ option) => {
      const made = make("button", make("b", option.label), option.description && make("small", option.description), option.preview && make("span.preview", option.preview), {
        type: "button",
        "aria-pressed": "false",
      });
      made.onclick = () => {
        const now = chosen.get(one.question) ?? [];
        const had = now.includes(option.label);
        const others = one.multi_select ? now.filter((label) => label !== option.label) : [];
        chosen.set(one.question, had ? others : [...others, option.label]);
        for (const other of made.parentElement?.children ?? []) {
          other.ariaPressed = String(chosen.get(one.question)?.includes(other.querySelector("b")?.textContent ?? ""));
        }
        look();
      };
      return made;
    }),
  );
}

/** @param {Answering} answering @param {any} request */
function permissionCard(answering, request) {
  const reason = answering.field("reason", make("input", { placeholder: "why not, and what to do instead", "aria-label": "Reason for a denial" }));
  /** @param {string} decision */
  const decide = (decision) => {
    const said = decision === "deny" && reason.value.trim();
    return answering.send("answer_permission", { decision, ...(said ? { reason: said } : {}) }, decision === "deny" ? ["reason"] : []);
  };
  answering.enter(reason, () => decide("deny"));
  const { command } = request.tool_input ?? {};
  return make(
    "section.request",
    make("h3", `May it use ${request.tool_name || "a tool"}?`),
    request.description && make("p", withCode(request.description)),
    request.directory && make("p.hint", `In ${request.directory}, in ${request.execution_mode} mode`),
    make("pre", typeof command === "string" ? command : JSON.stringify(request.tool_input, null, 2), { tabIndex: 0 }),
    make(
      "div.choices",
      button("Allow", () => decide("allow"), ".primary"),
      button("Allow for this session", () => decide("allow_session")),
      button("Deny", () => decide("deny")),
    ),
    request.session_scope && make("p.hint", `For this session: ${request.session_scope}.`),
    reason,
  );
}

/** A sentence whose parts between backticks are code, as agents write them. @param {string} text @returns {(Node | string)[]} */
function withCode(text) {
  // At odd places stands what one pair of backticks holds.
  return text.split(/(?<!`)`([^`\n]+)`(?!`)/).map((part, place) => (place % 2 ? make("code", part) : part));
}
