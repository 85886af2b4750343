// @ts-check
// The raw log of a session: what its agent's program was sent and said, from the newest line back.

import { gone } from "../app.js";
import { button, make } from "../dom.js";
import { hashOf } from "../router.js";
import { copyText } from "../session/blocks.js";
import { sheet } from "./sheet.js";

await sheet("raw_log");

const LOOK_EVERY = 1000;
const LIMIT = 64 * 1024; // bytes that are read at once
const MOST = 32; // pieces that stay while one follows; older ones are read again where one goes back to them
const NEAR = 200; // pixels from an end

/**
 * @typedef {object} Piece see `get_raw_log`
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
  if (!session) return gone(app, "sessions", route.id);
  const log = new Log(app, route.id);
  const timer = setInterval(() => document.visibilityState === "visible" && log.look(), LOOK_EVERY);
  log.look();
  return {
    title: `Raw log of ${session.name}`,
    element: log.element,
    changed: (change) => change.preferences && log.look(),
    close: () => clearInterval(timer),
    focus: () => log.text.focus({ preventScroll: true }),
  };
}

class Log {
  /** @type {Piece | null} */ #newest = null;
  /** The pieces that are shown, the oldest first. @type {{start: number, isFirst: boolean, element: HTMLElement}[]} */ #pieces = [];
  #isReading = false;

  /** @param {import("../app.js").App} app @param {string} sessionId */
  constructor(app, sessionId) {
    this.app = app;
    this.sessionId = sessionId;
    this.state = make("p.hint", "Reading …");
    this.state.setAttribute("role", "status");
    this.place = make("span.path");
    this.copy = button("Copy the path", () => copyText(this.#newest?.path ?? "", this.copy));
    this.switch = button("Debug mode", () => this.#switch());
    this.older = button("Read older lines", () => this.#readOlder());
    this.text = make("pre.output", { tabIndex: 0, "aria-label": "Raw log", onscroll: () => this.text.scrollTop < NEAR && this.#readOlder() });
    const back = make("a.button", "Back to the session", { href: hashOf("session", sessionId) });
    this.element = make("div.raw-log", this.state, make("div.choices", back, this.switch, this.copy, this.older), this.text, this.place);
    this.#draw();
  }

  /** Read what was said since; where that is more than is kept, the end. */
  async look() {
    if (!this.app.connection.isOpen) return;
    await this.#alone(async () => {
      for (;;) {
        const before = this.#newest;
        const piece = await this.#read({ after: before?.end });
        const { scrollTop, clientHeight, scrollHeight } = this.text;
        const follows = scrollTop + clientHeight + NEAR >= scrollHeight;
        this.#newest = piece;
        if (before && piece.start !== before.end) this.#empty();
        if (piece.text) this.#append(piece, follows ? MOST : Infinity);
        this.#draw(); // what stands above may take another room now
        if (follows) this.text.scrollTop = this.text.scrollHeight;
        if (!before || piece.end <= before.end) return;
      }
    });
  }

  /** @param {Record<string, number | undefined>} where @returns {Promise<Piece>} */
  #read(where) {
    return this.app.connection.call("get_raw_log", { sessionId: this.sessionId, limit: LIMIT, ...where });
  }

  #readOlder() {
    return this.#alone(async () => {
      const first = this.#pieces[0];
      if (!first || first.isFirst) return;
      const piece = await this.#read({ before: first.start });
      first.isFirst = !piece.text;
      if (piece.text) this.#prepend(piece);
      this.#draw();
    });
  }

  /** One reading at a time; what goes wrong stands where the state does. @param {() => Promise<void>} read */
  async #alone(read) {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      await read();
    } catch (error) {
      this.state.textContent = /** @type {Error} */ (error).message;
    } finally {
      this.#isReading = false;
    }
  }

  async #switch() {
    await this.app.run("update_preferences", { changes: { debug_mode_enabled: !this.#newest?.recording } });
    await this.look();
  }

  /** @param {Piece} piece @param {number} most pieces that stay */
  #append(piece, most) {
    const element = make("span", piece.text);
    this.text.append(element);
    this.#pieces.push({ start: piece.start, isFirst: piece.is_first, element });
    for (const each of this.#pieces.splice(0, Math.max(0, this.#pieces.length - most))) each.element.remove();
  }

  /** What is in sight stays there. @param {Piece} piece */
  #prepend(piece) {
    const { text } = this;
    const [top, height] = [text.scrollTop, text.scrollHeight];
    const element = make("span", piece.text);
    text.prepend(element);
    this.#pieces.unshift({ start: piece.start, isFirst: piece.is_first, element });
    text.scrollTop = top + text.scrollHeight - height;
  }

  #empty() {
    this.#pieces = [];
    this.text.replaceChildren();
  }

  #draw() {
    const { recording, size, path } = this.#newest ?? { recording: false, size: 0, path: "" };
    const isRead = this.#newest !== null;
    if (isRead) {
      const off = `Debug mode is off: ${size ? "nothing more" : "nothing"} is written down. The preference debug_mode_enabled turns it on, too.`;
      const on = size ? "Debug mode is on: what the agent is sent and says is written down." : "Debug mode is on. What the agent is sent and says stands here.";
      const words = recording ? on : off;
      if (this.state.textContent !== words) this.state.textContent = words;
      this.state.classList.toggle("warned", !recording);
    }
    this.switch.hidden = !isRead;
    this.switch.textContent = `Turn debug mode ${recording ? "off" : "on"}`;
    this.copy.hidden = !path;
    this.place.textContent = path && `${path} · ${size.toLocaleString("en-US")} bytes`;
    this.text.hidden = !size;
    this.older.hidden = !this.#pieces.length || this.#pieces[0].isFirst;
  }
}
