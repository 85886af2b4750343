// @ts-check
// A worktree on the landing desk: what it has, what is next and why, and the button that does it.

import { choose } from "../dialogs.js";
import { button, make, patchChildren } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { actOn, landWorktree, openPullRequest, updateFromBase } from "./landing_acts.js";
import { sendProblem, showCheck } from "./landing_check.js";
import { MERGED_WORDS, PHASES, REVERTED, STATES, checkText } from "./landing_words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./landing_types.js").LandingRow} LandingRow
 * @typedef {{ app: App, row: (id: string) => LandingRow | undefined, selection: import("./selection.js").Selection }} Desk
 */

/** Of each next step: the word, its icon, and what its button is called. @type {Record<import("./landing_types.js").NextStep, { word: string, icon: string, label: string }>} */
const STEPS = {
  answer: { word: "answer", icon: "question", label: "Answer" },
  wait: { word: "wait", icon: "history", label: "Show" },
  commit: { word: "commit", icon: "commit", label: "Commit" },
  resolve: { word: "resolve", icon: "warning", label: "Resolve" },
  fix: { word: "fix", icon: "warning", label: "Fix" },
  review: { word: "review", icon: "diff", label: "Review" },
  check: { word: "check", icon: "play", label: "Check" },
  update: { word: "update", icon: "pull", label: "Update" },
  land: { word: "land", icon: "merge", label: "Land" },
  merge: { word: "merge", icon: "merge", label: "Merge" },
  archive: { word: "archive", icon: "archive", label: "Archive" },
};

/** @param {Desk} desk @param {LandingRow} row @param {HTMLElement | undefined} old */
export function landingRow(desk, row, old) {
  const id = row.worktree_id;
  const isSelected = desk.selection.has(id);
  const element = old ?? emptyRow(desk, id);
  const [select, what, facts, next] = element.children;
  const box = /** @type {HTMLInputElement} */ (select.firstElementChild);
  box.checked = isSelected;
  box.ariaLabel = `Select ${row.name}`;
  element.classList.toggle("selected", isSelected);
  patchChildren(what, [make("h2", make("a", row.name, { href: hashFor("worktree", id) })), make("p.hint", `${row.branch === row.name ? "" : `${row.branch} `}→ ${row.base}`)]);
  patchChildren(facts, factsOf(desk, row));
  patchChildren(next, nextParts(desk, row));
  return element;
}

/** @param {Desk} desk @param {string} id */
function emptyRow(desk, id) {
  const box = make("input", { type: "checkbox" });
  box.addEventListener("change", () => desk.selection.select(id, box.checked));
  return make("li.landing-row", make("label.landing-select", box), make("div.what"), make("ul.facts"), make("div.next"));
}

/** @param {Desk} desk @param {LandingRow} row */
function nextParts(desk, row) {
  const step = STEPS[row.next];
  const id = row.worktree_id;
  const act = () => {
    const current = desk.row(id);
    return current && actOn(desk.app, current);
  };
  return [
    make("span.word", row.next, { "data-next": row.next }),
    make("p.reason", row.reason),
    make(
      "div.choices",
      button([icon(step.icon), step.label], act, ["land", "merge"].includes(row.next) ? ".primary" : "", { "aria-label": `${step.label}: ${row.name}` }),
      button(icon("more"), () => openMenu(desk, id), ".quiet.icon-only", { "aria-label": `Actions for ${row.name}`, title: "More" }),
    ),
  ];
}

/** @param {Desk} desk @param {LandingRow} row @returns {HTMLElement[]} */
function factsOf(desk, row) {
  const { app } = desk;
  const id = row.worktree_id;
  const { review, check, pull_request: pr } = row;
  const hasFiles = row.files > 0;
  const decided = review.accepted + review.rejected;
  /** @param {import("../dom.js").Parts[]} parts */
  const item = (...parts) => make("li", ...parts);
  return [
    hasFiles && item(make("a", pluralize(row.files, "file"), " ", make("ins", `+${row.added}`), " ", make("del", `−${row.removed}`), { href: hashFor("diff", id, row.uncommitted ? {} : { side: "branch" }) })),
    (row.ahead > 0 || row.behind > 0) && item(row.ahead > 0 && `${pluralize(row.ahead, "commit")}`, row.ahead > 0 && row.behind > 0 && ", ", row.behind > 0 && `${row.behind} behind`),
    row.uncommitted > 0 && item(`${row.uncommitted} not committed`),
    row.conflicts.length > 0 && item(make("a.bad", icon("warning"), " ", conflictText(app, row), { href: hashFor("conflicts", app.state.worktrees.get(id)?.project_id ?? "", { worktree: id }) })),
    review.hunks > 0 && decided + review.viewed > 0 && item(make("a", `${decided} of ${pluralize(review.hunks, "hunk")} reviewed`, { href: hashFor("diff", id) })),
    check.has_script && item(button(checkParts(check), () => showCheck(app, id), ".quiet.fact", { "aria-label": `${checkText(check)}: ${row.name}` })),
    pr && item(make("a", ...pullRequestParts(pr), { href: hashFor("pull-request", id) })),
    row.merged && item(make("span.badge.new", MERGED_WORDS[row.merged] ?? "merged")),
    row.reverted && item(make("span.badge.waiting", REVERTED)),
  ].filter((part) => part instanceof HTMLElement);
}

/** @param {App} app @param {LandingRow} row */
function conflictText(app, row) {
  const names = row.conflicts.map((one) => (one.with_kind === "branch" ? one.with : (app.state.worktrees.get(one.with)?.name ?? "another worktree")));
  const files = new Set(row.conflicts.flatMap((one) => one.files)).size;
  return `${pluralize(files, "file")} in conflict with ${names.slice(0, 2).join(", ")}${names.length > 2 ? ", …" : ""}`;
}

/** @param {import("./landing_types.js").CheckResult} check */
function checkParts(check) {
  const isGreen = check.status === "passed" && !check.is_stale;
  const isRed = check.status === "failed" && !check.is_stale;
  const mark = check.status === "running" ? make("span.spinner", { "aria-hidden": "true" }) : icon(isGreen ? "check" : isRed ? "warning" : "terminal");
  return [make(isRed ? "span.bad" : isGreen ? "span.ok" : "span", mark, " ", checkText(check))];
}

/** @param {NonNullable<LandingRow["pull_request"]>} pr */
function pullRequestParts(pr) {
  const state = pr.checks && STATES[pr.checks];
  return [
    icon("pull-request"),
    ` #${pr.number}${pr.phase ? ` ${PHASES[pr.phase]}` : ""}`,
    state && make(`span.${state.classes || "plain"}`, `, checks ${state.word}`),
    pr.unresolved + pr.unanswered > 0 && `, ${pluralize(pr.unresolved + pr.unanswered, "open comment")}`,
  ];
}

/** @param {Desk} desk @param {string} id */
async function openMenu(desk, id) {
  const { app } = desk;
  const row = desk.row(id);
  if (!row) return;
  const isProblem = row.conflicts.length > 0 || row.check.status === "failed";
  /** @type {(false | import("../dialogs.js").MenuEntry<() => unknown>)[]} */
  const entries = [
    ["Land…", () => landWorktree(app, id), { icon: "merge" }],
    ["Changes", () => app.go("diff", id), { icon: "diff" }],
    row.check.has_script && ["Check: output, run", () => showCheck(app, id), { icon: "terminal" }],
    isProblem && ["Send the problem to a session…", () => sendProblem(app, id), { icon: "agent" }],
    ["Update from the base", () => updateFromBase(app, row), { icon: "pull" }],
    ["Pull request", () => openPullRequest(app, row), { icon: "pull-request" }],
    ["Worktree: sessions, git, scripts", () => app.go("worktree", id), { icon: "branch", isApart: true }],
  ];
  await (await choose(row.name, entries.filter((entry) => entry !== false)))?.();
}
