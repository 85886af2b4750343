// @ts-check
// The comments that wait, and the session that they are sent to as one message.

import { button, make } from "../dom.js";
import { commentCard } from "./diff_card.js";
import { placeOf } from "./diff_comments.js";
import { sessionChoice } from "./session_choice.js";

/** @param {import("./diff.js").DiffView} view */
export function reviewSection(view) {
  const { app, id: worktreeId, comments } = view;
  const title = make("h2", "Comments", { tabIndex: -1 });
  const list = make("ul.comments");
  const choice = sessionChoice(app, worktreeId);
  const send = button("Send", () => sendAll(), ".primary");
  const element = make(
    "section.review",
    title,
    list,
    make("div.choices", make("span", "As one message to"), choice.element, send),
    { "aria-label": "Comments to send" },
  );

  const sendAll = async () => {
    const sent = comments.ready.map((comment) => ({ ...comment }));
    if (!sent.length) return;
    const review = await app.run("write_review", { worktreeId, comments: sent.map(plain) });
    if (!review || !(await choice.send(review.message))) return;
    // What was written on meanwhile is not what was sent.
    const isSent = (/** @type {any} */ now) => sent.some((then) => then.id === now.id && then.text === now.text && now.begun === undefined);
    comments.remove(...comments.list.filter(isSent));
    view.focus();
  };
  /** Tell of comments whose lines are on no side of the changes any more. */
  const lookForLost = async () => {
    const unseen = comments.ready.filter((comment) => !view.shows(comment.id));
    const asked = { worktreeId, comments: unseen.map(plain) };
    const found = unseen.length ? await app.connection.call("write_review", asked).catch(() => null) : { lost: [] };
    if (!found) return;
    const lost = new Set(found.lost.map((/** @type {number} */ at) => unseen[at].id));
    const news = unseen.filter((comment) => lost.has(comment.id) && !comments.lost.has(comment.id));
    const isSame = lost.size === comments.lost.size && !news.length;
    comments.lost = lost;
    if (news.length) app.say(`The lines of a comment are gone: ${news.map(placeOf).join(", ")}. It is kept, below.`);
    if (!isSame) comments.changed();
  };
  return {
    element,
    lookForLost,
    focus: () => title.focus(),
    draw() {
      const written = list.contains(document.activeElement) && document.activeElement instanceof HTMLTextAreaElement;
      const count = comments.ready.length;
      element.hidden = !comments.list.length;
      title.textContent = `Comments to send: ${count}`;
      send.disabled = !count;
      choice.draw();
      if (written && comments.list.some((comment) => comment.begun !== undefined)) return;
      list.replaceChildren(...comments.list.map((comment) => make("li", cardOf(view, comment))));
    },
  };
}

/** @param {import("./diff.js").DiffView} view @param {import("./diff_comments.js").Comment} comment */
function cardOf(view, comment) {
  const place = button(placeOf(comment), () => view.goTo(comment), ".quiet.place");
  // It is written where it stands; here only if it stands nowhere in sight.
  if (comment.begun === undefined || !view.shows(comment.id)) return commentCard(view.comments, comment, { place });
  return make("div.comment", place, make("p.hint", comment.text ? "being changed" : "being written"));
}

/** What the command takes of it. @param {import("./diff_comments.js").Comment} comment */
function plain({ path, side, line, is_removed, quoted, text }) {
  return { path, side, line, is_removed, quoted, text };
}
