// @ts-check
// Parts of the session view around the conversation: breadcrumb, menu, scroll buttons and the end.

import { requestCard } from "../cards.js";
import { changeCard } from "./change_card.js";
import { choose } from "../dialogs.js";
import { button, make, syncKeyed } from "../dom.js";
import { changeCounts } from "../marks.js";
import { listActions, performAction } from "../perform.js";
import { hashFor } from "../router.js";
import { pluralize } from "../format.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const MENU_ACTIONS = ["next_waiting", "rename_session", "new_session", "previous_session", "next_session", "show_raw_log", "archive_session", "delete_session"];
const MAX_SIBLINGS = 5;

/** Update the links to the worktree, its changes, and its other sessions. @param {App} app @param {Resource} session @param {HTMLElement} nav */
export function drawBreadcrumb(app, session, nav) {
  const { worktree, project } = app.state.parentsOf(session);
  if (!worktree) return;
  const others = app.state.sessionsOf(worktree.id).filter((other) => other.id !== session.id);
  const path = `${project?.name ?? ""} ▸ ${worktree.name}`;
  const links = [
    make("a.worktree", path, { href: hashFor("worktree", worktree.id), title: path }),
    make("a.changes", "Changes", changeCounts(worktree), { href: hashFor("diff", worktree.id) }),
    ...others.slice(0, MAX_SIBLINGS).map((other) => make("a.sibling", other.name, { href: hashFor("session", other.id), title: other.name })),
    ...(others.length ? [allSessionsLink(others.length, worktree.id)] : []),
  ];
  syncKeyed(nav, links, (link) => link.className + link.hash, (link, old) => {
    if (!old || old.isEqualNode(link)) return old ?? link;
    old.replaceChildren(...link.childNodes); // the focus stays on the link
    old.title = link.title;
    return old;
  });
}

/** The link to the sessions that are not listed: all others on a phone, else those after the first few. @param {number} count @param {string} worktreeId */
function allSessionsLink(count, worktreeId) {
  const title = `All ${count + 1} sessions of this worktree`;
  return make(
    "a.all-sessions",
    make("span.few", pluralize(count + 1, "session")),
    count > MAX_SIBLINGS && make("span.many", `${count - MAX_SIBLINGS} more`),
    { href: hashFor("worktree", worktreeId), title, "aria-label": title },
  );
}

/**
 * Buttons to scroll to the first message and to the end, while the end is not visible.
 * @param {() => unknown} goToFirst @param {() => unknown} goToEnd
 */
export function scrollButtons(goToFirst, goToEnd) {
  const first = button("↑", goToFirst, "", { "aria-label": "Go to the first message", title: "Go to the first message" });
  const end = button("", goToEnd);
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
      end.textContent = end.dataset.news ? "↓ New messages" : "↓ Go to the end";
      first.hidden = isAtFirst;
      element.hidden = false;
    },
  };
}

/** A plan that was set aside, and can be approved while nothing is running. @param {Resource} session */
export const setAsidePlan = (session) => (session.status === "running" ? null : (session.set_aside_plan ?? null));

/**
 * Elements after the last message: changes, recap, request, and archive notice.
 * @param {App} app @param {Resource} session
 * @param {boolean} isUnanswered whether it was stopped before the agent answered
 * @param {import("./change_card.js").FileChange[]} changes of the newest answer
 */
export function endElements(app, session, isUnanswered, changes) {
  const { worktree } = app.state.parentsOf(session);
  const restore = button("Restore", () => app.run("unarchive_session", { sessionId: session.id }), ".primary");
  return [
    worktree && changes.length > 0 && changeCard(app, worktree, changes),
    isUnanswered && make("p.notice", "Stopped by you before the agent answered."),
    session.recap && make("section.recap", make("h3", "While you were away"), make("p", session.recap)),
    requestCard(app, { ...session, request: session.request ?? setAsidePlan(session) }, { hasBox: true }),
    session.archived_at && make("p.hint", "This session is archived. ", restore),
  ].filter((element) => element instanceof Node);
}

/** Show the menu of session actions. @param {App} app @param {string} title */
export async function chooseAction(app, title) {
  const actions = MENU_ACTIONS.map((id) => listActions().find((action) => action.id === id)).filter((action) => action !== undefined);
  const chosen = await choose(title, actions.map((action) => [action.title, action.id]), () => chooseAction(app, title));
  if (chosen) await performAction(app, chosen);
}
