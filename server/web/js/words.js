// @ts-check
// Counts and times as English says them.

/** `1 file`, `2 files`, `1,000 files`. @param {number} count @param {string} noun @param {string} [shown] the number as it is written */
export const counted = (count, noun, shown = count.toLocaleString("en")) => `${shown} ${noun}${count === 1 ? "" : "s"}`;

/** The time of day, with the day where it is not today. @param {number} at in ms */
export function clock(at) {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  const day = isToday ? /** @type {const} */ ({}) : /** @type {const} */ ({ month: "short", day: "numeric" });
  return time.toLocaleString([], { ...day, hour: "2-digit", minute: "2-digit" });
}
