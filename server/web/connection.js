// The way to Spinney: the token, the state at first, then events and calls over one WebSocket.
// A lost connection comes back by itself and goes on after the last event that was heard.

const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 30000;

/** The token in the address (`#token=…&session=…`), which forgets it at once; else nothing. */
export function tokenInAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  const token = given.get("token");
  if (token) {
    const session = given.get("session");
    history.replaceState(null, "", location.pathname + (session ? `#/session/${session}` : ""));
  }
  return token;
}

/**
 * One connection for the life of the page.
 * `on.loaded(snapshot)`, `on.event(name, body)`, `on.state("open" | "lost" | "refused", seconds?)`.
 */
export class Connection {
  #on;
  #token = tokenInAddress() ?? sessionStorage.getItem("token") ?? "";
  #socket = null;
  #calls = new Map();
  #lastId = 0;
  #seq = 0;
  #run = "";
  #failures = 0;
  #timer = 0;
  #trying = false;

  constructor(on) {
    this.#on = on;
    if (this.#token) sessionStorage.setItem("token", this.#token);
    const now = () => document.visibilityState === "visible" && this.#tryNow();
    addEventListener("online", now);
    document.addEventListener("visibilitychange", now);
  }

  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  /** Try another token. */
  use(token) {
    this.#token = token;
    sessionStorage.setItem("token", token);
    this.start();
  }

  /** Load the state and connect. */
  async start() {
    clearTimeout(this.#timer);
    if (this.#trying) return;
    this.#trying = true;
    try {
      if (!this.#run) await this.#load();
      this.#open();
    } catch (error) {
      this.#trying = false;
      if (error.refused) this.#on.state("refused");
      else this.#comeBack();
    }
  }

  /** Run a command; the promise fails with the sentence for the person. */
  call(command, args = {}) {
    return new Promise((resolve, reject) => {
      if (!this.isOpen) {
        reject(new Error("Not connected. Nothing was sent; try again in a moment."));
        return;
      }
      const id = String(++this.#lastId);
      this.#calls.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, command, args }));
    });
  }

  async #load() {
    const headers = this.#token ? { Authorization: `Bearer ${this.#token}` } : {};
    const response = await fetch("/api/init", { headers, cache: "no-store" });
    if (response.status === 401) throw Object.assign(new Error("refused"), { refused: true });
    if (!response.ok) throw new Error(`Spinney answered ${response.status}`);
    const snapshot = await response.json();
    this.#seq = snapshot.seq;
    this.#run = snapshot.run;
    this.#on.loaded(snapshot);
  }

  #open() {
    const query = new URLSearchParams({ since: this.#seq });
    if (this.#token) query.set("token", this.#token);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const socket = new WebSocket(`${scheme}://${location.host}/ws?${query}`);
    this.#socket = socket;
    socket.onmessage = (message) => this.#take(JSON.parse(message.data));
    socket.onclose = () => this.#closed();
  }

  #closed() {
    this.#trying = false;
    for (const call of this.#calls.values()) {
      call.reject(new Error("The connection was lost before the answer came."));
    }
    this.#calls.clear();
    this.#comeBack();
  }

  #comeBack() {
    const pause = Math.min(FIRST_PAUSE * 2 ** this.#failures++, LONGEST_PAUSE);
    const wait = pause * (0.8 + 0.2 * Math.random());
    // A refused upgrade looks like any other failure here; reading the state tells them apart.
    if (this.#failures > 1) this.#run = "";
    this.#on.state("lost", Math.round(wait / 1000));
    this.#timer = setTimeout(() => this.start(), wait);
  }

  #tryNow() {
    if (this.#failures && !this.#trying) this.start();
  }

  #take(frame) {
    if (frame.type === "response" || frame.type === "error") {
      const call = this.#calls.get(frame.id);
      this.#calls.delete(frame.id);
      if (frame.type === "response") call?.resolve(frame.data);
      else call?.reject(new Error(frame.error));
      return;
    }
    const body = frame.data ?? frame.payload;
    if (frame.event === "hello") {
      this.#failures = 0;
      this.#on.state("open");
      if (body.run !== this.#run) this.#loadAgain();
    } else if (frame.event === "events-missed") {
      this.#loadAgain();
    } else if (frame.seq > this.#seq) {
      this.#seq = frame.seq;
      this.#on.event(frame.event, body);
    }
  }

  async #loadAgain() {
    try {
      await this.#load();
    } catch {
      this.#run = "";
      this.#socket.close();
    }
  }
}
