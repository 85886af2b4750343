// @ts-check
// What was written and not sent, by session: kept by the browser, over a reload.

/** @typedef {{ message: string, images: string[] }} Draft */

/** @param {string} sessionId */
const textKey = (sessionId) => `spinney-draft-${sessionId}`;
/** @param {string} sessionId */
const imagesKey = (sessionId) => `spinney-images-${sessionId}`;

/** @param {string} sessionId @returns {Draft} */
export function draftOf(sessionId) {
  const images = localStorage.getItem(imagesKey(sessionId));
  return { message: localStorage.getItem(textKey(sessionId)) ?? "", images: images ? JSON.parse(images) : [] };
}

/** @param {string} sessionId @param {Draft} draft */
export function keepDraft(sessionId, { message, images }) {
  keep(textKey(sessionId), message);
  keep(imagesKey(sessionId), images.length ? JSON.stringify(images) : "");
}

/** Hear when another tab keeps one; gives how to end it. @param {string} sessionId @param {() => void} changed */
export function followDraft(sessionId, changed) {
  const keys = [textKey(sessionId), imagesKey(sessionId)];
  const listen = (/** @type {StorageEvent} */ { key }) => keys.includes(key ?? "") && changed();
  addEventListener("storage", listen);
  return () => removeEventListener("storage", listen);
}

/** Put a text before what is written there. @param {string} sessionId @param {Draft} more */
export function addToDraft(sessionId, more) {
  const { message, images } = draftOf(sessionId);
  keepDraft(sessionId, { message: [more.message, message].filter(Boolean).join("\n"), images: [...more.images, ...images] });
}

/** @param {string} key @param {string} text */
function keep(key, text) {
  try {
    if (text) localStorage.setItem(key, text);
    else localStorage.removeItem(key);
  } catch {
    // The browser has no room for it; the box still has it.
  }
}
