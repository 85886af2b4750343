// @ts-check
// The review comments of a pull request by place, open ones first, with reply and resolve; and the button that lets a
// session answer them.

import { ageElement } from "../age.js";
import { button, make, patchChildren, syncKeyed } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { externalLink } from "../links.js";
import { sendByCommand } from "./session_picker.js";

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
    patchChildren(this.choices, open.length ? [button([icon("agent"), "Answer the comments…"], () => sendByCommand(this.view.app, this.view.id, "answer_comments", {}, { title: "Answer the comments", details: "The open comments are sent to a session, which is to deal with them.", prompt: "review_comments" }))] : []);
  }

  /** @param {Thread} thread @param {HTMLElement | undefined} old */
  #thread(thread, old) {
    const signature = JSON.stringify(thread);
    if (old?.dataset.signature === signature) return old;
    const place = `${thread.path}${thread.line === null ? "" : `:${thread.line}`}`;
    const draft = /** @type {HTMLTextAreaElement | null | undefined} */ (old?.querySelector("textarea"));
    const element = make(
      "li.thread",
      make("p.path", place, thread.is_outdated && make("span.badge", "outdated")),
      thread.comments.map(({ author, body, created_at: at, url }) => make("div.thread-comment", make("p.hint", make("b", author), at ? [" ", ageElement(at)] : "", url && [" ", externalLink(url, icon("external", `Comment of ${author} at the hosting service`))]), make("p.verbatim", body))),
      thread.is_resolved ? make("p.hint", "Resolved.") : this.#reply(thread, place, draft),
      { "data-signature": signature },
    );
    return element;
  }

  /** The box for a reply; what is being written is kept in this browser. @param {Thread} thread @param {string} place @param {HTMLTextAreaElement | null | undefined} before the box that it replaces */
  #reply(thread, place, before) {
    const key = `spinney-reply-${this.view.id}-${thread.id}`;
    const text = make("textarea", { rows: 1, placeholder: "Reply", "aria-label": `Reply to the comment on ${place}`, value: localStorage.getItem(key) ?? "" });
    text.oninput = () => {
      if (text.value) localStorage.setItem(key, text.value);
      else localStorage.removeItem(key);
      draw();
    };
    /** @param {boolean} resolve */
    const send = async (resolve) => {
      if (!(await this.view.run("reply_to_thread", { threadId: thread.id, text: text.value.trim(), resolve }))) return;
      localStorage.removeItem(key);
    };
    const reply = button("Reply", () => send(false));
    const resolve = button("Resolve", () => send(true));
    const draw = () => {
      reply.hidden = !text.value.trim();
      resolve.textContent = text.value.trim() ? "Reply and resolve" : "Resolve";
      resolve.ariaLabel = `${resolve.textContent}: ${place}`;
    };
    draw();
    if (before && before === document.activeElement) requestAnimationFrame(() => text.focus({ preventScroll: true }));
    return make("div.thread-reply", text, make("div.choices", reply, resolve));
  }
}
