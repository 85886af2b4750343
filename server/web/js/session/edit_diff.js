// @ts-check
// An edit as a diff: the lines that differ, with some lines of context.

import { make } from "../dom.js";

/** @param {string} before @param {string} after */
export function editDiff(before, after) {
  const old = before === "" ? [] : before.replace(/\n$/, "").split("\n");
  const now = after === "" ? [] : after.replace(/\n$/, "").split("\n");
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++;
  const context = 3;
  const first = Math.max(0, head - context);
  const lines = [
    ...old.slice(first, head).map((text) => line(" ", text)),
    ...old.slice(head, old.length - tail).map((text) => line("-", text)),
    ...now.slice(head, now.length - tail).map((text) => line("+", text)),
    ...old.slice(old.length - tail, old.length - tail + context).map((text) => line(" ", text)),
  ];
  return make("pre.diff", lines, { tabIndex: 0, role: "group", "aria-label": "Changes of the edit" });
}

/** @param {" " | "-" | "+"} sign @param {string} text */
function line(sign, text) {
  const name = sign === "+" ? "ins" : sign === "-" ? "del" : "span";
  return make(name, make("span.sign", sign), text, "\n");
}
