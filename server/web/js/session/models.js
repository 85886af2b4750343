// @ts-check
// The model select of a session; models are loaded from the agent's program when it is focused.

import { ask } from "../dialogs.js";
import { make } from "../dom.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 * @typedef {{ name: string, passed: string, label: string, description: string, efforts: string[], answers_as: string, is_offered: boolean }} Model
 * @typedef {{ name: string, label: string, models: Model[] }} Agent
 */

const OTHER = "\0other";

/** All agents; reset when the models of one have changed. @type {Promise<Agent[]> | null} */
let agentsRequest = null;

/** @param {App} app @returns {Promise<Agent[]>} */
export function loadAgents(app) {
  agentsRequest ??= app.connection.call("list_agents").catch(() => {
    agentsRequest = null;
    return [];
  });
  return agentsRequest;
}

/** Reset the agents, because the models of one have changed. */
export function clearAgents() {
  agentsRequest = null;
}

/**
 * @param {App} app
 * @param {() => Resource | undefined} session
 * @param {() => Agent | undefined} agent
 * @param {(model: string) => Promise<void>} choose
 */
export function modelChooser(app, session, agent, choose) {
  const element = make("select.model", { "aria-label": "Model" });
  /** The models of the agent with the provider profile of this project. @type {{ backend: string, models: Model[] }} */
  let loaded = { backend: "", models: [] };
  /** @param {boolean} query whether to query the program; an event reports changes. */
  const load = async (query) => {
    const current = session();
    const projectId = current && app.state.worktrees.get(current.worktree_id)?.project_id;
    if (!projectId) return;
    const models = await app.connection.call("list_models", { backend: current.backend, projectId, ask: query }).catch(() => null);
    if (models) loaded = { backend: current.backend, models };
    update();
  };
  element.addEventListener("focus", () => load(true));
  element.addEventListener("change", async () => {
    const name = element.value === OTHER ? await ask("Model", { label: "Use", hint: "The model's name, as the agent's program knows it." }) : element.value;
    if (name === element.value || name?.trim()) await choose((name ?? "").trim());
    else update();
  });
  const update = () => {
    const current = session();
    if (!current) return;
    const models = loaded.backend === current.backend ? loaded.models : (agent()?.models ?? []);
    const options = models.filter((model) => model.is_offered);
    const shownName = entryName(models, current.model);
    const extra = options.some((model) => model.name === shownName) || !shownName ? [] : [{ name: shownName, label: agent() ? shownName : "…" }];
    setOptions(element, [...extra, ...options, { name: OTHER, label: "Other…" }]);
    element.value = shownName;
    element.title = describeModel(options.find((model) => model.name === shownName));
  };
  /** Reload the models if they were loaded before. */
  const reload = () => loaded.backend && load(false);
  return { element, update, reload };
}

/** The display name of the answering model, if it differs from the chosen one. @param {Agent | undefined} agent @param {Resource} session */
export function answeringModel(agent, session) {
  const answeringName = session.answering_model;
  if (!answeringName || !agent) return "";
  const answering = agent.models.find((model) => model.name && (model.name === answeringName || model.answers_as === answeringName));
  const chosen = agent.models.find((model) => model.name === session.model);
  const isSame = answeringName === session.model || (chosen && [chosen.passed, chosen.answers_as].includes(answeringName));
  return isSame ? "" : (answering?.label ?? answeringName);
}

/** Set the options of a select, if they changed: an open list would close. @param {HTMLSelectElement} select @param {{ name: string, label: string }[]} rows */
export function setOptions(select, rows) {
  const names = rows.map(({ name, label }) => `${name} ${label}`).join("\n");
  if (select.dataset.offered === names) return;
  select.dataset.offered = names;
  select.replaceChildren(...rows.map((row) => make("option", row.label, { value: row.name, title: describeModel(row) })));
}

/** The description of a model, with its effort levels. @param {Partial<Model> | undefined} model */
function describeModel(model) {
  const efforts = model?.efforts?.length ? `effort ${model.efforts.join(" ")}` : "";
  return [model?.description, efforts].filter(Boolean).join(" · ");
}

/** The name of the list's entry for a model, which may be a preset. @param {Model[]} models @param {string} name */
function entryName(models, name) {
  const row = models.find((model) => model.name === name);
  if (!row || row.is_offered) return name;
  return models.find((model) => model.is_offered && model.passed === row.passed)?.name ?? name;
}
