// @ts-check
// What a person should know besides the sessions that the start view lists anyway: red checks, reviews, limits, failures.

import { ageElement } from "../age.js";
import { button, make, syncKeyed } from "../dom.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const REASONS = new Set(["check_failed", "review", "disk", "limit", "failed"]);

/** Show the notices in a list; its section is hidden if there are none. @param {App} app @param {HTMLElement} part @param {HTMLElement} list */
export function drawNotices(app, part, list) {
  const notices = [...app.state.notices.values()].filter(({ reason }) => REASONS.has(reason));
  notices.sort((a, b) => b.created_at - a.created_at);
  part.hidden = !notices.length;
  syncKeyed(list, notices, ({ id, created_at }) => `${id} ${created_at}`, (notice, old) => old ?? noticeRow(app, notice));
}

/** @param {App} app @param {Resource} notice */
function noticeRow(app, notice) {
  const link = make(
    "a",
    icon(notice.reason === "review" ? "info" : "warning"),
    make("span.grow", make("b", notice.title), make("small", notice.text)),
    make("small", ageElement(notice.created_at)),
    { href: addressOf(notice) },
  );
  const dismiss = button([icon("close")], () => app.run("dismiss_notice", { noticeId: notice.id }), ".quiet.icon-only", { title: "Dismiss", "aria-label": `Dismiss: ${notice.title}` });
  return make("li.notice", link, dismiss);
}

/** @param {Resource} notice */
function addressOf(notice) {
  if (notice.session_id) return hashFor("session", notice.session_id);
  return notice.worktree_id ? hashFor("worktree", notice.worktree_id) : hashFor("sweep");
}
