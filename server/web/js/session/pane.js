// @ts-check
// The changes of the worktree beside a conversation, on wide screens; whether they are shown is remembered.

import { button, make } from "../dom.js";
import { guest } from "../guest.js";
import { icon } from "../icons.js";

const WIDE = matchMedia("(min-width: 1400px)"); // as in session.css
const KEY = "spinney-changes-beside";

export class ChangesPane {
  /** @type {import("../views/diff.js").DiffView | null} */ #view = null;
  #isLoading = false;
  #isClosed = false;

  /** @param {import("../app.js").App} app @param {() => string | undefined} worktreeId */
  constructor(app, worktreeId) {
    this.app = app;
    this.worktreeId = worktreeId;
    this.element = make("aside.changes-pane", { hidden: true, "aria-label": "Changes" });
    this.toggle = button(icon("panel"), () => this.#setWanted(!this.#isWanted), ".quiet.icon-only.pane-toggle", { "aria-label": "Changes beside the conversation", title: "Changes beside the conversation" });
    WIDE.addEventListener("change", this.draw);
  }

  get #isWanted() {
    return localStorage.getItem(KEY) !== "no";
  }

  /** @param {boolean} isWanted */
  #setWanted(isWanted) {
    if (isWanted) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, "no");
    this.draw();
  }

  /** Show or hide it, as there is room and as it is wanted. */
  draw = () => {
    const isShown = WIDE.matches && this.#isWanted && !this.#isClosed && !guest();
    this.toggle.ariaPressed = String(isShown);
    this.element.hidden = !isShown;
    if (isShown) this.#open();
    else this.#closeView();
  };

  async #open() {
    const id = this.worktreeId();
    if (this.#view || this.#isLoading || !id) return;
    this.#isLoading = true;
    try {
      const { DiffView } = await import("../views/diff.js");
      if (this.element.hidden || this.#isClosed) return;
      this.#view = new DiffView(this.app, { view: "diff", id, query: new URLSearchParams() }, { scroller: this.element });
      this.element.replaceChildren(this.#view.element);
    } catch {
      // Offline; it is opened with the next change of the session.
    } finally {
      this.#isLoading = false;
    }
  }

  #closeView() {
    this.#view?.close();
    this.#view = null;
    this.element.replaceChildren();
  }

  close() {
    this.#isClosed = true;
    WIDE.removeEventListener("change", this.draw);
    this.#closeView();
  }

  /** @param {import("../state.js").Change} change */
  update(change) {
    this.draw();
    this.#view?.update(change);
  }

  /** @param {string} name @param {any} body */
  handleEvent(name, body) {
    this.#view?.handleEvent(name, body);
  }

  handleReload() {
    this.#view?.handleReload();
  }

  /** Show the file that the agent edits. @param {any} toolInput */
  follow(toolInput) {
    const path = toolInput?.file_path ?? toolInput?.filePath ?? toolInput?.path;
    if (typeof path === "string") this.#view?.follow(path);
  }
}
