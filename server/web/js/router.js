// @ts-check
// Addresses of the page, in the fragment after `#`. Every view has one, so that it can be linked to.

/**
 * @typedef {object} Route
 * @property {string} view the name of a view
 * @property {string} id of what it shows, or "" if it shows everything
 * @property {URLSearchParams} query
 */

/**
 * Parse an address: `#/session/ID?message=…`, or the same as a path.
 * @param {string} hash
 * @returns {Route}
 */
export function parseRoute(hash) {
  const [path, query = ""] = hash.replace(/^#?\/?/, "").split("?");
  const [view, id = ""] = path.split("/");
  return { view: view || "needs", id: decode(id), query: new URLSearchParams(query) };
}

/** The current route: from the fragment, or from a path that was typed without one. */
export function currentRoute() {
  const isTyped = location.hash.length < 2 && location.pathname !== "/index.html";
  return parseRoute(isTyped ? location.pathname : location.hash);
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
 * The address of a view.
 * @param {string} view
 * @param {string} [id]
 * @param {Record<string, string>} [query]
 */
export function hashFor(view, id = "", query = {}) {
  const search = new URLSearchParams(query).toString();
  return `#/${view}${id && `/${encodeURIComponent(id)}`}${search && `?${search}`}`;
}
