// @ts-check
// A decision is taken by a press that can have been meant for it: none counts in the moment after its buttons
// appeared or moved, so that a tap or an enter that was on its way to something else decides nothing.

const MOMENT = 800; // ms

/** Guard the buttons of a card, now and whenever it moves. @param {HTMLElement} card */
export function arm(card) {
  let top = NaN;
  let timer = 0;
  const disarm = () => {
    for (const button of card.querySelectorAll("button")) button.ariaDisabled = "true";
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = 0;
      for (const button of card.querySelectorAll("button")) button.ariaDisabled = null;
    }, MOMENT);
  };
  card.addEventListener("click", (event) => {
    if (!timer || !(event.target instanceof Element) || !event.target.closest("button")) return;
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });

  /** Whatever changes its size around the card may move it. */
  const observer = new ResizeObserver(() => {
    if (!card.isConnected) {
      observer.disconnect();
      return;
    }
    const was = top;
    top = card.getBoundingClientRect().top;
    if (Number.isNaN(was)) {
      const scroller = card.closest(".transcript") ?? document.getElementById("room");
      for (const part of [scroller, ...(scroller?.children ?? [])]) if (part) observer.observe(part);
    }
    if (!(Math.abs(top - was) < 2)) disarm();
  });
  observer.observe(card);
  disarm();
}
