// @ts-check
// The form for a new worktree: first message, name, base branch, agent and mode.

import { button, make } from "../dom.js";
import { performAction } from "../perform.js";

/** @typedef {import("../app.js").App} App */

const MODE_DESCRIPTIONS = { plan: "proposes, and changes nothing", build: "edits, and asks before commands", yolo: "does everything without asking" };
const DRAFT = "spinney-draft-new";

/** @type {import("../app.js").MakeView} */
export function newView(app, route) {
  const project = select("Project", []);
  const message = make("textarea", { rows: 4, value: localStorage.getItem(DRAFT) ?? "", "aria-label": "First message", placeholder: "What should the agent do? (optional)" });
  message.oninput = () => localStorage.setItem(DRAFT, message.value);
  const name = make("input", { placeholder: "Generated if empty", "aria-label": "Name" });
  const base = select("Base branch", []);
  const issue = select("Issue", [["", "none"]]);
  const pullRequest = select("Pull request", [["", "none"]]);
  const agent = select("Agent", [["", "default"]]);
  const mode = select("Mode", Object.entries(MODE_DESCRIPTIONS).map(([value, label]) => [value, `${value}: ${label}`]));
  const createButton = make("button.primary", "Create");
  const problem = make("p.bad", { role: "alert" });
  const noProject = make("p.bad", "No projects yet. ", button("Add one", () => performAction(app, "add_project")));
  const form = make(
    "form.page.fields",
    labeled("Project", project),
    labeled("First message", message),
    labeled("Name", name),
    labeled("Base branch", base),
    labeled("Issue", issue),
    labeled("Pull request", pullRequest),
    labeled("Agent", agent),
    labeled("Mode", mode),
    noProject,
    problem,
    createButton,
  );

  /** @type {any[]} */ let issues = [];
  /** @type {any[]} */ let pullRequests = [];
  const loadChoices = async () => {
    if (!project.value) return;
    const args = { projectId: project.value };
    const branches = await app.run("get_project_branches", args);
    const defaultBranch = app.state.projects.get(project.value)?.default_branch;
    setChoices(base, (branches ?? []).map((/** @type {any} */ branch) => [branch.name, branch.name]));
    base.value = defaultBranch ?? "";
    // If gh is missing or not signed in, there are no choices.
    issues = await app.connection.call("list_issues", args).catch(() => []);
    pullRequests = await app.connection.call("list_pull_requests", args).catch(() => []);
    setChoices(issue, [["", "none"], ...issues.map(numberedOption)]);
    setChoices(pullRequest, [["", "none"], ...pullRequests.map(numberedOption)]);
  };
  let signature = "";
  /** Update the projects; a new one may be announced after it was selected. */
  const updateProjects = () => {
    const projects = [...app.state.projects.values()].filter((item) => !item.is_folder);
    const names = JSON.stringify(projects.map((item) => [item.id, item.name]));
    if (names === signature) return;
    signature = names;
    const before = project.value;
    setChoices(project, projects.map((item) => [item.id, item.name]));
    project.value = before || (route.query.get("project") ?? app.state.worktrees.get(route.id)?.project_id ?? projects[0]?.id ?? "");
    noProject.hidden = projects.length > 0;
    createButton.disabled = !projects.length;
    if (project.value !== before) loadChoices();
  };
  const loadAgentOptions = async () => {
    const agents = (await app.run("list_agents")) ?? [];
    setChoices(agent, [["", "default"], ...agents.map((/** @type {any} */ item) => [item.name, item.label])]);
  };
  project.onchange = loadChoices;
  issue.onchange = () => {
    const chosen = issues.find((item) => String(item.number) === issue.value);
    if (chosen && !message.value.trim()) message.value = `Resolve issue #${chosen.number} ${chosen.title}`;
  };
  updateProjects();
  loadAgentOptions();

  form.onsubmit = async (event) => {
    event.preventDefault();
    createButton.disabled = true;
    problem.textContent = "";
    try {
      const worktree = await app.connection.call("create_worktree", buildArguments());
      await startSession(app, worktree, { message: message.value.trim(), mode: mode.value, backend: agent.value });
      message.value = "";
      localStorage.removeItem(DRAFT);
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
    }
    createButton.disabled = false;
  };

  function buildArguments() {
    const issueItem = issues.find((item) => String(item.number) === issue.value);
    const pullItem = pullRequests.find((item) => String(item.number) === pullRequest.value);
    return {
      projectId: project.value,
      ...(name.value.trim() ? { customName: name.value.trim() } : {}),
      ...(base.value ? { baseBranch: base.value } : {}),
      ...(issueItem ? { issueContext: { number: issueItem.number, title: issueItem.title, body: issueItem.body } } : {}),
      ...(pullItem ? { prContext: { number: pullItem.number, title: pullItem.title, headRefName: pullItem.head_ref_name, baseRefName: pullItem.base_ref_name } } : {}),
    };
  }
  return { title: "New task", element: form, update: (change) => change.tree && updateProjects(), focus: () => matchMedia("(pointer: fine)").matches && message.focus() };
}

/**
 * Wait until the worktree is created, then start a session in it.
 * @param {App} app @param {any} worktree @param {{ message: string, mode: string, backend: string }} args
 */
async function startSession(app, worktree, { message, mode, backend }) {
  app.toast(`Creating ${worktree.name} …`, { isValid: () => app.state.worktrees.get(worktree.id)?.status === "creating" });
  await waitUntil(app, () => app.state.worktrees.get(worktree.id)?.status !== "creating");
  if (!app.state.worktrees.has(worktree.id)) throw new Error(`${worktree.name} could not be created. Check the input and try again.`);
  if (!message && !backend) {
    app.go("worktree", worktree.id);
    return;
  }
  const session = await app.connection.call("create_session", { worktreeId: worktree.id, executionMode: mode, ...(backend ? { backend } : {}) });
  if (message) await app.connection.call("send_chat_message", { sessionId: session.id, message });
  app.go("session", session.id);
}

/** @param {App} app @param {() => boolean} condition @returns {Promise<void>} */
function waitUntil(app, condition) {
  return new Promise((resolve) => {
    const check = () => {
      if (!condition()) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = app.onChange(check);
    check();
  });
}

/** @param {{ number: number, title: string }} item @returns {[string, string]} */
const numberedOption = (item) => [String(item.number), `${item.number} ${item.title}`];

/** @param {string} name @param {[string, string][]} options */
function select(name, options) {
  const created = make("select", { "aria-label": name });
  setChoices(created, options);
  return created;
}

/** @param {HTMLSelectElement} element @param {[string, string][]} options */
function setChoices(element, options) {
  element.replaceChildren(...options.map(([value, label]) => make("option", label, { value })));
}

/** @param {string} label @param {HTMLElement} field */
const labeled = (label, field) => make("label", make("span", label), field);
