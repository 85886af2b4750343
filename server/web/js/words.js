// @ts-check
// Counts as English says them.

/** `1 file`, `2 files`, `1,000 files`. @param {number} count @param {string} noun @param {string} [shown] the number as it is written */
export const counted = (count, noun, shown = count.toLocaleString("en")) => `${shown} ${noun}${count === 1 ? "" : "s"}`;
