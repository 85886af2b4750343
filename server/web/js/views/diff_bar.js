// @ts-check
// Over the changes: which side of them, everything at once, and how lines stand.

import { make, place } from "../dom.js";
import { counted } from "../words.js";

const EMPTY = {
  unstaged: "Nothing is changed that is not staged.",
  staged: "Nothing is staged.",
  branch: "The branch has no commits that its base lacks.",
};

/** @typedef {[key: string, words: string, action: () => unknown, isPressed?: boolean]} Entry */

const NARROW = matchMedia("(max-width: 48rem)"); // a phone has no room for two
const WIDE = matchMedia("(min-width: 80rem)"); // two versions stand beside each other, unless one chose
const KEY = "spinney-diff-look";

/** How lines stand: chosen in this browser, or by the room that there is. */
export class Look {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    for (const width of [NARROW, WIDE]) width.addEventListener("change", changed);
  }

  close() {
    for (const width of [NARROW, WIDE]) width.removeEventListener("change", this.changed);
  }

  get #chosen() {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  }

  /** Whether old and new stand beside each other; long lines wrap there. */
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
    this.changed();
  }
}

/** @param {import("./diff.js").DiffView} view */
export function bars(view) {
  const sides = make("div.choices.sides", { role: "group", "aria-label": "Which changes" });
  const tools = make("div.choices.tools");
  const note = make("p.hint");
  return {
    sides,
    tools,
    note,
    draw() {
      const { changes, side, look, actions, comments } = view;
      const names = { unstaged: "Not staged", staged: "Staged", branch: `Committed vs ${changes?.base ?? "its base"}` };
      const named = /** @type {[import("./diff.js").Side, string][]} */ (Object.entries(names));
      sync(sides, named.map(([name, words]) => [name, words, () => view.lookAt(name), side === name]));
      const all = side === "unstaged" ? "Stage all" : "Unstage all";
      /** @type {(Entry | false | undefined)[]} */
      const entries = [
        side !== "branch" && Boolean(changes?.files.length) && ["all", all, () => actions.onAll()],
        actions.discards > 0 && ["undo", "Undo discard", () => actions.undo()],
        !NARROW.matches && ["split", "Two columns", () => look.choose({ split: !look.isSplit }), look.isSplit],
        !look.isSplit && ["wrap", "Wrap lines", () => look.choose({ wrap: !look.wraps }), look.wraps],
        ["look", "Refresh", () => view.reload()],
        comments.list.length > 0 && ["comments", `Comments: ${comments.list.length}`, () => view.review.focus()],
      ];
      sync(tools, entries.filter((entry) => typeof entry === "object"));
      note.classList.toggle("bad", Boolean(view.problem));
      if (view.problem) note.textContent = view.problem;
      else note.textContent = !changes ? "Reading …" : `${changes.files.length ? counts(changes.files) : EMPTY[side]}${elsewhere(view)}`;
    },
  };
}

/** The base is compared with commits: that there is more is said where it is looked for. @param {import("./diff.js").DiffView} view */
function elsewhere({ side, app, id }) {
  const worktree = app.state.worktrees.get(id);
  const [more, less] = [worktree?.cached_uncommitted_added ?? 0, worktree?.cached_uncommitted_removed ?? 0];
  return side === "branch" && more + less > 0 ? ` +${more} −${less} are not committed and not counted here.` : "";
}

/** @param {import("./diff_head.js").ChangedFile[]} files */
function counts(files) {
  const sum = (/** @type {"added" | "removed"} */ what) => files.reduce((all, file) => all + (file[what] ?? 0), 0);
  return `${counted(files.length, "file")}, ${counted(sum("added"), "line")} added, ${sum("removed").toLocaleString("en")} removed`;
}

/** Buttons that stay the same elements while their words change, so that the keys stay on them. @param {HTMLElement} box @param {Entry[]} entries */
function sync(box, entries) {
  const old = new Map([...box.children].map((child) => [/** @type {HTMLElement} */ (child).dataset.key, child]));
  const wanted = entries.map(([key, words, action, isPressed]) => {
    const known = /** @type {HTMLButtonElement} */ (old.get(key) ?? make("button", { type: "button", "data-key": key }));
    if (known.textContent !== words) known.textContent = words;
    if (isPressed !== undefined) known.ariaPressed = String(isPressed);
    known.onclick = action;
    return known;
  });
  place(box, wanted);
}
