// @ts-check
// The way to Spinney: the token, the state at first, then events and calls over one WebSocket.
// A lost connection comes back by itself and goes on after the last event that was heard.

const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30000;
const QUIET = 20000; // after so long without a word, it is asked whether the other end is still there
const PATIENCE = 5000; // how long it may take to answer that
const UNTIL_OPEN = 15000;
const KEY = "spinney-token";
const PROTOCOL = "spinney"; // of the WebSocket

/**
 * @typedef {object} Listener
 * @property {(snapshot: any) => void} loaded the whole state, at first and when events were missed
 * @property {(name: string, body: any) => void} event
 * @property {(link: Link) => void} link
 *
 * @typedef {object} Link how the connection is
 * @property {"connecting" | "open" | "lost" | "refused"} state
 * @property {number} [seconds] until the next try, while lost
 * @property {string} [why]
 */

/** The token of this tab, or the one that was to be remembered. */
export function knownToken() {
  return sessionStorage.getItem(KEY) ?? localStorage.getItem(KEY) ?? "";
}

/**
 * Keep the token for this tab, or for this browser.
 * @param {string} token
 * @param {boolean} remember
 */
export function keepToken(token, remember) {
  sessionStorage.setItem(KEY, token);
  if (remember) localStorage.setItem(KEY, token);
  else localStorage.removeItem(KEY);
}

/** One connection for the life of the page. */
export class Connection {
  /** @type {Listener} */ #on;
  /** @type {WebSocket | null} */ #socket = null;
  /** @type {Map<string, {resolve: (data: any) => void, reject: (error: Error) => void}>} */
  #calls = new Map();
  #lastId = 0;
  #seq = 0;
  #run = "";
  #failures = 0;
  /** @type {number | undefined} */ #timer;
  #trying = false;
  /** Whether the first connection is still to come: what is asked by then waits for it. */
  #isStarting = true;
  /** @type {(() => void)[]} */ #early = [];
  #heard = 0;
  /** @type {number | undefined} */ #asked;
  /** @type {string | null} */ #shown = null;

  /** @param {Listener} on */
  constructor(on) {
    this.#on = on;
    const now = () => document.visibilityState === "visible" && this.tryNow();
    addEventListener("online", now);
    addEventListener("offline", now);
    document.addEventListener("visibilitychange", now);
    setInterval(() => performance.now() - this.#heard > QUIET && this.#ask(), QUIET / 4);
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Load the state and connect, now. */
  async start() {
    clearTimeout(this.#timer);
    if (this.#trying || this.isOpen) return;
    this.#trying = true;
    try {
      if (!this.#run) await this.#load();
      this.#open();
    } catch (error) {
      this.#trying = false;
      if (error instanceof Refused) {
        this.#started();
        this.#on.link({ state: "refused", why: error.message });
      } else this.#comeBack();
    }
  }

  /** Do not wait for the next try; and a device that slept may hold a connection that is long dead. */
  tryNow() {
    if (this.#failures) this.start();
    else this.#ask();
  }

  /** Whether anybody is there: a line that went dead is not told of by itself. */
  #ask() {
    if (!this.isOpen || this.#asked !== undefined) return;
    const socket = this.#socket;
    this.#asked = setTimeout(() => {
      this.#asked = undefined;
      if (socket === this.#socket) this.#leave();
    }, PATIENCE);
    this.call("get_http_server_status").catch(() => {});
  }

  /** Give up a connection without waiting for its end. */
  #leave() {
    const socket = this.#socket;
    if (socket) socket.onclose = socket.onmessage = null;
    socket?.close();
    this.#closed();
  }

  /**
   * Run a command. Fails with the sentence for the person; nothing is ever sent twice.
   * @param {string} command
   * @param {Record<string, unknown>} [args]
   * @returns {Promise<any>}
   */
  call(command, args = {}) {
    return new Promise((resolve, reject) => {
      if (!this.isOpen && this.#isStarting) {
        this.#early.push(() => this.call(command, args).then(resolve, reject));
        return;
      }
      if (!this.isOpen) {
        reject(new Error("Not connected. Nothing was sent; try again in a moment."));
        return;
      }
      const id = String(++this.#lastId);
      this.#calls.set(id, { resolve, reject });
      this.#socket?.send(JSON.stringify({ id, command, args }));
    });
  }

  /**
   * From now on the text of this session's answers comes as blocks; `null` ends that.
   * @param {string | null} sessionId
   */
  show(sessionId) {
    this.#shown = sessionId;
    if (this.isOpen) this.#socket?.send(JSON.stringify({ type: "show", session_id: sessionId }));
  }

  /**
   * Send what is large by a request of its own, so that nothing waits behind it.
   * @param {string} path @param {Record<string, unknown>} body @returns {Promise<any>}
   */
  async post(path, body) {
    const headers = { ...authorization(), "Content-Type": "application/json" };
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) }).catch(() => null);
    if (!response) throw new Error("Not connected. Try again when the connection is back.");
    const answer = await response.json().catch(() => ({}));
    if (!response.ok) throw new Error(answer.error ?? `Spinney answered ${response.status}.`);
    return answer;
  }

  async #load() {
    const headers = authorization();
    const token = knownToken();
    const response = await fetch("/api/init", { headers, cache: "no-store", signal: AbortSignal.timeout(UNTIL_OPEN) });
    if (response.status === 401 || response.status === 403) {
      throw new Refused(token ? "That token is wrong. Copy it again from the terminal (Server)." : "");
    }
    if (!response.ok) throw new Error(`Spinney answered ${response.status}`);
    const snapshot = await response.json();
    this.#seq = snapshot.seq;
    this.#run = snapshot.run;
    this.#on.loaded(snapshot);
  }

  #open() {
    const query = new URLSearchParams({ since: String(this.#seq), blocks: "1" });
    const token = knownToken();
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    // Not in the address, which browsers write into their consoles when it fails.
    const protocols = token ? [PROTOCOL, `token.${base64url(token)}`] : [PROTOCOL];
    const socket = new WebSocket(`${scheme}://${location.host}/ws?${query}`, protocols);
    this.#socket = socket;
    socket.onmessage = (message) => this.#take(JSON.parse(message.data));
    socket.onclose = () => this.#closed();
    setTimeout(() => socket === this.#socket && socket.readyState === WebSocket.CONNECTING && this.#leave(), UNTIL_OPEN);
  }

  #closed() {
    this.#trying = false;
    this.#socket = null;
    for (const call of this.#calls.values()) {
      call.reject(new Error("The connection was lost before the answer came. Look before you try again."));
    }
    this.#calls.clear();
    this.#comeBack();
  }

  #comeBack() {
    const pause = Math.min(FIRST_PAUSE * 2 ** this.#failures++, LONGEST_PAUSE);
    const wait = pause * (0.8 + 0.2 * Math.random());
    // A refused upgrade looks like any other failure here; reading the state tells them apart.
    if (this.#failures > 1) this.#run = "";
    this.#started();
    this.#on.link({ state: "lost", seconds: Math.max(1, Math.round(wait / 1000)) });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.start(), wait);
  }

  /** @param {any} frame */
  #take(frame) {
    this.#heard = performance.now();
    clearTimeout(this.#asked);
    this.#asked = undefined;
    if (frame.type === "response" || frame.type === "error") {
      const call = this.#calls.get(frame.id);
      this.#calls.delete(frame.id);
      if (frame.type === "response") call?.resolve(frame.data);
      else call?.reject(Object.assign(new Error(frame.error), { kind: frame.error_type }));
      return;
    }
    if (frame.seq) this.#seq = frame.seq;
    const body = frame.data ?? frame.payload;
    if (frame.event === "hello") this.#greeted(body);
    else if (frame.event === "events-missed") this.#reload();
    else this.#on.event(frame.event, body);
  }

  /** @param {{ run: string }} hello */
  #greeted(hello) {
    if (hello.run !== this.#run) {
      this.#reload();
      return;
    }
    this.#trying = false;
    this.#failures = 0;
    this.#started();
    if (this.#shown) this.show(this.#shown);
    this.#on.link({ state: "open" });
  }

  #started() {
    this.#isStarting = false;
    for (const ask of this.#early.splice(0)) ask();
  }

  /** What happened meanwhile is not to be had: read everything again, on a new connection. */
  #reload() {
    this.#run = "";
    this.#failures = 0;
    const socket = this.#socket;
    if (socket) socket.onclose = socket.onmessage = null;
    socket?.close();
    this.#socket = null;
    this.#trying = false;
    for (const call of this.#calls.values()) call.reject(new Error("The connection was renewed before the answer came."));
    this.#calls.clear();
    this.start();
  }
}

class Refused extends Error {}

/** @returns {Record<string, string>} */
function authorization() {
  const token = knownToken();
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** @param {string} text */
function base64url(text) {
  const bytes = [...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join("");
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
