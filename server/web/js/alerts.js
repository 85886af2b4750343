// @ts-check
// Tells a person who looks elsewhere that a session needs them or has ended: by a sound, a word on the page, the
// tab's title, a notification of the device or its vibration. Once for all tabs, never for the session they see.

import { asks } from "./marks.js";
import { navigate } from "./overlays.js";
import { hashOf } from "./router.js";

/**
 * @typedef {import("./state.js").Resource} Resource
 * @typedef {"waiting" | "review"} Kind as in the preferences `waiting_sound` and `review_sound`
 */

const TOLD = "spinney-told"; // what any tab told last, and when
const NOTIFIES = "spinney-notifies";
const PAUSE = 1000; // ms between two alerts at least
const LATE = 10000; // ms within which every tab has heard the same
const PAGE = new URL(import.meta.url).pathname.replace(/\/js\/\w+\.js$/, "");
const BUZZ = { waiting: [80, 60, 80], review: [60] };

/** @type {((sound: string) => void) | undefined} says that sounds are held back */ let heldBack;

/** @param {import("./app.js").App} app */
export function alerts(app) {
  /** @type {Map<string, { asked: string, status: string }>} how each session was when it was last heard of */
  const known = new Map();
  let resources = app.state.sessions;

  // A state that is read anew is no news.
  app.watch((link) => {
    if (link.state !== "open" || resources === app.state.sessions) return;
    resources = app.state.sessions;
    known.clear();
    for (const session of resources.values()) known.set(session.id, stateOf(session));
  });
  app.listen((name, body) => {
    if (!name.startsWith("session-")) return;
    const id = body.session?.id ?? body.session_id;
    const session = app.state.sessions.get(id);
    const before = known.get(id);
    if (!session) known.delete(id);
    else known.set(id, stateOf(session));
    const kind = session && before && newsOf(before, session);
    if (kind) tell(app, session, kind);
    if (document.hidden) app.retitle(); // there are no frames to draw it in
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    app.news = "";
    app.retitle();
  });
  heldBack = (sound) => {
    heldBack = undefined; // once is enough
    app.say("The browser holds sounds back until this page is pressed.", { action: ["Allow sounds", () => play(sound)] });
  };
}

/** @param {Resource} session */
const stateOf = (session) => ({ asked: session.waiting_for ? session.request?.id ?? session.waiting_for : "", status: session.status });

/** What a person hears of: a new request, or a run that came to its own end. @param {{ asked: string, status: string }} before @param {Resource} now @returns {Kind | null} */
function newsOf(before, now) {
  if (now.archived_at) return null;
  const { asked, status } = stateOf(now);
  if (asked && asked !== before.asked) return "waiting";
  const ran = before.status === "running" || before.status === "waiting";
  const rests = status === "idle" || status === "failed";
  return ran && rests && now.last_run?.status !== "cancelled" ? "review" : null;
}

/** @param {import("./app.js").App} app @param {Resource} session @param {Kind} kind */
async function tell(app, session, kind) {
  const place = hashOf("session", session.id);
  const words = kind === "waiting" ? asks(session) : session.status === "failed" ? "failed" : "has finished";
  const isSeen = document.hasFocus() && app.route.view === "session" && app.route.id === session.id;
  if (document.hidden) app.news = kind === "waiting" ? "? " : "✓ ";
  else if (!isSeen) sayOnPage(app, session, kind, words);
  await turn();
  if (!(await isFirst(`${session.id} ${session.updated_at} ${words}`, { isSeen }))) return;
  const sound = app.state.preferences[`${kind}_sound`];
  if (sound !== "none") {
    play(sound);
    if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(BUZZ[kind]);
  }
  if (!document.hasFocus()) notify(session.name, words, place);
}

/** Say it as long as it holds. "Needs you" shows each request itself. @param {import("./app.js").App} app @param {Resource} session @param {Kind} kind @param {string} words */
function sayOnPage(app, session, kind, words) {
  const told = JSON.stringify(stateOf(session));
  const isTrue = () => {
    const now = app.state.sessions.get(session.id);
    const isShown = kind === "waiting" && app.route.view === "needs";
    return now !== undefined && !now.archived_at && JSON.stringify(stateOf(now)) === told && !isShown;
  };
  app.say(`“${session.name}” ${words}`, { about: session.id, isTrue, action: ["Show", () => app.go("session", session.id)] });
}

/** The tab with the focus speaks first, as it knows what is seen; then those that may make a sound. */
function turn() {
  const wait = document.hasFocus() ? 0 : navigator.userActivation?.hasBeenActive === false ? 400 : 100;
  return new Promise((resolve) => (wait ? setTimeout(resolve, wait) : resolve(undefined)));
}

/**
 * Whether this tab is the one to tell it: no other did, and none told something else a moment ago.
 * @param {string} news
 * @param {{ isSeen: boolean }} how where it is seen nobody tells it, and that is no moment for others either
 */
async function isFirst(news, { isSeen }) {
  if (!navigator.locks) return isFirstByStorage(news, isSeen);
  return (await hold(`spinney-told ${news}`, LATE)) && !isSeen && hold("spinney-alert", PAUSE);
}

/** Take a lock that no other tab has, for so many ms. @param {string} name @param {number} time @returns {Promise<boolean>} */
function hold(name, time) {
  return new Promise((resolve) => {
    navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise((done) => setTimeout(done, time));
    });
  });
}

/** Without encryption there are no locks; two tabs that ask in the same moment then both tell. @param {string} news @param {boolean} isSeen */
function isFirstByStorage(news, isSeen) {
  const [told, at] = JSON.parse(localStorage.getItem(TOLD) ?? "[[], 0]");
  const now = Date.now();
  const isQuiet = isSeen || now - at >= PAUSE || now < at;
  if (told.includes(news) || !isQuiet) return false;
  localStorage.setItem(TOLD, JSON.stringify([[...told.slice(-9), news], isSeen ? at : now]));
  return !isSeen;
}

/** Play a sound of the preferences now. @param {string} sound */
export async function play(sound) {
  try {
    await new Audio(`${PAGE}/sounds/${sound}.wav`).play();
  } catch (error) {
    if (/** @type {Error} */ (error).name === "NotAllowedError") heldBack?.(sound);
  }
}

// Notifications ------------------------------------------------------------------------------------

/** @returns {"on" | "off" | "denied" | "impossible"} how it is with notifications of this device */
export function notifications() {
  if (!isSecureContext || !("Notification" in window)) return "impossible";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && localStorage.getItem(NOTIFIES) !== "no" ? "on" : "off";
}

/** Turn them on, which asks the person, or off; on a press only. @param {boolean} wanted */
export async function useNotifications(wanted) {
  if (wanted && Notification.permission === "default") await Notification.requestPermission();
  if (wanted) localStorage.removeItem(NOTIFIES);
  else localStorage.setItem(NOTIFIES, "no");
}

/** @param {string} name @param {string} words @param {string} place where a press on it leads */
async function notify(name, words, place) {
  if (notifications() !== "on") return;
  const told = { body: words, tag: place, icon: `${PAGE}/icons/192.png`, data: place };
  const worker = await navigator.serviceWorker?.getRegistration();
  if (worker) await worker.showNotification(name, told);
  else {
    const shown = new Notification(name, told);
    shown.onclick = () => {
      focus();
      navigate(place);
    };
  }
}
