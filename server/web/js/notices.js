// @ts-check
// Notices: device notifications that Spinney decides about, which session this page shows, and the app's badge.

import { navigate } from "./overlays.js";
import { hashFor } from "./router.js";
import { claimLock, waitForTurn } from "./session/alerts.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {{ channel: string, notice_ids: string[], at: number, title: string, text: string, session_id: string | null, undone: boolean }} Sent the body of `notice:sent`
 */

const NOTIFICATIONS_KEY = "spinney-notifies";
const LOCK_TIME = 10000; // ms within which all tabs have received the same event
const BASE_PATH = new URL(import.meta.url).pathname.replace(/\/js\/.*$/, "");

/** @param {App} app */
export function initNotices(app) {
  app.onEvent((name, body) => {
    if (name === "notice:sent" && body.channel === "page" && !body.undone) show(app, body);
    if (name === "notice:withdrawn") closeNotification(body.notice_id);
  });
  followFocus(app);
  let badge = 0;
  app.onChange((change) => {
    if (!change.tree) return;
    const waiting = app.state.waiting().length;
    if (waiting === badge) return;
    badge = waiting;
    const { setAppBadge, clearAppBadge } = /** @type {any} */ (navigator);
    // Refused where the page is not installed.
    (waiting ? setAppBadge?.call(navigator, waiting) : clearAppBadge?.call(navigator))?.catch(() => {});
  });
}

/** Report which session this page shows while it has the focus: nothing is sent about it meanwhile. @param {App} app */
function followFocus(app) {
  /** @type {string | null} */
  let reported = null;
  const report = () => {
    const isSeen = !document.hidden && document.hasFocus() && app.route.view === "session";
    const shown = isSeen && app.state.sessions.has(app.route.id) ? app.route.id : null;
    if (shown === reported || app.connectionStatus.state !== "open") return;
    reported = shown;
    app.connection.call("set_focus", { sessionId: shown }).catch(() => {});
  };
  app.onConnection((status) => {
    if (status.state === "lost") reported = null; // Spinney forgets it with the connection
    report();
  });
  app.onChange(report);
  for (const name of ["focus", "blur", "hashchange"]) addEventListener(name, report);
  document.addEventListener("visibilitychange", report);
}

/** Show a notification in one tab, unless the user is at one of them; a test is always shown. @param {App} app @param {Sent} sent */
async function show(app, sent) {
  const isTest = !sent.notice_ids.length;
  if (isTest) app.toast(`${sent.title}. ${sent.text}`);
  await waitForTurn();
  const isMine = !navigator.locks || (await claimLock(`spinney-notice ${sent.notice_ids.join(" ")} ${sent.at}`, LOCK_TIME));
  if (!isMine || (document.hasFocus() && !isTest)) return;
  const [id] = sent.notice_ids;
  const address = sent.session_id ? hashFor("session", sent.session_id) : hashFor("needs");
  await showNotification(sent.title, sent.text, { tag: sent.notice_ids.length === 1 ? id : "spinney-notices", address });
}

/** @returns {"on" | "off" | "denied" | "insecure" | "missing"} whether this browser shows notifications */
export function notificationState() {
  if (!isSecureContext) return "insecure";
  if (!("Notification" in window)) return "missing";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && localStorage.getItem(NOTIFICATIONS_KEY) !== "no" ? "on" : "off";
}

/** Turn notifications on, which asks the user, or off; must be called on a click. @param {boolean} isWanted */
export async function setNotifications(isWanted) {
  if (isWanted && Notification.permission === "default") await Notification.requestPermission();
  if (isWanted) localStorage.removeItem(NOTIFICATIONS_KEY);
  else localStorage.setItem(NOTIFICATIONS_KEY, "no");
}

/** The subscription of this browser to Web Push, if there is one. @returns {Promise<PushSubscription | null>} */
export async function pushSubscription() {
  const worker = await navigator.serviceWorker?.getRegistration();
  return (await worker?.pushManager?.getSubscription()) ?? null;
}

/** Turn Web Push on or off in this browser; throws a sentence. @param {App} app @param {boolean} isWanted */
export async function setPush(app, isWanted) {
  const known = await pushSubscription();
  if (!isWanted) {
    await known?.unsubscribe();
    if (known) await app.connection.call("remove_push_subscription", { endpoint: known.endpoint });
    return;
  }
  // It is not there in some private windows; `ready` would then wait for it without end.
  if (!(await navigator.serviceWorker.getRegistration())) throw new Error("This browser keeps nothing of the page, as in a private window. Web Push needs an ordinary window.");
  const worker = await navigator.serviceWorker.ready;
  const applicationServerKey = await app.connection.call("get_push_key");
  const made = known ?? (await worker.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey }).catch(refusePush));
  const { endpoint, keys } = made.toJSON();
  await app.connection.call("add_push_subscription", { endpoint, p256dh: keys?.p256dh, auth: keys?.auth });
}

/** @param {DOMException} error @returns {never} */
function refusePush(error) {
  const isRefused = error.name === "NotAllowedError";
  throw new Error(isRefused ? "Notifications are not allowed here. Allow them in the browser's settings for this site." : `The browser's push service gave no address (${error.message}). Check the network and the browser's settings.`);
}

/** @param {string} title @param {string} text @param {{ tag: string, address: string }} options a click opens the address */
async function showNotification(title, text, { tag, address }) {
  if (notificationState() !== "on") return;
  const options = { body: text, tag, icon: `${BASE_PATH}/icons/192.png`, data: address };
  const worker = await navigator.serviceWorker?.getRegistration();
  if (worker) await worker.showNotification(title, options);
  else {
    const shown = new Notification(title, options);
    shown.addEventListener("click", () => {
      focus();
      navigate(address);
    });
  }
}

/** @param {string} tag */
async function closeNotification(tag) {
  const worker = await navigator.serviceWorker?.getRegistration();
  for (const shown of (await worker?.getNotifications({ tag })) ?? []) shown.close();
}
