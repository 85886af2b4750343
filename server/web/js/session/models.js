// @ts-check
// The model of a session: those that its agent's program has, asked for when somebody wants to choose.

import { ask } from "../dialogs.js";
import { make } from "../dom.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 * @typedef {{ name: string, passed: string, label: string, description: string, efforts: string[], answers_as: string, is_offered: boolean }} Model
 * @typedef {{ name: string, label: string, models: Model[] }} Agent
 */

const OTHER = "\0other";

/** All agents, asked for again when an agent has other models. @type {Promise<Agent[]> | null} */
let asked = null;

/** @param {App} app @returns {Promise<Agent[]>} */
export function agentsOf(app) {
  asked ??= app.connection.call("list_agents").catch(() => {
    asked = null;
    return [];
  });
  return asked;
}

/** Ask for the agents anew: one of them has other models. */
export function forgetAgents() {
  asked = null;
}

/**
 * @param {App} app
 * @param {() => Resource | undefined} session
 * @param {() => Agent | undefined} agent
 * @param {(model: string) => Promise<void>} choose
 */
export function modelChooser(app, session, agent, choose) {
  const element = make("select.model", { "aria-label": "Model" });
  /** What the agent has with the provider profile of this project. @type {{ backend: string, models: Model[] }} */
  let told = { backend: "", models: [] };
  /** @param {boolean} asks Whether its program may be asked; an event tells when it has others. */
  const look = async (asks) => {
    const now = session();
    const projectId = now && app.state.worktrees.get(now.worktree_id)?.project_id;
    if (!projectId) return;
    const models = await app.connection.call("list_models", { backend: now.backend, projectId, ask: asks }).catch(() => null);
    if (models) told = { backend: now.backend, models };
    follow();
  };
  element.onfocus = () => look(true);
  element.onchange = async () => {
    const name = element.value === OTHER ? await ask("Model", { yes: "Use it", hint: "Its name, as the agent's program knows it." }) : element.value;
    if (name === element.value || name?.trim()) await choose((name ?? "").trim());
    else follow();
  };
  const follow = () => {
    const now = session();
    if (!now) return;
    const models = told.backend === now.backend ? told.models : (agent()?.models ?? []);
    const offered = models.filter((each) => each.is_offered);
    const present = shownAs(models, now.model);
    const own = offered.some((each) => each.name === present) || !present ? [] : [{ name: present, label: agent() ? present : "…" }];
    offer(element, [...own, ...offered, { name: OTHER, label: "other…" }]);
    element.value = present;
    element.title = about(offered.find((each) => each.name === present));
  };
  /** Look again, if somebody wanted to choose before. */
  const update = () => told.backend && look(false);
  return { element, follow, update };
}

/** What people call the model that answers, where that is another than the chosen one. @param {Agent | undefined} agent @param {Resource} session */
export function answeredBy(agent, session) {
  const answers = session.answering_model;
  if (!answers || !agent) return "";
  const found = agent.models.find((each) => each.name && (each.name === answers || each.answers_as === answers));
  const chosen = agent.models.find((each) => each.name === session.model);
  const isSame = answers === session.model || (chosen && [chosen.passed, chosen.answers_as].includes(answers));
  return isSame ? "" : (found?.label ?? answers);
}

/** Offer these, where others stood: an open list would close. @param {HTMLSelectElement} select @param {{ name: string, label: string }[]} rows */
export function offer(select, rows) {
  const names = rows.map(({ name, label }) => `${name} ${label}`).join("\n");
  if (select.dataset.offered === names) return;
  select.dataset.offered = names;
  select.replaceChildren(...rows.map((row) => make("option", row.label, { value: row.name, title: about(row) })));
}

/** What it is good for, and how hard it can be told to work. @param {Partial<Model> | undefined} model */
function about(model) {
  const efforts = model?.efforts?.length ? `effort ${model.efforts.join(" ")}` : "";
  return [model?.description, efforts].filter(Boolean).join(" · ");
}

/** The name under which the list has a model, which may be a preset. @param {Model[]} models @param {string} name */
function shownAs(models, name) {
  const row = models.find((each) => each.name === name);
  if (!row || row.is_offered) return name;
  return models.find((each) => each.is_offered && each.passed === row.passed)?.name ?? name;
}
