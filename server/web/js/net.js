// @ts-check
// The connection to Spinney: loads the state, then receives events and sends commands over one WebSocket.
// It reconnects by itself and continues after the last received event.

const FIRST_DELAY = 1000;
const MAX_DELAY = 30000;
const IDLE_TIME = 20000; // without any message, after which the connection is probed
const PROBE_TIMEOUT = 5000;
const CONNECT_TIMEOUT = 15000;
const TOKEN_KEY = "spinney-token";
const PROTOCOL = "spinney"; // of the WebSocket
const ACCESS_ENDED = 1008; // closes a WebSocket whose token is no longer valid

/**
 * @typedef {object} ConnectionHandlers
 * @property {(snapshot: any) => void} onSnapshot the whole state, at start and when events were missed
 * @property {(name: string, body: any) => void} onEvent
 * @property {(status: ConnectionStatus) => void} onStatus
 *
 * @typedef {object} ConnectionStatus
 * @property {"connecting" | "open" | "lost" | "refused"} state
 * @property {number} [seconds] until the next attempt, if lost
 * @property {string} [reason]
 * @property {boolean} [isGuest] whether the access of a guest has ended, if refused
 */

/** The token of this tab, or the remembered one. */
export function getToken() {
  return sessionStorage.getItem(TOKEN_KEY) ?? localStorage.getItem(TOKEN_KEY) ?? "";
}

const GUEST_PREFIX = "sgd_"; // begins the token of a guest's device

/** Whether this browser has the owner's token, so that new tabs are signed in. */
export function isRemembered() {
  const remembered = localStorage.getItem(TOKEN_KEY) ?? "";
  return remembered !== "" && !remembered.startsWith(GUEST_PREFIX);
}

/**
 * Save the owner's token for this tab, and for this browser or no longer for it; that of a guest stays there.
 * @param {string} token
 * @param {boolean} remember
 */
export function saveToken(token, remember) {
  sessionStorage.setItem(TOKEN_KEY, token);
  if (remember) localStorage.setItem(TOKEN_KEY, token);
  else if (isRemembered()) localStorage.removeItem(TOKEN_KEY);
}

/**
 * Save the token of an address, for this browser if one was remembered there. One that Spinney does not accept replaces
 * none that is saved. Returns whether it is saved.
 * @param {string} token
 */
export async function offerToken(token) {
  const saved = getToken();
  if (saved && saved !== token && !(await isAccepted(token))) return false;
  if (token.startsWith(GUEST_PREFIX)) saveGuestToken(token);
  else saveToken(token, isRemembered());
  return true;
}

/** @param {string} token */
async function isAccepted(token) {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch("/api/auth", { headers, cache: "no-store", signal: AbortSignal.timeout(CONNECT_TIMEOUT) }).catch(() => null);
  return response?.ok ?? false;
}

/** Whether the page has the token of a guest. */
export const isGuestToken = () => getToken().startsWith(GUEST_PREFIX);

/** Save the token of a guest for this tab; for this browser, too, unless the owner is signed in there. @param {string} token */
export function saveGuestToken(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
  if (!isRemembered()) localStorage.setItem(TOKEN_KEY, token);
}

/** Forget the token of a guest whose access has ended. */
export function forgetGuestToken() {
  if (!isGuestToken()) return;
  const token = getToken();
  if (sessionStorage.getItem(TOKEN_KEY) === token) sessionStorage.removeItem(TOKEN_KEY);
  if (localStorage.getItem(TOKEN_KEY) === token) localStorage.removeItem(TOKEN_KEY);
}

/** The connection of the page. */
export class Connection {
  /** @type {ConnectionHandlers} */ #handlers;
  /** @type {WebSocket | null} */ #socket = null;
  /** @type {Map<string, {resolve: (data: any) => void, reject: (error: Error) => void}>} */
  #calls = new Map();
  #lastId = 0;
  #seq = 0;
  #runId = "";
  #failures = 0;
  /** @type {number | undefined} */ #timer;
  #isConnecting = false;
  /** Whether the first connection is not open yet: commands wait for it. */
  #isStarting = true;
  /** @type {(() => void)[]} */ #waiting = [];
  #lastReceived = 0;
  /** @type {number | undefined} */ #probeTimer;
  /** Why the server ended this page's access, as a sentence. */
  #revoked = "";
  /** @type {string | null} */ #shownSession = null;
  /** @type {string[]} */ #watchedSessions = [];

  /** @param {ConnectionHandlers} handlers */
  constructor(handlers) {
    this.#handlers = handlers;
    const retry = () => document.visibilityState === "visible" && this.retryNow();
    addEventListener("online", retry);
    addEventListener("offline", retry);
    document.addEventListener("visibilitychange", retry);
    setInterval(() => performance.now() - this.#lastReceived > IDLE_TIME && this.#probe(), IDLE_TIME / 4);
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Load the state and connect. */
  async start() {
    clearTimeout(this.#timer);
    if (this.#isConnecting || this.isOpen) return;
    this.#isConnecting = true;
    try {
      if (!this.#runId) await this.#load();
      this.#open();
    } catch (error) {
      this.#isConnecting = false;
      if (error instanceof Unauthorized) {
        this.#runWaiting();
        this.#handlers.onStatus({ state: "refused", reason: error.message, isGuest: isGuestToken() });
      } else this.#scheduleReconnect();
    }
  }

  /** Reconnect immediately, or probe the connection, which may be dead after the device slept. */
  retryNow() {
    if (this.#failures) this.start();
    else this.#probe();
  }

  /** Check whether the connection is alive, as dead ones are not reported. */
  #probe() {
    if (!this.isOpen || this.#probeTimer !== undefined) return;
    const socket = this.#socket;
    this.#probeTimer = setTimeout(() => {
      this.#probeTimer = undefined;
      if (socket === this.#socket) this.#abandon();
    }, PROBE_TIMEOUT);
    this.call("get_http_server_status").catch(() => {});
  }

  /** Abandon a connection without waiting until it is closed. */
  #abandon() {
    this.#socket?.close();
    this.#handleClose();
  }

  /**
   * Run a command. Rejects with an error message for the user; commands are never sent twice.
   * @param {string} command
   * @param {Record<string, unknown>} [args]
   * @returns {Promise<any>}
   */
  call(command, args = {}) {
    return new Promise((resolve, reject) => {
      if (!this.isOpen && this.#isStarting) {
        this.#waiting.push(() => this.call(command, args).then(resolve, reject));
        return;
      }
      if (!this.isOpen) {
        reject(new Error("Not connected. Nothing was sent. Try again in a moment."));
        return;
      }
      const id = String(++this.#lastId);
      this.#calls.set(id, { resolve, reject });
      this.#socket?.send(JSON.stringify({ id, command, args }));
    });
  }

  /**
   * Subscribe to the text of this session's answers as blocks; `null` unsubscribes.
   * @param {string | null} sessionId
   */
  showSession(sessionId) {
    this.#shownSession = sessionId;
    if (this.isOpen) this.#socket?.send(JSON.stringify({ type: "show", session_id: sessionId }));
  }

  /**
   * Subscribe to the last lines that these sessions write (`live-line`), instead of those before.
   * @param {string[]} sessionIds
   */
  watchSessions(sessionIds) {
    this.#watchedSessions = sessionIds;
    if (this.isOpen) this.#socket?.send(JSON.stringify({ type: "watch", session_ids: sessionIds }));
  }

  /**
   * Upload a file by a separate request, so that it does not delay anything else. An error of Spinney's has a `kind`.
   * @param {string} path @param {Blob} data @param {(progress: number) => void} onProgress from 0 to 1
   * @returns {Promise<any>}
   */
  upload(path, data, onProgress) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest(); // fetch reports no progress
      request.open("POST", path);
      for (const [name, value] of Object.entries(authorization())) request.setRequestHeader(name, value);
      request.setRequestHeader("Content-Type", "application/octet-stream");
      request.responseType = "json";
      request.upload.addEventListener("progress", ({ loaded, total }) => onProgress(total ? loaded / total : 0));
      request.addEventListener("load", () => {
        const { status, response } = request;
        if (status < 400) resolve(response);
        else reject(Object.assign(new Error(response?.error ?? `Spinney responded with status ${status}.`), { kind: "refused" }));
      });
      request.addEventListener("error", () => reject(new Error("Not connected. Try again when you are back online.")));
      request.send(data);
    });
  }

  async #load() {
    const headers = authorization();
    const token = getToken();
    const response = await fetch("/api/init", { headers, cache: "no-store", signal: AbortSignal.timeout(CONNECT_TIMEOUT) });
    if (response.status === 401 || response.status === 403) {
      const body = isGuestToken() ? await response.json() : null;
      const source = "Copy it from the terminal (Server) or from 'spinney url'.";
      const changed = this.#revoked && `${this.#revoked} Enter the new one. ${source}`;
      throw new Unauthorized(body?.error ?? (changed || (token ? `Wrong token. ${source}` : "")));
    }
    if (!response.ok) throw new Error(`Spinney responded with status ${response.status}.`);
    const snapshot = await response.json();
    this.#seq = snapshot.seq;
    this.#runId = snapshot.run;
    this.#revoked = "";
    this.#handlers.onSnapshot(snapshot);
  }

  #open() {
    const query = new URLSearchParams({ since: String(this.#seq), blocks: "1" });
    const token = getToken();
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    // Not in the address, which browsers log to the console when connecting fails.
    const protocols = token ? [PROTOCOL, `token.${base64url(token)}`] : [PROTOCOL];
    const socket = new WebSocket(`${scheme}://${location.host}/ws?${query}`, protocols);
    this.#socket = socket;
    // What an abandoned one still reports is ignored.
    socket.addEventListener("message", (message) => socket === this.#socket && this.#handleFrame(JSON.parse(message.data)));
    socket.addEventListener("close", ({ code, reason }) => {
      if (socket !== this.#socket) return undefined;
      if (code !== ACCESS_ENDED) return this.#handleClose();
      this.#revoked = reason;
      return this.#reload();
    });
    setTimeout(() => socket === this.#socket && socket.readyState === WebSocket.CONNECTING && this.#abandon(), CONNECT_TIMEOUT);
  }

  #handleClose() {
    this.#isConnecting = false;
    this.#socket = null;
    for (const call of this.#calls.values()) {
      call.reject(new Error("The connection was lost before the result arrived. Check whether it was done before you try again."));
    }
    this.#calls.clear();
    this.#scheduleReconnect();
  }

  #scheduleReconnect() {
    const maxDelay = Math.min(FIRST_DELAY * 2 ** this.#failures++, MAX_DELAY);
    const delay = maxDelay * (0.8 + 0.2 * Math.random());
    // A refused upgrade looks like any other failure here; loading the state shows the difference.
    if (this.#failures > 1) this.#runId = "";
    this.#runWaiting();
    this.#handlers.onStatus({ state: "lost", seconds: Math.max(1, Math.round(delay / 1000)) });
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.start(), delay);
  }

  /** @param {any} frame */
  #handleFrame(frame) {
    this.#lastReceived = performance.now();
    clearTimeout(this.#probeTimer);
    this.#probeTimer = undefined;
    if (frame.type === "response" || frame.type === "error") {
      const call = this.#calls.get(frame.id);
      this.#calls.delete(frame.id);
      if (frame.type === "response") call?.resolve(frame.data);
      else call?.reject(Object.assign(new Error(frame.error), { kind: frame.error_type }));
      return;
    }
    if (frame.seq) this.#seq = frame.seq;
    const body = frame.data ?? frame.payload;
    if (frame.event === "hello") this.#handleHello(body);
    else if (frame.event === "events-missed") this.#reload();
    else this.#handlers.onEvent(frame.event, body);
  }

  /** @param {{ run: string, seq: number }} hello */
  #handleHello(hello) {
    // A state without events, as that of a new guest, cannot be continued: 0 stands for the newest event.
    const hasMissed = this.#seq === 0 && hello.seq > 0;
    if (hello.run !== this.#runId || hasMissed) {
      this.#reload();
      return;
    }
    this.#isConnecting = false;
    this.#failures = 0;
    this.#runWaiting();
    if (this.#shownSession) this.showSession(this.#shownSession);
    if (this.#watchedSessions.length) this.watchSessions(this.#watchedSessions);
    this.#handlers.onStatus({ state: "open" });
  }

  #runWaiting() {
    this.#isStarting = false;
    for (const run of this.#waiting.splice(0)) run();
  }

  /** Events were missed: reload the whole state, and connect again. */
  #reload() {
    this.#runId = "";
    this.#failures = 0;
    this.#socket?.close();
    this.#socket = null;
    this.#isConnecting = false;
    for (const call of this.#calls.values()) call.reject(new Error("The page reconnected before the result arrived."));
    this.#calls.clear();
    this.start();
  }
}

class Unauthorized extends Error {}

/** @returns {Record<string, string>} */
export function authorization() {
  const token = getToken();
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** @param {string} text */
function base64url(text) {
  const bytes = [...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join("");
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
