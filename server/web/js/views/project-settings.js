// @ts-check
// What holds for one project alone; what is left empty is as usual.

import { showOver } from "../dialogs.js";
import { button, make } from "../dom.js";
import { agentsOf } from "../session/models.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const AS_USUAL = "as the preferences say";

/** @param {App} app @param {string} projectId @returns {Promise<void>} */
export async function projectSettings(app, projectId) {
  const agents = await agentsOf(app);
  const project = app.state.projects.get(projectId);
  if (!project || project.is_folder) return app.say("Open a project first.");
  const fields = fieldsOf(app, project, agents);
  const servers = serversOf(app, project);
  const problem = make("p.bad", { role: "alert" });
  const save = make("button.primary", "Save");
  const title = `Settings of ${project.name}`;
  const dialog = make("dialog.project-settings", make("h2", title), { "aria-label": title });
  const form = make(
    "form",
    fields.map(({ words, field }) => make("label.setting", make("span", words), field)),
    servers.element,
    problem,
    make("div.choices", save, button("Cancel", () => dialog.close())),
  );
  dialog.append(form);
  form.onsubmit = async (event) => {
    event.preventDefault();
    // Only what is different, so that nobody else's change is undone.
    const changed = fields.filter(({ field, before }) => field.value.trim() !== before).map(({ key, field }) => [key, field.value.trim()]);
    const changes = { ...Object.fromEntries(changed), ...servers.changes() };
    save.disabled = true;
    try {
      if (Object.keys(changes).length) await app.connection.call("update_project_settings", { projectId, ...changes });
      dialog.close();
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
      save.disabled = false;
    }
  };
  showOver(dialog, undefined, () => projectSettings(app, projectId));
}

/** Each by the name of its argument, with what it holds now. @param {App} app @param {Resource} project @param {{ name: string, label: string }[]} agents */
function fieldsOf(app, project, agents) {
  const { default_backend: agent, default_provider: provider, default_branch: branch, worktrees_dir: directory, custom_system_prompt: prompt } = project;
  /** @type {string[]} */
  const profiles = (app.state.preferences.custom_cli_profiles ?? []).map((/** @type {any} */ profile) => profile.name);
  const gone = provider && !profiles.includes(provider) ? [[provider, `${provider} · is not there any more`]] : [];
  const branches = select([[branch, branch]], branch);
  app.read("get_project_branches", { projectId: project.id }).then((found) => {
    const others = (found ?? []).filter((/** @type {any} */ each) => each.name !== branch);
    branches.append(...others.map((/** @type {any} */ each) => make("option", each.name, { value: each.name })));
  });
  const all = [
    ["defaultBackend", "Agent", select([["", AS_USUAL], ...agents.map(({ name, label }) => [name, label])], agent), agent],
    ["defaultProvider", "Provider profile", select([["", AS_USUAL], ...profiles.map((name) => [name, name]), ...gone], provider), provider],
    ["defaultBranch", "Branch off", branches, branch],
    ["worktreesDir", "Directory of its worktrees", make("input", { value: directory ?? "", placeholder: "one in ~/spinney", autocomplete: "off", spellcheck: false }), directory],
    ["customSystemPrompt", "Instructions that every agent gets here", make("textarea", { rows: 4, value: prompt ?? "" }), prompt],
  ];
  return all.map(([key, words, field, before]) => ({ key, words, field, before: before ?? "" }))
    .filter(({ key }) => key !== "defaultProvider" || profiles.length > 0 || provider);
}

/** @param {string[][]} options @param {string | null} chosen */
function select(options, chosen) {
  const made = make("select", options.map(([value, words]) => make("option", words, { value })));
  made.value = chosen ?? "";
  return made;
}

/** The MCP servers that are on, by name; none where none is known. @param {App} app @param {Resource} project */
function serversOf(app, project) {
  const known = [...new Set([...project.known_mcp_servers, ...(app.state.preferences.known_mcp_servers ?? [])])];
  /** @type {string[] | null} */
  const before = project.enabled_mcp_servers;
  const usual = make("input", { type: "checkbox", checked: before === null });
  const boxes = known.map((name) => make("input", { type: "checkbox", value: name, checked: before?.includes(name) ?? false }));
  // Those of the preferences and those by name exclude each other.
  usual.onchange = () => usual.checked && boxes.forEach((box) => (box.checked = false));
  for (const box of boxes) box.onchange = () => (usual.checked = false);
  const labels = [make("label.check", usual, AS_USUAL), ...boxes.map((box) => make("label.check", box, box.value))];
  return {
    element: known.length ? make("fieldset", make("legend", "MCP servers"), labels) : "",
    changes() {
      const chosen = usual.checked ? null : boxes.filter((box) => box.checked).map((box) => box.value);
      return JSON.stringify(chosen) === JSON.stringify(before) ? {} : { enabledMcpServers: chosen };
    },
  };
}
