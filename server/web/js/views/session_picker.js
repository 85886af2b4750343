// @ts-check
// Selects the session of a worktree to send a text to: an existing or a new one.

import { confirm } from "../dialogs.js";
import { make } from "../dom.js";

/**
 * @typedef {object} SessionPicker
 * @property {HTMLElement} element
 * @property {() => string} value the id of the session, or "" for a new one
 * @property {() => void} draw update the sessions
 * @property {(message: string, prompt?: string) => Promise<boolean>} send returns whether it was
 *   sent; shows errors. A new session has the agent of the magic prompt `prompt`.
 */

/**
 * @param {import("../app.js").App} app
 * @param {string} worktreeId
 * @param {{ hasNew?: boolean }} [options] whether a new session can be chosen
 * @returns {SessionPicker}
 */
export function sessionPicker(app, worktreeId, { hasNew = true } = {}) {
  const select = make("select", { "aria-label": "Session" });
  let chosen = "";
  select.addEventListener("change", () => (chosen = select.value));
  const draw = () => {
    if (document.activeElement === select) return; // an open list would close
    const sessions = app.state.sessionsOf(worktreeId);
    const options = sessions.map((session) => make("option", session.name, { value: session.id }));
    select.replaceChildren(...options, ...(hasNew ? [make("option", "New session", { value: "" })] : []));
    // The most recently active session most likely made the changes.
    const latest = [...sessions].sort((a, b) => (b.updated_at ?? 0) - (a.updated_at ?? 0))[0];
    select.value = sessions.some((session) => session.id === chosen) ? chosen : (latest?.id ?? "");
  };
  draw();
  return {
    element: select,
    value: () => select.value,
    draw,
    async send(message, prompt) {
      let sessionId = select.value;
      if (!sessionId) {
        const created = await createSession(app, worktreeId, prompt);
        if (!created) return false;
        sessionId = chosen = created; // also used for a second attempt
      }
      app.outbox.add(sessionId, message);
      const name = app.state.sessions.get(sessionId)?.name ?? "the new session";
      app.toast(`Sent to '${name}'.`, { about: sessionId, action: ["Show", () => app.go("session", sessionId)] });
      return true;
    },
  };
}

/** What is sent asks for changes, so the session may make them. @param {import("../app.js").App} app @param {string} worktreeId @param {string} [prompt] */
async function createSession(app, worktreeId, prompt) {
  return (await app.run("create_session", { worktreeId, executionMode: "build", ...(prompt ? { prompt } : {}) }))?.id;
}

/**
 * Let a command send a message to a session of the worktree, after the session is chosen; returns whether it did.
 * @param {import("../app.js").App} app @param {string} worktreeId @param {string} command @param {Record<string, unknown>} args further ones
 * @param {{ title: string, details: string, prompt?: string }} options `prompt`: the magic prompt whose agent a new session has
 */
export async function sendByCommand(app, worktreeId, command, args, { title, details, prompt }) {
  const picker = sessionPicker(app, worktreeId);
  const form = make("div.fields", make("p", details), make("label", make("span", "Session"), picker.element));
  if (!(await confirm(title, form, "Send", { isSafe: true }))) return false;
  const sessionId = picker.value() || (await createSession(app, worktreeId, prompt));
  const sent = sessionId && (await app.run(command, { worktreeId, ...args, sessionId }));
  if (!sent) return false;
  const name = app.state.sessions.get(sent.session_id)?.name ?? "a new session";
  app.toast(`${sent.status === "sent" ? "Queued in" : "Sent to"} '${name}'.`, { about: sent.session_id, action: ["Show", () => app.go("session", sent.session_id)] });
  return true;
}
