// @ts-check
// The service worker: keeps the page itself, so that it opens where Spinney cannot be reached, and leads from a
// notification to its session. What people and agents say never passes through here: not /api, not /ws.

const VERSION = "{version}";
const CACHE = `spinney-${VERSION}`;
const OWN = `/v/${VERSION}/`;
/** @type {string[]} what the page loads behind its start, and names nowhere */
const LATER = JSON.parse('{later}');

// What tsc knows of a page is not what a worker has.
const worker = /** @type {any} */ (self);

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(keepShell()));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(takeOver()));

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  const address = new URL(request.url);
  if (request.method !== "GET" || address.origin !== location.origin) return;
  if (request.headers.has("range")) return; // sounds, which are asked for in parts
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => kept("/")));
  else if (address.pathname === "/theme.css") event.respondWith(theme(request));
  else if (address.pathname.startsWith(OWN)) event.respondWith(ownFile(request));
});

worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data));
});

/** The page, and all that it names. */
async function keepShell() {
  const cache = await caches.open(CACHE);
  const page = await fetch("/", { cache: "no-store" });
  const text = await page.clone().text();
  // A newer page has a newer worker, which is on its way.
  if (!page.ok || !text.includes(OWN)) throw new Error("Another version is served by now.");
  const named = [...text.matchAll(/(?:href|src)="(\/[^"#]+)"/g)].map(([, address]) => address);
  await cache.addAll([...new Set([...named.filter(isShell), ...LATER])]); // it refuses what is named twice
  await cache.put("/", page);
  worker.skipWaiting();
}

/** @param {string} named */
const isShell = (named) => named.startsWith(OWN) || named.startsWith("/theme.css");

async function takeOver() {
  for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name);
  await worker.clients.claim();
}

/** @param {RequestInfo} request @returns {Promise<Response>} */
async function kept(request, options = {}) {
  const cache = await caches.open(CACHE);
  return (await cache.match(request, options)) ?? Response.error();
}

/** Files of this version never change: what is kept is what would come. @param {Request} request */
async function ownFile(request) {
  const found = await kept(request);
  return found.type === "error" ? fetchAndKeep(request) : found;
}

/** The theme that was last seen, or the usual one. @param {Request} request */
async function theme(request) {
  try {
    return await fetchAndKeep(request);
  } catch {
    const found = await kept(request);
    return found.type === "error" ? kept(request, { ignoreSearch: true }) : found;
  }
}

/** @param {Request} request */
async function fetchAndKeep(request) {
  const response = await fetch(request);
  if (response.ok) await (await caches.open(CACHE)).put(request, response.clone());
  return response;
}

/** The page at this place: one that is open, or a new one. @param {string} place */
async function open(place) {
  const [page] = await worker.clients.matchAll({ type: "window" });
  if (!page) return worker.clients.openWindow(`/${place}`);
  page.postMessage({ go: place });
  return page.focus();
}
