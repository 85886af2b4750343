// @ts-check
// Messages on their way: kept until Spinney has taken them, over a lost connection and a reload. Each
// has an id of the page's making, under which it is taken once, however often it is sent. Nothing but
// messages is kept so: an approval or a stop of long ago would meet something else.

import { addToDraft } from "./drafts.js";

/**
 * @typedef {object} Written
 * @property {string} sessionId
 * @property {string} message
 * @property {string[]} images paths on the machine where Spinney runs
 *
 * @typedef {Written & Kept} Letter
 *
 * @typedef {object} Kept
 * @property {string} id
 * @property {number} at when it was written, in ms
 * @property {boolean} tried whether it may have arrived already
 */

const KEY = "spinney-outbox";

export class Outbox {
  /** @type {Letter[]} what the browser had no room for */ #unsaved = [];
  /** @type {Set<() => void>} */ #watchers = new Set();
  /** @type {Map<string, (letter: Written) => void>} */ #boxes = new Map();
  #isSending = false;

  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    app.watch((link) => {
      if (link.state === "open") this.#sendAll();
      this.#tell();
    });
    addEventListener("storage", (event) => event.key === KEY && this.#tell());
  }

  /** @param {string} sessionId */
  of(sessionId) {
    return this.#letters().filter((letter) => letter.sessionId === sessionId);
  }

  /** Send a message now, or as soon as there is a connection. @param {string} sessionId @param {string} message @param {string[]} [images] */
  add(sessionId, message, images = []) {
    const letter = { id: newId(), sessionId, message, images, at: Date.now(), tried: false };
    this.#write([...this.#letters(), letter]);
    this.#tell();
    this.#sendAll();
  }

  /** Send it no more. @param {string} id */
  drop(id) {
    this.#write(this.#letters().filter((letter) => letter.id !== id));
    this.#tell();
  }

  /** Draw when something changed here; gives how to end it. @param {() => void} watch */
  watch(watch) {
    this.#watchers.add(watch);
    return () => this.#watchers.delete(watch);
  }

  /** The message box of a session takes back what is refused; gives how to end it. @param {string} sessionId @param {(letter: Written) => void} take */
  box(sessionId, take) {
    this.#boxes.set(sessionId, take);
    return () => this.#boxes.get(sessionId) === take && this.#boxes.delete(sessionId);
  }

  async #sendAll() {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      // Read anew each time: another tab may have sent it meanwhile.
      for (let [next] = this.#letters(); next && this.app.connection.isOpen; [next] = this.#letters()) await this.#send(next);
    } catch {
      // Nobody knows whether it arrived. It is sent again, under its id, when the connection is back.
    } finally {
      this.#isSending = false;
      this.#tell();
    }
  }

  /** @param {Letter} letter */
  async #send(letter) {
    this.#write(this.#letters().map((each) => (each.id === letter.id ? { ...each, tried: true } : each)));
    this.#tell(); // what is on its way cannot be changed or removed any more
    const { id, sessionId, message, images } = letter;
    try {
      await this.app.connection.call("send_chat_message", { sessionId, message, messageId: id, ...(images.length ? { images } : {}) });
    } catch (error) {
      if (!(/** @type {any} */ (error).kind)) throw error;
      this.giveBack(letter, /** @type {Error} */ (error).message);
    }
    this.drop(id);
  }

  /** Put what was not sent back to where messages are written. @param {Written} letter @param {string} why */
  giveBack(letter, why) {
    const { sessionId } = letter;
    const box = this.#boxes.get(sessionId);
    const name = this.app.state.sessions.get(sessionId)?.name;
    if (box) box(letter);
    else addToDraft(sessionId, letter);
    /** @type {[string, () => unknown] | undefined} */
    const action = box || !name ? undefined : ["Open it", () => this.app.go("session", sessionId)];
    this.app.say(box ? why : `Not sent to “${name ?? "a session that is gone"}”: ${why}`, { bad: true, action });
  }

  #tell() {
    for (const watcher of this.#watchers) watcher();
  }

  /** @returns {Letter[]} */
  #letters() {
    try {
      return [...JSON.parse(localStorage.getItem(KEY) ?? "[]"), ...this.#unsaved];
    } catch {
      return this.#unsaved;
    }
  }

  /** @param {Letter[]} letters */
  #write(letters) {
    this.#unsaved = [];
    try {
      if (letters.length) localStorage.setItem(KEY, JSON.stringify(letters));
      else localStorage.removeItem(KEY);
    } catch {
      localStorage.removeItem(KEY);
      this.#unsaved = letters;
    }
  }
}

/** A UUID; `crypto.randomUUID` is missing where the address has no encryption. */
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
