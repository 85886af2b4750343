// What a session needs a person for: a plan, questions, or leave to use a tool.

import { button, make } from "/dom.js";

/** The card for a session's request, or nothing. `run(command, args)` tells of failures itself. */
export function requestCard(session, run) {
  const request = session.request;
  if (!request) return null;
  const cards = { plan: planCard, question: questionCard, permission: permissionCard };
  return cards[request.kind]?.(session.id, request, run) ?? null;
}

function planCard(sessionId, _, run) {
  const approve = (mode) => run("approve_plan", { sessionId, mode });
  return make(
    "section.request",
    make("h3", "Carry out this plan?"),
    make("p", "Or write below what should be different."),
    make(
      "div.choices",
      button("Approve", () => approve("build"), ".primary"),
      button("Approve, ask nothing more", () => approve("yolo")),
    ),
  );
}

function questionCard(sessionId, request, run) {
  const answers = new Map();
  const send = () => run("answer_question", { sessionId, answer: Object.fromEntries(answers) });
  const choose = (one, label, pressed) => {
    answers.set(one.question, label);
    for (const other of pressed.parentElement.children) other.ariaPressed = String(other === pressed);
    if (answers.size === request.questions.length) return send();
    return null;
  };
  const option = (one) => (given) => {
    const made = button(given.label, () => choose(one, given.label, made));
    made.title = given.description;
    return made;
  };
  return make(
    "section.request",
    request.questions.map((one) => [
      make("h3", one.question),
      make("div.choices", one.options.map(option(one))),
    ]).flat(),
    make("p", "Or answer in your own words below."),
  );
}

function permissionCard(sessionId, request, run) {
  const decide = (decision) =>
    run("answer_permission", { sessionId, requestId: request.id, decision });
  return make(
    "section.request",
    make("h3", `May it use ${request.tool_name}?`),
    request.description && make("p", request.description),
    make("pre", JSON.stringify(request.tool_input, null, 2)),
    make(
      "div.choices",
      button("Allow once", () => decide("allow"), ".primary"),
      button("Allow for this session", () => decide("allow_session")),
      button("Deny", () => decide("deny")),
    ),
  );
}
