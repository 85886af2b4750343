// @ts-check
// How a session works, in one line under its message box: mode, agent, model, thinking, and what it used.

import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { counted } from "../words.js";
import { agentsOf, answeredBy, forgetAgents, modelChooser, offer } from "./models.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 * @typedef {import("./models.js").Agent} Agent
 */

const MODES = ["plan", "build", "yolo"];
const THINKING = [["off", "no thinking"], ["think", "think"], ["megathink", "megathink"], ["ultrathink", "ultrathink"]];

/** @param {App} app @param {string} sessionId */
export function settings(app, sessionId) {
  /** @type {Agent[]} */
  let agents = [];
  const mode = make("select.mode", MODES.map(option), { "aria-label": "Mode", title: "How far the agent may go" });
  const kept = make("span.kept", { role: "status" });
  const agent = make("select.agent", { "aria-label": "Agent" });
  const thinking = make("select.thinking", THINKING.map(([value, words]) => make("option", words, { value })), { "aria-label": "Thinking" });
  const used = make("span.used");
  const more = button("⚙", () => unfold(more.ariaExpanded !== "true"), ".quiet.rest", { "aria-label": "Agent, model, thinking", "aria-expanded": "false" });
  const session = () => app.state.sessions.get(sessionId);
  const known = () => agents.find((each) => each.name === session()?.backend);
  const models = modelChooser(app, session, known, (model) => change({ model }));
  const element = make("div.settings", mode, kept, more, agent, models.element, thinking, used, { role: "group", "aria-label": "How the session works" });
  /** Where there is little room all but the mode is folded away. @param {boolean} isOpen */
  const unfold = (isOpen) => {
    more.ariaExpanded = String(isOpen);
  };
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
  /** @param {Resource} now */
  const draw = (now) => {
    offer(agent, known() ? agents : [{ name: now.backend, label: "…" }]);
    models.follow();
    mode.value = now.execution_mode;
    agent.value = now.backend;
    thinking.value = now.thinking_level;
    mode.dataset.mode = now.execution_mode;
    kept.textContent = now.turn_mode ? `from the next turn on, ${now.turn_mode} now` : "";
    agent.disabled = now.status === "running" || now.status === "waiting";
    agent.title = agent.disabled ? "Stop the session before it changes its agent" : "Who works here";
    used.textContent = [answeredBy(known(), now), usedBy(now)].filter(Boolean).join(" · ");
    used.title = usedInWords(now);
  };
  const read = () =>
    agentsOf(app).then((found) => {
      agents = found;
      const now = session();
      if (now) draw(now);
    });
  const unwatch = app.watch((link) => {
    if (link.state === "open" && !agents.length) read();
  });
  const unhear = app.listen((name) => {
    if (name !== "models:updated") return;
    forgetAgents();
    models.update();
    read();
  });
  return {
    element,
    follow: draw,
    close() {
      unwatch();
      unhear();
    },
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
