// @ts-check
// What is being written in answer to a request stays until it was sent: over a reload, over a change of place, and
// when the request is gone (stopped, answered elsewhere, replaced), then as a draft in the session's message box.

/**
 * @typedef {import("./app.js").App} App
 * @typedef {Record<string, string>} Fields texts by the names of their fields
 */

const PREFIX = "spinney-answer-";

/** @param {string} sessionId @param {string} requestId @returns {Fields} what was written in answer to this request */
export function answerOf(sessionId, requestId) {
  const kept = read(PREFIX + sessionId);
  return kept?.request === requestId ? kept.fields : {};
}

/** @param {string} sessionId @param {string} requestId @param {string} name @param {string} text */
export function keepAnswer(sessionId, requestId, name, text) {
  const fields = { ...answerOf(sessionId, requestId), [name]: text };
  if (!text) delete fields[name];
  try {
    if (Object.keys(fields).length) localStorage.setItem(PREFIX + sessionId, JSON.stringify({ request: requestId, fields }));
    else localStorage.removeItem(PREFIX + sessionId);
  } catch {
    // The browser has no room for it; the field still has it.
  }
}

/** Bring texts whose request is gone into the message boxes of their sessions. @param {App} app */
export function answers(app) {
  app.follow((change) => change.tree && app.state.isLoaded && rescue(app));
}

/** @param {App} app */
function rescue(app) {
  for (const key of Object.keys(localStorage).filter((each) => each.startsWith(PREFIX))) {
    const sessionId = key.slice(PREFIX.length);
    const kept = read(key);
    const session = app.state.sessions.get(sessionId);
    if (session && [session.request?.id, session.set_aside_plan?.id].includes(kept?.request)) continue;
    localStorage.removeItem(key);
    const message = Object.values(kept?.fields ?? {}).join("\n");
    if (session && message) app.outbox.giveBack({ sessionId, message, images: [] }, "This request is gone. What you wrote is in the message box.");
  }
}

/** @param {string} key @returns {{ request: string, fields: Fields } | null} */
function read(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}
