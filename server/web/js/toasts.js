// @ts-check
// Short messages that go away by themselves, and at once when they are no longer true.

import { button, make } from "./dom.js";

const TIME = 6000; // ms
const TIME_OF_ERRORS = 12000; // ms
const MOST = 4;

/**
 * @typedef {object} How
 * @property {boolean} [bad] it is an error
 * @property {[string, () => unknown]} [action] a button's words and what it does
 * @property {string} [about] id of what it is about: of several the newest stays, and none where that is shown
 * @property {() => boolean} [isTrue] whether it still holds
 */

export class Toasts {
  /** @type {Map<HTMLElement, { text: string, place: string, how: How }>} the newest last */ #shown = new Map();

  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.box = /** @type {HTMLElement} */ (document.getElementById("toasts"));
  }

  /** @param {string} text @param {How} how */
  show(text, how) {
    for (const [toast, other] of this.#shown) {
      if (other.text === text || (how.about && how.about === other.how.about)) this.#remove(toast);
    }
    const toast = make("p.toast", make("span", text), { role: how.bad ? "alert" : "status" });
    const { action } = how;
    if (how.bad) toast.classList.add("bad");
    if (action) toast.append(button(action[0], () => (this.#remove(toast), action[1]())));
    toast.append(button("✕", () => this.#remove(toast), ".quiet", { "aria-label": "Close" }));
    this.#shown.set(toast, { text, place: location.hash, how });
    this.box.prepend(toast);
    for (const [oldest] of this.#shown) if (this.#shown.size > MOST) this.#remove(oldest);
    setTimeout(() => this.#remove(toast), how.bad ? TIME_OF_ERRORS : TIME);
    this.refresh();
  }

  /** Remove what is no longer true, or belongs to a place that was left. */
  refresh() {
    for (const [toast, { place, how }] of this.#shown) {
      const stays = how.bad || how.action || how.isTrue || place === location.hash;
      const isOpen = how.about !== undefined && how.about === this.app.route.id;
      if (!stays || isOpen || how.isTrue?.() === false) this.#remove(toast);
    }
  }

  /** @param {HTMLElement} toast */
  #remove(toast) {
    this.#shown.delete(toast);
    toast.remove();
  }
}
