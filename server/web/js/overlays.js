// @ts-check
// Dialogs and the drawer. Back closes them without leaving the view, and so does any change of the address. While one
// is open it has its own history entry; the next address that is opened replaces that entry, so that Back leads from
// there to where the user was.

/** @type {Set<() => void>} */ const openOverlays = new Set();

const isOnEntry = () => Boolean(history.state?.overlay);
let wasOnEntry = isOnEntry();
let address = location.href; // for which the entry was created
/** @type {(() => unknown) | undefined} reopens what is open now */ let reopenOpen;
/** @type {(() => unknown) | undefined} reopens what Back has closed */ let reopenClosed;

/**
 * Close an overlay on Back and on any change of the address.
 * @param {() => void} close
 * @param {() => unknown} [reopen] for Forward, after Back has closed it
 * @returns {() => void} to be called when it has been closed, for whatever reason
 */
export function closeOnBack(close, reopen) {
  if (!isOnEntry()) history.pushState({ overlay: true }, "");
  wasOnEntry = true;
  address = location.href;
  reopenOpen = reopen;
  reopenClosed = undefined;
  openOverlays.add(close);
  return () => openOverlays.delete(close);
}

/**
 * Navigate to an address of the page. Its view is shown at once: the browser would announce a new address only later,
 * and what is typed in between would go to the old view.
 * @param {string} hash
 */
export function navigate(hash) {
  if (hash === location.hash) return closeAll();
  if (isOnEntry()) history.replaceState(null, "", hash);
  else history.pushState(null, "", hash);
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function closeAll() {
  for (const close of [...openOverlays]) close();
}

addEventListener("popstate", () => {
  const isBack = wasOnEntry && !isOnEntry() && location.href === address;
  const isForward = !wasOnEntry && isOnEntry() && location.href === address;
  wasOnEntry = isOnEntry();
  if (isForward) reopenClosed?.();
  if (!isBack) return;
  reopenClosed = openOverlays.size ? reopenOpen : undefined;
  if (openOverlays.size) closeAll();
  else history.back(); // the overlay was closed otherwise: skip its entry
});
addEventListener("hashchange", () => {
  wasOnEntry = isOnEntry();
  closeAll();
});
document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
  if (!link || event.defaultPrevented || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  navigate(/** @type {HTMLAnchorElement} */ (link).hash);
});
