// @ts-check
// One comment: read, or written in a box that keeps every letter.

import { button, make } from "../dom.js";
import { placeOf } from "./diff_comments.js";

/**
 * @typedef {import("./diff_comments.js").Comment} Comment
 * @typedef {import("./diff_comments.js").Comments} Comments
 */

/**
 * @param {Comments} comments
 * @param {Comment} comment
 * @param {{ place?: HTMLElement, left?: () => void }} [how] `place` stands above it; `left`: its box was closed
 */
export function commentCard(comments, comment, { place, left } = {}) {
  const card = make("div.comment", { role: "group", "aria-label": `Comment on ${placeOf(comment)}`, "data-comment": comment.id });
  if (place) card.append(place);
  if (comments.lost.has(comment.id)) card.append(make("p.warned", "Its lines are gone; it is kept, and tells the agent so."));
  if (comment.begun === undefined) card.append(...reading(comments, comment));
  else card.append(...writing(comments, comment, left));
  return card;
}

/** @param {Comments} comments @param {Comment} comment */
function reading(comments, comment) {
  const edit = () => {
    comment.begun = comment.text;
    comments.keep();
  };
  return [
    make("p.comment-text", comment.text),
    make("div.choices", button("Edit", edit, ".edit"), button("Remove", () => comments.remove(comment))),
  ];
}

/** @param {Comments} comments @param {Comment} comment @param {() => void} [left] */
function writing(comments, comment, left) {
  const box = make("textarea", {
    rows: 3,
    value: comment.begun ?? "",
    placeholder: "What should be different?",
    "aria-label": `Comment on ${placeOf(comment)}`,
  });
  box.oninput = () => {
    comment.begun = box.value;
    comments.keep({ quietly: true });
  };
  const keep = () => {
    comment.text = box.value.trim();
    if (!comment.text) return close();
    delete comment.begun;
    comments.keep();
    left?.();
  };
  const close = () => {
    delete comment.begun;
    if (comment.text) comments.keep();
    else comments.remove(comment);
    left?.();
  };
  box.onkeydown = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) keep();
    else if (event.key === "Escape" && !box.value.trim()) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return [box, make("div.choices", button("Save", keep, ".primary"), button("Cancel", close))];
}
