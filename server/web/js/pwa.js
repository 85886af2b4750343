// @ts-check
// The page as an installable app: service worker, installation, and updates.

import { button, make } from "./dom.js";
import { navigate } from "./overlays.js";

/** The path of this version's files: `/v/<hash>`. */
const BASE_PATH = new URL(import.meta.url).pathname.replace(/\/js\/\w+\.js$/, "");

/** @type {any} the event of browsers that support installing from the page */
let installEvent = null;

/** @param {import("./app.js").App} app */
export function initPwa(app) {
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    installEvent = event;
  });
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    if (typeof data?.go === "string" && data.go.startsWith("#/")) navigate(data.go);
  });
  navigator.serviceWorker?.addEventListener("controllerchange", keepTheme);
  // The worker is only needed at the next start, so it must not delay this one.
  if (document.readyState === "complete") register();
  else addEventListener("load", register);
  app.onConnection((status) => {
    if (status.state === "open") checkForUpdate();
    else if (status.state === "lost" && !app.state.isLoaded) showUnreachable();
  });
}

/** Whether the page can be installed by a button. */
export const canInstall = () => installEvent !== null;

/** Show the installation prompt; must be called on a click. */
export async function promptInstall() {
  const event = installEvent;
  installEvent = null;
  await event?.prompt();
}

function register() {
  if (!("serviceWorker" in navigator)) return; // no HTTPS
  const { trustedTypes } = /** @type {any} */ (window);
  const address = "/sw.js";
  const policy = trustedTypes?.createPolicy("spinney", {
    createScriptURL: (/** @type {string} */ url) => {
      if (url !== address) throw new TypeError(`${url} is not a script of this page`);
      return url;
    },
  });
  // Where workers are not allowed, as in some private windows, the page works without one.
  navigator.serviceWorker.register(policy?.createScriptURL(address) ?? address, { updateViaCache: "none" }).catch(() => {});
}

/** Load the theme once more, without and with the colors of code, for the worker to keep: at a first visit it was there too late. */
function keepTheme() {
  const theme = new URL(/** @type {HTMLLinkElement} */ (document.getElementById("theme")).href);
  fetch(theme).catch(() => {});
  theme.searchParams.delete("plain");
  fetch(theme).catch(() => {});
}

/** Check for a newer version of the page whenever the connection is established. */
async function checkForUpdate() {
  if (document.getElementById("newer")) return;
  const page = await fetch("/", { cache: "no-cache" }).catch(() => null);
  const served = page?.ok ? (await page.text()).match(/\/v\/\w+(?=\/)/)?.[0] : undefined;
  if (!served || served === BASE_PATH || document.getElementById("newer")) return;
  const reload = button("Reload", () => location.reload(), ".primary");
  document.body.append(make("div", make("p", "A new version of this page is available. Your text is kept."), reload, { id: "newer", role: "status" }));
}

function showUnreachable() {
  const text = "Spinney is not responding. Trying to reconnect…";
  document.getElementById("content")?.replaceChildren(make("p.hint.page", text));
}
