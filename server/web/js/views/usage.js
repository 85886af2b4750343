// @ts-check
// The usage view: what agents used by model, project, session, agent or day, a plot over 30 days, limits and budgets.

import { coalesce, runSoon } from "../coalesce.js";
import { make } from "../dom.js";
import { describeCost, formatCost, formatCount, formatDuration, formatWhen, pluralize } from "../format.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { select, segmented } from "./form_fields.js";
import { loadStylesheet } from "./stylesheet.js";
import { plotDays } from "./usage_plot.js";

/**
 * @typedef {object} Row as in `get_usage`
 * @property {string} key
 * @property {string} label
 * @property {number} turns
 * @property {number} seconds
 * @property {number} tokens
 * @property {number | null} cost_usd
 * @property {number} estimated_turns
 * @property {number} unknown_turns
 *
 * @typedef {object} Report
 * @property {string} by
 * @property {string} today
 * @property {Row[]} rows
 * @property {Row} total
 */

const EVENTS = new Set(["usage:recorded", "limits:updated", "preferences:updated"]);
const RELOAD_DELAY = 500; // ms; turns of several sessions often end together
const DAY = 24 * 60 * 60 * 1000;

/** @type {[string, string][]} */ const RANGES = [["1", "Today"], ["7", "7 days"], ["30", "30 days"], ["", "All"]];
/** @type {[string, string][]} */ const GROUPS = [["model", "Model"], ["project", "Project"], ["session", "Session"], ["agent", "Agent"], ["day", "Day"]];
/** @type {[string, (row: Row) => number][]} */
const COLUMNS = [["Turns", (row) => row.turns], ["Tokens", (row) => row.tokens], ["Time", (row) => row.seconds], ["Cost", (row) => row.cost_usd ?? 0]];
const LINKED = new Set(["project", "session"]);

/** @type {import("../app.js").MakeView} */
export function usageView(app) {
  loadStylesheet("usage");
  let sorted = "Cost";
  /** @type {Report | undefined} */ let report;
  const range = segmented("Days", RANGES, "1", () => load());
  const group = select("By", GROUPS);
  group.addEventListener("change", () => load());
  const meters = make("section.card.usage-meters", { hidden: true });
  const plot = make("section.card.usage-plot", { hidden: true });
  const total = make("p.usage-total");
  const table = make("div.usage-table");
  const notes = make("div.hint");
  const empty = make("div.empty", icon("bolt"), make("h2", "Nothing was used yet."), make("p", "When an agent's turn ends, its tokens and its cost are here."), { hidden: true });
  const sums = make("div.usage-sums", make("div.usage-choices", range.element, group), total, table, notes, { hidden: true });

  const load = coalesce(async () => {
    const days = await app.read("get_usage", { by: "day" });
    if (!days) return;
    const [limits, budgets, found] = await Promise.all([
      app.read("list_usage_limits"),
      app.read("list_budgets"),
      app.read("get_usage", { by: group.value, since: firstDay(days.today, range.value()) }),
    ]);
    if (!limits || !budgets || !found) return;
    report = found;
    empty.hidden = days.total.turns > 0;
    sums.hidden = !empty.hidden;
    showMeters(meters, limits, budgets);
    plot.hidden = !empty.hidden;
    plot.replaceChildren(...plotDays(days));
    draw();
  });
  const loadSoon = runSoon(load, RELOAD_DELAY);
  const draw = () => {
    if (!report) return;
    const { rows, total: sum, by } = report;
    total.textContent = [describeCost(sum), `${formatCount(sum.tokens)} tokens`, pluralize(sum.turns, "turn"), formatDuration(sum.seconds)].join(" · ");
    const value = COLUMNS.find(([name]) => name === sorted)?.[1] ?? (() => 0);
    const ordered = by === "day" ? rows.toReversed() : rows.toSorted((one, other) => value(other) - value(one));
    table.replaceChildren(makeTable(by, ordered, by === "day" ? "" : sorted, (name) => { sorted = name; draw(); }));
    notes.replaceChildren(
      ...(sum.estimated_turns ? [make("p", "~ estimated from list prices: the agent reports no cost")] : []),
      ...(sum.unknown_turns ? [make("p", "+ and turns of models without a known price")] : []),
      make("p", "Costs are list prices. A subscription is not charged by them."),
    );
  };
  load();
  return {
    title: "Usage",
    element: make("div.page.usage-view", empty, meters, plot, sums),
    handleReload: load,
    handleEvent(name) {
      if (EVENTS.has(name)) loadSoon();
    },
    close: loadSoon.cancel,
  };
}

/** The first day of a range that ends today. @param {string} today @param {string} days "" for no limit */
function firstDay(today, days) {
  if (!days) return null;
  return new Date(Date.parse(today) - (Number(days) - 1) * DAY).toISOString().slice(0, 10);
}

/** @param {string} by @param {Row[]} rows @param {string} sorted @param {(name: string) => void} sort */
function makeTable(by, rows, sorted, sort) {
  const header = COLUMNS.map(([name]) => {
    const heading = by === "day" ? name : make("button.quiet", name, { type: "button", onclick: () => sort(name) });
    return make("th", heading, { scope: "col", "aria-sort": name === sorted ? "descending" : undefined });
  });
  const body = rows.map((row) => {
    const label = LINKED.has(by) && row.key ? make("a", row.label, { href: hashFor(by, row.key) }) : row.label;
    const cells = [row.turns.toLocaleString("en"), formatCount(row.tokens), formatDuration(row.seconds), describeCost(row)];
    return make("tr", make("th", label, { scope: "row" }), cells.map((cell) => make("td", cell)));
  });
  const title = GROUPS.find(([value]) => value === by)?.[1] ?? "";
  return make("table", make("thead", make("tr", make("th", title, { scope: "col" }), header)), make("tbody", body));
}

/** @param {HTMLElement} section @param {any[]} limits @param {any[]} budgets */
function showMeters(section, limits, budgets) {
  const rows = [
    ...limits.flatMap((account) => account.windows.map((/** @type {any} */ window) => meter(`${account.label}, ${window.label}`, window.used, describeReset(window)))),
    ...budgets
      .filter((budget) => budget.scope === "day" || budget.used > 0)
      .map((budget) => meter(`Budget: ${budget.label}`, budget.used, `${formatCost(budget.spent_usd)} of ${formatCost(budget.limit_usd)}`)),
  ];
  section.hidden = !rows.length;
  section.replaceChildren(make("h2", "Limits"), ...rows);
}

/** @param {string} name @param {number | null} used @param {string} details */
function meter(name, used, details) {
  const percent = used === null ? "unknown" : `${Math.round(100 * used)} %`;
  const bar = make("progress", { max: 1, value: Math.min(1, used ?? 0), "aria-label": name, "aria-valuetext": percent });
  if (used !== null && used >= 0.8) bar.classList.add(used >= 1 ? "is-full" : "is-nearly-full");
  return make("div.usage-meter", make("span.name", name), bar, make("span.percent", percent), make("small", details));
}

/** @param {{ reached: boolean, resets_at: number | null }} window */
function describeReset({ reached, resets_at: resetsAt }) {
  const when = resetsAt === null ? "" : resetsAt * 1000 <= Date.now() ? "was reset since" : `resets ${formatWhen(resetsAt)}`;
  return [reached && "reached", when].filter(Boolean).join(", ");
}
