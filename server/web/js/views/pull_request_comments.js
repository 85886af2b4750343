// @ts-check
// What review threads and the conversation of a pull request share: a comment, the box for a reply, and the button
// that lets a session answer what is open.

import { ageElement } from "../age.js";
import { button, make } from "../dom.js";
import { icon } from "../icons.js";
import { externalLink } from "../links.js";
import { sendByCommand } from "./session_picker.js";

/**
 * @typedef {import("./pull_request.js").Thread} Thread
 * @typedef {import("./pull_request.js").PullRequestView} PullRequestView
 */

/** @param {PullRequestView} view */
export function answerButton({ app, id }) {
  return button([icon("agent"), "Answer the comments…"], () => sendByCommand(app, id, "answer_comments", {}, { title: "Answer the comments", details: "The open comments are sent to a session, which is to deal with them.", prompt: "review_comments" }));
}

/** Who wrote a comment, when, and what. @param {Thread["comments"][number]} comment @param {import("../dom.js").Parts} [state] */
export function commentParts({ author, body, created_at: at, url, is_bot: isBot, is_outsider: isOutsider }, state) {
  return [
    make("p.hint", make("b", author), at ? [" ", ageElement(at)] : "", isBot && " · app", isOutsider && " · no role here", url && [" ", externalLink(url, icon("external", `Comment of ${author} at the hosting service`))], state),
    make("p.verbatim", body),
  ];
}

/**
 * The element of a thread, which is made again only if what it shows has changed.
 * @param {unknown} shown @param {HTMLElement | undefined} old
 * @param {(before: HTMLTextAreaElement | null | undefined) => HTMLElement} build gets the box for a reply that is replaced
 */
export function keepUnchanged(shown, old, build) {
  const signature = JSON.stringify(shown);
  if (old?.dataset.signature === signature) return old;
  const element = build(/** @type {HTMLTextAreaElement | null | undefined} */ (old?.querySelector("textarea")));
  element.dataset.signature = signature;
  return element;
}

/**
 * The box for a reply, and to resolve what can be resolved; what is being written is kept in this browser.
 * @param {PullRequestView} view @param {Thread} thread @param {string} to whom or what the reply is to
 * @param {string} place what is resolved @param {HTMLTextAreaElement | null | undefined} before the box that it replaces
 */
export function replyBox(view, thread, to, place, before) {
  const key = `spinney-reply-${view.id}-${thread.id}`;
  const text = make("textarea", { rows: 1, placeholder: "Reply", "aria-label": `Reply to ${to}`, value: localStorage.getItem(key) ?? "" });
  text.addEventListener("input", () => {
    if (text.value) localStorage.setItem(key, text.value);
    else localStorage.removeItem(key);
    draw();
  });
  /** @param {boolean} resolve */
  const send = async (resolve) => {
    if (!(await view.run("reply_to_thread", { threadId: thread.id, text: text.value.trim(), resolve }))) return;
    localStorage.removeItem(key);
  };
  const reply = button("Reply", () => send(false));
  const resolve = button("Resolve", () => send(true));
  const draw = () => {
    reply.hidden = !text.value.trim();
    resolve.hidden = Boolean(thread.resolve_note);
    resolve.textContent = text.value.trim() ? "Reply and resolve" : "Resolve";
    resolve.ariaLabel = `${resolve.textContent}: ${place}`;
  };
  draw();
  if (before && before === document.activeElement) {
    const { selectionStart, selectionEnd } = before;
    queueMicrotask(() => { // once it is in the document, and before the next key
      text.focus({ preventScroll: true });
      text.setSelectionRange(selectionStart, selectionEnd);
    });
  }
  return make("div.thread-reply", text, make("div.choices", reply, resolve));
}
