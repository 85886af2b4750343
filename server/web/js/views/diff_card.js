// @ts-check
// A review comment, shown or being edited; every keystroke is saved.

import { button, make } from "../dom.js";
import { commentLocation } from "./diff_comments.js";

/**
 * @typedef {import("./diff_comments.js").Comment} Comment
 * @typedef {import("./diff_comments.js").Comments} Comments
 */

/**
 * @param {Comments} comments
 * @param {Comment} comment
 * @param {{ location?: HTMLElement, onClose?: () => void }} [options] `location` is shown above it; `onClose` is called when its box is closed
 */
export function commentCard(comments, comment, { location, onClose } = {}) {
  const card = make("div.comment", { role: "group", "aria-label": `Comment on ${commentLocation(comment)}`, "data-comment": comment.id });
  if (location) card.append(location);
  if (comments.outdated.has(comment.id)) card.append(make("p.warned", "The lines do not exist any more. The comment is kept, and the agent is informed."));
  if (comment.begun === undefined) card.append(...shownComment(comments, comment));
  else card.append(...editedComment(comments, comment, onClose));
  return card;
}

/** @param {Comments} comments @param {Comment} comment */
function shownComment(comments, comment) {
  const edit = () => {
    comment.begun = comment.text;
    comments.save();
  };
  return [
    make("p.comment-text", comment.text),
    make("div.choices", button("Edit", edit, ".edit"), button("Remove", () => comments.remove(comment))),
  ];
}

/** @param {Comments} comments @param {Comment} comment @param {() => void} [onClose] */
function editedComment(comments, comment, onClose) {
  const box = make("textarea", {
    rows: 3,
    value: comment.begun ?? "",
    placeholder: "Your comment",
    "aria-label": `Comment on ${commentLocation(comment)}`,
  });
  box.addEventListener("input", () => {
    comment.begun = box.value;
    comments.save({ quietly: true });
  });
  const save = () => {
    comment.text = box.value.trim();
    if (!comment.text) return close();
    delete comment.begun;
    comments.save();
    onClose?.();
  };
  const close = () => {
    delete comment.begun;
    if (comment.text) comments.save();
    else comments.remove(comment);
    onClose?.();
  };
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
    else if (event.key !== "Escape") return;
    else if (!box.value.trim()) close(); // what is written stays, and so does the run beside it
    event.preventDefault();
    event.stopPropagation();
  });
  return [box, make("div.choices", button(comment.text ? "Save" : "Add", save, ".primary"), button("Cancel", close))];
}
