// @ts-check
// Links to sessions, with their marks, and to other sites.

import { make } from "./dom.js";
import { markElement, markOf } from "./marks.js";
import { hashFor } from "./router.js";

/** A link to a session or one of its messages, with the project and worktree. @param {import("./app.js").App} app @param {import("./state.js").Resource} session @param {string} [message] its id */
export function sessionLinkWithPath(app, session, message) {
  const { worktree, project } = app.state.parentsOf(session);
  const link = sessionLink(session, message);
  link.append(make("small", [project?.name, worktree?.name].filter(Boolean).join(" ▸ ")));
  return link;
}

/** A link to a session or one of its messages. @param {import("./state.js").Resource} session @param {string} [message] its id */
export function sessionLink(session, message) {
  return make("a.session", markElement(markOf(session)), make("span", make("b", session.name)), {
    href: hashFor("session", session.id, message ? { message } : {}),
  });
}

/**
 * A link to another site, or text if it is not an HTTP address.
 * @param {string} url @param {import("./dom.js").Parts} parts @param {"a" | "a.button"} [selector]
 */
export function externalLink(url, parts, selector = "a") {
  const isLink = /^https?:\/\//i.test(url);
  return isLink ? make(selector, parts, { href: url, target: "_blank", rel: "noopener noreferrer" }) : make("span", parts);
}
