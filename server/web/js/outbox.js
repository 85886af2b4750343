// @ts-check
// Outgoing messages: kept until Spinney has accepted them, also while offline and over a reload. Each has an id made
// by the page, so that it is accepted once however often it is sent. Only messages are kept: an approval or a stop
// could apply to something else when it is sent late.

import { prependToDraft } from "./drafts.js";

/**
 * @typedef {import("./drafts.js").Draft & { sessionId: string }} UnsentMessage
 *
 * @typedef {UnsentMessage & SendState} OutgoingMessage
 *
 * @typedef {object} SendState
 * @property {string} id
 * @property {number} at when it was written, in ms
 * @property {boolean} tried whether it may already have been received
 * @property {boolean} [steers] whether it is to be read during the turn that was running
 * @property {number | "reset"} [sendAt] when Spinney sends it, in seconds since 1970
 */

const KEY = "spinney-outbox";
const STEERING_TIME = 30_000; // ms after which another turn may be running

export class Outbox {
  /** @type {OutgoingMessage[]} messages that did not fit into the browser's storage */ #unsaved = [];
  /** @type {Set<() => void>} */ #listeners = new Set();
  /** @type {Map<string, (message: UnsentMessage) => void>} */ #boxes = new Map();
  #isSending = false;

  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    app.onConnection((status) => {
      if (status.state === "open") this.#sendAll();
      this.#notify();
    });
    addEventListener("storage", (event) => event.key === KEY && this.#notify());
  }

  /** The outgoing messages of a session. @param {string} sessionId */
  forSession(sessionId) {
    return this.#load().filter((outgoing) => outgoing.sessionId === sessionId);
  }

  /** Send a message now, or as soon as there is a connection. @param {string} sessionId @param {string} message @param {import("./drafts.js").Paths} [paths] @param {{ steers?: boolean, sendAt?: number | "reset" }} [options] */
  add(sessionId, message, { images, files } = { images: [], files: [] }, { steers = false, sendAt } = {}) {
    const outgoing = { id: newId(), sessionId, message, images, files, at: Date.now(), tried: false, steers, sendAt };
    this.#save([...this.#load(), outgoing]);
    this.#notify();
    this.#sendAll();
  }

  /** Do not send a message any more. @param {string} id */
  remove(id) {
    this.#save(this.#load().filter((outgoing) => outgoing.id !== id));
    this.#notify();
  }

  /** Subscribe to changes; returns a function to unsubscribe. @param {() => void} listener */
  onChange(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Register the message box of a session, which gets back refused messages; returns a function to unregister. @param {string} sessionId @param {(message: UnsentMessage) => void} putBack */
  registerBox(sessionId, putBack) {
    this.#boxes.set(sessionId, putBack);
    return () => this.#boxes.get(sessionId) === putBack && this.#boxes.delete(sessionId);
  }

  async #sendAll() {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      // Reload each time: another tab may have sent it meanwhile.
      for (let [next] = this.#load(); next && this.app.connection.isOpen; [next] = this.#load()) await this.#send(next);
    } catch {
      // It may or may not have been received. It is sent again, with its id, when the connection is back.
    } finally {
      this.#isSending = false;
      this.#notify();
    }
  }

  /** @param {OutgoingMessage} outgoing */
  async #send(outgoing) {
    this.#save(this.#load().map((other) => (other.id === outgoing.id ? { ...other, tried: true } : other)));
    this.#notify(); // a message that is being sent cannot be changed or removed
    const { id, sessionId, message, images, files, sendAt } = outgoing;
    const attached = { ...(images.length ? { images } : {}), ...(files.length ? { files } : {}), ...(sendAt ? { sendAt } : {}) };
    const steer = outgoing.steers && Date.now() - outgoing.at < STEERING_TIME;
    try {
      await this.app.connection.call("send_chat_message", { sessionId, message, messageId: id, ...attached, ...(steer ? { steer } : {}) });
    } catch (error) {
      if (!(/** @type {any} */ (error).kind)) throw error;
      this.returnToDraft(outgoing, /** @type {Error} */ (error).message);
    }
    this.remove(id);
  }

  /** Put a message that was not sent back into its message box or draft. @param {UnsentMessage} outgoing @param {string} reason */
  returnToDraft(outgoing, reason) {
    const { sessionId } = outgoing;
    const box = this.putBack(outgoing);
    const name = this.app.state.sessions.get(sessionId)?.name;
    /** @type {[string, () => unknown] | undefined} */
    const action = box || !name ? undefined : ["Open", () => this.app.go("session", sessionId)];
    this.app.toast(box ? reason : name ? `Not sent to '${name}': ${reason}` : `Not sent to a deleted session: ${reason}`, { bad: true, action });
  }

  /** Put a text into its message box or draft, before what is there; returns whether the box is shown. @param {UnsentMessage} unsent */
  putBack(unsent) {
    const box = this.#boxes.get(unsent.sessionId);
    if (box) box(unsent);
    else prependToDraft(unsent.sessionId, unsent);
    return Boolean(box);
  }

  #notify() {
    for (const listener of this.#listeners) listener();
  }

  /** @returns {OutgoingMessage[]} */
  #load() {
    try {
      const saved = JSON.parse(localStorage.getItem(KEY) ?? "[]");
      return [...saved.map((/** @type {any} */ outgoing) => ({ files: [], ...outgoing })), ...this.#unsaved];
    } catch {
      return this.#unsaved;
    }
  }

  /** @param {OutgoingMessage[]} messages */
  #save(messages) {
    this.#unsaved = [];
    try {
      if (messages.length) localStorage.setItem(KEY, JSON.stringify(messages));
      else localStorage.removeItem(KEY);
    } catch {
      localStorage.removeItem(KEY);
      this.#unsaved = messages;
    }
  }
}

/** A UUID; `crypto.randomUUID` does not exist without HTTPS. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
