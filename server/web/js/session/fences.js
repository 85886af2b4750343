// @ts-check
// What a person said, as they wrote it; only code between fences, as in a review that they sent, is drawn as code.

import { blockElement } from "./blocks.js";
import { make } from "../dom.js";

const FENCE = /^(`{3,})([\w+#.-]*)\s*$/;

/** @param {string} text */
export function saidElement(text) {
  if (!text.includes("```")) return make("p.said", text);
  /** @type {(Node | string)[]} */
  const parts = [];
  /** @type {string[]} */
  let lines = [];
  /** @type {{ fence: string, language: string } | null} */
  let open = null;
  const all = text.split("\n");
  for (const line of all) {
    const [, fence, language = ""] = FENCE.exec(line) ?? [];
    if (open && fence && fence.length >= open.fence.length && !language) {
      parts.push(codeOf(lines, open.language));
      [lines, open] = [[], null];
    } else if (!open && fence) {
      if (lines.length) parts.push(lines.join("\n"));
      [lines, open] = [[], { fence, language }];
    } else lines.push(line);
  }
  // A fence that is never closed is text like any other.
  const rest = open ? [open.fence + open.language, ...lines] : lines;
  if (rest.join("\n").trim()) parts.push(rest.join("\n"));
  return make("div.said", parts);
}

/** @param {string[]} lines @param {string} language */
function codeOf(lines, language) {
  const figure = blockElement({ type: "code", language, lines: lines.map((line) => [[line]]) });
  if (language !== "diff") return figure;
  for (const line of figure.querySelectorAll(".line")) {
    const sign = line.textContent?.[0];
    if (sign === "+" || sign === "-") line.classList.add(sign === "+" ? "added" : "removed");
  }
  return figure;
}
