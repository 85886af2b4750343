// @ts-check
// What a session needs a person for: a plan, questions, or leave to use a tool.

import { button, make } from "./dom.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./state.js").Resource} Resource
 */

/** The card for a session's request, or nothing. @param {App} app @param {Resource} session @returns {HTMLElement | null} */
export function requestCard(app, session) {
  const request = session.request;
  const card = { plan: planCard, question: questionCard, permission: permissionCard }[/** @type {"plan"} */ (request?.kind)];
  return card ? card(app, session, request) : null;
}

/** @param {App} app @param {Resource} session @param {any} request */
function planCard(app, session, request) {
  const given = { sessionId: session.id, requestId: request.id };
  const edited = make("textarea", { hidden: true, rows: 12, "aria-label": "The plan, as it should be carried out" });
  const plan = () => (edited.hidden ? {} : { plan: edited.value });
  const edit = button("Edit first", () => {
    edited.hidden = !edited.hidden;
    edited.value ||= request.plan ?? "";
    edited.focus();
  });
  return make(
    "section.request",
    make("h3", "Carry out this plan?"),
    request.plan && make("details", make("summary", "the plan"), make("p.said", request.plan)),
    edited,
    make(
      "div.choices",
      button("Build", () => app.run("approve_plan", { ...given, mode: "build", ...plan() }), ".primary"),
      yolo(() => app.run("approve_plan", { ...given, mode: "yolo", ...plan() })),
      edit,
    ),
    make("p.hint", "Or write in the message box what should be different."),
  );
}

/** Yolo asks for a second press: nothing will be asked afterwards. @param {() => unknown} approve */
function yolo(approve) {
  let isSure = false;
  const made = button("Yolo", () => {
    if (isSure) return approve();
    isSure = true;
    made.textContent = "Really? Nothing will be asked";
    return setTimeout(() => {
      isSure = false;
      made.textContent = "Yolo";
    }, 4000);
  });
  return made;
}

/** @param {App} app @param {Resource} session @param {any} request */
function questionCard(app, session, request) {
  /** @type {Map<string, string[]>} */
  const chosen = new Map();
  const send = button("Answer", () => {
    const answer = Object.fromEntries(request.questions.map((/** @type {any} */ one) => [one.question, textOf(one)]));
    return app.run("answer_question", { sessionId: session.id, requestId: request.id, answer });
  }, ".primary", { disabled: true });
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
  return make(
    "section.request",
    request.questions.map((/** @type {any} */ one) => {
      const free = make("input", { placeholder: "in your own words", "aria-label": one.question, oninput: look });
      own.set(one.question, free);
      return make("fieldset", make("legend", one.question), options(one, chosen, look), free);
    }),
    make("div.choices", send),
  );
}

/** @param {any} one @param {Map<string, string[]>} chosen @param {() => void} look */
function options(one, chosen, look) {
  return make(
    "div.choices",
    one.options.map((/** @type {any} */ option) => {
      const made = make("button", make("b", option.label), option.description && make("small", option.description), {
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

/** @param {App} app @param {Resource} session @param {any} request */
function permissionCard(app, session, request) {
  const reason = make("input", { placeholder: "why not, and what to do instead", "aria-label": "Reason for a denial" });
  /** @param {string} decision */
  const decide = (decision) => {
    const said = decision === "deny" && reason.value.trim();
    return app.run("answer_permission", {
      sessionId: session.id,
      requestId: request.id,
      decision,
      ...(said ? { reason: said } : {}),
    });
  };
  const { command } = request.tool_input ?? {};
  return make(
    "section.request",
    make("h3", `May it use ${request.tool_name || "a tool"}?`),
    request.description && make("p", request.description),
    make("pre", typeof command === "string" ? command : JSON.stringify(request.tool_input, null, 2), { tabIndex: 0 }),
    make(
      "div.choices",
      button("Allow", () => decide("allow"), ".primary"),
      button("Allow for this session", () => decide("allow_session")),
      button("Deny", () => decide("deny")),
    ),
    reason,
  );
}
