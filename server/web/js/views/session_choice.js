// @ts-check
// Which session of a worktree a text goes to: one that is there, or a new one.

import { make } from "../dom.js";

/**
 * @typedef {object} SessionChoice
 * @property {HTMLElement} element
 * @property {() => void} draw the sessions as they are now
 * @property {(message: string) => Promise<boolean>} send whether it is on its way; says what went wrong
 */

/**
 * @param {import("../app.js").App} app
 * @param {string} worktreeId
 * @returns {SessionChoice}
 */
export function sessionChoice(app, worktreeId) {
  const select = make("select", { "aria-label": "Session" });
  let chosen = "";
  select.onchange = () => (chosen = select.value);
  const draw = () => {
    if (document.activeElement === select) return; // an open list would close
    const sessions = app.state.sessionsOf(worktreeId);
    const options = sessions.map((session) => make("option", session.name, { value: session.id }));
    select.replaceChildren(...options, make("option", "a new session", { value: "" }));
    // The one that was at work last most likely made the changes.
    const latest = [...sessions].sort((a, b) => (b.updated_at ?? 0) - (a.updated_at ?? 0))[0];
    select.value = sessions.some((session) => session.id === chosen) ? chosen : (latest?.id ?? "");
  };
  draw();
  return {
    element: select,
    draw,
    async send(message) {
      let sessionId = select.value;
      if (!sessionId) {
        const made = await app.run("create_session", { worktreeId });
        if (!made) return false;
        sessionId = chosen = made.id; // a second try goes there, too
      }
      app.outbox.add(sessionId, message);
      const name = app.state.sessions.get(sessionId)?.name ?? "the new session";
      app.say(`Sent to “${name}”.`, { about: sessionId, action: ["Go there", () => app.go("session", sessionId)] });
      return true;
    },
  };
}
