// @ts-check
// The service worker: caches the page's own files, so that it opens while Spinney is unreachable, and opens the session
// of a clicked notification. Conversations never pass through it: not /api, not /ws.

const VERSION = "{version}";
const CACHE = `spinney-${VERSION}`;
const BASE_PATH = `/v/${VERSION}/`;
/** @type {string[]} files that the page loads after its start, which are not in its HTML */
const LAZY_FILES = JSON.parse('{later}');

// tsc assumes the globals of a page, not of a worker.
const worker = /** @type {any} */ (self);

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(cachePage()));
worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(activate()));

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  const address = new URL(request.url);
  if (request.method !== "GET" || address.origin !== location.origin) return;
  if (request.headers.has("range")) return; // sounds, which are requested in ranges
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => fromCache("/")));
  else if (address.pathname === "/theme.css") event.respondWith(themeSheet(request));
  else if (address.pathname.startsWith(BASE_PATH)) event.respondWith(pageFile(request));
});

worker.addEventListener("push", (/** @type {any} */ event) => event.waitUntil(showPushed(event.data?.json() ?? {})));

worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
  const { data } = event.notification;
  event.notification.close();
  const address = typeof data === "string" ? data : data.go;
  event.waitUntil(event.action ? act(data.paths[Number(event.action)], address) : open(address));
});

/** Cache the page and everything it refers to. */
async function cachePage() {
  const cache = await caches.open(CACHE);
  const page = await fetch("/", { cache: "no-store" });
  const text = await page.clone().text();
  // A newer page has a newer worker, which will be installed.
  if (!page.ok || !text.includes(BASE_PATH)) throw new Error("Another version is being served.");
  const addresses = [...text.matchAll(/(?:href|src)="(\/[^"#]+)"/g)].map(([, address]) => address.replaceAll("&amp;", "&"));
  const codeColors = addresses.filter(isThemeSheet).map((address) => address.replace("plain=1&", ""));
  await cache.addAll([...new Set([...addresses.filter(isPageFile), ...codeColors, ...LAZY_FILES])]); // it rejects duplicates
  await cache.put("/", page);
  worker.skipWaiting();
}

/** @param {string} address */
const isPageFile = (address) => address.startsWith(BASE_PATH) || isThemeSheet(address);

/** @param {string} address */
const isThemeSheet = (address) => address.startsWith("/theme.css?");

async function activate() {
  for (const name of await caches.keys()) if (name !== CACHE) await caches.delete(name);
  await worker.clients.claim();
}

/** @param {RequestInfo} request @returns {Promise<Response>} */
async function fromCache(request) {
  const cache = await caches.open(CACHE);
  return (await cache.match(request)) ?? Response.error();
}

/** Files of a version never change, so the cache comes first. @param {Request} request */
async function pageFile(request) {
  const cached = await fromCache(request);
  return cached.type === "error" ? fetchAndCache(request) : cached;
}

/** The theme from the network, else from the cache, else the newest cached one with as many colors. @param {Request} request */
async function themeSheet(request) {
  try {
    return await fetchAndCache(request);
  } catch {
    const cached = await fromCache(request);
    return cached.type === "error" ? otherTheme(request.url) : cached;
  }
}

/** @param {string} address */
async function otherTheme(address) {
  const isPlain = (/** @type {string} */ other) => new URL(other).searchParams.has("plain");
  const requests = await (await caches.open(CACHE)).keys();
  const sheets = requests.filter(({ url }) => new URL(url).pathname === "/theme.css");
  const found = sheets.findLast(({ url }) => isPlain(url) === isPlain(address)) ?? sheets.at(-1);
  return found ? fromCache(found) : Response.error();
}

/** @param {Request} request */
async function fetchAndCache(request) {
  const response = await fetch(request);
  if (response.ok) await (await caches.open(CACHE)).put(request, response.clone());
  return response;
}

/**
 * Show a notice that arrived by Web Push; one that the page shows already has the same tag and is replaced.
 * @param {{ title?: string, body?: string, tag?: string, go?: string, actions?: { title: string, path: string }[] }} notice
 */
function showPushed({ title = "Spinney", body = "", tag = "spinney", go = "#/needs", actions = [] }) {
  return /** @type {any} */ (worker).registration.showNotification(title, {
    body,
    tag,
    icon: `${BASE_PATH}icons/192.png`,
    data: { go, paths: actions.map(({ path }) => path) },
    actions: actions.map((action, index) => ({ action: String(index), title: action.title })),
  });
}

/** Answer by a button's one-time address; where that fails, open the session. @param {string} path @param {string} address */
async function act(path, address) {
  const response = await fetch(path, { method: "POST" }).catch(() => null);
  if (!response?.ok) await open(address);
}

/** Open an address, in an open page or a new one. @param {string} address */
async function open(address) {
  const [page] = await worker.clients.matchAll({ type: "window" });
  if (!page) return worker.clients.openWindow(`/${address}`);
  page.postMessage({ go: address });
  return page.focus();
}
