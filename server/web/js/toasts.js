// @ts-check
// Short messages that disappear by themselves, and immediately when they no longer apply.

import { button, make } from "./dom.js";
import { icon } from "./icons.js";

const DURATION = 6000; // ms
const ERROR_DURATION = 12000; // ms
const MAX_TOASTS = 4;

/**
 * @typedef {object} ToastOptions
 * @property {boolean} [bad] it is an error
 * @property {[string, () => unknown]} [action] a button's label and action
 * @property {string} [about] id of the item it is about: replaces an older toast, and is not shown in that item's view
 * @property {() => boolean} [isValid] whether it still applies
 */

export class Toasts {
  /** @type {Map<HTMLElement, { text: string, address: string, options: ToastOptions }>} the newest last */ #shown = new Map();

  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.container = /** @type {HTMLElement} */ (document.getElementById("toasts"));
  }

  /** @param {string} text @param {ToastOptions} options */
  show(text, options) {
    for (const [toast, other] of this.#shown) {
      if (other.text === text || (options.about && options.about === other.options.about)) this.#remove(toast);
    }
    const toast = make("p.toast", icon(options.bad ? "warning" : "info"), make("span", text), { role: options.bad ? "alert" : "status" });
    const { action } = options;
    if (options.bad) toast.classList.add("bad");
    if (action) toast.append(button(action[0], () => (this.#remove(toast), action[1]()), ".quiet"));
    toast.append(button(icon("close"), () => this.#remove(toast), ".quiet.icon-only", { "aria-label": "Close" }));
    this.#shown.set(toast, { text, address: location.hash, options });
    this.container.prepend(toast);
    for (const [oldest] of this.#shown) if (this.#shown.size > MAX_TOASTS) this.#remove(oldest);
    setTimeout(() => this.#remove(toast), options.bad ? ERROR_DURATION : DURATION);
    this.refresh();
  }

  /** Remove toasts that no longer apply, or belong to a view that was closed. */
  refresh() {
    for (const [toast, { address, options }] of this.#shown) {
      const isSticky = options.bad || options.action || options.isValid || address === location.hash;
      const isOpen = options.about !== undefined && options.about === this.app.route.id;
      if (!isSticky || isOpen || options.isValid?.() === false) this.#remove(toast);
    }
  }

  /** @param {HTMLElement} toast */
  #remove(toast) {
    this.#shown.delete(toast);
    toast.remove();
  }
}
