// @ts-check
// "Needs you": every plan, question and permission over all projects, to be answered right here.

import { requestCard } from "../cards.js";
import { button, make, placeKeyed, renew } from "../dom.js";
import { sessionLink } from "../links.js";
import { asks } from "../marks.js";
import { perform } from "../perform.js";
import { hashOf } from "../router.js";
import { counted } from "../words.js";

/** @type {import("../app.js").MakeView} */
export function needsView(app) {
  const list = make("div.needs");
  const rest = make("div.running");
  const element = make("div.page", problemsElement(app), list, rest);

  const draw = () => {
    const waiting = app.state.waiting();
    if (!waiting.length) renew(list, [make("p.hint", nobody(app))]);
    else placeKeyed(list, waiting, (session) => session.id, (session, old) => {
      if (old && old.dataset.request === (session.request?.id ?? "")) return old;
      return needed(app, session);
    });
    const running = app.state.running();
    renew(rest, running.length ? [make("h2", "Running"), ...running.map((session) => make("p", sessionLink(app, session)))] : []);
  };
  return { title: "Needs you", element, changed: (change) => change.tree && draw() };
}

/** What is wrong with this Spinney itself, where something is. @param {import("../app.js").App} app */
function problemsElement(app) {
  const box = make("section.problems", { hidden: true });
  app.connection.call("get_problems").then((/** @type {string[]} */ problems) => {
    box.hidden = !problems.length;
    box.replaceChildren(make("h2", "Problems"), ...problems.map((problem) => make("p.bad", problem)));
  }, () => {});
  return box;
}

/** @param {import("../app.js").App} app */
function nobody(app) {
  if (!app.state.projects.size) {
    return ["No projects yet. ", button("Add a project", () => perform(app, "add_project"), ".primary")];
  }
  const running = app.state.running().length;
  const words = running ? `${counted(running, "session")} at work, below.` : "Nothing runs.";
  return [`Nobody needs you. ${words} `, make("a.button", "New worktree", { href: hashOf("new") })];
}

/** @param {import("../app.js").App} app @param {import("../state.js").Resource} session */
function needed(app, session) {
  const link = sessionLink(app, session);
  link.querySelector("b")?.after(` ${asks(session)}`);
  const card = make("section.needed", make("h2", link), requestCard(app, session, { hasBox: false }));
  card.dataset.request = session.request?.id ?? "";
  return card;
}
