// @ts-check
// What all views share: the connection, the state, the place that is shown, and a word to the person.

import { make, button } from "./dom.js";
import { Connection } from "./net.js";
import { Outbox } from "./outbox.js";
import { go, hashOf, routeHere } from "./router.js";
import { State, noChange } from "./state.js";
import { Toasts } from "./toasts.js";

/**
 * @typedef {object} View one place of the page, alive while it is shown
 * @property {string} title for the bar, the tab and screen readers
 * @property {HTMLElement} element fills the room; made once
 * @property {(change: import("./state.js").Change) => void} [changed] at most once a frame
 * @property {(name: string, body: any) => void} [event] every event, at once; draw later
 * @property {(snapshot: any) => void} [loaded] everything was read anew
 * @property {() => void} [close] it is left
 * @property {() => void} [focus] puts the keys where they belong
 *
 * @typedef {(app: App, route: import("./router.js").Route) => View} MakeView
 */

/**
 * A view whose module is loaded when it is opened first.
 * @param {() => Promise<Record<string, any>>} load
 * @param {string} name of its function there
 * @returns {MakeView}
 */
export function lazy(load, name) {
  /** @type {MakeView | undefined} */
  let loaded;
  return (app, route) => {
    if (loaded) return loaded(app, route);
    /** @type {View} */
    const shown = { title: "Spinney", element: make("p.hint.page", "loading…") };
    const before = app.link;
    load().then(
      (module) => {
        loaded = module[name];
        if (app.view === shown) app.put(module[name](app, route));
      },
      () => app.view === shown && sayMissing(app, shown, before),
    );
    return shown;
  };
}

/**
 * Say that a part of the page is not here; it is shown when the connection is back.
 * @param {App} app @param {View} shown in its place @param {import("./net.js").Link} before how the connection was when it was asked for
 */
function sayMissing(app, shown, before) {
  let isOpen = app.link.state === "open";
  if (isOpen && app.link !== before) return app.show(); // it came back meanwhile
  const words = isOpen
    ? "This part of the page could not be loaded."
    : "You are offline, and this part of the page was not loaded before. It is shown when the connection is back.";
  shown.element.replaceChildren(`${words} `, button("Try again", () => app.show()));
  shown.close = app.watch((link) => {
    const isBack = link.state === "open" && !isOpen;
    isOpen = link.state === "open";
    if (isBack) app.show();
  });
  return undefined;
}

/**
 * In the place of what was deleted, or is so new that nobody told of it yet: that is shown once it is known.
 * @param {App} app @param {"projects" | "worktrees" | "sessions"} kind @param {string} id @returns {View}
 */
export function gone(app, kind, id) {
  const back = make("a", "Back to all sessions", { href: hashOf("needs") });
  return {
    title: "Spinney",
    element: make("p.hint.page", `This ${kind.slice(0, -1)} is not here (any more). `, back),
    changed: () => app.state[kind].has(id) && app.show(),
  };
}

/** For an address that names nothing. @type {MakeView} */
function unknown(app) {
  const home = make("a.button.primary", "Go to the start page", { href: `/${hashOf("needs")}` });
  const words = `There is nothing at “${location.hash || location.pathname}”.`;
  return { title: "Not found", element: make("div.page", make("h2", "Not found"), make("p", words), make("p", home)) };
}

/** The page. */
export class App {
  state = new State();
  /** @type {import("./net.js").Link} */ link = { state: "connecting" };
  /** @type {View | null} */ view = null;
  route = routeHere();
  news = ""; // a mark in the tab's title for what happened while nobody looked
  /** @type {Map<string, MakeView>} */ #views = new Map();
  /** @type {Set<(change: import("./state.js").Change) => void>} */ #followers = new Set();
  /** @type {Set<(name: string, body: any) => void>} */ #listeners = new Set();
  /** @type {Set<(link: import("./net.js").Link) => void>} */ #watchers = new Set();
  #change = noChange();
  #frame = 0;

  constructor() {
    this.connection = new Connection({
      loaded: (snapshot) => this.#loaded(snapshot),
      event: (name, body) => this.#event(name, body),
      link: (link) => {
        this.link = link;
        for (const watcher of this.#watchers) watcher(link);
      },
    });
    this.outbox = new Outbox(this);
    this.toasts = new Toasts(this);
    addEventListener("hashchange", () => this.show());
  }

  // Parts ------------------------------------------------------------------------------------------

  /** @param {string} name @param {MakeView} make */
  addView(name, make) {
    this.#views.set(name, make);
  }

  /** Draw when something changed, at most once a frame; gives how to end it. @param {(change: import("./state.js").Change) => void} follow */
  follow(follow) {
    this.#followers.add(follow);
    return () => this.#followers.delete(follow);
  }

  /** Hear every event at once; gives how to end it. @param {(name: string, body: any) => void} listen */
  listen(listen) {
    this.#listeners.add(listen);
    return () => this.#listeners.delete(listen);
  }

  /** Hear how the connection is, now and whenever that changes; gives how to end it. @param {(link: import("./net.js").Link) => void} watch */
  watch(watch) {
    this.#watchers.add(watch);
    watch(this.link);
    return () => this.#watchers.delete(watch);
  }

  // Places -----------------------------------------------------------------------------------------

  /** Show what the address names. */
  show() {
    if (!this.state.isLoaded) return;
    this.route = routeHere();
    const make = this.#views.get(this.route.view) ?? unknown;
    this.#close(); // before the next view is made: the two share the connection and the drafts
    this.put(make(this, this.route));
  }

  /** Show this view. @param {View} view */
  put(view) {
    this.#close();
    this.view = view;
    const room = /** @type {HTMLElement} */ (document.getElementById("room"));
    room.replaceChildren(this.view.element);
    this.retitle();
    document.body.dataset.view = this.route.view;
    this.view.focus?.();
    this.changed();
  }

  #close() {
    const view = this.view;
    this.view = null;
    view?.close?.();
  }

  /** Show the view's title where it belongs, and how many sessions need a person. */
  retitle() {
    const title = this.view?.title ?? "Spinney";
    const waiting = this.state.waiting().length;
    document.title = `${waiting ? `(${waiting}) ` : this.news}${title === "Spinney" ? title : `${title} · Spinney`}`;
    const shown = document.getElementById("title");
    if (shown && shown.textContent !== title) shown.textContent = title;
  }

  /** @param {string} view @param {string} [id] @param {Record<string, string>} [query] */
  go(view, id, query) {
    go(hashOf(view, id, query));
  }

  // Doing ------------------------------------------------------------------------------------------

  /**
   * Run a command; says itself what went wrong. Gives the result, or `undefined` where it failed.
   * @param {string} command
   * @param {Record<string, unknown>} [args]
   * @returns {Promise<any>}
   */
  run(command, args) {
    return this.#attempt(command, args, () => true);
  }

  /**
   * Read what a view shows beside its own; says what went wrong, but not that there is no connection: `loaded` reads
   * it then. Gives the result, or `undefined`.
   * @param {string} command
   * @param {Record<string, unknown>} [args]
   * @returns {Promise<any>}
   */
  read(command, args) {
    return this.#attempt(command, args, () => this.connection.isOpen);
  }

  /** @param {string} command @param {Record<string, unknown> | undefined} args @param {() => boolean} isSaid */
  async #attempt(command, args, isSaid) {
    try {
      return (await this.connection.call(command, args)) ?? null;
    } catch (error) {
      if (isSaid()) this.say(/** @type {Error} */ (error).message, { bad: true });
      return undefined;
    }
  }

  /** Say something that goes away by itself. @param {string} text @param {import("./toasts.js").How} [how] */
  say(text, how = {}) {
    this.toasts.show(text, how);
  }

  // Following --------------------------------------------------------------------------------------

  /** Draw at the next frame what concerns this change, or everything. @param {Partial<import("./state.js").Change>} [change] */
  changed(change = { tree: true, preferences: true }) {
    this.#change.tree ||= change.tree ?? false;
    this.#change.preferences ||= change.preferences ?? false;
    this.#frame ||= requestAnimationFrame(() => this.#draw());
  }

  /** @param {any} snapshot */
  #loaded(snapshot) {
    const isFirst = !this.state.isLoaded;
    this.state.load(snapshot);
    if (isFirst || !this.view) this.show();
    else this.view.loaded?.(snapshot);
    this.changed();
    document.body.dataset.ready = "yes";
  }

  /** @param {string} name @param {any} body */
  #event(name, body) {
    this.state.apply(name, body, this.#change);
    this.view?.event?.(name, body);
    for (const listen of this.#listeners) listen(name, body);
    const { ids, tree, preferences, queues } = this.#change;
    if (ids.size || tree || preferences || queues.size) {
      this.#frame ||= requestAnimationFrame(() => this.#draw());
    }
  }

  #draw() {
    this.#frame = 0;
    const change = this.#change;
    this.#change = noChange();
    for (const follow of this.#followers) follow(change);
    this.view?.changed?.(change);
    this.toasts.refresh();
    this.retitle();
  }
}
