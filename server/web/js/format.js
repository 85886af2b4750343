// @ts-check
// Formats counts, times and excerpts.

/** `1 file`, `2 files`, `1,000 files`. @param {number} count @param {string} noun @param {string} [shown] the formatted number */
export const pluralize = (count, noun, shown = count.toLocaleString("en")) => `${shown} ${noun}${count === 1 ? "" : "s"}`;

/** The time, with the date if it is not today. @param {number} timestamp in ms */
export function formatTime(timestamp) {
  const time = new Date(timestamp);
  const isToday = time.toDateString() === new Date().toDateString();
  const day = isToday ? /** @type {const} */ ({}) : /** @type {const} */ ({ month: "short", day: "numeric" });
  return time.toLocaleString([], { ...day, hour: "2-digit", minute: "2-digit" });
}

/**
 * A moment in seconds since 1970, as all interfaces write it: `18:00` today, else `Mon 3 May 18:00`.
 * @param {number} moment @param {boolean} [hasSeconds]
 */
export function formatWhen(moment, hasSeconds = false) {
  const then = new Date(moment * 1000);
  const time = then.toTimeString().slice(0, hasSeconds ? 8 : 5);
  if (then.toDateString() === new Date().toDateString()) return time;
  const [weekday, month] = then.toDateString().split(" ");
  return `${weekday} ${then.getDate()} ${month} ${time}`;
}

const FENCE = /^[ \t]*(?:\x60{3}|~~~)[\w+-]*[ \t]*(?:\n|$)/gm;
const LINK = /\[([^[\]]{1,200})\]\([^()\s]{1,400}\)/g;
const SIGN = /^ {0,3}(?:#{1,6}|>)[ \t]+|\*\*|\x60/gm;

/** The text of Markdown without its signs, for excerpts, which are not rendered. @param {string} text */
export const plainText = (text) => text.replaceAll(FENCE, "").replaceAll(LINK, "$1").replaceAll(SIGN, "");

const STEPS = /** @type {const} */ ([["s", 60], ["m", 60], ["h", 24], ["d", 7], ["w", 52]]);

/** How long ago, as short as it can be: `now`, `40s`, `5m`, `3h`, `2d`, `4w`; from a year on the date. @param {number} timestamp in seconds, as in the API */
export function formatAge(timestamp) {
  let amount = Date.now() / 1000 - timestamp;
  if (amount < 10) return "now";
  for (const [unit, size] of STEPS) {
    if (amount < size) return `${Math.floor(amount)}${unit}`;
    amount /= size;
  }
  return new Date(timestamp * 1000).toLocaleDateString();
}

/** A duration: `41s`, `3m 20s`, `1h 5m`. @param {number} seconds */
export function formatDuration(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${whole % 60}s`;
  return `${Math.floor(whole / 3600)}h ${Math.floor((whole % 3600) / 60)}m`;
}

/** Date and time in full. @param {number} timestamp in seconds */
export const formatFull = (timestamp) => new Date(timestamp * 1000).toLocaleString([], { dateStyle: "full", timeStyle: "short" });

/** A count in few characters: `950`, `12.4k`, `1.2M`. @param {number} count */
export function formatCount(count) {
  if (count < 1000) return String(count);
  return count < 999_950 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

/**
 * A cost in dollars: `$1.23`, `~$1.23` if estimated, `$1.23+` if more is unknown, `unknown`.
 * @param {number | null} usd @param {boolean} [isEstimated] @param {boolean} [isPartial]
 */
export function formatCost(usd, isEstimated = false, isPartial = false) {
  if (usd === null) return "unknown";
  const digits = usd < 1000 ? 2 : 0;
  const dollars = usd.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return `${isEstimated ? "~" : ""}${usd > 0 && usd < 0.005 ? "<$0.01" : `$${dollars}`}${isPartial ? "+" : ""}`;
}

/** The cost of a row of `get_usage`, with its marks. @param {{ cost_usd: number | null, turns: number, estimated_turns: number, unknown_turns: number }} row */
export const describeCost = (row) => formatCost(row.cost_usd, row.estimated_turns > 0, row.unknown_turns > 0 && row.unknown_turns < row.turns);
