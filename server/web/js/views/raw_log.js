// @ts-check
// The raw log of a session: input and output of the agent's program, from the newest line backward.

import { missingView } from "../app.js";
import { button, make } from "../dom.js";
import { hashFor } from "../router.js";
import { Autoscroll } from "../session/autoscroll.js";
import { copyText } from "../session/blocks.js";
import { loadStylesheet } from "./stylesheet.js";

await loadStylesheet("raw_log");

const POLL_INTERVAL = 1000;
const LIMIT = 64 * 1024; // bytes per request
const MAX_CHUNKS = 32; // maximum chunks while following; older ones are loaded again when scrolling back
const NEAR = 200; // pixels from the start

/**
 * @typedef {object} Chunk the result of `get_raw_log`
 * @property {string} text
 * @property {number} start
 * @property {number} end
 * @property {boolean} is_first
 * @property {number} size
 * @property {string} path
 * @property {boolean} recording
 */

/** @type {import("../app.js").MakeView} */
export function rawLogView(app, route) {
  const session = app.state.sessions.get(route.id);
  if (!session) return missingView(app, "sessions", route.id);
  const log = new Log(app, route.id);
  const timer = setInterval(() => document.visibilityState === "visible" && log.poll(), POLL_INTERVAL);
  log.poll();
  return {
    title: `Raw log of ${session.name}`,
    element: log.element,
    update: (change) => change.preferences && log.poll(),
    close: () => clearInterval(timer),
    focus: () => log.text.focus({ preventScroll: true }),
  };
}

class Log {
  /** @type {Chunk | null} */ #newest = null;
  /** The shown chunks, oldest first. @type {{start: number, isFirst: boolean, element: HTMLElement}[]} */ #chunks = [];
  #isLoading = false;

  /** @param {import("../app.js").App} app @param {string} sessionId */
  constructor(app, sessionId) {
    this.app = app;
    this.sessionId = sessionId;
    this.status = make("p.hint", "Loading …");
    this.status.setAttribute("role", "status");
    this.location = make("span.path");
    this.copy = button("Copy the path", () => copyText(this.#newest?.path ?? "", this.copy));
    this.toggle = button("Debug mode", () => this.#toggleDebugMode());
    this.older = button("Load older lines", () => this.#loadOlder());
    this.text = make("pre.output", { tabIndex: 0, "aria-label": "Raw log", onscroll: () => this.text.scrollTop < NEAR && this.#loadOlder() });
    const back = make("a.button", "Back to the session", { href: hashFor("session", sessionId) });
    this.element = make("div.raw-log", this.status, make("div.choices", back, this.toggle, this.copy, this.older), this.text, this.location);
    this.autoscroll = new Autoscroll(this.text, this.element);
    this.#draw();
  }

  /** Load new output; if there is more than is kept, only its end. */
  async poll() {
    if (!this.app.connection.isOpen) return;
    await this.#runExclusive(async () => {
      for (;;) {
        const before = this.#newest;
        const chunk = await this.#read({ after: before?.end });
        this.#newest = chunk;
        if (before && chunk.start !== before.end) this.#clear();
        if (chunk.text) this.#append(chunk, this.autoscroll.isOn ? MAX_CHUNKS : Infinity);
        this.#draw(); // the size of the elements above may have changed
        this.autoscroll.scrollIfOn();
        if (!before || chunk.end <= before.end) return;
      }
    });
  }

  /** @param {Record<string, number | undefined>} range @returns {Promise<Chunk>} */
  #read(range) {
    return this.app.connection.call("get_raw_log", { sessionId: this.sessionId, limit: LIMIT, ...range });
  }

  #loadOlder() {
    return this.#runExclusive(async () => {
      const first = this.#chunks[0];
      if (!first || first.isFirst) return;
      const chunk = await this.#read({ before: first.start });
      first.isFirst = !chunk.text;
      if (chunk.text) this.#prepend(chunk);
      this.#draw();
    });
  }

  /** Run one request at a time; errors are shown in place of the status. @param {() => Promise<void>} request */
  async #runExclusive(request) {
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      await request();
    } catch (error) {
      this.status.textContent = /** @type {Error} */ (error).message;
    } finally {
      this.#isLoading = false;
    }
  }

  async #toggleDebugMode() {
    await this.app.run("update_preferences", { changes: { debug_mode_enabled: !this.#newest?.recording } });
    await this.poll();
  }

  /** @param {Chunk} chunk @param {number} limit of chunks */
  #append(chunk, limit) {
    const element = make("span", chunk.text);
    this.text.append(element);
    this.#chunks.push({ start: chunk.start, isFirst: chunk.is_first, element });
    for (const chunk of this.#chunks.splice(0, Math.max(0, this.#chunks.length - limit))) chunk.element.remove();
  }

  /** Insert older output, keeping the scroll position. @param {Chunk} chunk */
  #prepend(chunk) {
    const { text } = this;
    const [top, height] = [text.scrollTop, text.scrollHeight];
    const element = make("span", chunk.text);
    text.prepend(element);
    this.#chunks.unshift({ start: chunk.start, isFirst: chunk.is_first, element });
    text.scrollTop = top + text.scrollHeight - height;
  }

  #clear() {
    this.#chunks = [];
    this.text.replaceChildren();
  }

  #draw() {
    const { recording, size, path } = this.#newest ?? { recording: false, size: 0, path: "" };
    const isLoaded = this.#newest !== null;
    if (isLoaded) {
      const off = `Debug mode is off, so ${size ? "nothing more" : "nothing"} is recorded. You can also turn it on in the preferences.`;
      const on = size ? "Debug mode is on: input and output of the agent are recorded." : "Debug mode is on. Input and output of the agent will appear here.";
      const text = recording ? on : off;
      if (this.status.textContent !== text) this.status.textContent = text;
      this.status.classList.toggle("warned", !recording);
    }
    this.toggle.hidden = !isLoaded;
    this.toggle.textContent = `Turn debug mode ${recording ? "off" : "on"}`;
    this.copy.hidden = !path;
    this.location.textContent = path && `${path} · ${size.toLocaleString("en-US")} bytes`;
    this.text.hidden = !size;
    this.older.hidden = !this.#chunks.length || this.#chunks[0].isFirst;
  }
}
