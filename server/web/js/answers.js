// @ts-check
// Drafts of answers to requests, kept until they are sent: over a reload and in other views. When the request is gone
// (stopped, answered elsewhere, replaced), they move to the session's message box.

/**
 * @typedef {import("./app.js").App} App
 * @typedef {Record<string, string>} Fields texts by field name
 */

const PREFIX = "spinney-answer-";

/** @param {string} sessionId @param {string} requestId @returns {Fields} the draft answer to this request */
export function loadAnswer(sessionId, requestId) {
  const draft = read(PREFIX + sessionId);
  return draft?.request === requestId ? draft.fields : {};
}

/** @param {string} sessionId @param {string} requestId @param {string} name @param {string} text */
export function saveAnswer(sessionId, requestId, name, text) {
  const fields = { ...loadAnswer(sessionId, requestId), [name]: text };
  if (!text) delete fields[name];
  try {
    if (Object.keys(fields).length) localStorage.setItem(PREFIX + sessionId, JSON.stringify({ request: requestId, fields }));
    else localStorage.removeItem(PREFIX + sessionId);
  } catch {
    // The browser's storage is full; the field still has the text.
  }
}

/** Move drafts whose request is gone to the message boxes of their sessions. @param {App} app */
export function initAnswers(app) {
  app.onChange((change) => change.tree && app.state.isLoaded && moveOrphanedDrafts(app));
}

/** @param {App} app */
function moveOrphanedDrafts(app) {
  for (const key of Object.keys(localStorage).filter((name) => name.startsWith(PREFIX))) {
    const sessionId = key.slice(PREFIX.length);
    const draft = read(key);
    const session = app.state.sessions.get(sessionId);
    if (session && [session.request?.id, session.set_aside_plan?.id].includes(draft?.request)) continue;
    localStorage.removeItem(key);
    const message = Object.values(draft?.fields ?? {}).join("\n");
    if (session && message) app.outbox.returnToDraft({ sessionId, message, images: [], files: [] }, "The request is no longer open. Your text is in the message box.");
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
