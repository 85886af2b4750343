// @ts-check
// The lists of open work: what each can be filtered by, and how a page of it is read.

/**
 * @typedef {"all" | "issue" | "pull_request" | "workflow_run" | "security_alert" | "advisory" | "tracker_issue"} TabId
 *
 * @typedef {object} Item what work can begin from; further fields depend on its kind
 * @property {Exclude<TabId, "all">} kind
 * @property {string} id
 * @property {string} title
 * @property {string} state in the service's own word
 * @property {string} url
 * @property {string} author
 * @property {number | null} updated_at
 * @property {string[]} worktree_ids
 * @property {number} [number]
 * @property {string} [body]
 * @property {{ name: string, color: string }[]} [labels]
 * @property {string[]} [assignees]
 * @property {number} [comment_count]
 * @property {boolean} [draft]
 * @property {string} [head_ref_name]
 * @property {string} [base_ref_name]
 * @property {string} [workflow]
 * @property {string} [branch]
 * @property {string} [package]
 * @property {string} [severity]
 * @property {string} [priority]
 *
 * @typedef {{ projectId: string, item: Item }} Entry
 *
 * @typedef {object} Tab a list
 * @property {TabId} id
 * @property {string} title
 * @property {string} command
 * @property {boolean} [hasSearch] whether the service can search in it
 * @property {boolean} [hasPeople] whether its items have labels and assignees
 *
 * @typedef {object} Filters
 * @property {string} state
 * @property {string[]} labels
 * @property {string} assignee a login, or `@me`
 *
 * @typedef {{ entries: Entry[], problems: { project_id: string, message: string }[], isLast: boolean }} Page
 */

const PAGE_SIZE = 100; // items of a page; a shorter one is the last

/** All lists, in their order. The first one has all projects, the others one. @type {Tab[]} */
export const TABS = [
  { id: "all", title: "All open", command: "list_open_work", hasSearch: true },
  { id: "issue", title: "Issues", command: "list_issues", hasSearch: true, hasPeople: true },
  { id: "pull_request", title: "Pull requests", command: "list_pull_requests", hasSearch: true, hasPeople: true },
  { id: "workflow_run", title: "Workflow runs", command: "list_workflow_runs" },
  { id: "security_alert", title: "Security alerts", command: "list_security_alerts" },
  { id: "advisory", title: "Advisories", command: "list_advisories" },
  { id: "tracker_issue", title: "Issue tracker", command: "list_tracker_issues", hasSearch: true, hasPeople: true },
];

/** @param {string | null} id */
export const tabOf = (id) => TABS.find((tab) => tab.id === id);

/**
 * The states that a list can be filtered by, with their labels.
 * @param {Tab} tab @returns {[string, string][]}
 */
export const statesOf = ({ id }) =>
  id === "workflow_run" ? [["failed", "Failed"], ["all", "All"]] : [["open", "Open"], ["closed", "Closed"], ["all", "Open and closed"]];

/**
 * Read a page of a list; throws what the service says.
 * @param {import("../app.js").App} app @param {Tab} tab @param {string} projectId of all lists but the first
 * @param {{ search: string, filters: Filters, page: number, refresh: boolean }} request
 * @returns {Promise<Page>}
 */
export async function readPage(app, tab, projectId, { search, filters, page, refresh }) {
  if (tab.id === "all") {
    const found = await app.connection.call(tab.command, { search, refresh });
    return { entries: found.items.map((/** @type {any} */ { project_id, item }) => ({ projectId: project_id, item })), problems: found.problems, isLast: true };
  }
  const people = tab.hasPeople ? { search, assignee: filters.assignee, ...(filters.labels.length ? { labels: filters.labels } : {}) } : {};
  /** @type {Item[]} */
  const items = await app.connection.call(tab.command, { projectId, state: filters.state, page, refresh, ...people });
  return { entries: items.map((item) => ({ projectId, item })), problems: [], isLast: items.length < PAGE_SIZE };
}
