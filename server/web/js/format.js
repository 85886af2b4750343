// @ts-check
// Formats counts and times.

/** `1 file`, `2 files`, `1,000 files`. @param {number} count @param {string} noun @param {string} [shown] the formatted number */
export const pluralize = (count, noun, shown = count.toLocaleString("en")) => `${shown} ${noun}${count === 1 ? "" : "s"}`;

/** The time, with the date if it is not today. @param {number} timestamp in ms */
export function formatTime(timestamp) {
  const time = new Date(timestamp);
  const isToday = time.toDateString() === new Date().toDateString();
  const day = isToday ? /** @type {const} */ ({}) : /** @type {const} */ ({ month: "short", day: "numeric" });
  return time.toLocaleString([], { ...day, hour: "2-digit", minute: "2-digit" });
}
