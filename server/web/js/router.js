// @ts-check
// Addresses of the page: what stands after the `#`. Every place has one, so that it can be linked to.

import { navigate } from "./overlays.js";

/**
 * @typedef {object} Route
 * @property {string} view the name of a view
 * @property {string} id of what it shows; "" where it shows everything
 * @property {URLSearchParams} query
 */

/**
 * The place that an address names: `#/session/ID?message=…`, or the same as a path.
 * @param {string} hash
 * @returns {Route}
 */
export function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#?\/?/, "").split("?");
  const [view, id = ""] = path.split("/");
  return { view: view || "needs", id: decode(id), query: new URLSearchParams(query) };
}

/** The place that is named now: after the `#`, or by a path that was typed without one. */
export function routeHere() {
  const isTyped = location.hash.length < 2 && location.pathname !== "/index.html";
  return routeOf(isTyped ? location.pathname : location.hash);
}

/** @param {string} text */
function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/**
 * The address of a place.
 * @param {string} view
 * @param {string} [id]
 * @param {Record<string, string>} [query]
 */
export function hashOf(view, id = "", query = {}) {
  const asked = new URLSearchParams(query).toString();
  return `#/${view}${id && `/${encodeURIComponent(id)}`}${asked && `?${asked}`}`;
}

/** Go to a place; `replace` leaves no step back. @param {string} hash @param {{replace?: boolean}} [how] */
export function go(hash, { replace = false } = {}) {
  if (!replace) navigate(hash);
  else {
    history.replaceState(null, "", hash);
    dispatchEvent(new HashChangeEvent("hashchange"));
  }
}
