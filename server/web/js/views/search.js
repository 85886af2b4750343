// @ts-check
// Full-text search in all messages.

import { make } from "../dom.js";
import { sessionLinkWithPath } from "../links.js";
import { plainText, pluralize } from "../format.js";
import { hashFor } from "../router.js";

const DELAY = 200; // ms after the last key

/** @type {import("../app.js").MakeView} */
export function searchView(app, route) {
  const input = make("input", { type: "search", value: route.query.get("q") ?? "", placeholder: "Search messages", "aria-label": "Search messages" });
  const status = make("p.hint", { role: "status" });
  const results = make("div.list");
  const element = make("div.page", input, status, results);
  let lastRequest = 0;
  let timer = 0;

  const search = async () => {
    const query = input.value.trim();
    const request = ++lastRequest;
    history.replaceState(null, "", hashFor("search", "", query ? { q: query } : {}));
    if (!query) {
      results.replaceChildren();
      status.textContent = "Searches all conversations, including archived ones.";
      return;
    }
    const found = await app.run("search_messages", { query });
    if (request !== lastRequest || !found) return;
    status.textContent = found.length ? pluralize(found.length, "message") : `No results for '${query}'.`;
    results.replaceChildren(...found.map((/** @type {any} */ hit) => hitElement(hit)));
  };
  /** @param {any} hit */
  const hitElement = (hit) =>
    make(
      "section.hit",
      make("p", sessionLinkWithPath(app, hit.session, hit.message_id), " ", make("small", new Date(hit.timestamp * 1000).toLocaleString())),
      make("p.verbatim", plainText(hit.snippet)),
      hit.session.archived_at && make("p.hint", "archived"),
    );
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, DELAY);
  });
  input.addEventListener("keydown", (event) => event.key === "Escape" && app.go("needs"));
  search();
  return { title: "Search", element, focus: () => input.focus(), close: () => clearTimeout(timer) };
}
