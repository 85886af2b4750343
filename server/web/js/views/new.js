// @ts-check
// A new worktree: what its agent should do, and from where it begins.

import { button, make } from "../dom.js";
import { perform } from "../perform.js";

/** @typedef {import("../app.js").App} App */

const MODES = { plan: "proposes, and changes nothing", build: "edits, and asks before commands", yolo: "does everything without asking" };
const DRAFT = "spinney-draft-new";

/** @type {import("../app.js").MakeView} */
export function newView(app, route) {
  const project = select("Project", []);
  const message = make("textarea", { rows: 4, value: localStorage.getItem(DRAFT) ?? "", "aria-label": "First message", placeholder: "What should the agent do? Left empty, begin later." });
  message.oninput = () => localStorage.setItem(DRAFT, message.value);
  const name = make("input", { placeholder: "a name is found for you", "aria-label": "Name" });
  const base = select("Branch off", []);
  const issue = select("Issue", [["", "none"]]);
  const pull = select("Pull request", [["", "none"]]);
  const agent = select("Agent", [["", "default"]]);
  const mode = select("Mode", Object.entries(MODES).map(([value, words]) => [value, `${value}: ${words}`]));
  const make_ = make("button.primary", "Create");
  const problem = make("p.bad", { role: "alert" });
  const nowhere = make("p.bad", "There is no project yet. ", button("Add one", () => perform(app, "add_project")));
  const form = make(
    "form.page.fields",
    labelled("Project", project),
    labelled("First message", message),
    labelled("Name", name),
    labelled("Branch off", base),
    labelled("Issue", issue),
    labelled("Pull request", pull),
    labelled("Agent", agent),
    labelled("Mode", mode),
    nowhere,
    problem,
    make_,
  );

  /** @type {any[]} */ let issues = [];
  /** @type {any[]} */ let pulls = [];
  const look = async () => {
    if (!project.value) return;
    const given = { projectId: project.value };
    const branches = await app.run("get_project_branches", given);
    const usual = app.state.projects.get(project.value)?.default_branch;
    fill(base, (branches ?? []).map((/** @type {any} */ branch) => [branch.name, branch.name]));
    base.value = usual ?? "";
    // Where gh is missing or not signed in there is nothing to choose from, and nothing is lost.
    issues = await app.connection.call("list_issues", given).catch(() => []);
    pulls = await app.connection.call("list_pull_requests", given).catch(() => []);
    fill(issue, [["", "none"], ...issues.map(numbered)]);
    fill(pull, [["", "none"], ...pulls.map(numbered)]);
  };
  let offered = "";
  /** The projects that there are: one that is new may be told of behind the place where it is chosen. */
  const offer = () => {
    const projects = [...app.state.projects.values()].filter((each) => !each.is_folder);
    const names = JSON.stringify(projects.map((each) => [each.id, each.name]));
    if (names === offered) return;
    offered = names;
    const before = project.value;
    fill(project, projects.map((each) => [each.id, each.name]));
    project.value = before || (route.query.get("project") ?? app.state.worktrees.get(route.id)?.project_id ?? projects[0]?.id ?? "");
    nowhere.hidden = projects.length > 0;
    make_.disabled = !projects.length;
    if (project.value !== before) look();
  };
  const agents = async () => {
    const known = (await app.run("list_agents")) ?? [];
    fill(agent, [["", "default"], ...known.map((/** @type {any} */ each) => [each.name, each.label])]);
  };
  project.onchange = look;
  issue.onchange = () => {
    const chosen = issues.find((each) => String(each.number) === issue.value);
    if (chosen && !message.value.trim()) message.value = `Resolve issue #${chosen.number} ${chosen.title}`;
  };
  offer();
  agents();

  form.onsubmit = async (event) => {
    event.preventDefault();
    make_.disabled = true;
    problem.textContent = "";
    try {
      const worktree = await app.connection.call("create_worktree", contextOf());
      await begin(app, worktree, { message: message.value.trim(), mode: mode.value, backend: agent.value });
      message.value = "";
      localStorage.removeItem(DRAFT);
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
    }
    make_.disabled = false;
  };

  function contextOf() {
    const one = issues.find((each) => String(each.number) === issue.value);
    const other = pulls.find((each) => String(each.number) === pull.value);
    return {
      projectId: project.value,
      ...(name.value.trim() ? { customName: name.value.trim() } : {}),
      ...(base.value ? { baseBranch: base.value } : {}),
      ...(one ? { issueContext: { number: one.number, title: one.title, body: one.body } } : {}),
      ...(other ? { prContext: { number: other.number, title: other.title, headRefName: other.head_ref_name, baseRefName: other.base_ref_name } } : {}),
    };
  }
  return { title: "New worktree", element: form, changed: (change) => change.tree && offer(), focus: () => matchMedia("(pointer: fine)").matches && message.focus() };
}

/**
 * Wait until the worktree is there, then begin a session in it.
 * @param {App} app @param {any} worktree @param {{ message: string, mode: string, backend: string }} given
 */
async function begin(app, worktree, { message, mode, backend }) {
  app.say(`${worktree.name} is being made.`, { isTrue: () => app.state.worktrees.get(worktree.id)?.status === "creating" });
  await until(app, () => app.state.worktrees.get(worktree.id)?.status !== "creating");
  if (!app.state.worktrees.has(worktree.id)) throw new Error(`${worktree.name} could not be made. Look at the words above, and try again.`);
  if (!message && !backend) {
    app.go("worktree", worktree.id);
    return;
  }
  const session = await app.connection.call("create_session", { worktreeId: worktree.id, executionMode: mode, ...(backend ? { backend } : {}) });
  if (message) await app.connection.call("send_chat_message", { sessionId: session.id, message });
  app.go("session", session.id);
}

/** @param {App} app @param {() => boolean} holds @returns {Promise<void>} */
function until(app, holds) {
  return new Promise((resolve) => {
    const look = () => {
      if (!holds()) return;
      unfollow();
      resolve();
    };
    const unfollow = app.follow(look);
    look();
  });
}

/** @param {{ number: number, title: string }} each @returns {[string, string]} */
const numbered = (each) => [String(each.number), `${each.number} ${each.title}`];

/** @param {string} name @param {[string, string][]} options */
function select(name, options) {
  const made = make("select", { "aria-label": name });
  fill(made, options);
  return made;
}

/** @param {HTMLSelectElement} element @param {[string, string][]} options */
function fill(element, options) {
  element.replaceChildren(...options.map(([value, words]) => make("option", words, { value })));
}

/** @param {string} words @param {HTMLElement} field */
const labelled = (words, field) => make("label", make("span", words), field);
