// @ts-check
// What stands around a session's conversation: where it lies, what can be done with it, what it says below.

import { requestCard } from "../cards.js";
import { choose } from "../dialogs.js";
import { button, make, placeKeyed } from "../dom.js";
import { changeCounts } from "../marks.js";
import { list, perform } from "../perform.js";
import { hashOf } from "../router.js";
import { counted } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const OFFERED = ["next_waiting", "rename_session", "new_session", "previous_session", "next_session", "show_raw_log", "archive_session", "delete_session"];
const BESIDE = 5;

/** Where it lies, what it changes, and the sessions beside it. @param {App} app @param {Resource} session @param {HTMLElement} nav */
export function drawPlaces(app, session, nav) {
  const { worktree, project } = app.state.placeOf(session);
  if (!worktree) return;
  const others = app.state.sessionsOf(worktree.id).filter((other) => other.id !== session.id);
  const place = `${project?.name ?? ""} ▸ ${worktree.name}`;
  const links = [
    make("a.worktree", place, { href: hashOf("worktree", worktree.id), title: place }),
    make("a.changes", "Changes", changeCounts(worktree), { href: hashOf("diff", worktree.id) }),
    ...others.slice(0, BESIDE).map((other) => make("a.beside", other.name, { href: hashOf("session", other.id), title: other.name })),
    ...(others.length ? [othersLink(others.length, worktree.id)] : []),
  ];
  placeKeyed(nav, links, (link) => link.className + link.hash, (link, old) => {
    if (!old || old.isEqualNode(link)) return old ?? link;
    old.replaceChildren(...link.childNodes); // whoever has the keys on it keeps them
    old.title = link.title;
    return old;
  });
}

/** The way to the sessions that are not named: all the others on a phone, those after the first few at a desk. @param {number} count @param {string} worktreeId */
function othersLink(count, worktreeId) {
  const title = `All ${count + 1} sessions of this worktree`;
  return make(
    "a.others",
    make("span.few", counted(count + 1, "session")),
    count > BESIDE && make("span.many", `${count - BESIDE} more`),
    { href: hashOf("worktree", worktreeId), title, "aria-label": title },
  );
}

/**
 * The ways through a conversation that is longer than the screen, while its end is not shown.
 * @param {() => unknown} toFirst @param {() => unknown} toEnd
 */
export function scrollButtons(toFirst, toEnd) {
  const first = button("↑", toFirst, "", { "aria-label": "To the first message", title: "To the first message" });
  const end = button("", toEnd);
  const element = make("div.ways", first, end, { hidden: true });
  return {
    element,
    hide() {
      element.hidden = true;
      delete end.dataset.news;
    },
    /** @param {{ hasNews?: boolean, isAtFirst?: boolean }} how `hasNews`: something came below */
    show({ hasNews = false, isAtFirst = false }) {
      if (hasNews) end.dataset.news = "yes";
      end.textContent = end.dataset.news ? "↓ New below" : "↓ To the end";
      first.hidden = isAtFirst;
      element.hidden = false;
    },
  };
}

/** A plan that was stopped, and can be approved while nothing runs. @param {Resource} session */
export const setAside = (session) => (session.status === "running" ? null : (session.set_aside_plan ?? null));

/** What stands under the last message: a recap, what is asked, and that it is archived. @param {App} app @param {Resource} session @param {boolean} isUnanswered whether it was stopped before it answered */
export function toldBelow(app, session, isUnanswered) {
  const back = button("Bring it back", () => app.run("unarchive_session", { sessionId: session.id }), ".primary");
  return [
    isUnanswered && make("p.notice", "Stopped by you, before the agent answered."),
    session.recap && make("section.recap", make("h3", "While you were away"), make("p", session.recap)),
    requestCard(app, { ...session, request: session.request ?? setAside(session) }, { hasBox: true }),
    session.archived_at && make("p.hint", "This session is archived. ", back),
  ].filter((each) => each instanceof Node);
}

/** Let something be chosen that is done with the session. @param {App} app @param {string} title */
export async function chooseAction(app, title) {
  const actions = OFFERED.map((id) => list().find((action) => action.id === id)).filter((action) => action !== undefined);
  const chosen = await choose(title, actions.map((action) => [action.title, action.id]), () => chooseAction(app, title));
  if (chosen) await perform(app, chosen);
}
