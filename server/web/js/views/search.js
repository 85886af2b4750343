// @ts-check
// Search in everything that was said.

import { make } from "../dom.js";
import { sessionLink } from "../links.js";
import { go, hashOf } from "../router.js";
import { counted } from "../words.js";

const PAUSE = 200; // ms after the last key

/** @type {import("../app.js").MakeView} */
export function searchView(app, route) {
  const words = make("input", { type: "search", value: route.query.get("q") ?? "", placeholder: "words that were said", "aria-label": "Words that were said" });
  const told = make("p.hint", { role: "status" });
  const hits = make("div.list");
  const element = make("div.page", words, told, hits);
  let asked = 0;
  let timer = 0;

  const search = async () => {
    const query = words.value.trim();
    const mine = ++asked;
    history.replaceState(null, "", hashOf("search", "", query ? { q: query } : {}));
    if (!query) {
      hits.replaceChildren();
      told.textContent = "All conversations are searched, archived ones too.";
      return;
    }
    const found = await app.run("search_messages", { query });
    if (mine !== asked || !found) return;
    told.textContent = found.length ? counted(found.length, "message") : `Nobody said “${query}”.`;
    hits.replaceChildren(...found.map((/** @type {any} */ hit) => hitElement(hit)));
  };
  /** @param {any} hit */
  const hitElement = (hit) =>
    make(
      "section.hit",
      make("p", sessionLink(app, hit.session, hit.message_id), " ", make("small", new Date(hit.timestamp * 1000).toLocaleString())),
      make("p.said", hit.snippet),
      hit.session.archived_at && make("p.hint", "archived"),
    );
  words.oninput = () => {
    clearTimeout(timer);
    timer = setTimeout(search, PAUSE);
  };
  words.onkeydown = (event) => event.key === "Escape" && go(hashOf("needs"));
  search();
  return { title: "Search", element, focus: () => words.focus() };
}
