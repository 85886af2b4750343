// @ts-check
// How a session works, in one line under its message box: mode, agent, model, thinking, and what it used.

import { ask, confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { counted } from "../words.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 * @typedef {{ name: string, label: string, models: { name: string, label: string }[] }} Agent
 */

const MODES = ["plan", "build", "yolo"];
const THINKING = [["off", "no thinking"], ["think", "think"], ["megathink", "megathink"], ["ultrathink", "ultrathink"]];
const OTHER = "\0other";

/** All agents, asked for once. @type {Promise<Agent[]> | null} */
let asked = null;

/** @param {App} app @returns {Promise<Agent[]>} */
export function agentsOf(app) {
  asked ??= app.connection.call("list_agents").catch(() => {
    asked = null;
    return [];
  });
  return asked;
}

/** @param {App} app @param {string} sessionId */
export function settings(app, sessionId) {
  /** @type {Agent[]} */
  let agents = [];
  const mode = make("select.mode", MODES.map(option), { "aria-label": "Mode", title: "How far the agent may go" });
  const kept = make("span.kept", { role: "status" });
  const agent = make("select.agent", { "aria-label": "Agent" });
  const model = make("select.model", { "aria-label": "Model" });
  const thinking = make("select.thinking", THINKING.map(([value, words]) => make("option", words, { value })), { "aria-label": "Thinking" });
  const used = make("span.used");
  const more = button("⚙", () => unfold(more.ariaExpanded !== "true"), ".quiet.rest", { "aria-label": "Agent, model, thinking", "aria-expanded": "false" });
  const element = make("div.settings", mode, kept, more, agent, model, thinking, used, { role: "group", "aria-label": "How the session works" });
  /** Where there is little room all but the mode is folded away. @param {boolean} isOpen */
  const unfold = (isOpen) => {
    more.ariaExpanded = String(isOpen);
  };
  const session = () => app.state.sessions.get(sessionId);
  const known = () => agents.find((each) => each.name === session()?.backend);
  /** @param {Record<string, unknown>} changes */
  const change = async (changes) => {
    await app.run("update_session", { sessionId, ...changes });
    const now = session();
    if (now) draw(now);
  };
  mode.onchange = () => change({ executionMode: mode.value });
  thinking.onchange = () => change({ thinkingLevel: thinking.value });
  agent.onchange = async () => {
    const now = session();
    const backend = agent.value;
    const yes = !now?.message_count || (await confirm("Change the agent?", make("p", changeOfAgent(now, backend, agents)), "Change"));
    if (yes) await change({ backend });
    else agent.value = now?.backend ?? "";
  };
  model.onchange = async () => {
    const name = model.value === OTHER ? await ask("Model", { yes: "Use it", hint: "Its name, as the agent's program knows it." }) : model.value;
    if (name?.trim()) await change({ model: name.trim() });
    else model.value = session()?.model ?? "";
  };
  /** @param {Resource} now */
  const draw = (now) => {
    const models = known()?.models ?? [];
    const own = models.some((each) => each.name === now.model) || !now.model ? [] : [{ name: now.model, label: now.model }];
    offer(agent, known() ? agents : [{ name: now.backend, label: now.backend }]);
    offer(model, [...own, ...models, { name: OTHER, label: "other…" }]);
    mode.value = now.execution_mode;
    agent.value = now.backend;
    model.value = now.model;
    thinking.value = now.thinking_level;
    mode.dataset.mode = now.execution_mode;
    kept.textContent = now.turn_mode ? `from the next turn on, ${now.turn_mode} now` : "";
    agent.disabled = now.status === "running" || now.status === "waiting";
    agent.title = agent.disabled ? "Stop the session before it changes its agent" : "Who works here";
    used.textContent = usedBy(now);
    used.title = usedInWords(now);
  };
  const unwatch = app.watch((link) => {
    if (link.state !== "open" || agents.length) return;
    agentsOf(app).then((found) => {
      agents = found;
      const now = session();
      if (now) draw(now);
    });
  });
  return {
    element,
    follow: draw,
    close: unwatch,
    get agent() {
      return known()?.label ?? "agent";
    },
  };
}

/** What another agent will know of the conversation. @param {Resource} session @param {string} backend @param {Agent[]} agents */
function changeOfAgent(session, backend, agents) {
  const label = (/** @type {string} */ name) => agents.find((each) => each.name === name)?.label ?? name;
  const known = session.memories?.[backend]?.messages ?? 0;
  if (!known) {
    return `${label(backend)} begins a conversation of its own. With your next message it gets a summary of this one, which you can read here. ${label(session.backend)} keeps its own, should you go back to it.`;
  }
  if (known >= session.message_count) return `${label(backend)} goes on with its own conversation, in which nothing is missing.`;
  return `${label(backend)} goes on with its own conversation of before. With your next message it gets a summary of what happened since, which you can read here.`;
}

/** @param {string} name */
const option = (name) => make("option", name, { value: name });

/** Offer these, where others stood: an open list would close. @param {HTMLSelectElement} select @param {{ name: string, label: string }[]} rows */
function offer(select, rows) {
  const names = rows.map(({ name, label }) => `${name} ${label}`).join("\n");
  if (select.dataset.offered === names) return;
  select.dataset.offered = names;
  select.replaceChildren(...rows.map(({ name, label }) => make("option", label, { value: name })));
}

/** @param {Resource} session */
function usedBy(session) {
  const { read, written } = tokensOf(session);
  const { context_tokens: filled, context_window: room } = session;
  return [
    read + written > 0 && counted(read + written, "token", short(read + written)),
    filled && room && `context ${Math.floor((100 * filled) / room)} %`,
  ].filter(Boolean).join(" · ");
}

/** Tokens read, from a cache or not, and written. @param {Resource} session */
function tokensOf({ usage = {} }) {
  const { input_tokens = 0, cache_creation_input_tokens = 0, cache_read_input_tokens = 0, output_tokens = 0 } = usage;
  return { read: input_tokens + cache_creation_input_tokens + cache_read_input_tokens, written: output_tokens };
}

/** @param {Resource} session */
function usedInWords(session) {
  const { read, written } = tokensOf(session);
  const { context_tokens: filled, context_window: room } = session;
  const context = filled && room ? `; ${filled.toLocaleString("en")} of ${counted(room, "token")} of context` : "";
  return `${counted(read, "token")} read, ${written.toLocaleString("en")} written${context}`;
}

/** @param {number} count */
function short(count) {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}
