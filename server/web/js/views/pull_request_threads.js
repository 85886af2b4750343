// @ts-check
// The review comments of a pull request by place, open ones first, with reply and resolve.

import { make, patchChildren, syncKeyed } from "../dom.js";
import { pluralize } from "../format.js";
import { answerButton, commentParts, keepUnchanged, replyBox } from "./pull_request_comments.js";

/**
 * @typedef {import("./pull_request.js").Thread} Thread
 * @typedef {import("./pull_request.js").PullRequest} PullRequest
 */

export class Threads {
  /** @param {import("./pull_request.js").PullRequestView} view */
  constructor(view) {
    this.view = view;
    this.title = make("h3");
    this.note = make("p.hint");
    this.open = make("ul.threads", { "aria-label": "Open comments" });
    this.resolved = make("ul.threads", { "aria-label": "Resolved comments" });
    this.summary = make("summary");
    this.fold = make("details", this.summary, this.resolved);
    this.choices = make("div.choices");
    this.element = make("section.card", make("div.card-head", this.title, this.choices), this.note, this.open, this.fold, { "aria-label": "Comments" });
  }

  /** @param {PullRequest} pr */
  show({ threads, threads_note: note }) {
    const open = threads.filter((thread) => !thread.is_resolved);
    const resolved = threads.filter((thread) => thread.is_resolved);
    this.title.textContent = open.length ? `${pluralize(open.length, "open comment")}` : "Comments";
    this.note.textContent = note || (threads.length ? "" : "No comments on the changes.");
    this.note.hidden = !this.note.textContent;
    syncKeyed(this.open, open, (thread) => thread.id, (thread, old) => this.#thread(thread, old));
    syncKeyed(this.resolved, resolved, (thread) => thread.id, (thread, old) => this.#thread(thread, old));
    this.fold.hidden = !resolved.length;
    this.summary.textContent = `${resolved.length} resolved`;
    patchChildren(this.choices, open.length ? [answerButton(this.view)] : []);
  }

  /** @param {Thread} thread @param {HTMLElement | undefined} old */
  #thread(thread, old) {
    return keepUnchanged(thread, old, (before) => {
      const place = thread.path ? `${thread.path}${thread.line === null ? "" : `:${thread.line}`}` : "The whole pull request";
      return make(
        "li.thread",
        make("p.path", place, thread.is_outdated && make("span.badge", "outdated")),
        thread.comments.map((comment) => make("div.thread-comment", commentParts(comment))),
        thread.is_resolved ? make("p.hint", "Resolved.") : replyBox(this.view, thread, `the comment on ${place}`, place, before),
      );
    });
  }
}
