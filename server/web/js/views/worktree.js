// @ts-check
// The view of a worktree: git status and actions, sessions, and scripts.

import { missingView } from "../app.js";
import { ageElement } from "../age.js";
import { ask, choose } from "../dialogs.js";
import { button, make, patchChildren } from "../dom.js";
import { icon } from "../icons.js";
import { externalLink, sessionLink } from "../links.js";
import { changeCounts, gitMarks } from "../marks.js";
import { performAction } from "../perform.js";
import { hashFor } from "../router.js";
import { pluralize } from "../format.js";
import { GitPanel } from "./git.js";
import { Ports } from "./ports.js";
import { removeWorktree } from "./removal.js";
import { ScriptList } from "./scripts.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

/** @type {import("../app.js").MakeView} */
export function worktreeView(app, route) {
  if (!app.state.worktrees.has(route.id)) return missingView(app, "worktrees", route.id);
  const worktree = () => app.state.worktrees.get(route.id);
  const header = make("section.worktree-head");
  const sessions = make("ul.rows-list");
  const newSessionItem = make("li", button([icon("plus"), "New session"], () => newSession(app, route.id), ".primary"));
  /** @type {GitPanel} */
  const git = new GitPanel(app, route.id, () => git.checkOperation());
  const changes = make("a.button", icon("diff"), "Changes", make("span.git"), { href: hashFor("diff", route.id) });
  git.actions.classList.add("git-actions");
  const scripts = new ScriptList(app, route.id);
  const ports = new Ports(app, route.id);
  const land = button([icon("merge"), "Land…"], () => performAction(app, "land"));
  const more = button(icon("more"), () => openMenu(app, git), ".quiet.icon-only", { "aria-label": "Worktree actions", title: "More" });
  const element = make(
    "div.page",
    make("div.page-head", header, more),
    make("section.card", make("h2", "Git"), git.operation.element, make("div.choices", changes, worktree()?.session_type !== "base" && land), git.actions),
    make("section.card", make("h2", "Sessions"), sessions),
    scripts.element,
    ports.element,
  );

  const draw = () => {
    const current = worktree();
    if (!current) return app.showRoute();
    // Below the name, because it is loaded later and must not move it.
    const facts = describeFacts(current, app.state.projects.get(current.project_id));
    patchChildren(header, [...headerParts(app, current), ...(facts ? [make("p.hint", facts)] : [])]);
    changes.lastElementChild?.replaceChildren(...changeCounts(current).filter((part) => part instanceof Node));
    patchChildren(sessions, [...app.state.sessionsOf(current.id).map(sessionItem), newSessionItem]);
    git.draw();
    ports.draw();
  };
  const load = () => {
    scripts.load();
    ports.load();
    git.checkOperation();
  };
  load();
  return {
    get title() {
      return worktree()?.name ?? "Spinney";
    },
    element,
    update: (change) => change.tree && draw(),
    handleReload: load,
    close() {
      git.close();
      scripts.close();
      ports.close();
    },
    handleEvent: (name, body) => {
      if (name === "git:status-update" && body.worktree_id === route.id) git.checkOperation();
      if (name === "task:completed" && body.worktree_id === route.id) scripts.load();
    },
  };
}

/** @param {Resource} session */
const sessionItem = (session) => {
  const link = sessionLink(session);
  link.classList.add("grow");
  return make("li", link, make("small", session.execution_mode, session.updated_at ? [" · ", ageElement(session.updated_at)] : ""));
};

/** @param {App} app @param {GitPanel} git */
async function openMenu(app, git) {
  const { worktree } = git;
  const history = () => import("./git_history.js");
  const pullRequests = () => import("./pull_request_link.js");
  /** @type {import("../dialogs.js").MenuEntry<() => unknown>[]} */
  const entries = [
    ["Rename", () => rename(app, worktree), { icon: "edit" }],
    ["Label", () => label(app, worktree), { icon: "label" }],
    worktree.pr_url
      ? ["Unlink the pull request", async () => (await pullRequests()).clearPullRequest(app, worktree), { icon: "pull-request" }]
      : ["Link a pull request", async () => (await pullRequests()).linkPullRequest(app, worktree), { icon: "pull-request" }],
    ["Change the base branch", async () => (await import("./landing_base.js")).changeBase(app, worktree), { icon: "merge" }],
    ["Continue a conversation from an agent's own screen", () => performAction(app, "continue_foreign_session"), { icon: "terminal", isApart: true }],
    ["Commits", async () => (await history()).showLog(git), { icon: "history", isApart: true }],
    ["Stashes", async () => (await history()).showStashes(git), { icon: "stash" }],
    ["Conflicts to come", () => performAction(app, "show_conflicts"), { icon: "warning" }],
    ["Archive", () => performAction(app, "archive_worktree"), { icon: "archive", isApart: true }],
    ["Remove", () => remove(app, worktree), { icon: "trash", danger: true }],
  ];
  await (await choose(worktree.name, entries))?.();
}

/** @param {App} app @param {Resource} worktree */
function headerParts(app, worktree) {
  const project = app.state.projects.get(worktree.project_id);
  const branch = worktree.detached_at ? `detached at ${worktree.detached_at.slice(0, 7)}` : worktree.branch;
  return [
    make("p", make("a", project?.name ?? "", { href: hashFor("project", worktree.project_id) }), ` ▸ ${branch} `, gitMarks(worktree), worktree.label && make("span.chip", icon("label"), worktree.label.name)),
    make("p.path", worktree.path),
    ...(worktree.status === "ready" ? [] : [statusElement(app, worktree)]),
    ...(worktree.pr_url ? [make("p", externalLink(worktree.pr_url, worktree.pr_url))] : []),
  ];
}

/** Facts about a worktree: issue, changes since its base, unpushed commits, failed setup. @param {Resource} worktree @param {Resource | undefined} project */
function describeFacts(worktree, project) {
  const { issue_number: issue, cached_branch_diff_added: added, cached_branch_diff_removed: removed, cached_unpushed_count: unpushed } = worktree;
  const copied = worktree.copied_files;
  return [
    issue && `created for issue #${issue}`,
    (added || removed) && `+${added ?? 0} −${removed ?? 0} since ${worktree.base_branch ?? project?.default_branch}`,
    unpushed && `${pluralize(unpushed, "commit")} not pushed`,
    worktree.setup_hold === "failed" && "setup failed",
    copied?.count > 0 && worktree.status === "ready" && `${pluralize(copied.count, "ignored file")} copied`,
    ...(copied?.problems ?? []),
  ].filter(Boolean).join(" · ");
}

/** @param {App} app @param {Resource} worktree */
function statusElement(app, worktree) {
  const copied = worktree.copied_files;
  const creating = copied ? `Copying ignored files: ${copied.count.toLocaleString()} of ${copied.total.toLocaleString()} …` : "Creating the worktree …";
  const labels = { creating, removing: "Removing the worktree …", missing: "The worktree's directory is missing." };
  const element = make("p.bad", labels[/** @type {"missing"} */ (worktree.status)] ?? worktree.status, " ");
  const args = { worktreeId: worktree.id };
  if (worktree.status === "missing") element.append(button("Recreate", () => app.run("recreate_worktree", args)));
  if (worktree.status === "creating") element.append(button("Cancel", () => app.run("cancel_git", args)));
  return element;
}

/** @param {App} app @param {string} worktreeId */
export async function newSession(app, worktreeId) {
  const created = await app.run("create_session", { worktreeId });
  if (created) app.go("session", created.id);
}

/** @param {App} app @param {Resource} worktree */
async function rename(app, worktree) {
  await ask("Name of the worktree", {
    value: worktree.name,
    label: "Rename",
    hint: "Its branch is renamed, too.",
    submit: (newName) => newName && newName !== worktree.name && app.connection.call("rename_worktree", { worktreeId: worktree.id, newName }),
  });
}

/** @param {App} app @param {Resource} worktree */
async function label(app, worktree) {
  const color = make("input", { type: "color", value: worktree.label?.color ?? "#5fc48d", "aria-label": "Color" });
  await ask("Label", {
    value: worktree.label?.name ?? "",
    label: "Set",
    hint: "Leave empty to remove the label.",
    more: [color],
    submit(name) {
      const label = name.trim() ? { name: name.trim(), color: color.value } : null;
      return app.connection.call("update_worktree_label", { worktreeId: worktree.id, label });
    },
  });
}

/** @param {App} app @param {Resource} worktree */
async function remove(app, worktree) {
  if (await removeWorktree(app, worktree)) app.go("needs");
}
