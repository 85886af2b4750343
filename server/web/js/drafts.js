// @ts-check
// Unsent messages by session, kept in the browser over a reload.

/** @typedef {{ message: string, images: string[] }} Draft */

/** @param {string} sessionId */
const textKey = (sessionId) => `spinney-draft-${sessionId}`;
/** @param {string} sessionId */
const imagesKey = (sessionId) => `spinney-images-${sessionId}`;

/** @param {string} sessionId @returns {Draft} */
export function loadDraft(sessionId) {
  const images = localStorage.getItem(imagesKey(sessionId));
  return { message: localStorage.getItem(textKey(sessionId)) ?? "", images: images ? JSON.parse(images) : [] };
}

/** @param {string} sessionId @param {Draft} draft */
export function saveDraft(sessionId, { message, images }) {
  save(textKey(sessionId), message);
  save(imagesKey(sessionId), images.length ? JSON.stringify(images) : "");
}

/** Subscribe to changes of a draft by other tabs; returns a function to unsubscribe. @param {string} sessionId @param {() => void} listener */
export function onDraftChange(sessionId, listener) {
  const keys = [textKey(sessionId), imagesKey(sessionId)];
  const handle = (/** @type {StorageEvent} */ { key }) => keys.includes(key ?? "") && listener();
  addEventListener("storage", handle);
  return () => removeEventListener("storage", handle);
}

/** Insert a text before a draft. @param {string} sessionId @param {Draft} added */
export function prependToDraft(sessionId, added) {
  const { message, images } = loadDraft(sessionId);
  saveDraft(sessionId, { message: [added.message, message].filter(Boolean).join("\n"), images: [...added.images, ...images] });
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
