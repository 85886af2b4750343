// @ts-check
// What a new task starts from: a new branch, an existing one, an issue, a pull request, or other work from elsewhere.
// Lists are read when they are asked for; a search is done by the service.

import { make } from "../dom.js";
import { hashFor } from "../router.js";
import { labeled, optionsOf, segmented, select } from "./form_fields.js";
import { numberOf } from "./work_items.js";
import { TABS, readPage, statesOf, tabOf } from "./work_source.js";

/** @typedef {"new" | "branch" | "issue" | "pull" | "other"} Origin */

/** @type {Record<Origin, string>} */
const SUMMARIES = { new: "On a new branch", branch: "On an existing branch", issue: "From an issue", pull: "From a pull request", other: "From other work" };
const SEARCH_DELAY = 500; // ms without a key until the service is asked
const OTHERS = TABS.slice(3);

/**
 * @param {import("../app.js").App} app
 * @param {() => string} projectId
 * @param {(text: string) => void} suggest a first message
 */
export function taskOrigin(app, projectId, suggest) {
  /** @type {any[] | null} */ let branches = null;
  /** @type {import("./work_source.js").Item[]} */ let items = [];
  let listed = ""; // what `items` was read for
  /** @type {number | undefined} */ let timer;
  const origin = segmented("Start from", [["new", "New branch"], ["branch", "Branch"], ["issue", "Issue"], ["pull", "Pull request"], ["other", "Other"]], "new", () => show());
  const name = make("input", { placeholder: "Generated if empty", "aria-label": "Name", autocomplete: "off", spellcheck: false });
  const base = select("Base branch", []);
  const branch = select("Branch", []);
  const kind = select("Kind", OTHERS.map((tab) => [tab.id, tab.title]));
  const search = make("input", { type: "search", placeholder: "Search", "aria-label": "Search items", autocomplete: "off" });
  const item = select("Item", []);
  const note = make("p.hint", { role: "status" });
  const all = make("a", "All open work");
  const fields = { name: labeled("Name", name), base: labeled("Base branch", base), branch: labeled("Branch", branch), kind: labeled("Kind", kind), search: labeled("Search", search), item: labeled("Item", item) };
  const summary = make("summary");
  const element = make("details.origin", summary, make("div.fields", origin.element, note, ...Object.values(fields), make("p.hint", all)));
  const chosenOrigin = () => /** @type {Origin} */ (origin.value());
  const tab = () => tabOf({ issue: "issue", pull: "pull_request", other: kind.value }[/** @type {string} */ (chosenOrigin())] ?? null);

  /** Read branches once. @param {HTMLSelectElement} control @param {string} usual */
  const fillBranches = async (control, usual) => {
    const id = projectId();
    const before = control.value || usual;
    branches ??= await app.connection.call("get_project_branches", { projectId: id }).catch((error) => ((note.textContent = error.message), null));
    if (id !== projectId()) return;
    control.replaceChildren(...optionsOf(branches?.length ? branches.map((each) => [each.name, each.name]) : [["", "No branches"]]));
    if (before) control.value = before;
  };
  /** Read the items of the chosen kind; without `gh`, or while offline, there is a reason instead. */
  const fillItems = async () => {
    const list = tab();
    if (!list) return;
    const wanted = JSON.stringify([projectId(), list.id, search.value.trim()]);
    if (wanted === listed) return;
    listed = wanted;
    item.replaceChildren(...optionsOf([["", "loading…"]]));
    const request = { search: list.hasSearch ? search.value.trim() : "", filters: { state: statesOf(list)[0][0], labels: [], assignee: "" }, page: 1, refresh: false };
    const found = await readPage(app, list, projectId(), request).catch((error) => ((note.textContent = error.message), null));
    if (wanted !== listed) return;
    if (!found) listed = ""; // read again when it is asked for again
    items = found?.entries.map((entry) => entry.item) ?? [];
    item.setAttribute("aria-label", list.title);
    item.replaceChildren(...optionsOf(items.length ? items.map((each) => [each.id, `${numberOf(each)} ${each.title}`]) : [["", `No ${list.title.toLowerCase()}`]]));
    suggestItem();
  };
  const show = async () => {
    const shown = chosenOrigin();
    const project = app.state.projects.get(projectId());
    const isItem = ["issue", "pull", "other"].includes(shown);
    note.textContent = "";
    summary.textContent = SUMMARIES[shown];
    fields.name.hidden = shown === "branch" || shown === "pull";
    fields.base.hidden = shown !== "new" && shown !== "issue";
    fields.branch.hidden = shown !== "branch";
    fields.kind.hidden = shown !== "other";
    fields.search.hidden = !tab()?.hasSearch;
    fields.item.hidden = !isItem;
    all.href = hashFor("work", projectId(), { kind: tab()?.id ?? "issue" });
    if (!element.open || !project) return;
    if (shown === "branch") await fillBranches(branch, "");
    if (!fields.base.hidden) await fillBranches(base, project.default_branch ?? "");
    if (isItem) await fillItems();
  };
  const chosenItem = () => (tab() ? items.find((each) => each.id === item.value) : undefined);
  const suggestItem = () => {
    const chosen = chosenItem();
    if (chosen && chosen.kind !== "pull_request") suggest(chosen.kind === "issue" ? `Resolve issue #${chosen.number} ${chosen.title}` : `Look into ${numberOf(chosen)} ${chosen.title}`);
  };
  item.addEventListener("change", suggestItem);
  kind.addEventListener("change", show);
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(fillItems, SEARCH_DELAY);
  });
  search.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault()); // it does not start the task
  element.addEventListener("toggle", () => show());
  show();
  return {
    element,
    /** Read the lists of another project. */
    reset() {
      branches = null;
      items = [];
      listed = "";
      for (const control of [base, branch, item]) control.replaceChildren();
      show();
    },
    /**
     * The command that creates the worktree, with its arguments besides the project; and those of `start_task`, which
     * knows no base branch for an issue or a pull request.
     * @returns {{ command: "create_worktree" | "start_work", args: Record<string, unknown>, task?: Record<string, unknown> }}
     */
    read() {
      const shown = chosenOrigin();
      const chosen = chosenItem();
      const customName = name.value.trim();
      const named = customName ? { name: customName } : {};
      if (shown === "branch") {
        const args = branch.value ? { branch: branch.value } : {};
        return { command: "create_worktree", args, task: args };
      }
      if (shown === "pull" && chosen) return { command: "create_worktree", args: { prContext: { number: chosen.number, title: chosen.title, headRefName: chosen.head_ref_name, baseRefName: chosen.base_ref_name } } };
      if (shown === "other" && chosen) {
        const { kind, id } = chosen;
        return { command: "start_work", args: { kind, itemId: id, investigate: false, ...named }, task: { context: { kind, item_id: id }, ...named } };
      }
      const issue = shown === "issue" ? chosen : undefined;
      const from = base.value ? { baseBranch: base.value } : {};
      return {
        command: "create_worktree",
        ...(shown === "new" ? { task: { ...named, ...from } } : {}),
        args: {
          ...(customName ? { customName } : {}),
          ...from,
          ...(issue ? { issueContext: { number: issue.number, title: issue.title, body: issue.body } } : {}),
        },
      };
    },
  };
}
