// @ts-check
// What stands around a session's conversation: where it lies, what can be done with it, what it says below.

import { ACTIONS, perform } from "../actions.js";
import { requestCard } from "../cards.js";
import { choose } from "../dialogs.js";
import { button, make, placeKeyed } from "../dom.js";
import { hashOf } from "../router.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const OFFERED = ["next_waiting", "rename_session", "new_session", "previous_session", "next_session", "archive_session", "delete_session"];
const BESIDE = 5;

/** Where it lies, and the sessions beside it. @param {App} app @param {Resource} session @param {HTMLElement} nav */
export function drawPlaces(app, session, nav) {
  const { worktree, project } = app.state.placeOf(session);
  if (!worktree) return;
  const others = app.state.sessionsOf(worktree.id).filter((other) => other.id !== session.id).slice(0, BESIDE);
  const places = [
    [hashOf("worktree", worktree.id), `${project?.name ?? ""} ▸ ${worktree.name}`],
    [hashOf("diff", worktree.id), "Changes"],
    ...others.map((other) => [hashOf("session", other.id), other.name]),
  ];
  placeKeyed(nav, places, ([href]) => href, ([href, words], old) => {
    const link = old ?? make("a", { href });
    if (link.textContent !== words) link.textContent = words;
    return link;
  });
}

/** What stands under the last message: a recap, what is asked, and that it is archived. @param {App} app @param {Resource} session */
export function toldBelow(app, session) {
  const back = button("Bring it back", () => app.run("unarchive_session", { sessionId: session.id }), ".primary");
  return [
    session.recap && make("section.recap", make("h3", "While you were away"), make("p", session.recap)),
    requestCard(app, session),
    session.archived_at && make("p.hint", "This session is archived. ", back),
  ].filter((each) => each instanceof Node);
}

/** Let something be chosen that is done with the session. @param {App} app @param {string} title */
export async function chooseAction(app, title) {
  const actions = OFFERED.map((id) => ACTIONS.find((action) => action.id === id)).filter((action) => action !== undefined);
  const chosen = await choose(title, actions.map((action) => [action.title, action.id]));
  if (chosen) await perform(app, chosen);
}
