// @ts-check
// Pictures that were sent with a message. They are behind the token, so they are fetched, when they come into view.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { authorization } from "../net.js";

const SAVED = /\/pictures\/([^/]+)\/([0-9a-f]{16}\.\w+)$/;

/** @type {Map<string, Promise<string>>} addresses by path */
const loaded = new Map();

/**
 * A picture that was uploaded, or `null` if the path is another one on the machine that runs Spinney.
 * @param {string} path
 */
export function pictureElement(path) {
  const [, sessionId, name] = SAVED.exec(path) ?? [];
  if (!name) return null;
  const image = make("img", { alt: "Picture" });
  const element = button(image, () => image.src && enlarge(image.src), ".quiet.sent-picture", { title: path, "aria-label": "Show the picture" });
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    const loading = loaded.get(path) ?? load(sessionId, name);
    loaded.set(path, loading);
    loading.then((address) => (image.src = address), () => {
      loaded.delete(path);
      image.alt = name;
    });
  });
  observer.observe(element);
  return element;
}

/** @param {string} sessionId @param {string} name */
async function load(sessionId, name) {
  const response = await fetch(`/api/sessions/${encodeURIComponent(sessionId)}/attachments/${name}`, { headers: authorization() });
  if (!response.ok) throw new Error("There is no such picture.");
  return URL.createObjectURL(await response.blob());
}

/** @param {string} address */
function enlarge(address) {
  const dialog = make("dialog.picture-dialog", { "aria-label": "Picture" });
  dialog.append(make("img", { src: address, alt: "Picture" }), make("div.choices", button("Close", () => dialog.close())));
  showDialog(dialog);
}
