// @ts-check
// User messages, shown verbatim, except that fenced diffs as in reviews are shown as diffs.

import { blockElement } from "./blocks.js";
import { make } from "../dom.js";

const OPENS = /^(`{3,})diff$/;
const CLOSES = /^(`{3,})$/;

/** @param {string} text */
export function userTextElement(text) {
  if (!text.includes("```diff")) return make("p.verbatim", text);
  /** @type {(Node | string)[]} */
  const parts = [];
  /** @type {string[]} */
  let lines = [];
  let fence = "";
  for (const line of text.split("\n")) {
    const opens = OPENS.exec(line)?.[1];
    const closes = CLOSES.exec(line)?.[1];
    if (fence && closes && closes.length >= fence.length) {
      parts.push(diffElement(lines));
      [lines, fence] = [[], ""];
    } else if (!fence && opens) {
      if (lines.length) parts.push(lines.join("\n"));
      [lines, fence] = [[], opens];
    } else lines.push(line);
  }
  // An unclosed fence is ordinary text.
  if (fence) lines.unshift(`${fence}diff`);
  if (lines.length) parts.push(lines.join("\n"));
  return make("div.verbatim", parts);
}

/** @param {string[]} lines */
function diffElement(lines) {
  const figure = blockElement({ type: "code", language: "diff", lines: lines.map((line) => [[line]]) });
  for (const line of figure.querySelectorAll(".line")) {
    const sign = line.textContent?.[0];
    if (sign === "+" || sign === "-") line.classList.add(sign === "+" ? "added" : "removed");
  }
  return figure;
}
