// @ts-check
// The unsent review comments, and the session to send them to as one message.

import { button, make } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { commentCard } from "./diff_card.js";
import { commentLocation } from "./diff_comments.js";
import { commentOf, keepWriting } from "./diff_focus.js";
import { sessionPicker } from "./session_picker.js";

/** @param {import("./diff.js").DiffView} view */
export function reviewSection(view) {
  const { app, id: worktreeId, comments } = view;
  const title = make("summary", "Comments");
  const list = make("ul.comments");
  const picker = sessionPicker(app, worktreeId);
  const send = button([icon("send"), "Send review"], () => sendAll(), ".primary");
  const fold = make("details", title, list);
  const element = make("section.review", fold, make("div.choices", make("span.hint", "to"), picker.element, send), { "aria-label": "Comments to send" });

  const sendAll = async () => {
    const sent = comments.ready.map((comment) => ({ ...comment }));
    if (!sent.length) return;
    const review = await app.run("write_review", { worktreeId, comments: sent.map(toArgument) });
    if (!review || !(await picker.send(review.message))) return;
    // Comments edited meanwhile were not sent in their current form.
    const isSent = (/** @type {any} */ current) => sent.some((other) => other.id === current.id && other.text === current.text && current.begun === undefined);
    comments.remove(...comments.list.filter(isSent));
    view.focus();
  };
  /** Find comments whose lines do not exist any more on any side, and report new ones. */
  const findOutdated = async () => {
    const hidden = comments.list.filter((comment) => (comment.text || comment.begun) && !view.showsComment(comment.id));
    const args = { worktreeId, comments: hidden.map(toArgument) };
    const response = hidden.length ? await app.connection.call("write_review", args).catch(() => null) : { lost: [] };
    if (!response) return;
    const outdated = new Set(response.lost.map((/** @type {number} */ index) => hidden[index].id));
    const newlyOutdated = hidden.filter((comment) => outdated.has(comment.id) && !comments.outdated.has(comment.id));
    const isSame = outdated.size === comments.outdated.size && !newlyOutdated.length;
    comments.outdated = outdated;
    if (newlyOutdated.length) app.toast(`The lines of a comment do not exist any more: ${newlyOutdated.map(commentLocation).join(", ")}. The comment is kept below.`);
    if (!isSame) comments.onChange();
  };
  /** Draw the list. A box in it is kept while it is written in, unless the comment's lines are back. */
  const draw = () => {
    const box = document.activeElement;
    const written = box instanceof HTMLTextAreaElement && list.contains(box) && commentOf(box);
    const count = comments.ready.length;
    // What is being written below its lines needs the screen of a phone for itself.
    element.hidden = !comments.list.some((comment) => comment.text || !view.showsComment(comment.id));
    title.textContent = pluralize(count, "comment");
    send.disabled = !count;
    picker.draw();
    const isKept = comments.list.some(({ id, begun }) => id === written && begun !== undefined) && !view.showsComment(written || "");
    if (!isKept) keepWriting(view, () => list.replaceChildren(...comments.list.map((comment) => make("li", makeCard(view, comment)))));
  };
  return {
    element,
    findOutdated,
    draw,
    focus() {
      fold.open = true;
      title.focus();
    },
    /** Show the comments in the list. */
    open() {
      fold.open = true;
      draw();
    },
  };
}

/** @param {import("./diff.js").DiffView} view @param {import("./diff_comments.js").Comment} comment */
function makeCard(view, comment) {
  const location = button(commentLocation(comment), () => view.goTo(comment), ".quiet.location");
  // It is edited below its lines, and here only if it is not shown there.
  if (comment.begun === undefined || !view.showsComment(comment.id)) return commentCard(view.comments, comment, { location });
  return make("div.comment", location, make("p.hint", comment.text ? "being edited" : "being written"));
}

/** The fields for the command. @param {import("./diff_comments.js").Comment} comment */
function toArgument({ path, side, line, is_removed, quoted, text }) {
  return { path, side, line, is_removed, quoted, text };
}
