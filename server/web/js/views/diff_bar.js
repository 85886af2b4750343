// @ts-check
// The bar above the changes: which side, the next step, and everything else in a menu.

import { choose } from "../dialogs.js";
import { button, make, syncChildren } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { pullRequestMark } from "../marks.js";
import { performAction } from "../perform.js";
import { hashFor } from "../router.js";
import { showKeys } from "./diff_keys.js";

/**
 * @typedef {import("./diff.js").DiffView} DiffView
 * @typedef {import("./diff.js").Side} Side
 * @typedef {[key: string, icon: string, label: string, action: () => unknown]} Step
 */

const EMPTY = {
  unstaged: "No unstaged changes.",
  staged: "No staged changes.",
  branch: "The branch has no commits of its own.",
};

const NARROW = matchMedia("(max-width: 48rem)"); // too narrow for two columns
const WIDE = matchMedia("(min-width: 80rem)"); // two columns by default
const KEY = "spinney-diff-look";

/** The layout of lines: chosen in this browser, or by the available width. */
export class DiffLayout {
  /** @param {() => void} onChange @param {boolean} isBeside whether it is beside a conversation, where there is one column */
  constructor(onChange, isBeside) {
    this.onChange = onChange;
    this.isBeside = isBeside;
    for (const width of [NARROW, WIDE]) width.addEventListener("change", onChange);
  }

  close() {
    for (const width of [NARROW, WIDE]) width.removeEventListener("change", this.onChange);
  }

  get #chosen() {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}");
  }

  /** Whether two columns can be chosen. */
  get canSplit() {
    return !NARROW.matches && !this.isBeside;
  }

  /** Whether old and new are in two columns, where long lines wrap. */
  get isSplit() {
    return this.canSplit && Boolean(this.#chosen.split ?? WIDE.matches);
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

export class DiffBar {
  /** @param {DiffView} view */
  constructor(view) {
    this.view = view;
    this.sides = make("div.sides", { role: "group", "aria-label": "Which changes" });
    /** @type {Map<Side, HTMLButtonElement>} */
    this.buttons = new Map();
    for (const side of view.sides) {
      const control = make("button", { type: "button", onclick: () => view.showSide(side) });
      this.buttons.set(side, control);
      this.sides.append(control);
    }
    this.chip = button("", () => this.#chooseSide(), ".chip.side-chip");
    this.sides.append(this.chip);
    this.note = make("p.note", { role: "status" });
    this.filesButton = button([icon("folder"), make("span.count")], () => view.fileList.openSheet(), ".quiet.files-button", { "aria-label": "Files", title: "Files" });
    this.next = make("span.next");
    const worktree = make("a.button.quiet.icon-only.back", icon("back"), { href: hashFor("worktree", view.id), "aria-label": "Worktree", title: "Worktree" });
    const more = button(icon("more"), () => this.#openMenu(), ".quiet.icon-only", { "aria-label": "More actions", title: "More actions" });
    this.element = make("header.diff-bar", !view.isBeside && worktree, this.sides, this.note, this.filesButton, this.next, more);
  }

  focus() {
    const control = this.buttons.get(this.view.side);
    (control?.checkVisibility() ? control : this.chip).focus({ preventScroll: true });
  }

  draw() {
    const { view } = this;
    for (const [side, control] of this.buttons) {
      const label = this.#labelOf(side);
      if (control.textContent !== label) control.textContent = label;
      control.ariaPressed = String(side === view.side);
    }
    const chosen = `${this.#labelOf(view.side)} ▾`;
    if (this.chip.textContent !== chosen) this.chip.textContent = chosen;
    this.#drawNext();
    const files = view.changes?.files ?? [];
    const count = /** @type {HTMLElement} */ (this.filesButton.lastElementChild);
    count.textContent = `${view.files.filter((file) => file.isViewed).length}/${files.length}`;
    this.filesButton.hidden = files.length < 2;
    this.note.classList.toggle("bad", Boolean(view.problem));
    const hint = uncommittedHint(view);
    this.note.classList.toggle("needed", Boolean(view.problem || hint) || (view.changes !== undefined && !files.length)); // on a phone, too
    const text = view.problem || (view.changes ? `${files.length ? countChanges(files) : EMPTY[view.side]}${hint}` : "");
    if (this.note.textContent !== text) this.note.textContent = text;
  }

  /** @param {Side} side */
  #labelOf(side) {
    const count = this.view.counts.get(side);
    return `${{ unstaged: "Working", staged: "Staged", branch: `vs ${this.view.base}` }[side]}${count ? ` ${count}` : ""}`;
  }

  async #chooseSide() {
    const { view } = this;
    const chosen = await choose("Which changes?", view.sides.map((side) => [`${this.#labelOf(side)}: ${SIDE_TITLES[side]}`, side]));
    if (chosen) view.showSide(chosen);
  }

  #drawNext() {
    const step = this.#nextStep();
    const { worktree } = this.view.git;
    const url = worktree.pr_url;
    const key = step?.[0] ?? (url ? `${url} ${worktree.cached_pr_status} ${worktree.cached_check_status}` : "");
    if (this.next.dataset.key === key) return;
    this.next.dataset.key = key;
    if (step) syncChildren(this.next, [button([icon(step[1]), step[2]], step[3], ".primary")]);
    else syncChildren(this.next, url ? [make("a.button", icon("pull-request"), pullRequestMark(worktree), { href: hashFor("pull-request", worktree.id) })] : []);
  }

  /** What comes next for these changes. @returns {Step | null} */
  #nextStep() {
    const { git, counts, operation } = this.view;
    const { worktree } = git;
    if (operation?.conflicts) return ["resolve", "merge", "Resolve", () => git.operation.focus()];
    if (operation?.name) return ["finish", "check", "Finish", () => git.operation.finish(operation.name ?? "")];
    if (counts.get("unstaged") || counts.get("staged")) return ["commit", "commit", "Commit", () => git.commit()];
    if (worktree.cached_unpushed_count > 0) return ["push", "push", "Push", () => git.push()];
    if (counts.get("branch") && !worktree.pr_url) return ["pull-request", "pull-request", "Pull request", () => git.pullRequest()];
    return null;
  }

  async #openMenu() {
    const { view } = this;
    const { git, layout, actions, side, files } = view;
    const isPartlyOpen = files.some((file) => file.isOpen);
    const module = () => import("./git_history.js");
    /** @type {(import("../dialogs.js").MenuEntry<() => unknown> | false)[]} */
    const entries = [
      side === "unstaged" && files.length > 0 && ["Stage all", () => actions.runOnAll(), { icon: "plus" }],
      side === "staged" && files.length > 0 && ["Unstage all", () => actions.runOnAll(), { icon: "undo" }],
      !!view.changes?.can_undo && ["Undo discard", () => actions.undo(), { icon: "undo" }],
      ["Commit", () => git.commit(), { icon: "commit", isApart: true }],
      ["Push", () => git.push(), { icon: "push" }],
      [`Pull ${git.base}`, () => git.update(), { icon: "pull" }],
      ["Pull request", () => (git.worktree.pr_url ? view.app.go("pull-request", view.id) : git.pullRequest()), { icon: "pull-request" }],
      git.worktree.session_type !== "base" && ["Land…", () => performAction(view.app, "land"), { icon: "merge" }],
      [view.reviewed.isRunning ? "Stop the agent's review" : "Review by an agent", () => view.findings.toggle(), { icon: "agent", isApart: true }],
      view.reviewed.unsent > 0 && ["Send rejected hunks…", () => view.verdicts.send(), { icon: "send" }],
      (view.reviewed.state?.verdicts.length ?? 0) > 0 && ["Undo verdict", () => view.verdicts.takeBack(), { icon: "undo" }],
      ["Compare with…", () => performAction(view.app, "compare"), { icon: "diff" }],
      ["Commits", async () => (await module()).showLog(git), { icon: "history", isApart: true }],
      ["Amend the last commit", async () => (await module()).amend(git), { icon: "edit" }],
      ["Stash all changes", async () => (await module()).stash(git), { icon: "stash" }],
      ["Stashes", async () => (await module()).showStashes(git), { icon: "stash" }],
      layout.canSplit && [layout.isSplit ? "One column" : "Two columns", () => layout.choose({ split: !layout.isSplit }), { icon: "panel", isApart: true }],
      !layout.isSplit && [layout.wraps ? "Do not wrap lines" : "Wrap lines", () => layout.choose({ wrap: !layout.wraps }), { icon: "undo" }],
      files.length > 0 && [isPartlyOpen ? "Collapse all files" : "Expand all files", () => view.setAllExpanded(!isPartlyOpen), { icon: "up-down" }],
      ["Refresh", () => view.reload(), { icon: "refresh" }],
      !view.isBeside && ["Keys", () => showKeys(), { icon: "key" }],
      view.isBeside && ["Open the changes", () => view.app.go("diff", view.id), { icon: "external" }],
    ];
    const chosen = await choose("Changes", entries.filter((entry) => typeof entry === "object"));
    await chosen?.();
  }
}

/** @type {Record<Side, string>} */
const SIDE_TITLES = { unstaged: "what is not staged", staged: "what the next commit has", branch: "all commits of the branch" };

/** A hint that uncommitted changes are not part of the committed ones. @param {DiffView} view */
function uncommittedHint({ side, app, id }) {
  const worktree = app.state.worktrees.get(id);
  const [added, removed] = [worktree?.cached_uncommitted_added ?? 0, worktree?.cached_uncommitted_removed ?? 0];
  return side === "branch" && added + removed > 0 ? ` Not included: +${added} −${removed} uncommitted.` : "";
}

/** @param {import("./diff_head.js").ChangedFile[]} files */
function countChanges(files) {
  const total = (/** @type {"added" | "removed"} */ what) => files.reduce((sum, file) => sum + (file[what] ?? 0), 0);
  return `${pluralize(files.length, "file")}, ${pluralize(total("added"), "line")} added, ${total("removed").toLocaleString("en")} removed`;
}
