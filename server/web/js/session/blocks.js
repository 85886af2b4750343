// @ts-check
// Converts block trees of the server (`model/richtext/blocks.py`) to elements. Strings are never parsed as HTML:
// element names, classes and attributes come from the fixed lists below.

import { button, make } from "../dom.js";

/**
 * @typedef {{ text: string, bold?: boolean, italic?: boolean, strike?: boolean, code?: boolean, href?: string }} Span
 * @typedef {[string, string?][]} CodeLine tokens of a line with their classes
 * @typedef {any} Block see `as_json` there
 */

const LINK = /^(https?|mailto):/i;
const CLASS = /^[a-z_]{1,40}$/;
const LANGUAGE = /^[\w+#.-]{1,40}$/;

/** @param {Block} block @returns {HTMLElement} */
export function blockElement(block) {
  switch (block.type) {
    case "paragraph":
      return make("p", spans(block.spans));
    case "heading":
      return make("p.heading", spans(block.spans), {
        role: "heading",
        "aria-level": String(Math.min(6, Math.max(1, block.level) + 2)),
        "data-level": String(block.level),
      });
    case "code":
      return codeElement(block);
    case "list":
      return listElement(block);
    case "quote":
      return make("blockquote", block.blocks.map(blockElement));
    case "table":
      return tableElement(block);
    case "rule":
      return make("hr");
    default:
      return make("p", JSON.stringify(block));
  }
}

/** @param {Span[]} spanList */
function spans(spanList) {
  return spanList.map((span) => {
    /** @type {Node} */
    let node = document.createTextNode(span.text);
    if (span.code) node = make("code", node);
    if (span.bold) node = make("b", node);
    if (span.italic) node = make("i", node);
    if (span.strike) node = make("s", node);
    if (span.href && LINK.test(span.href)) {
      node = make("a", node, { href: span.href, target: "_blank", rel: "noopener noreferrer" });
    }
    return node;
  });
}

/** @param {Block} block */
function codeElement(block) {
  const lines = make("code", block.lines.map(codeLine));
  const label = LANGUAGE.test(block.language) ? block.language : "code";
  const pre = make("pre", lines, { tabIndex: 0, role: "group", "aria-label": label });
  const copy = button("copy", () => copyText(lines.textContent ?? "", copy), ".quiet.copy");
  return make("figure.code", make("figcaption", make("span", block.language), copy), pre);
}

/** @param {CodeLine} line */
export function codeLine(line) {
  return make(
    "span.line",
    line.map(([text, kind]) => (kind && CLASS.test(kind) ? make("span", text, { className: `tok-${kind}` }) : text)),
    "\n",
  );
}

/** @param {Block} block */
function listElement(block) {
  const items = block.items.map(itemElement);
  const list = make(block.ordered ? "ol" : "ul", items);
  if (block.ordered && block.start !== 1) list.setAttribute("start", String(block.start));
  if (block.tight) list.classList.add("tight");
  if (block.continues) list.classList.add("continues");
  return list;
}

/** A list item, or a task with a checkbox. @param {Block[]} item */
function itemElement(item) {
  const [first, ...rest] = item;
  const [, mark] = /^\[([ xX])\] /.exec(first?.type === "paragraph" ? (first.spans[0]?.text ?? "") : "") ?? [];
  if (mark === undefined) return make("li", item.map(blockElement));
  const [lead, ...spans] = first.spans;
  const paragraph = blockElement({ ...first, spans: [{ ...lead, text: lead.text.slice("[x] ".length) }, ...spans] });
  const isDone = mark !== " ";
  const text = isDone ? "done" : "to do";
  paragraph.prepend(make("span.task", isDone ? "☑" : "☐", { role: "img", "aria-label": text, title: text }), " ");
  return make("li.task", paragraph, rest.map(blockElement));
}

/** @param {Block} block */
function tableElement(block) {
  /** @param {"td" | "th"} name @param {Span[][]} cells */
  const row = (name, cells) =>
    make("tr", cells.map((cell, index) => make(name, spans(cell), { className: `align-${block.aligns[index] ?? "left"}` })));
  const table = make(
    "table",
    make("thead", row("th", block.header)),
    make("tbody", block.rows.map((/** @type {Span[][]} */ cells) => row("td", cells))),
  );
  return make("div.table", table, { tabIndex: 0, role: "group", "aria-label": "table" });
}

/**
 * Replace the children of an element from index `from` by new blocks.
 * Code that only grew (`from_line`) keeps its existing lines.
 * @param {HTMLElement} element
 * @param {number} from
 * @param {Block[]} blocks
 */
export function replaceBlocks(element, from, blocks) {
  let [first, ...rest] = blocks;
  const old = element.children[from];
  if (first?.from_line !== undefined && old) {
    growCode(old, first);
    from += 1;
    [first, ...rest] = rest;
  }
  while (element.children.length > from) element.lastElementChild?.remove();
  if (first) element.append(blockElement(first), ...rest.map(blockElement));
}

/** @param {Element} figure @param {Block} block */
function growCode(figure, block) {
  const code = figure.querySelector("code");
  if (!code) return;
  while (code.children.length > block.from_line) code.lastElementChild?.remove();
  code.append(...block.lines.map(codeLine));
}

/**
 * Copy text, also without the clipboard API, which needs HTTPS.
 * @param {string} text
 * @param {HTMLElement} [label] briefly shows that it was copied
 */
export async function copyText(text, label) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea.visually-hidden", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  if (!label) return;
  const before = label.textContent;
  label.textContent = "copied";
  setTimeout(() => (label.textContent = before), 1500);
}
