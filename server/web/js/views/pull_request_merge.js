// @ts-check
// Merging a pull request at the hosting service: now, once everything holds, or through the queue.

import { confirm } from "../dialogs.js";
import { button, make, patchChildren } from "../dom.js";
import { icon } from "../icons.js";
import { segmented } from "./form_fields.js";
import { METHODS } from "./landing_types.js";
import { update } from "./pull_request_acts.js";

/** @typedef {import("./pull_request.js").PullRequest} PullRequest */

export class MergeBox {
  /** @type {{ element: HTMLElement, value: () => string } | null} */ #method = null;

  /** @param {import("./pull_request.js").PullRequestView} view */
  constructor(view) {
    this.view = view;
    this.note = make("p");
    this.methods = make("div");
    this.choices = make("div.choices");
    this.element = make("section.card.merge-box", make("h3", "Merge"), this.note, this.methods, this.choices, { "aria-label": "Merge" });
  }

  /** @param {PullRequest} pr */
  show(pr) {
    const isOver = pr.phase === "merged" || pr.phase === "closed";
    const isWaiting = pr.phase === "queued" || Boolean(pr.auto_merge);
    this.note.textContent = noteOf(pr, isWaiting);
    this.note.className = isOver || pr.can_merge || isWaiting ? "hint" : "warned";
    const hasMethods = !isOver && !isWaiting && !pr.has_queue && pr.merge_methods.length > 1;
    const signature = hasMethods ? pr.merge_methods.join() : "";
    if (this.methods.dataset.signature !== signature) {
      this.methods.dataset.signature = signature;
      const options = METHODS.filter(([method]) => pr.merge_methods.includes(method));
      this.#method = hasMethods ? segmented("Method", options, this.#method?.value() || this.#preferred(pr)) : null;
      this.methods.replaceChildren(...(this.#method ? [this.#method.element] : []));
    }
    this.methods.hidden = !hasMethods;
    patchChildren(this.choices, isOver ? [] : this.#buttons(pr, isWaiting));
  }

  /** The project's or the person's way of landing if the repository allows it. @param {PullRequest} pr */
  #preferred({ merge_methods: allowed }) {
    const { state } = this.view.app;
    const wanted = state.projects.get(this.view.worktree?.project_id)?.landing_method ?? state.preferences.landing_method;
    return allowed.includes(wanted) ? wanted : (allowed[0] ?? "");
  }

  /** @param {PullRequest} pr @param {boolean} isWaiting @returns {HTMLElement[]} */
  #buttons(pr, isWaiting) {
    const { view } = this;
    const updating = pr.can_update && button([icon("pull"), "Update the branch…"], () => update(view));
    if (isWaiting) return [button(pr.phase === "queued" ? "Take it out of the queue" : "Do not merge by itself", () => view.run("cancel_auto_merge")), ...(updating ? [updating] : [])];
    return [
      pr.can_merge && button([icon("merge"), pr.has_queue ? "Add to the merge queue…" : "Merge…"], () => this.#merge(false), ".primary"),
      pr.can_auto_merge && !pr.can_merge && button([icon("merge"), "Merge when everything holds…"], () => this.#merge(true), ".primary"),
      updating,
    ].filter((part) => part instanceof HTMLElement);
  }

  /** @param {boolean} auto */
  async #merge(auto) {
    const { view } = this;
    const pr = view.shown;
    if (!pr) return;
    const method = pr.has_queue ? "" : this.#method?.value() || this.#preferred(pr);
    const question = auto ? `Merge #${pr.number} once everything holds?` : pr.has_queue ? `Add #${pr.number} to the merge queue?` : `Merge #${pr.number} into '${pr.base}'?`;
    const text = auto ? "It is merged as soon as checks and reviews allow. Until then you can switch that off." : "This cannot be undone from here: a revert is a new pull request.";
    if (!(await confirm(question, [method && make("p", `Method: ${method}.`), make("p", text)], auto ? "Merge when ready" : pr.has_queue ? "Add" : "Merge"))) return;
    await view.run("merge_pull_request", { ...(method ? { method } : {}), auto, headCommit: pr.head_commit });
  }
}

/** @param {PullRequest} pr @param {boolean} isWaiting */
function noteOf(pr, isWaiting) {
  if (pr.phase === "merged") return `It was merged into '${pr.base}'.`;
  if (pr.phase === "closed") return "It was closed without being merged.";
  if (pr.phase === "queued") return `It is in the merge queue of '${pr.base}'.`;
  if (isWaiting) return `It will be merged (${pr.auto_merge}) once checks and reviews allow. ${pr.merge_note}`.trim();
  return pr.merge_note || (pr.can_merge ? `It can be merged into '${pr.base}'.` : "It cannot be merged now.");
}
