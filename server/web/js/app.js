// @ts-check
// The application object shared by all views: connection, state, current view, commands and toasts.

import { button, make } from "./dom.js";
import { guest, isOpenView, may, setGuest } from "./guest.js";
import { Connection } from "./net.js";
import { Outbox } from "./outbox.js";
import { navigate } from "./overlays.js";
import { currentRoute, hashFor, parseRoute } from "./router.js";
import { State, noChange } from "./state.js";
import { Toasts } from "./toasts.js";
import { callAfterSecrets } from "./views/secrets_found.js";

const SKELETON_LINES = 6;

/**
 * @typedef {object} View what an address of the page shows; exists while it is shown
 * @property {string} title for the header, the tab and screen readers
 * @property {string} [subtitle] for the header, below the title
 * @property {HTMLElement} element the content, created once
 * @property {HTMLElement} [bar] its part of the header
 * @property {(change: import("./state.js").Change) => void} [update] update after state changes, at most once per frame
 * @property {(name: string, body: any) => void} [handleEvent] handle an event immediately; must not draw
 * @property {(snapshot: any) => void} [handleReload] the whole state was reloaded
 * @property {() => void} [close] clean up when another view is shown
 * @property {() => void} [focus] set the initial focus
 *
 * @typedef {(app: App, route: import("./router.js").Route) => View} MakeView
 */

/**
 * A view whose module is loaded when it is first opened.
 * @param {() => Promise<Record<string, any>>} load
 * @param {string} name of the function that creates it
 * @returns {MakeView}
 */
export function lazyView(load, name) {
  /** @type {MakeView | undefined} */
  let makeView;
  return (app, route) => {
    if (makeView) return makeView(app, route);
    const typed = collectTyping();
    /** @type {View} */
    const shown = { title: "Spinney", element: loadingElement(), close: typed.stop };
    const before = app.connectionStatus;
    load().then(
      (module) => {
        makeView = module[name];
        if (app.view !== shown) return;
        app.setView(module[name](app, route));
        typed.insert();
      },
      () => {
        typed.stop();
        if (app.view === shown) showLoadError(app, shown, before);
      },
    );
    return shown;
  };
}

/** Collect what is typed while a view is loaded, for the box that it focuses. */
function collectTyping() {
  let text = "";
  const collect = (/** @type {KeyboardEvent} */ event) => {
    const isElsewhere = event.target instanceof Element && event.target.matches("input, textarea, select, dialog *");
    if (event.key.length !== 1 || event.ctrlKey || event.altKey || event.metaKey || isElsewhere) return;
    text += event.key;
    event.preventDefault();
  };
  addEventListener("keydown", collect, { capture: true });
  return {
    stop: () => removeEventListener("keydown", collect, { capture: true }),
    insert() {
      const box = document.activeElement;
      const isBox = box instanceof HTMLTextAreaElement || (box instanceof HTMLInputElement && ["search", "text"].includes(box.type));
      if (!text || !isBox) return;
      box.setRangeText(text, box.selectionStart ?? 0, box.selectionEnd ?? 0, "end");
      box.dispatchEvent(new Event("input", { bubbles: true }));
    },
  };
}

/** What is shown while a view is loaded. */
function loadingElement() {
  const lines = Array.from({ length: SKELETON_LINES }, () => make("span", { "aria-hidden": "true" }));
  return make("div.page.skeleton", make("p.visually-hidden", "loading…"), lines);
}

/**
 * Show that a module could not be loaded, and reload the page when the connection is back: browsers keep such a failure
 * for as long as a page is open.
 * @param {App} app @param {View} shown the placeholder view @param {import("./net.js").ConnectionStatus} before the connection status when loading started
 */
function showLoadError(app, shown, before) {
  let wasOffline = before.state === "lost";
  shown.element.className = "page hint";
  shown.close = app.onConnection(({ state }) => {
    const isOpen = state === "open";
    if (isOpen) shown.element.replaceChildren("This part of the page could not be loaded. ", button("Reload the page", () => location.reload()));
    else shown.element.replaceChildren("You are offline, and this part of the page has not been loaded yet. It will load when you are back online.");
    if (isOpen && wasOffline && !document.querySelector("dialog[open]")) location.reload(); // else, something may be typed there
    wasOffline ||= !isOpen;
  });
}

/**
 * A placeholder for an item that was deleted, or that no event has announced yet: it is shown as soon as it is known.
 * @param {App} app @param {"projects" | "worktrees" | "sessions"} kind @param {string} id @returns {View}
 */
export function missingView(app, kind, id) {
  const back = make("a", "Back to all sessions", { href: hashFor("needs") });
  return {
    title: "Spinney",
    element: make("p.hint.page", `This ${kind.slice(0, -1)} does not exist or was deleted. `, back),
    update: () => app.state[kind].has(id) && app.showRoute(),
  };
}

/** The view for an unknown address. @type {MakeView} */
function notFoundView(app) {
  const link = make("a.button.primary", "Go to the start page", { href: `/${hashFor("needs")}` });
  const text = "There is nothing at this address."; // not which one: it may be a token, mistyped
  return { title: "Not found", element: make("div.page", make("h2", "Not found"), make("p", text), make("p", link)) };
}

/** The application. */
export class App {
  state = new State();
  /** @type {import("./net.js").ConnectionStatus} */ connectionStatus = { state: "connecting" };
  /** @type {View | null} */ view = null;
  route = currentRoute();
  titleMark = ""; // a mark in the tab's title for what happened while the tab was hidden
  /** @type {Map<string, MakeView>} */ #views = new Map();
  /** @type {Set<(change: import("./state.js").Change) => void>} */ #changeListeners = new Set();
  /** @type {Set<(name: string, body: any) => void>} */ #eventListeners = new Set();
  /** @type {Set<(status: import("./net.js").ConnectionStatus) => void>} */ #connectionListeners = new Set();
  #change = noChange();
  #frame = 0;

  constructor() {
    this.connection = new Connection({
      onSnapshot: (snapshot) => this.#handleSnapshot(snapshot),
      onEvent: (name, body) => this.#handleEvent(name, body),
      onStatus: (status) => {
        this.connectionStatus = status;
        for (const listener of this.#connectionListeners) listener(status);
      },
    });
    this.outbox = new Outbox(this);
    this.toasts = new Toasts(this);
    addEventListener("hashchange", () => this.showRoute());
  }

  // Subscriptions ----------------------------------------------------------------------------------

  /** @param {string} name @param {MakeView} make */
  addView(name, make) {
    this.#views.set(name, make);
  }

  /** Subscribe to state changes, at most once per frame; returns a function to unsubscribe. @param {(change: import("./state.js").Change) => void} listener */
  onChange(listener) {
    this.#changeListeners.add(listener);
    return () => this.#changeListeners.delete(listener);
  }

  /** Subscribe to all events, immediately; returns a function to unsubscribe. @param {(name: string, body: any) => void} listener */
  onEvent(listener) {
    this.#eventListeners.add(listener);
    return () => this.#eventListeners.delete(listener);
  }

  /** Subscribe to the connection status; calls back now, too. Returns a function to unsubscribe. @param {(status: import("./net.js").ConnectionStatus) => void} listener */
  onConnection(listener) {
    this.#connectionListeners.add(listener);
    listener(this.connectionStatus);
    return () => this.#connectionListeners.delete(listener);
  }

  // Views ------------------------------------------------------------------------------------------

  /** Show the view of the current address. */
  showRoute() {
    if (!this.state.isLoaded) return;
    this.route = currentRoute();
    const { view, id } = this.route;
    // Guests have no other views than these; a link to one leads to the session that they are here for.
    const isSession = view === "needs" && !id && guest()?.session_id;
    if (!isOpenView(view) || isSession) this.route = parseRoute(guest()?.session_id ? hashFor("session", guest()?.session_id ?? "") : hashFor("needs"));
    const make = this.#views.get(this.route.view) ?? notFoundView;
    this.#close(); // before the next view is created: the two share the connection and the drafts
    this.setView(make(this, this.route));
  }

  /** Replace the current view. @param {View} view */
  setView(view) {
    this.#close();
    this.view = view;
    const content = /** @type {HTMLElement} */ (document.getElementById("content"));
    content.replaceChildren(this.view.element);
    document.getElementById("view-bar")?.replaceChildren(...(view.bar ? [view.bar] : []));
    this.updateTitle();
    document.body.dataset.view = this.route.view;
    this.view.focus?.();
    this.invalidate();
  }

  #close() {
    const view = this.view;
    this.view = null;
    view?.close?.();
  }

  /** Update the header and the tab's title, with the number of sessions that need you. */
  updateTitle() {
    const title = this.view?.title ?? "Spinney";
    const waiting = this.state.waiting().length;
    document.title = `${waiting ? `(${waiting}) ` : this.titleMark}${title === "Spinney" ? title : `${title} · Spinney`}`;
    for (const [id, text] of [["title", title], ["subtitle", this.view?.subtitle ?? ""]]) {
      const shown = document.getElementById(id);
      if (shown && shown.textContent !== text) shown.textContent = text;
    }
  }

  /** @param {string} view @param {string} [id] @param {Record<string, string>} [query] */
  go(view, id, query) {
    navigate(hashFor(view, id, query));
  }

  // Commands ---------------------------------------------------------------------------------------

  /**
   * Run a command; shows errors as a toast. Returns the result, or `undefined` if it failed.
   * @param {string} command
   * @param {Record<string, unknown>} [args]
   * @returns {Promise<any>}
   */
  run(command, args) {
    return this.#attempt(command, args, () => true);
  }

  /**
   * Read additional data for a view; shows errors as a toast, except while offline: the view reads it again when it is
   * reloaded. Returns the result, or `undefined`.
   * @param {string} command
   * @param {Record<string, unknown>} [args]
   * @returns {Promise<any>}
   */
  read(command, args) {
    return this.#attempt(command, args, () => this.connection.isOpen);
  }

  /** @param {string} command @param {Record<string, unknown> | undefined} args @param {() => boolean} shouldReport */
  async #attempt(command, args, shouldReport) {
    if (!may(command)) return undefined;
    try {
      return (await callAfterSecrets(this, command, args)) ?? null;
    } catch (error) {
      if (shouldReport()) this.toast(/** @type {Error} */ (error).message, { bad: true });
      return undefined;
    }
  }

  /** Show a message that disappears by itself. @param {string} text @param {import("./toasts.js").ToastOptions} [options] */
  toast(text, options = {}) {
    this.toasts.show(text, options);
  }

  /** Say that a module could not be loaded, as `showLoadError` does for a view. Offline, a reload would lose the page. */
  reportUnloaded() {
    const text = "This part of the page could not be loaded. Reload the page when you are online.";
    this.toast(text, { bad: true, ...(this.connection.isOpen && { action: ["Reload", () => location.reload()] }) });
  }

  // Updates ----------------------------------------------------------------------------------------

  /** Update everything affected by this change, or everything, at the next frame. @param {Partial<import("./state.js").Change>} [change] */
  invalidate(change = { tree: true, preferences: true }) {
    this.#change.tree ||= change.tree ?? false;
    this.#change.activity ||= change.activity ?? false;
    this.#change.preferences ||= change.preferences ?? false;
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  /** @param {any} snapshot */
  #handleSnapshot(snapshot) {
    const isFirst = !this.state.isLoaded;
    setGuest(snapshot.guest ?? null);
    this.state.load(snapshot);
    if (isFirst || !this.view) this.showRoute();
    else this.view.handleReload?.(snapshot);
    this.invalidate();
    document.body.dataset.ready = "yes";
  }

  /** @param {string} name @param {any} body */
  #handleEvent(name, body) {
    this.state.apply(name, body, this.#change);
    this.view?.handleEvent?.(name, body);
    for (const listener of this.#eventListeners) listener(name, body);
    const { ids, tree, activity, preferences, queues } = this.#change;
    if (ids.size || tree || activity || preferences || queues.size) {
      this.#frame ||= requestAnimationFrame(() => this.#draw());
    }
  }

  #draw() {
    this.#frame = 0;
    const change = this.#change;
    this.#change = noChange();
    for (const listener of this.#changeListeners) listener(change);
    this.view?.update?.(change);
    this.toasts.refresh();
    this.updateTitle();
  }
}
