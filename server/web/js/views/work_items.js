// @ts-check
// Items of open work as rows: number, title, labels, who is to do it, age, and what works on it already.

import { ageElement } from "../age.js";
import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { externalLink, sessionLink } from "../links.js";
import { hashFor } from "../router.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./work_source.js").Item} Item
 * @typedef {import("./work_source.js").Entry} Entry
 */

const COLOR = /^#[0-9a-f]{6}$/i;
const MAX_LABELS = 6;
const MAX_TEXT = 20000; // characters of an item's text that are shown; the agent gets more of it

/** @param {Entry} entry */
export const keyOf = ({ projectId, item }) => `${projectId} ${item.kind} ${item.id}`;

/** The short name by which people refer to an item: `#12`, `PR 12`, `ENG-12`. @param {Item} item */
export function numberOf({ kind, number, id }) {
  if (number === undefined) return id;
  return kind === "pull_request" ? `PR ${number}` : `#${number}`;
}

/** What is to be known of an item besides its title and labels. @param {Item} item */
export function describeItem(item) {
  /** @type {(string | undefined | false)[]} */
  const parts = {
    issue: [item.state !== "open" && item.state],
    pull_request: [item.draft && "draft", item.state !== "open" && item.state, item.head_ref_name],
    tracker_issue: [item.state, item.priority],
    workflow_run: [item.state, item.workflow, item.branch],
    security_alert: [item.severity, item.package],
    advisory: [item.severity, item.state],
  }[item.kind];
  return parts.filter(Boolean).join(" · ");
}

/** The worktrees that were created from an item, also since the list was read, or are its branch. @param {App} app @param {Entry} entry */
export function worktreesOf(app, { projectId, item }) {
  const isFrom = (/** @type {import("../state.js").Resource} */ tree) =>
    tree.started_from === `${item.kind}/${item.id}` ||
    (item.kind === "issue" && tree.issue_number === item.number) ||
    (item.kind === "pull_request" && tree.pr_number === item.number);
  return app.state.worktreesOf(projectId).filter((tree) => !tree.archived_at && (item.worktree_ids.includes(tree.id) || isFrom(tree)));
}

/** What the filter searches, in lower case. @param {App} app @param {Entry} entry */
export function searchText(app, entry) {
  const { item, projectId } = entry;
  const labels = (item.labels ?? []).map((label) => label.name);
  const trees = worktreesOf(app, entry).map((tree) => tree.name);
  return [numberOf(item), item.title, item.author, describeItem(item), ...labels, ...(item.assignees ?? []), ...trees, app.state.projects.get(projectId)?.name].join(" ").toLowerCase();
}

/** @param {Item} item */
function labelsOf({ labels = [] }) {
  const shown = labels.slice(0, MAX_LABELS).map(({ name, color }) => {
    const element = make("span.badge.item-label", name);
    if (COLOR.test(color)) element.style.setProperty("--label", color);
    return element;
  });
  return labels.length > MAX_LABELS ? [...shown, make("span", `+${labels.length - MAX_LABELS}`)] : shown;
}

/** Links to the sessions or worktrees that work on it. @param {App} app @param {Entry} entry */
function placesOf(app, entry) {
  return worktreesOf(app, entry).map((tree) => {
    const sessions = app.state.sessionsOf(tree.id);
    const busy = sessions.find((session) => session.waiting_for) ?? sessions.find((session) => session.status === "running");
    const best = busy ?? [...sessions].sort((a, b) => (b.updated_at ?? 0) - (a.updated_at ?? 0))[0];
    if (!best) return make("a.session", icon("branch"), make("span", tree.name), { href: hashFor("worktree", tree.id) });
    const link = sessionLink(best);
    link.append(make("small", tree.name));
    return link;
  });
}

/**
 * @param {App} app @param {Entry} entry
 * @param {{ withProject: boolean, isSelected: boolean, onSelect: (isSelected: boolean) => void, start: () => unknown }} options
 */
export function workRow(app, entry, { withProject, isSelected, onSelect, start }) {
  const { item } = entry;
  const name = `${numberOf(item)} ${item.title}`;
  const box = make("input", { type: "checkbox", checked: isSelected, "aria-label": `Select ${name}`, onchange: () => onSelect(box.checked) });
  const project = withProject ? app.state.projects.get(entry.projectId)?.name : "";
  const places = placesOf(app, entry);
  const open = button(make("bdi", item.title || "(no title)"), () => showItem(app, entry, start), ".quiet.item-title", { "aria-label": `Read ${name}` });
  const facts = [project, numberOf(item), describeItem(item), item.author && `by ${item.author}`].filter(Boolean).join(" · ");
  return make(
    "li.work-row",
    make("label.landing-select", box),
    make("div.what", make("h2", open), make("p.hint", facts, item.updated_at ? [" · ", ageElement(item.updated_at)] : "")),
    make("p.about", labelsOf(item), (item.assignees ?? []).length > 0 && make("span.people", `for ${item.assignees?.join(", ")}`), (item.comment_count ?? 0) > 0 && make("span.people", icon("comment", pluralize(item.comment_count ?? 0, "comment")), String(item.comment_count))),
    make("div.place", places.length ? places : button([icon("play"), "Start"], start, "", { "aria-label": `Start ${name}` })),
    { className: isSelected ? "work-row selected" : "work-row" },
  );
}

/** Show the text of an item. @param {App} app @param {Entry} entry @param {() => unknown} start */
function showItem(app, entry, start) {
  const { item } = entry;
  const title = `${numberOf(item)} ${item.title}`;
  const facts = [app.state.projects.get(entry.projectId)?.name, describeItem(item), item.author && `by ${item.author}`, item.assignees?.length && `for ${item.assignees.join(", ")}`];
  const places = placesOf(app, entry);
  const text = (item.body ?? "").slice(0, MAX_TEXT);
  const begin = () => {
    dialog.close();
    return start();
  };
  /** @type {HTMLDialogElement} */
  const dialog = make(
    "dialog.wide-dialog.item-dialog",
    make("h2", title),
    make("p.hint", facts.filter(Boolean).join(" · ")),
    make("p.about", labelsOf(item)),
    text && make("div.item-text", text, (item.body ?? "").length > MAX_TEXT && " …", { tabIndex: 0, role: "group", "aria-label": "Text" }),
    places.length > 0 && make("div.place", make("span.hint", "Worked on in "), places),
    make("div.choices", button([icon("play"), places.length ? "Start again…" : "Start…"], begin, ".primary"), item.url && externalLink(item.url, [icon("external"), "Open its page"], "a.button"), button("Close", () => dialog.close(), ".quiet")),
    { "aria-label": title },
  );
  for (const link of dialog.querySelectorAll(".place a")) link.addEventListener("click", () => dialog.close());
  showDialog(dialog);
}
