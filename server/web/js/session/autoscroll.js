// @ts-check
// Keeps a box, as a conversation or a log, scrolled to its end. Only the user stops that: by wheel, touch, key or scroll
// bar, or by a jump of the browser, as its search does. All other scrolling is caused by layout (a hint that disappears
// and reappears within a frame, an on-screen keyboard, an image that loads late), and then it scrolls back to the end.

const NEAR = 80; // px from the end, within which a reader who scrolls down has returned to the end
const INPUT_TIME = 500; // ms after an input in which scrolling counts as caused by it
const STEP_TIME = 150; // maximum ms between two steps of one motion
const UP_KEYS = ["ArrowUp", "PageUp", "Home"];
const DOWN_KEYS = ["ArrowDown", "PageDown", "End"];
const ANY_KEYS = ["Tab", "F3"]; // also in text fields: they can move the focus out of view

export class Autoscroll {
  isOn = true;
  #top = 0; // the last scroll position
  #wasFar = false; // whether it has been further than `NEAR` from the end since autoscroll was turned off
  #isDragging = false; // whether the scroll bar is being dragged
  #layoutChanges = 0; // in this frame or the last one: layout may have scrolled it
  #userScrollUntil = { up: -INPUT_TIME, down: -INPUT_TIME }; // until when scrolling counts as caused by the user
  #endKeyUntil = -INPUT_TIME; // until when the End key scrolls to the end, which may move
  #touchY = 0;
  #resizeObserver = new ResizeObserver(() => this.#handleResize());
  #mutationObserver = new MutationObserver(() => this.#noteLayoutChange());
  /** Stops listening outside the box. @type {AbortController | null} */ #abort = null;

  /** @param {HTMLElement} scroller @param {HTMLElement} surroundings elements that can change its size */
  constructor(scroller, surroundings) {
    this.scroller = scroller;
    for (const part of [scroller, ...scroller.children]) this.#resizeObserver.observe(part);
    this.#mutationObserver.observe(surroundings, { subtree: true, childList: true, attributes: true, characterData: true });
    const passive = { passive: true };
    scroller.addEventListener("scroll", () => this.#handleScroll(), passive);
    scroller.addEventListener("wheel", (event) => event.ctrlKey || this.#noteInput(event.deltaY), passive);
    scroller.addEventListener("touchstart", (event) => (this.#touchY = event.touches[0].clientY), passive);
    scroller.addEventListener("touchmove", (event) => this.#handleTouchMove(event), passive);
    scroller.addEventListener("pointerdown", (event) => (this.#isDragging = event.target === scroller && event.pointerType === "mouse"), passive);
  }

  #listenOutside() {
    this.#abort = new AbortController();
    const passive = { passive: true, signal: this.#abort.signal };
    for (const name of /** @type {const} */ (["pointerup", "pointercancel", "pointermove"])) {
      addEventListener(name, (event) => (this.#isDragging &&= event.buttons > 0), passive);
    }
    document.addEventListener("keydown", (event) => this.#handleKey(event), passive);
    document.addEventListener("selectionchange", () => this.#handleSelection(), passive);
    // A window that grows and shrinks again within a frame scrolls, and resizes nothing for an observer.
    addEventListener("resize", () => this.#noteLayoutChange(), passive);
  }

  /** Observe a part again: new content has an estimated height until it is rendered, and observers are not notified if the real one is equal. @param {HTMLElement} part */
  reobserve(part) {
    this.#resizeObserver.unobserve(part);
    this.#resizeObserver.observe(part);
  }

  /** Scroll to the end and stay there. */
  scrollToEnd() {
    this.isOn = true;
    this.#wasFar = false;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#top = this.scroller.scrollTop;
  }

  /** Stop autoscrolling. */
  stop() {
    this.isOn = false;
    this.#wasFar = true;
  }

  /** Scroll to the end if autoscroll is on. */
  scrollIfOn() {
    if (this.isOn) this.scrollToEnd();
  }

  /** Turn autoscroll on if the end is visible, after what the reader had scrolled up for is gone. */
  scrollIfAtEnd() {
    if (this.isOn || this.#distanceToEnd < 2) this.scrollToEnd();
  }

  /** A box that is hidden or removed has no size, and does not listen: so nothing has to be closed. */
  #handleResize() {
    if (!this.scroller.clientHeight) {
      this.#abort?.abort();
      this.#abort = null;
    } else if (!this.#abort) this.#listenOutside();
    this.scrollIfOn();
  }

  #handleScroll() {
    const by = this.scroller.scrollTop - this.#top;
    this.#top = this.scroller.scrollTop;
    const distance = this.#distanceToEnd;
    if (distance >= NEAR) this.#wasFar = true;
    if (Math.abs(by) < 1 || !this.#isByUser(by)) this.scrollIfOn();
    else if (by > 0 && performance.now() < this.#endKeyUntil) this.scrollToEnd();
    else if (by < 0 && distance >= 2) this.isOn = false;
    else if (by > 0 && distance < (this.#wasFar ? NEAR : 2)) {
      this.isOn = true;
      this.#wasFar = false;
    }
  }

  get #distanceToEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight;
  }

  /** Whether the user caused scrolling by this distance. @param {number} by px */
  #isByUser(by) {
    const direction = by < 0 ? "up" : "down";
    if (this.#isDragging || performance.now() < this.#userScrollUntil[direction]) {
      this.#userScrollUntil[direction] = Math.max(this.#userScrollUntil[direction], performance.now() + STEP_TIME);
      return true;
    }
    // While the browser's search is used, the focus is in its own field.
    const isJump = !document.hasFocus() && Math.abs(by) > this.scroller.clientHeight / 2;
    if (this.#mutationObserver.takeRecords().length) this.#noteLayoutChange();
    return this.#layoutChanges === 0 || isJump;
  }

  /** Note an input that scrolls. @param {number} by px; 0 for both directions */
  #noteInput(by) {
    const until = performance.now() + INPUT_TIME;
    if (by <= 0) this.#userScrollUntil.up = until;
    if (by >= 0) this.#userScrollUntil.down = until;
  }

  /** @param {TouchEvent} event */
  #handleTouchMove({ touches }) {
    const y = touches[0].clientY;
    if (touches.length === 1 && y !== this.#touchY) this.#noteInput(this.#touchY - y);
    this.#touchY = y;
  }

  /** @param {KeyboardEvent} event */
  #handleKey({ key, shiftKey, target }) {
    if (ANY_KEYS.includes(key)) this.#noteInput(0);
    else if (target instanceof Element && target.closest("input, select, textarea")) return;
    else if (UP_KEYS.includes(key) || (key === " " && shiftKey)) this.#noteInput(-1);
    else if (DOWN_KEYS.includes(key) || key === " ") this.#noteInput(1);
    if (key === "End") this.#endKeyUntil = performance.now() + INPUT_TIME;
  }

  /** Selecting text beyond the edge scrolls. */
  #handleSelection() {
    const selection = getSelection();
    if (selection && !selection.isCollapsed && this.scroller.contains(selection.focusNode)) this.#noteInput(0);
  }

  #noteLayoutChange() {
    this.#layoutChanges++;
    // Effects of a frame are reported in the next one, before it is rendered.
    requestAnimationFrame(() => requestAnimationFrame(() => this.#layoutChanges--));
  }
}
