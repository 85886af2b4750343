// @ts-check
// Ignores presses of decision buttons for a moment after they appear or move, so that a tap or Enter that was meant
// for something else decides nothing.

const GUARD_TIME = 800; // ms

/** Disable the buttons of a card for a moment, now and whenever it moves. @param {HTMLElement} card */
export function guardPresses(card) {
  let top = NaN;
  let timer = 0;
  const disableButtons = () => {
    for (const button of card.querySelectorAll("button")) button.ariaDisabled = "true";
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = 0;
      for (const button of card.querySelectorAll("button")) button.ariaDisabled = null;
    }, GUARD_TIME);
  };
  card.addEventListener("click", (event) => {
    if (!timer || !(event.target instanceof Element) || !event.target.closest("button")) return;
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });

  /** Observes everything around the card, as any change of size can move it. */
  const observer = new ResizeObserver(() => {
    if (!card.isConnected) {
      observer.disconnect();
      return;
    }
    const before = top;
    top = card.getBoundingClientRect().top;
    if (Number.isNaN(before)) {
      const scroller = card.closest(".transcript") ?? document.getElementById("content");
      for (const part of scroller?.children ?? []) observer.observe(part);
      for (let part = card.parentElement; part && part !== scroller?.parentElement; part = part.parentElement) observer.observe(part);
    }
    if (!(Math.abs(top - before) < 2)) disableButtons();
  });
  observer.observe(card);
  disableButtons();
}
