// @ts-check
// The toolbar of the diff view: sides, actions on everything, and layout.

import { make, syncChildren } from "../dom.js";
import { pluralize } from "../format.js";

const EMPTY = {
  unstaged: "No unstaged changes.",
  staged: "No staged changes.",
  branch: "The branch has no commits of its own.",
};

/** @typedef {[key: string, label: string, action: () => unknown, isPressed?: boolean]} Entry */

const NARROW = matchMedia("(max-width: 48rem)"); // too narrow for two columns
const WIDE = matchMedia("(min-width: 80rem)"); // two columns by default
const KEY = "spinney-diff-look";

/** The layout of lines: chosen in this browser, or by the available width. */
export class DiffLayout {
  /** @param {() => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
    for (const width of [NARROW, WIDE]) width.addEventListener("change", onChange);
  }

  close() {
    for (const width of [NARROW, WIDE]) width.removeEventListener("change", this.onChange);
  }

  get #chosen() {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  }

  /** Whether old and new are in two columns, where long lines wrap. */
  get isSplit() {
    return !NARROW.matches && Boolean(this.#chosen.split ?? WIDE.matches);
  }

  /** Whether long lines wrap. */
  get wraps() {
    return Boolean(this.#chosen.wrap);
  }

  /** @param {{ split?: boolean, wrap?: boolean }} chosen */
  choose(chosen) {
    localStorage.setItem(KEY, JSON.stringify({ ...this.#chosen, ...chosen }));
    this.onChange();
  }
}

/** @param {import("./diff.js").DiffView} view */
export function diffBars(view) {
  const sides = make("div.choices.sides", { role: "group", "aria-label": "Which changes" });
  const tools = make("div.choices.tools");
  const note = make("p.hint");
  return {
    sides,
    tools,
    note,
    draw() {
      const { changes, side, layout, actions, comments } = view;
      const names = { unstaged: "Not staged", staged: "Staged", branch: `Committed vs ${changes?.base ?? "its base"}` };
      const sideNames = /** @type {[import("./diff.js").Side, string][]} */ (Object.entries(names));
      syncButtons(sides, sideNames.map(([name, label]) => [name, label, () => view.showSide(name), side === name]));
      const allLabel = side === "unstaged" ? "Stage all" : "Unstage all";
      /** @type {(Entry | false | undefined)[]} */
      const entries = [
        side !== "branch" && Boolean(changes?.files.length) && ["all", allLabel, () => actions.runOnAll()],
        actions.discards > 0 && ["undo", "Undo discard", () => actions.undo()],
        !NARROW.matches && ["split", "Two columns", () => layout.choose({ split: !layout.isSplit }), layout.isSplit],
        !layout.isSplit && ["wrap", "Wrap lines", () => layout.choose({ wrap: !layout.wraps }), layout.wraps],
        ["refresh", "Refresh", () => view.reload()],
        comments.list.length > 0 && ["comments", `Comments: ${comments.list.length}`, () => view.review.focus()],
      ];
      syncButtons(tools, entries.filter((entry) => typeof entry === "object"));
      note.classList.toggle("bad", Boolean(view.problem));
      if (view.problem) note.textContent = view.problem;
      else note.textContent = !changes ? "Loading …" : `${changes.files.length ? countChanges(changes.files) : EMPTY[side]}${uncommittedHint(view)}`;
    },
  };
}

/** A hint that uncommitted changes are not part of the committed ones. @param {import("./diff.js").DiffView} view */
function uncommittedHint({ side, app, id }) {
  const worktree = app.state.worktrees.get(id);
  const [added, removed] = [worktree?.cached_uncommitted_added ?? 0, worktree?.cached_uncommitted_removed ?? 0];
  return side === "branch" && added + removed > 0 ? ` Not included: +${added} −${removed} uncommitted.` : "";
}

/** @param {import("./diff_head.js").ChangedFile[]} files */
function countChanges(files) {
  const total = (/** @type {"added" | "removed"} */ what) => files.reduce((allLabel, file) => allLabel + (file[what] ?? 0), 0);
  return `${pluralize(files.length, "file")}, ${pluralize(total("added"), "line")} added, ${total("removed").toLocaleString("en")} removed`;
}

/** Update buttons without replacing them, so that they keep the focus. @param {HTMLElement} container @param {Entry[]} entries */
function syncButtons(container, entries) {
  const old = new Map([...container.children].map((child) => [/** @type {HTMLElement} */ (child).dataset.key, child]));
  const buttons = entries.map(([key, label, action, isPressed]) => {
    const control = /** @type {HTMLButtonElement} */ (old.get(key) ?? make("button", { type: "button", "data-key": key }));
    if (control.textContent !== label) control.textContent = label;
    if (isPressed !== undefined) control.ariaPressed = String(isPressed);
    control.onclick = action;
    return control;
  });
  syncChildren(container, buttons);
}
