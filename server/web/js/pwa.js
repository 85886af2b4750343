// @ts-check
// The page as an app of the device: its worker, installing, and the word that a newer one is served.

import { button, make } from "./dom.js";
import { navigate } from "./overlays.js";

/** Where this page's own files stand: `/v/<hash>`. */
const OWN = new URL(import.meta.url).pathname.replace(/\/js\/\w+\.js$/, "");

/** @type {any} what the browser gives for asking whether to install; only some do */
let install = null;

/** @param {import("./app.js").App} app */
export function pwa(app) {
  addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    install = event;
  });
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    if (typeof data?.go === "string" && data.go.startsWith("#/")) navigate(data.go);
  });
  // The worker is for the next start: it waits until this one is done.
  if (document.readyState === "complete") register();
  else addEventListener("load", register);
  app.watch((link) => {
    if (link.state === "open") lookForNewer();
    else if (link.state === "lost" && !app.state.isLoaded) tellUnreachable();
  });
}

/** Whether this browser lets the page be installed by a press. */
export const canInstall = () => install !== null;

/** Ask to install it; needs a press. */
export async function askToInstall() {
  const asked = install;
  install = null;
  await asked?.prompt();
}

function register() {
  if (!("serviceWorker" in navigator)) return; // an address without encryption
  const { trustedTypes } = /** @type {any} */ (window);
  const address = "/sw.js";
  const policy = trustedTypes?.createPolicy("spinney", {
    createScriptURL: (/** @type {string} */ wanted) => {
      if (wanted !== address) throw new TypeError(`${wanted} is no script of this page`);
      return wanted;
    },
  });
  // Where the worker is not wanted, as in some private windows, the page works without it.
  navigator.serviceWorker.register(policy?.createScriptURL(address) ?? address, { updateViaCache: "none" }).catch(() => {});
}

/** Whether Spinney serves a newer page than this one by now; asked whenever the connection comes (back). */
async function lookForNewer() {
  if (document.getElementById("newer")) return;
  const page = await fetch("/", { cache: "no-cache" }).catch(() => null);
  const served = page?.ok ? (await page.text()).match(/\/v\/\w+(?=\/)/)?.[0] : undefined;
  if (!served || served === OWN || document.getElementById("newer")) return;
  const reload = button("Reload", () => location.reload(), ".primary");
  document.body.append(make("div", make("p", "A newer page is served. What you have written is kept."), reload, { id: "newer", role: "status" }));
}

function tellUnreachable() {
  const words = "Spinney does not answer. It is asked again until it does; this page then goes on by itself.";
  document.getElementById("room")?.replaceChildren(make("p.hint.page", words));
}
