// @ts-check
// Does work once for several requests: those that come while it runs, and those that come shortly one after another.

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

/**
 * A function that does `work` `delay` ms after the first of several calls; after `cancel` it does nothing any more.
 * @param {() => unknown} work
 * @param {number} delay
 */
export function runSoon(work, delay) {
  /** @type {number | undefined} */ let timer;
  const request = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      work();
    }, delay);
  };
  return Object.assign(request, { cancel: () => clearTimeout(timer) });
}
