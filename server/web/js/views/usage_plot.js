// @ts-check
// The plot of the last 30 days in the usage view: a bar for each day.

import { make } from "../dom.js";
import { formatCost, formatCount } from "../format.js";

const SVG = "http://www.w3.org/2000/svg";
const DAYS = 30;
const DAY = 24 * 60 * 60 * 1000;
const HEIGHT = 100;
const STEP = 10; // units from one bar to the next
const BAR = 7;

/**
 * The plot with its title and its ends: costs, or tokens if no cost is known.
 * @param {import("./usage.js").Report} report by day
 */
export function plotDays(report) {
  const rows = new Map(report.rows.map((row) => [row.key, row]));
  const today = Date.parse(report.today);
  const days = Array.from({ length: DAYS }, (_, index) => new Date(today - (DAYS - 1 - index) * DAY).toISOString().slice(0, 10));
  const hasCost = days.some((day) => rows.get(day)?.cost_usd);
  const values = days.map((day) => (hasCost ? rows.get(day)?.cost_usd : rows.get(day)?.tokens) ?? 0);
  const highest = Math.max(...values);
  const show = (/** @type {number} */ value) => (hasCost ? formatCost(value) : `${formatCount(value)} tokens`);
  const svg = element("svg", { viewBox: `0 0 ${DAYS * STEP} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
  svg.setAttribute("aria-label", `${hasCost ? "Cost" : "Tokens"} of the last ${DAYS} days, at most ${show(highest)} a day`);
  values.forEach((value, index) => {
    const height = value && Math.max(2, (HEIGHT * value) / highest);
    const bar = element("rect", { x: index * STEP, y: HEIGHT - height, width: BAR, height });
    const title = element("title", {});
    title.textContent = `${days[index]}: ${show(value)}`;
    bar.append(title);
    svg.append(bar);
  });
  const first = new Date(`${days[0]}T00:00`).toLocaleDateString([], { month: "short", day: "numeric" });
  return [
    make("h2", hasCost ? "Cost of the last 30 days" : "Tokens of the last 30 days"),
    svg,
    make("p.usage-axis", make("span", first), make("span", `highest: ${show(highest)}`), make("span", "today")),
  ];
}

/** @param {string} name @param {Record<string, string | number>} attributes */
function element(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}
