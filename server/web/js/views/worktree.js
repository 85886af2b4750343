// @ts-check
// A worktree: its state in git, its sessions, its scripts, and what can be done with it.

import { gone } from "../app.js";
import { confirm, ask } from "../dialogs.js";
import { button, make, renew } from "../dom.js";
import { sessionHere } from "../links.js";
import { gitMarks } from "../marks.js";
import { hashOf } from "../router.js";
import { counted } from "../words.js";
import { GitPanel } from "./git.js";
import { removeWorktree } from "./removing.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

/** @type {import("../app.js").MakeView} */
export function worktreeView(app, route) {
  if (!app.state.worktrees.has(route.id)) return gone(app, "worktrees", route.id);
  const worktree = () => app.state.worktrees.get(route.id);
  const about = make("section");
  /** @param {(app: App, worktree: Resource) => unknown} act */
  const doing = (act) => () => {
    const known = worktree();
    return known && act(app, known);
  };
  const actions = make(
    "div.choices",
    button("Rename", doing(rename)),
    button("Label", doing(label)),
    button("Archive", () => app.run("archive_worktree", { worktreeId: route.id })),
    button("Remove", doing(remove), ".danger"),
  );
  const sessions = make("ul");
  const begin = make("li", button("New session", () => newSession(app, route.id), ".primary"));
  const git = new GitPanel(app, route.id, () => git.look());
  const scripts = make("section");
  const element = make("div.page", about, make("h2", "Sessions"), sessions, make("h2", "Git"), make("p", make("a.button", "Changes", { href: hashOf("diff", route.id) })), git.element, scripts);

  const draw = () => {
    const known = worktree();
    if (!known) return app.show();
    // Below the buttons: what git says comes later, and must not move them from under a finger.
    const facts = factsOf(known, app.state.projects.get(known.project_id));
    renew(about, [...aboutParts(app, known), actions, ...(facts ? [make("p.hint", facts)] : [])]);
    renew(sessions, [...app.state.sessionsOf(known.id).map((session) => make("li", sessionHere(session))), begin]);
    git.draw();
  };
  const read = () => {
    loadScripts(app, route.id, scripts);
    git.look();
  };
  read();
  return {
    get title() {
      return worktree()?.name ?? "Spinney";
    },
    element,
    changed: (change) => change.tree && draw(),
    loaded: read,
    close: () => git.close(),
    event: (name, body) => {
      if (name === "git:status-update" && body.worktree_id === route.id) git.look();
      if (name === "task:completed" && body.worktree_id === route.id) loadScripts(app, route.id, scripts);
    },
  };
}

/** @param {App} app @param {Resource} worktree */
function aboutParts(app, worktree) {
  const project = app.state.projects.get(worktree.project_id);
  const branch = worktree.detached_at ? `detached at ${worktree.detached_at.slice(0, 7)}` : worktree.branch;
  return [
    make("p", make("a", project?.name ?? "", { href: hashOf("project", worktree.project_id) }), ` ▸ ${branch} `, gitMarks(worktree)),
    make("p.path", worktree.path),
    ...(worktree.status === "ready" ? [] : [stateOf(app, worktree)]),
    ...(worktree.pr_url ? [make("p", make("a", worktree.pr_url, { href: worktree.pr_url, target: "_blank", rel: "noopener noreferrer" }))] : []),
  ];
}

/** What it is for, what its branch has more than its base, and what nobody else has yet. @param {Resource} worktree @param {Resource | undefined} project */
function factsOf(worktree, project) {
  const { issue_number: issue, cached_branch_diff_added: added, cached_branch_diff_removed: removed, cached_unpushed_count: unpushed } = worktree;
  return [
    issue && `made for issue #${issue}`,
    (added || removed) && `+${added ?? 0} −${removed ?? 0} since ${worktree.base_branch ?? project?.default_branch}`,
    unpushed && `${counted(unpushed, "commit")} not pushed`,
    worktree.setup_hold === "failed" && "its setup did not end well",
  ].filter(Boolean).join(" · ");
}

/** @param {App} app @param {Resource} worktree */
function stateOf(app, worktree) {
  const words = { creating: "It is being made.", removing: "It is being removed.", missing: "Its directory was removed by hand." };
  const told = make("p.bad", words[/** @type {"missing"} */ (worktree.status)] ?? worktree.status, " ");
  const given = { worktreeId: worktree.id };
  if (worktree.status === "missing") told.append(button("Recreate", () => app.run("recreate_worktree", given)));
  if (worktree.status === "creating") told.append(button("Cancel", () => app.run("cancel_git", given)));
  return told;
}

/** @param {App} app @param {string} worktreeId */
export async function newSession(app, worktreeId) {
  const made = await app.run("create_session", { worktreeId });
  if (made) app.go("session", made.id);
}

/** @param {App} app @param {Resource} worktree */
async function rename(app, worktree) {
  await ask("Name of the worktree", {
    value: worktree.name,
    yes: "Rename",
    hint: "The branch is renamed, too.",
    take: (newName) => newName && newName !== worktree.name && app.connection.call("rename_worktree", { worktreeId: worktree.id, newName }),
  });
}

/** @param {App} app @param {Resource} worktree */
async function label(app, worktree) {
  const color = make("input", { type: "color", value: worktree.label?.color ?? "#5fc48d", "aria-label": "Colour" });
  await ask("Label", {
    value: worktree.label?.name ?? "",
    yes: "Set",
    hint: "Left empty, there is none.",
    more: [color],
    take(name) {
      const label = name.trim() ? { name: name.trim(), color: color.value } : null;
      return app.connection.call("update_worktree_label", { worktreeId: worktree.id, label });
    },
  });
}

/** @param {App} app @param {Resource} worktree */
async function remove(app, worktree) {
  if (await removeWorktree(app, worktree)) app.go("needs");
}

/** @param {App} app @param {string} worktreeId @param {HTMLElement} place */
async function loadScripts(app, worktreeId, place) {
  const worktree = app.state.worktrees.get(worktreeId);
  if (!worktree) return;
  const scripts = await app.read("get_project_scripts", { projectId: worktree.project_id, worktreeId });
  if (!scripts?.length) return;
  place.replaceChildren(make("h2", "Scripts"), ...scripts.map((/** @type {any} */ script) => scriptElement(app, worktree, script)));
}

/** @param {App} app @param {Resource} worktree @param {any} script */
function scriptElement(app, worktree, script) {
  const given = { worktreeId: worktree.id, script: script.name };
  const output = make("pre.output", { hidden: true, tabIndex: 0 });
  const look = async () => {
    const ran = await app.run("get_script_output", given);
    output.hidden = !ran;
    if (ran) output.textContent = `${ran.status}${ran.exit_code === null ? "" : ` (${ran.exit_code})`}\n${ran.output}`;
  };
  const trust = async () => {
    const told = [make("p", `From ${script.file}:`), make("pre.output", script.shown)];
    if (!(await confirm(`Trust the script “${script.name}”?`, told, "I have read it"))) return;
    await app.run("trust_project_scripts", { projectId: worktree.project_id, hashes: [script.hash] });
    app.show();
  };
  return make(
    "div.script",
    make("h3", script.name),
    make("pre.output", script.shown),
    script.hidden && make("p.bad", `Cannot be trusted: ${script.hidden}. Take it out of the file.`),
    make(
      "div.choices",
      script.trusted
        ? button("Run", () => app.run("run_worktree_script", given))
        : !script.hidden && button("Read and trust", trust, ".primary"),
      button("Stop", () => app.run("stop_worktree_script", given)),
      button("Output", look),
    ),
    output,
  );
}
