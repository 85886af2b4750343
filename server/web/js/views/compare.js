// @ts-check
// What differs between any two branches, commits or worktrees of a project, with all that is uncommitted in a worktree.

import { missingView } from "../app.js";
import { ask } from "../dialogs.js";
import { button, make } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { readingFile } from "./diff_reading.js";
import { labeled, optionsOf } from "./form_fields.js";
import { loadStylesheet } from "./stylesheet.js";

await Promise.all([loadStylesheet("forms"), loadStylesheet("work")]);

/** @typedef {import("../app.js").App} App */

const OTHER = "\0other"; // the choice of a commit
const MAX_OPEN = 8; // files, up to which all are opened
const MAX_FILES = 500;
const WIDE = "(min-width: 64rem)"; // two columns

/** @type {import("../app.js").MakeView} */
export function compareView(app, route) {
  if (!app.state.projects.has(route.id)) return missingView(app, "projects", route.id);
  return new CompareView(app, route);
}

class CompareView {
  title = "Comparison";
  /** @type {{ name: string }[]} */ #branches = [];
  #reading = 0;

  /** @param {App} app @param {import("../router.js").Route} route */
  constructor(app, route) {
    this.app = app;
    this.projectId = route.id;
    const project = app.state.projects.get(route.id);
    this.sides = { left: route.query.get("left") || project?.default_branch || "", right: route.query.get("right") || "" };
    this.fields = { left: this.#field("left"), right: this.#field("right") };
    const swap = button(icon("refresh"), () => this.#choose({ left: this.sides.right, right: this.sides.left }), ".quiet.icon-only.swap", { "aria-label": "Swap both sides", title: "Swap" });
    this.status = make("p.hint", { role: "status" });
    this.list = make("div.compared-files");
    this.element = make("div.page.compare", make("div.compare-sides", labeled("From", this.fields.left), swap, labeled("To", this.fields.right)), this.status, this.list);
    this.#drawFields();
    this.#loadBranches();
    this.#load();
  }

  get subtitle() {
    return this.app.state.projects.get(this.projectId)?.name ?? "";
  }

  handleReload() {
    this.#load();
  }

  /** @param {"left" | "right"} side */
  #field(side) {
    const control = make("select");
    control.addEventListener("change", async () => {
      if (control.value !== OTHER) return this.#choose({ [side]: control.value });
      const commit = await ask("Compare with a commit or tag", { label: "Compare" });
      return this.#choose(commit?.trim() ? { [side]: commit.trim() } : {});
    });
    return control;
  }

  /** @param {Partial<CompareView["sides"]>} chosen */
  #choose(chosen) {
    this.sides = { ...this.sides, ...chosen };
    history.replaceState(history.state, "", hashFor("compare", this.projectId, this.sides));
    this.#drawFields();
    return this.#load();
  }

  async #loadBranches() {
    this.#branches = (await this.app.read("get_project_branches", { projectId: this.projectId })) ?? [];
    this.#drawFields();
  }

  #drawFields() {
    const worktrees = this.app.state.worktreesOf(this.projectId).filter((tree) => tree.status === "ready" && !tree.archived_at);
    for (const side of /** @type {const} */ (["left", "right"])) {
      const chosen = this.sides[side];
      const known = new Set([...worktrees.map((tree) => tree.id), ...this.#branches.map((branch) => branch.name)]);
      this.fields[side].replaceChildren(
        ...(chosen ? [] : optionsOf([["", "Choose …"]])),
        ...(chosen && !known.has(chosen) ? optionsOf([[chosen, chosen]]) : []),
        make("optgroup", optionsOf(worktrees.map((tree) => [tree.id, tree.name])), { label: "Worktrees" }),
        make("optgroup", optionsOf(this.#branches.map((branch) => [branch.name, branch.name])), { label: "Branches" }),
        ...optionsOf([[OTHER, "A commit or tag …"]]),
      );
      this.fields[side].value = chosen;
    }
  }

  async #load() {
    const { left, right } = this.sides;
    const reading = ++this.#reading;
    if (!left || !right) {
      this.status.textContent = "Choose what to compare.";
      this.list.replaceChildren();
      return;
    }
    this.status.textContent = "Comparing …";
    this.status.classList.remove("bad");
    try {
      const found = await this.app.connection.call("compare_branches", { projectId: this.projectId, left, right });
      if (reading === this.#reading) this.#show(found);
    } catch (error) {
      if (reading !== this.#reading) return;
      this.status.textContent = /** @type {Error} */ (error).message;
      this.status.classList.add("bad");
      this.list.replaceChildren();
    }
  }

  /** @param {{ left: string, right: string, left_commit: string, right_commit: string, files: import("./diff_head.js").ChangedFile[] }} found */
  #show({ left, right, left_commit: leftCommit, right_commit: rightCommit, files }) {
    const total = (/** @type {"added" | "removed"} */ what) => files.reduce((sum, file) => sum + (file[what] ?? 0), 0);
    this.status.textContent = files.length ? `${pluralize(files.length, "file")} +${total("added")} −${total("removed")} from '${left}' to '${right}'.` : `'${left}' and '${right}' have the same files.`;
    const args = { projectId: this.projectId, left: leftCommit, right: rightCommit };
    const split = matchMedia(WIDE).matches;
    this.list.replaceChildren(...files.slice(0, MAX_FILES).map((file) => readingFile(this.app, args, file, { isOpen: files.length <= MAX_OPEN, command: "get_compared_rows", split })));
    if (files.length > MAX_FILES) this.list.append(make("p.hint", `${pluralize(files.length - MAX_FILES, "more file")} are not listed.`));
  }
}
