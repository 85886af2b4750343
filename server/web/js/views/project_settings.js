// @ts-check
// The dialog for the settings of a project; empty fields use the preferences.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { loadAgents } from "../session/models.js";
import { projectBudget } from "./budget.js";
import { METHODS } from "./landing_types.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const DEFAULT_LABEL = "Default (from preferences)";

/** @param {App} app @param {string} projectId @returns {Promise<void>} */
export async function projectSettings(app, projectId) {
  const agents = await loadAgents(app);
  const project = app.state.projects.get(projectId);
  if (!project || project.is_folder) return app.toast("Open a project first.");
  const fields = makeFields(app, project, agents);
  const servers = makeServerBoxes(app, project);
  const secrets = makeSecretBoxes(project);
  const budget = projectBudget(app, project);
  const problem = make("p.bad", { role: "alert" });
  const save = make("button.primary", "Save");
  const title = `Settings of ${project.name}`;
  const dialog = make("dialog.project-settings", make("h2", title), { "aria-label": title });
  const form = make(
    "form",
    fields.map(({ label, field }) => make("label.setting", make("span", label), field)),
    budget.element,
    servers.element,
    secrets.element,
    problem,
    make("div.choices", save, button("Cancel", () => dialog.close())),
  );
  dialog.append(form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    // Only what changed, so that changes by other clients are not overwritten.
    const changed = fields.filter(({ field, before }) => field.value.trim() !== before).map(({ key, field }) => [key, field.value.trim()]);
    const changes = { ...Object.fromEntries(changed), ...servers.changes() };
    if (changes.trackerApiKey === "-") changes.trackerApiKey = "";
    save.disabled = true;
    try {
      if (budget.isChanged()) await budget.save();
      for (const fingerprint of secrets.forgotten()) await app.connection.call("forget_allowed_secret", { projectId, fingerprint });
      if (Object.keys(changes).length) await app.connection.call("update_project_settings", { projectId, ...changes });
      dialog.close();
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
      save.disabled = false;
    }
  });
  showDialog(dialog, undefined, () => projectSettings(app, projectId));
}

/** The fields, by name of the argument, with their current values. @param {App} app @param {Resource} project @param {{ name: string, label: string }[]} agents */
function makeFields(app, project, agents) {
  const { default_backend: agent, default_provider: provider, default_branch: branch, worktrees_dir: directory, custom_system_prompt: prompt, landing_method: method, branch_template: template, tracker_api_key: trackerKey, tracker_team_id: team } = project;
  /** @type {string[]} */
  const profiles = (app.state.preferences.custom_cli_profiles ?? []).map((/** @type {any} */ profile) => profile.name);
  const deleted = provider && !profiles.includes(provider) ? [[provider, `${provider} (deleted)`]] : [];
  const branches = select([[branch, branch]], branch);
  app.read("get_project_branches", { projectId: project.id }).then((loaded) => {
    const others = (loaded ?? []).filter((/** @type {any} */ other) => other.name !== branch);
    branches.append(...others.map((/** @type {any} */ other) => make("option", other.name, { value: other.name })));
  });
  const key = make("input", { type: "password", autocomplete: "new-password", spellcheck: false, placeholder: trackerKey ? "Hidden. Enter a new one, or - to remove it" : "A key of this project, or - to remove it" });
  const fields = [
    ["defaultBackend", "Agent", select([["", DEFAULT_LABEL], ...agents.map(({ name, label }) => [name, label])], agent), agent],
    ["defaultProvider", "Provider profile", select([["", DEFAULT_LABEL], ...profiles.map((name) => [name, name]), ...deleted], provider), provider],
    ["defaultBranch", "Base branch", branches, branch],
    ["landingMethod", "Lands by", select([["", DEFAULT_LABEL], ...METHODS], method), method],
    ["branchTemplate", "Branch names", make("input", { value: template ?? "", placeholder: "As in the preferences, such as {user}/{slug}", autocomplete: "off", spellcheck: false }), template],
    ["worktreesDir", "Worktree directory", make("input", { value: directory ?? "", placeholder: "In ~/spinney", autocomplete: "off", spellcheck: false }), directory],
    ["trackerApiKey", "Key of the issue tracker (Linear)", key, ""],
    ["trackerTeamId", "Team of the issue tracker", makeTeams(app, project), team],
    ["customSystemPrompt", "Instructions for all agents", make("textarea", { rows: 4, value: prompt ?? "" }), prompt],
  ];
  return fields.map(([key, label, field, before]) => ({ key, label, field, before: before ?? "" }))
    .filter(({ key }) => key !== "defaultProvider" || profiles.length > 0 || provider);
}

/** The teams that the key of the project, or of the preferences, can see. @param {App} app @param {Resource} project */
function makeTeams(app, project) {
  const { tracker_team_id: team } = project;
  const teams = select([["", "None"], ...(team ? [[team, team]] : [])], team);
  const note = make("option", "Loading …", { disabled: true });
  teams.append(note);
  app.connection.call("list_tracker_teams", { projectId: project.id }).then((found) => {
    const chosen = teams.value;
    teams.replaceChildren(...[["", "None"], ...found.map((/** @type {any} */ each) => [each.id, `${each.key} ${each.name}`])].map(([value, label]) => make("option", label, { value })));
    if (chosen && teams.value !== chosen && !found.some((/** @type {any} */ each) => each.id === chosen)) teams.append(make("option", chosen, { value: chosen }));
    teams.value = chosen;
  }, (error) => (note.textContent = error.message));
  return teams;
}

/** @param {string[][]} options @param {string | null} selected */
function select(options, selected) {
  const control = make("select", options.map(([value, label]) => make("option", label, { value })));
  control.value = selected ?? "";
  return control;
}

/** The checkboxes of enabled MCP servers; empty if none is known. @param {App} app @param {Resource} project */
function makeServerBoxes(app, project) {
  const known = [...new Set([...project.known_mcp_servers, ...(app.state.preferences.known_mcp_servers ?? [])])];
  /** @type {string[] | null} */
  const before = project.enabled_mcp_servers;
  const useDefault = make("input", { type: "checkbox", checked: before === null });
  const boxes = known.map((name) => make("input", { type: "checkbox", value: name, checked: before?.includes(name) ?? false }));
  // The default and individual servers exclude each other.
  useDefault.addEventListener("change", () => useDefault.checked && boxes.forEach((box) => (box.checked = false)));
  for (const box of boxes) box.addEventListener("change", () => (useDefault.checked = false));
  const labels = [make("label.check", useDefault, DEFAULT_LABEL), ...boxes.map((box) => make("label.check", box, box.value))];
  return {
    element: known.length ? make("fieldset", make("legend", "MCP servers"), labels) : "",
    changes() {
      const selected = useDefault.checked ? null : boxes.filter((box) => box.checked).map((box) => box.value);
      return JSON.stringify(selected) === JSON.stringify(before) ? {} : { enabledMcpServers: selected };
    },
  };
}

/** The checkboxes of what may be committed although it looks like a secret; empty if there is none. @param {Resource} project */
function makeSecretBoxes(project) {
  const allowed = Object.entries(/** @type {Record<string, string>} */ (project.allowed_secrets ?? {}));
  const boxes = allowed.map(([fingerprint]) => make("input", { type: "checkbox", value: fingerprint, checked: true }));
  const labels = boxes.map((box, index) => make("label.check", box, allowed[index][1] || box.value));
  return {
    element: allowed.length ? make("fieldset", make("legend", "Allowed secrets"), labels) : "",
    forgotten: () => boxes.filter((box) => !box.checked).map((box) => box.value),
  };
}
