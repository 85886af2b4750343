// @ts-check
// Parts of the session view around the conversation: menu, scroll buttons and the end.

import { requestCard } from "../cards.js";
import { changeCard } from "./change_card.js";
import { choose } from "../dialogs.js";
import { button, make } from "../dom.js";
import { guest } from "../guest.js";
import { icon } from "../icons.js";
import { listActions, performAction } from "../perform.js";
import { pauseCard } from "./pause.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

/** The icons of the menu's actions. @type {Record<string, string>} */
const MENU_ACTIONS = {
  next_waiting: "question",
  send_later: "send",
  new_session: "plus",
  rename_session: "edit",
  share_session: "external",
  set_budget_of_session: "bolt",
  open_worktree_page: "branch",
  pull_request: "pull-request",
  show_landing: "merge",
  previous_session: "chevron-up",
  next_session: "chevron-down",
  continue_elsewhere: "terminal",
  show_raw_log: "file",
  archive_session: "archive",
  archive_worktree: "archive",
  delete_session: "trash",
};

/**
 * Buttons to scroll to the first message and to the end, while the end is not visible.
 * @param {() => unknown} goToFirst @param {() => unknown} goToEnd
 */
export function scrollButtons(goToFirst, goToEnd) {
  const first = button(icon("to-start"), goToFirst, ".icon-only", { "aria-label": "Go to the first message", title: "Go to the first message" });
  const label = document.createTextNode("");
  const end = button([icon("to-end"), label], goToEnd);
  const element = make("div.scroll-buttons", first, end, { hidden: true });
  return {
    element,
    hide() {
      element.hidden = true;
      delete end.dataset.news;
    },
    /** @param {{ hasNews?: boolean, isAtFirst?: boolean }} options `hasNews`: there is new content below */
    show({ hasNews = false, isAtFirst = false }) {
      if (hasNews) end.dataset.news = "yes";
      label.data = end.dataset.news ? "New messages" : "Go to the end";
      first.hidden = isAtFirst;
      element.hidden = false;
    },
  };
}

/** A plan that was set aside, and can be approved while nothing is running. @param {Resource} session */
export const setAsidePlan = (session) => (session.status === "running" ? null : (session.set_aside_plan ?? null));

/**
 * Elements after the last message: changes, recap, pause, request, and archive notice.
 * @param {App} app @param {Resource} session
 * @param {boolean} isUnanswered whether it was stopped before the agent answered
 * @param {import("./turns.js").LastChanges | null} end what the newest turn changed
 */
export function endElements(app, session, isUnanswered, end) {
  const { worktree } = app.state.parentsOf(session);
  const restore = button("Restore", () => app.run("unarchive_session", { sessionId: session.id }), ".primary");
  return [
    worktree && end && !guest() && changeCard(app, worktree, end.changes, end.turn),
    isUnanswered && make("p.notice", "Stopped by you before the agent answered."),
    session.recap && make("section.recap", make("h3", "While you were away"), make("p", session.recap)),
    session.status === "paused" && session.pause && !session.archived_at && pauseCard(app, session),
    requestCard(app, { ...session, request: session.request ?? setAsidePlan(session) }, { hasBox: true }),
    session.archived_at && make("p.hint", "This session is archived. ", !guest() && restore),
  ].filter((element) => element instanceof Node);
}

/** Show the menu of session actions. @param {App} app @param {string} title */
export async function chooseAction(app, title) {
  const actions = Object.keys(MENU_ACTIONS).map((id) => listActions().find((action) => action.id === id)).filter((action) => action !== undefined);
  /** @type {import("../dialogs.js").MenuEntry<string>[]} */
  const entries = actions.map(({ id, title }) => [title, id, { icon: MENU_ACTIONS[id], danger: id === "delete_session" }]);
  const chosen = await choose(title, entries, () => chooseAction(app, title));
  if (chosen) await performAction(app, chosen);
}
