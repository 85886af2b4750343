// @ts-check
// The comments on a whole pull request in the order of time; those before the newest and the open ones are folded. Open
// ones have a box for a reply, and so has the last one.

import { make, patchChildren, syncKeyed } from "../dom.js";
import { pluralize } from "../format.js";
import { answerButton, commentParts, keepUnchanged, replyBox } from "./pull_request_comments.js";

/**
 * @typedef {import("./pull_request.js").Thread} Thread
 * @typedef {import("./pull_request.js").PullRequest} PullRequest
 */

/** Comments that are not folded. */
const RECENT = 10;

/** @param {Thread} comment */
const isOpen = (comment) => comment.needs_answer && !comment.is_outdated;

export class Conversation {
  /** @param {import("./pull_request.js").PullRequestView} view */
  constructor(view) {
    this.view = view;
    this.title = make("h3");
    this.note = make("p.hint");
    this.summary = make("summary");
    this.earlier = make("ul.threads", { "aria-label": "Earlier comments" });
    this.fold = make("details", this.summary, this.earlier);
    this.recent = make("ul.threads", { "aria-label": "Newest comments" });
    this.choices = make("div.choices");
    this.element = make("section.card", make("div.card-head", this.title, this.choices), this.note, this.fold, this.recent, { "aria-label": "Conversation" });
  }

  /** @param {PullRequest} pr */
  show({ conversation, conversation_note: note, threads }) {
    const open = conversation.filter(isOpen);
    const firstOpen = conversation.findIndex(isOpen);
    const newest = Math.max(0, conversation.length - RECENT);
    const first = firstOpen < 0 ? newest : Math.min(newest, firstOpen);
    this.element.hidden = !conversation.length && !note;
    this.title.textContent = `Conversation${open.length ? `: ${open.length} not answered` : ""}`;
    this.note.textContent = note;
    this.note.hidden = !note;
    this.fold.hidden = !first;
    this.summary.textContent = pluralize(first, "earlier comment");
    const last = conversation.at(-1);
    syncKeyed(this.earlier, conversation.slice(0, first), (comment) => comment.id, (comment, old) => this.#comment(comment, false, old));
    syncKeyed(this.recent, conversation.slice(first), (comment) => comment.id, (comment, old) => this.#comment(comment, comment === last || isOpen(comment), old));
    // With open threads their card has the button, which sends both.
    const hasOpenThreads = threads.some((thread) => !thread.is_resolved);
    patchChildren(this.choices, open.length && !hasOpenThreads ? [answerButton(this.view)] : []);
  }

  /** @param {Thread} comment @param {boolean} canReply @param {HTMLElement | undefined} old */
  #comment(comment, canReply, old) {
    const author = comment.comments[0]?.author ?? "";
    const state = isOpen(comment) && make("span.badge", "not answered");
    return keepUnchanged([comment, canReply], old, (before) =>
      make(
        "li.thread",
        comment.comments.map((one, at) => make("div.thread-comment", commentParts(one, at === 0 && state && [" ", state]))),
        canReply && replyBox(this.view, comment, author, author, before),
      ),
    );
  }
}
