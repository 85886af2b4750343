// @ts-check
// Links to sessions, with their marks.

import { make } from "./dom.js";
import { markElement, markOf } from "./marks.js";
import { hashOf } from "./router.js";

/** A session by its name and place, or a message in it. @param {import("./app.js").App} app @param {import("./state.js").Resource} session @param {string} [message] its id */
export function sessionLink(app, session, message) {
  const { worktree, project } = app.state.placeOf(session);
  const link = sessionHere(session, message);
  link.append(make("small", [project?.name, worktree?.name].filter(Boolean).join(" ▸ ")));
  return link;
}

/** A session by its name, where its place is known. @param {import("./state.js").Resource} session @param {string} [message] its id */
export function sessionHere(session, message) {
  return make("a.session", markElement(markOf(session)), make("span", make("b", session.name)), {
    href: hashOf("session", session.id, message ? { message } : {}),
  });
}
