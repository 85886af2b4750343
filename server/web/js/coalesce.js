// @ts-check
// Runs something again if it is asked for while it runs, and never twice at once.

/**
 * A function that runs `load`; calls while it runs are answered by one more run after it.
 * @param {() => Promise<unknown>} load
 */
export function coalesce(load) {
  let isRunning = false;
  let isOutdated = false;
  return async () => {
    isOutdated = true;
    if (isRunning) return;
    isRunning = true;
    try {
      while (isOutdated) {
        isOutdated = false;
        await load();
      }
    } finally {
      isRunning = false;
    }
  };
}
