// @ts-check
// The "Needs you" view: all open plans, questions and permission requests, to be answered directly.

import { requestCard } from "../cards.js";
import { button, make, syncKeyed, patchChildren } from "../dom.js";
import { sessionLinkWithPath } from "../links.js";
import { requestLabel } from "../marks.js";
import { performAction } from "../perform.js";
import { hashFor } from "../router.js";
import { pluralize } from "../format.js";

/** @type {import("../app.js").MakeView} */
export function needsView(app) {
  const list = make("div.needs");
  const rest = make("div.running");
  const element = make("div.page", problemsElement(app), list, rest);

  const draw = () => {
    const waiting = app.state.waiting();
    if (!waiting.length) patchChildren(list, [make("p.hint", emptyContent(app))]);
    else syncKeyed(list, waiting, (session) => session.id, (session, old) => {
      if (old && old.dataset.request === (session.request?.id ?? "")) return old;
      return waitingItem(app, session);
    });
    const running = app.state.running();
    patchChildren(rest, running.length ? [make("h2", "Running"), ...running.map((session) => make("p", sessionLinkWithPath(app, session)))] : []);
  };
  return { title: "Needs you", element, update: (change) => change.tree && draw() };
}

/** Problems of this Spinney, if any. @param {import("../app.js").App} app */
function problemsElement(app) {
  const box = make("section.problems", { hidden: true });
  app.connection.call("get_problems").then((/** @type {string[]} */ problems) => {
    box.hidden = !problems.length;
    box.replaceChildren(make("h2", "Problems"), ...problems.map((problem) => make("p.bad", problem)));
  }, () => {});
  return box;
}

/** @param {import("../app.js").App} app */
function emptyContent(app) {
  if (!app.state.projects.size) {
    return ["No projects yet. ", button("Add a project", () => performAction(app, "add_project"), ".primary")];
  }
  const running = app.state.running().length;
  const text = running ? `${pluralize(running, "session")} running, listed below.` : "No session is running.";
  return [`No session needs you. ${text} `, make("a.button", "New worktree", { href: hashFor("new") })];
}

/** @param {import("../app.js").App} app @param {import("../state.js").Resource} session */
function waitingItem(app, session) {
  const link = sessionLinkWithPath(app, session);
  link.querySelector("b")?.after(` ${requestLabel(session)}`);
  const card = make("section.waiting-item", make("h2", link), requestCard(app, session, { hasBox: false }));
  card.dataset.request = session.request?.id ?? "";
  return card;
}
