// @ts-check
// What a new task starts from: a new branch, an existing one, an issue or a pull request. Lists are read when they are
// asked for.

import { make } from "../dom.js";
import { labeled, optionsOf, segmented, select } from "./form_fields.js";

/** @typedef {"new" | "branch" | "issue" | "pull"} Kind */

/** @type {Record<Kind, string>} */
const SUMMARIES = { new: "On a new branch", branch: "On an existing branch", issue: "From an issue", pull: "From a pull request" };

/**
 * @param {import("../app.js").App} app
 * @param {() => string} projectId
 * @param {(text: string) => void} suggest a first message
 */
export function taskOrigin(app, projectId, suggest) {
  /** @type {Record<string, any[]>} read lists by command */ let lists = {};
  const kind = segmented("Start from", [["new", "New branch"], ["branch", "Branch"], ["issue", "Issue"], ["pull", "Pull request"]], "new", () => show());
  const name = make("input", { placeholder: "Generated if empty", "aria-label": "Name", autocomplete: "off", spellcheck: false });
  const base = select("Base branch", []);
  const branch = select("Branch", []);
  const issue = select("Issue", []);
  const pull = select("Pull request", []);
  const note = make("p.hint", { role: "status" });
  const fields = { name: labeled("Name", name), base: labeled("Base branch", base), branch: labeled("Branch", branch), issue: labeled("Issue", issue), pull: labeled("Pull request", pull) };
  const summary = make("summary");
  const element = make("details.origin", summary, make("div.fields", kind.element, note, ...Object.values(fields)));
  const current = () => /** @type {Kind} */ (kind.value());

  /** Read a list once; without `gh`, or while offline, there is a reason instead. @param {string} command @returns {Promise<any[]>} */
  const read = async (command) => {
    const id = projectId();
    if (lists[command]) return lists[command];
    const found = await app.connection.call(command, { projectId: id }).catch((error) => ((note.textContent = error.message), []));
    if (id === projectId() && found.length) lists[command] = found;
    return found;
  };
  /** @param {HTMLSelectElement} control @param {string} command @param {(item: any) => [string, string]} option @param {string} none */
  const fill = async (control, command, option, none) => {
    const before = control.value;
    if (!control.options.length) control.replaceChildren(...optionsOf([["", "loading…"]]));
    const items = await read(command);
    control.replaceChildren(...optionsOf(items.length ? items.map(option) : [["", none]]));
    if (before) control.value = before;
    return items;
  };
  const show = async () => {
    const shown = current();
    const project = app.state.projects.get(projectId());
    note.textContent = "";
    summary.textContent = SUMMARIES[shown];
    fields.name.hidden = fields.base.hidden = shown !== "new" && shown !== "issue";
    fields.branch.hidden = shown !== "branch";
    fields.issue.hidden = shown !== "issue";
    fields.pull.hidden = shown !== "pull";
    if (!element.open || !project) return;
    if (shown === "branch") await fill(branch, "get_project_branches", (item) => [item.name, item.name], "No branches");
    else if (shown === "pull") await fill(pull, "list_pull_requests", numbered, "No open pull requests");
    else {
      const isNew = !base.value;
      await fill(base, "get_project_branches", (item) => [item.name, item.name], "No branches");
      if (isNew) base.value = project.default_branch ?? "";
      if (shown === "issue") await fill(issue, "list_issues", numbered, "No open issues");
      if (shown === "issue") suggestIssue();
    }
  };
  const suggestIssue = () => {
    const chosen = itemOf("list_issues", issue);
    if (chosen) suggest(`Resolve issue #${chosen.number} ${chosen.title}`);
  };
  /** @param {string} command @param {HTMLSelectElement} control */
  const itemOf = (command, control) => lists[command]?.find((item) => String(item.number) === control.value);
  issue.onchange = suggestIssue;
  element.ontoggle = () => show();
  show();
  return {
    element,
    /** Read the lists of another project. */
    reset() {
      lists = {};
      for (const control of [base, branch, issue, pull]) control.replaceChildren();
      show();
    },
    /** Arguments of `create_worktree`. */
    read() {
      const chosen = current();
      const issueItem = chosen === "issue" && itemOf("list_issues", issue);
      const pullItem = chosen === "pull" && itemOf("list_pull_requests", pull);
      if (chosen === "branch") return branch.value ? { branch: branch.value } : {};
      if (pullItem) return { prContext: { number: pullItem.number, title: pullItem.title, headRefName: pullItem.head_ref_name, baseRefName: pullItem.base_ref_name } };
      return {
        ...(name.value.trim() ? { customName: name.value.trim() } : {}),
        ...(base.value ? { baseBranch: base.value } : {}),
        ...(issueItem ? { issueContext: { number: issueItem.number, title: issueItem.title, body: issueItem.body } } : {}),
      };
    },
  };
}

/** @param {{ number: number, title: string }} item @returns {[string, string]} */
const numbered = (item) => [String(item.number), `#${item.number} ${item.title}`];
