// @ts-check
// The settings of a session in one line below its message box: mode, agent, model, thinking, and usage. On a phone a
// chip beside the box shows mode and agent, and opens all of them in a sheet.

import { confirm, showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { formatCost, formatCount, pluralize } from "../format.js";
import { mayUse } from "../guest.js";
import { loadAgents, answeringModel, clearAgents, modelChooser, setOptions } from "./models.js";

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
  const mode = make("select.mode", MODES.filter(mayUse).map(option), { "aria-label": "Mode", title: "What the agent may do without asking" });
  const pendingMode = make("span.pending-mode", { role: "status" });
  const agent = make("select.agent", { "aria-label": "Agent" });
  const thinking = make("select.thinking", THINKING.map(([value, label]) => make("option", label, { value })), { "aria-label": "Thinking" });
  const usage = make("span.usage");
  const gauge = make("progress.gauge", { max: 100, value: 0, "aria-label": "Context" });
  const session = () => app.state.sessions.get(sessionId);
  const currentAgent = () => agents.find((agent) => agent.name === session()?.backend);
  const models = modelChooser(app, session, currentAgent, (model) => change({ model }));
  const element = make(
    "div.settings",
    setting("Mode", mode), pendingMode, setting("Agent", agent), setting("Model", models.element), setting("Thinking", thinking), usage, gauge,
    { role: "group", "aria-label": "Session settings" },
  );
  const chipMode = make("b");
  const chipAgent = make("small");
  const chip = button([chipMode, chipAgent], () => openSheet(), ".quiet.settings-chip");
  const openSheet = () => {
    const { parentElement: home, nextSibling: next } = element;
    const done = button("Done", () => sheet.close(), ".primary");
    const sheet = make("dialog.settings-sheet", make("h2", "Session settings"), element, make("div.choices", done), { "aria-label": "Session settings" });
    showDialog(sheet, () => home?.isConnected && home.insertBefore(element, next));
  };
  /** @param {Record<string, unknown>} changes */
  const change = async (changes) => {
    await app.run("update_session", { sessionId, ...changes });
    const current = session();
    if (current) update(current);
  };
  mode.addEventListener("change", () => change({ executionMode: mode.value }));
  thinking.addEventListener("change", () => change({ thinkingLevel: thinking.value }));
  agent.addEventListener("change", async () => {
    const current = session();
    const backend = agent.value;
    const isConfirmed = !current?.message_count || (await confirm("Change the agent?", make("p", describeAgentChange(current, backend, agents)), "Change"));
    if (isConfirmed) await change({ backend });
    else agent.value = current?.backend ?? "";
  });
  /** @param {Resource} current */
  const update = (current) => {
    setOptions(agent, currentAgent() ? agents : [{ name: current.backend, label: "…" }]);
    models.update();
    if (!mayUse(current.execution_mode) && !mode.querySelector("[disabled]")) mode.append(make("option", current.execution_mode, { value: current.execution_mode, disabled: true }));
    mode.value = current.execution_mode;
    agent.value = current.backend;
    thinking.value = current.thinking_level;
    mode.dataset.mode = current.execution_mode;
    pendingMode.textContent = current.turn_mode ? `from the next turn, now ${current.turn_mode}` : "";
    agent.disabled = current.status === "running" || current.status === "waiting";
    agent.title = agent.disabled ? "Stop the session before changing its agent" : "Agent";
    chipMode.textContent = chipMode.dataset.mode = current.execution_mode;
    chipAgent.textContent = current.turn_mode ? `now ${current.turn_mode}` : (currentAgent()?.label ?? "…");
    chip.ariaLabel = `Session settings: ${current.execution_mode}, ${pendingMode.textContent || chipAgent.textContent}`;
    gauge.hidden = !current.context_tokens || !current.context_window;
    gauge.value = gauge.hidden ? 0 : (100 * current.context_tokens) / current.context_window;
    usage.textContent = [answeringModel(currentAgent(), current), formatUsage(current)].filter(Boolean).join(" · ");
    usage.title = describeUsage(current);
  };
  const load = () =>
    loadAgents(app).then((loaded) => {
      agents = loaded;
      const current = session();
      if (current) update(current);
    });
  const unsubscribeConnection = app.onConnection((status) => {
    if (status.state === "open" && !agents.length) load();
  });
  const unsubscribeEvents = app.onEvent((name) => {
    if (name !== "models:updated") return;
    clearAgents();
    models.reload();
    load();
  });
  return {
    element,
    chip,
    update,
    close() {
      unsubscribeConnection();
      unsubscribeEvents();
    },
    /** The display name of an agent, or of the session's. @param {string | null} name */
    labelOf: (name) => (agents.find((agent) => agent.name === name) ?? currentAgent())?.label ?? "agent",
  };
}

/** What another agent will know about the conversation. @param {Resource} session @param {string} backend @param {Agent[]} agents */
function describeAgentChange(session, backend, agents) {
  const label = (/** @type {string} */ name) => agents.find((agent) => agent.name === name)?.label ?? name;
  const knownMessages = session.memories?.[backend]?.messages ?? 0;
  if (!knownMessages) {
    return `${label(backend)} starts its own conversation. With your next message it gets a summary of this one, which you can read here. ${label(session.backend)} keeps its conversation, in case you switch back.`;
  }
  if (knownMessages >= session.message_count) return `${label(backend)} continues its own conversation, which is complete.`;
  return `${label(backend)} continues its previous conversation. With your next message it gets a summary of what happened since, which you can read here.`;
}

/** A select with a label that only the sheet shows. @param {string} label @param {HTMLElement} select */
const setting = (label, select) => make("label.setting", make("span", label), select);

/** @param {string} name */
const option = (name) => make("option", name, { value: name });

/** @param {Resource} session */
function formatUsage(session) {
  const { read, written } = countTokens(session);
  const { context_tokens: contextTokens, context_window: contextWindow } = session;
  return [
    read + written > 0 && pluralize(read + written, "token", formatCount(read + written)),
    session.cost?.usd > 0 && formatCost(session.cost.usd, session.cost.is_estimated, session.cost.is_partial),
    contextTokens && contextWindow && `context ${Math.floor((100 * contextTokens) / contextWindow)} %`,
  ].filter(Boolean).join(" · ");
}

/** Tokens read, including cached ones, and written. @param {Resource} session */
function countTokens({ usage = {} }) {
  const { input_tokens = 0, cache_creation_input_tokens = 0, cache_read_input_tokens = 0, output_tokens = 0 } = usage;
  return { read: input_tokens + cache_creation_input_tokens + cache_read_input_tokens, written: output_tokens };
}

/** @param {Resource} session */
function describeUsage(session) {
  const { read, written } = countTokens(session);
  const { context_tokens: contextTokens, context_window: contextWindow } = session;
  const context = contextTokens && contextWindow ? `; ${contextTokens.toLocaleString("en")} of ${pluralize(contextWindow, "token")} of context` : "";
  return `${pluralize(read, "token")} read, ${written.toLocaleString("en")} written${context}`;
}
