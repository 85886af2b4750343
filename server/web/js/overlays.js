// @ts-check
// What lies over the page: dialogs and the drawer. Back closes it and leaves the place below, and nothing of it
// outlives a change of address. While something is open it has a history entry of its own; the next address that
// is opened takes that entry's place, so that Back leads from there to where the person was.

/** @type {Set<() => void>} */ const open = new Set();

const isOnEntry = () => Boolean(history.state?.overlay);
let wasOnEntry = isOnEntry();
let address = location.href; // that the entry was made for
/** @type {(() => unknown) | undefined} what opened that which is open */ let opener;
/** @type {(() => unknown) | undefined} what opens again that which Back has closed */ let again;

/**
 * Have Back and a change of address close this.
 * @param {() => void} close
 * @param {() => unknown} [reopen] for Forward, after Back has closed it
 * @returns {() => void} to be called once it is closed, however that came
 */
export function closeOnBack(close, reopen) {
  if (!isOnEntry()) history.pushState({ overlay: true }, "");
  wasOnEntry = true;
  address = location.href;
  opener = reopen;
  again = undefined;
  open.add(close);
  return () => open.delete(close);
}

/** Open an address of the page. @param {string} hash */
export function navigate(hash) {
  if (isOnEntry()) location.replace(hash);
  else location.hash = hash;
}

function closeAll() {
  for (const close of [...open]) close();
}

addEventListener("popstate", () => {
  const isBack = wasOnEntry && !isOnEntry() && location.href === address;
  const isForward = !wasOnEntry && isOnEntry() && location.href === address;
  wasOnEntry = isOnEntry();
  if (isForward) again?.();
  if (!isBack) return;
  again = open.size ? opener : undefined;
  if (open.size) closeAll();
  else history.back(); // what had the entry was closed by other means: it is no step of its own
});
addEventListener("hashchange", () => {
  wasOnEntry = isOnEntry();
  closeAll();
});
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
  if (!link || !isOnEntry() || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const { hash } = /** @type {HTMLAnchorElement} */ (link);
  if (hash === location.hash) closeAll(); // a change that the browser tells nobody of
  else navigate(hash);
});
