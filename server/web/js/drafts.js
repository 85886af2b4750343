// @ts-check
// Unsent messages by session, kept in the browser over a reload.

/**
 * @typedef {{ images: string[], files: string[] }} Paths of attachments, on the machine that runs Spinney
 * @typedef {Paths & { message: string }} Draft
 */

/** @param {string} sessionId */
const textKey = (sessionId) => `spinney-draft-${sessionId}`;
/** @param {string} sessionId */
const imagesKey = (sessionId) => `spinney-images-${sessionId}`;
/** @param {string} sessionId */
const filesKey = (sessionId) => `spinney-files-${sessionId}`;

/** @param {string} sessionId */
const laterKey = (sessionId) => `spinney-sends-${sessionId}`;

/** @param {string} sessionId @returns {Draft} */
export function loadDraft(sessionId) {
  const load = (/** @type {string} */ key) => JSON.parse(localStorage.getItem(key) ?? "[]");
  return { message: localStorage.getItem(textKey(sessionId)) ?? "", images: load(imagesKey(sessionId)), files: load(filesKey(sessionId)) };
}

/** @param {string} sessionId @param {Draft} draft */
export function saveDraft(sessionId, { message, images, files }) {
  save(textKey(sessionId), message);
  save(imagesKey(sessionId), images.length ? JSON.stringify(images) : "");
  save(filesKey(sessionId), files.length ? JSON.stringify(files) : "");
}

/** Whether a message was sent, but waits for its attachments, in this tab. @param {string} sessionId */
export const isSentLater = (sessionId) => sessionStorage.getItem(laterKey(sessionId)) !== null;

/** @param {string} sessionId @param {boolean} isLater */
export function setSentLater(sessionId, isLater) {
  if (isLater) sessionStorage.setItem(laterKey(sessionId), "yes");
  else sessionStorage.removeItem(laterKey(sessionId));
}

/** Subscribe to changes of a draft by other tabs; returns a function to unsubscribe. @param {string} sessionId @param {() => void} listener */
export function onDraftChange(sessionId, listener) {
  const keys = [textKey(sessionId), imagesKey(sessionId), filesKey(sessionId)];
  const handle = (/** @type {StorageEvent} */ { key }) => keys.includes(key ?? "") && listener();
  addEventListener("storage", handle);
  return () => removeEventListener("storage", handle);
}

/** Insert a text before a draft. @param {string} sessionId @param {Draft} added */
export function prependToDraft(sessionId, added) {
  const { message, images, files } = loadDraft(sessionId);
  saveDraft(sessionId, {
    message: [added.message, message].filter(Boolean).join("\n"),
    images: [...added.images, ...images],
    files: [...added.files, ...files],
  });
}

/** @param {string} key @param {string} text */
function save(key, text) {
  try {
    if (text) localStorage.setItem(key, text);
    else localStorage.removeItem(key);
  } catch {
    // The browser's storage is full; the message box still has the text.
  }
}
