// @ts-check
// Alerts when a session needs the user or has finished: by sound, toast, tab title and vibration. Device
// notifications are in notices.js.
// Only one tab alerts, and never for the session that is being viewed.

import { requestLabel } from "../marks.js";

/**
 * @typedef {import("../state.js").Resource} Resource
 * @typedef {"waiting" | "review"} Kind as in the preferences `waiting_sound` and `review_sound`
 */

const LAST_ALERTS = "spinney-alerts"; // the last alerts of any tab, and when
const MIN_INTERVAL = 1000; // minimum ms between two alerts
const LOCK_TIME = 10000; // ms within which all tabs have received the same event
const BASE_PATH = new URL(import.meta.url).pathname.replace(/\/js\/.*$/, "");
const VIBRATION = { waiting: [80, 60, 80], review: [60] };

/** @type {((sound: string) => void) | undefined} offers to allow blocked sounds */ let offerSounds;

/** @param {import("../app.js").App} app */
export function initAlerts(app) {
  /** @type {Map<string, { request: string, status: string }>} the last known status of each session */
  const known = new Map();
  /** @type {unknown} */
  let resources;

  // A reloaded state must not alert.
  app.onConnection((status) => {
    if (status.state !== "open" || resources === app.state.sessions) return;
    resources = app.state.sessions;
    known.clear();
    for (const session of app.state.sessions.values()) known.set(session.id, statusOf(session));
  });
  app.onEvent((name, body) => {
    if (!name.startsWith("session-")) return;
    const id = body.session?.id ?? body.session_id;
    const session = app.state.sessions.get(id);
    const before = known.get(id);
    if (!session) known.delete(id);
    else known.set(id, statusOf(session));
    const kind = session && before && alertKind(before, session);
    if (kind) sendAlert(app, session, kind);
    if (document.hidden) app.updateTitle(); // hidden tabs get no frames
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) return;
    app.titleMark = "";
    app.updateTitle();
  });
  offerSounds = (sound) => {
    offerSounds = undefined; // ask once only
    app.toast("The browser blocks sounds until you interact with the page.", { action: ["Allow sounds", () => playSound(sound)] });
  };
}

/** @param {Resource} session */
const statusOf = (session) => ({ request: session.waiting_for ? session.request?.id ?? session.waiting_for : "", status: session.status });

/** What to alert about: a new request, or a run that ended by itself. @param {{ request: string, status: string }} before @param {Resource} now @returns {Kind | null} */
function alertKind(before, now) {
  if (now.archived_at) return null;
  const { request, status } = statusOf(now);
  if (request && request !== before.request) return "waiting";
  const wasActive = before.status === "running" || before.status === "waiting";
  if (status === "paused" && now.pause?.is_joined) return null; // the first session at the limit stands for all
  const hasEnded = ["idle", "failed", "paused"].includes(status);
  return wasActive && hasEnded && now.last_run?.status !== "cancelled" ? "review" : null;
}

/** @type {Record<string, string>} */
const ENDINGS = { failed: "failed", paused: "is paused" };

/** @param {import("../app.js").App} app @param {Resource} session @param {Kind} kind */
async function sendAlert(app, session, kind) {
  const text = kind === "waiting" ? requestLabel(session) : ENDINGS[session.status] ?? "has finished";
  const isSeen = document.hasFocus() && app.route.view === "session" && app.route.id === session.id;
  if (document.hidden) app.titleMark = kind === "waiting" ? "? " : "✓ ";
  else if (!isSeen) showAlertToast(app, session, text);
  await waitForTurn();
  if (!(await claimAlert(`${session.id} ${session.updated_at} ${text}`, { isSeen }))) return;
  const sound = app.state.preferences[`${kind}_sound`];
  if (sound !== "none") {
    playSound(sound);
    if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(VIBRATION[kind]);
  }
}

/** Show a toast while it applies. The start view lists all of these sessions itself. @param {import("../app.js").App} app @param {Resource} session @param {string} text */
function showAlertToast(app, session, text) {
  const before = JSON.stringify(statusOf(session));
  const isValid = () => {
    const now = app.state.sessions.get(session.id);
    const isListed = app.route.view === "needs";
    return now !== undefined && !now.archived_at && JSON.stringify(statusOf(now)) === before && !isListed;
  };
  app.toast(`'${session.name}' ${text}`, { about: session.id, isValid, action: ["Show", () => app.go("session", session.id)] });
}

/** Wait so that the focused tab, which knows what the user sees, comes first, then tabs that may play sounds. */
export function waitForTurn() {
  const wait = document.hasFocus() ? 0 : navigator.userActivation?.hasBeenActive === false ? 400 : 100;
  return new Promise((resolve) => (wait ? setTimeout(resolve, wait) : resolve(undefined)));
}

/**
 * Whether this tab may alert: no other tab did, and none had another alert a moment ago.
 * @param {string} alert
 * @param {{ isSeen: boolean }} options if the session is being viewed, no tab alerts, and other alerts need not wait
 */
async function claimAlert(alert, { isSeen }) {
  if (!navigator.locks) return claimAlertInStorage(alert, isSeen);
  return (await claimLock(`spinney-alerts ${alert}`, LOCK_TIME)) && !isSeen && claimLock("spinney-alert", MIN_INTERVAL);
}

/** Hold a lock for some ms, unless another tab has it. @param {string} name @param {number} duration @returns {Promise<boolean>} */
export function claimLock(name, duration) {
  return new Promise((resolve) => {
    navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise((done) => setTimeout(done, duration));
    });
  });
}

/** Without HTTPS there are no locks; two tabs may then alert at the same moment. @param {string} alert @param {boolean} isSeen */
function claimAlertInStorage(alert, isSeen) {
  const [recent, at] = JSON.parse(localStorage.getItem(LAST_ALERTS) ?? "[[], 0]");
  const now = Date.now();
  const isAllowed = isSeen || now - at >= MIN_INTERVAL || now < at;
  if (recent.includes(alert) || !isAllowed) return false;
  localStorage.setItem(LAST_ALERTS, JSON.stringify([[...recent.slice(-9), alert], isSeen ? at : now]));
  return !isSeen;
}

/** Play a sound. @param {string} sound */
export async function playSound(sound) {
  try {
    await new Audio(`${BASE_PATH}/sounds/${sound}.wav`).play();
  } catch (error) {
    if (/** @type {Error} */ (error).name === "NotAllowedError") offerSounds?.(sound);
  }
}
