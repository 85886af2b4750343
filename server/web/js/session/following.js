// @ts-check
// Whether a conversation is held at its end. Only a person ends that: by wheel, finger, key or scroll bar, or by a
// jump of the browser, as its search makes one. What else moves it is layout (a hint that goes and comes within one
// frame, a keyboard, a picture that comes late), and then it is brought back to its end.

const NEAR = 80; // px from the end within which who comes back from further up has come back
const LASTS = 500; // ms in which what a hand has set in motion begins to move
const ON = 150; // ms that may lie between two steps of one motion
const UP = ["ArrowUp", "PageUp", "Home"];
const DOWN = ["ArrowDown", "PageDown", "End"];
const ANYWHERE = ["Tab", "F3"]; // also from a box: to something that is not in sight

export class Following {
  isOn = true;
  #top = 0; // where it was scrolled to last
  #isFar = false; // whether it was out of reach of the end since it was left
  #isHeld = false; // the scroll bar, by a mouse
  #isChanged = false; // anything, in this frame or the last one: layout may have moved it
  #moves = { up: -LASTS, down: -LASTS }; // until when what moves is moved by a person
  #endsAt = -LASTS; // until when a key moves it to its end, wherever that is by then
  #finger = 0;
  #sizes = new ResizeObserver(() => this.settle());
  #changes = new MutationObserver(() => this.#noteChange());
  #end = new AbortController();

  /** @param {HTMLElement} scroller @param {HTMLElement} around what takes its room from it as it grows */
  constructor(scroller, around) {
    this.scroller = scroller;
    for (const part of [scroller, ...scroller.children]) this.#sizes.observe(part);
    this.#changes.observe(around, { subtree: true, childList: true, attributes: true, characterData: true });
    const passive = { passive: true, signal: this.#end.signal };
    scroller.addEventListener("wheel", (event) => event.ctrlKey || this.#moved(event.deltaY), passive);
    scroller.addEventListener("touchstart", (event) => (this.#finger = event.touches[0].clientY), passive);
    scroller.addEventListener("touchmove", (event) => this.#dragged(event), passive);
    scroller.addEventListener("pointerdown", (event) => (this.#isHeld = event.target === scroller && event.pointerType === "mouse"), passive);
    for (const name of /** @type {const} */ (["pointerup", "pointercancel", "pointermove"])) {
      addEventListener(name, (event) => (this.#isHeld &&= event.buttons > 0), passive);
    }
    document.addEventListener("keydown", (event) => this.#key(event), passive);
    document.addEventListener("selectionchange", () => this.#selected(), passive);
  }

  close() {
    this.#end.abort();
    this.#sizes.disconnect();
    this.#changes.disconnect();
  }

  /** What is new has a guessed height until it is drawn. If all is then as high as before, only who begins to observe is told. @param {HTMLElement} part */
  observeAnew(part) {
    this.#sizes.unobserve(part);
    this.#sizes.observe(part);
  }

  /** Hold it at its end. */
  toEnd() {
    this.isOn = true;
    this.#isFar = false;
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#top = this.scroller.scrollTop;
  }

  /** Let it be anywhere. */
  leave() {
    this.isOn = false;
    this.#isFar = true;
  }

  /** Bring it back to its end, if it is held there. */
  settle() {
    if (this.isOn) this.toEnd();
  }

  /** What was asked is gone, and with it what the reader had gone up to read: who has only the end in sight is there. */
  settleWhereItEnds() {
    if (this.isOn || this.#below < 2) this.toEnd();
  }

  /** It was scrolled, by whomever; gives whether it is held at its end. */
  scrolled() {
    const by = this.scroller.scrollTop - this.#top;
    this.#top = this.scroller.scrollTop;
    const below = this.#below;
    if (below >= NEAR) this.#isFar = true;
    if (Math.abs(by) < 1 || !this.#isPersons(by)) this.settle();
    else if (by > 0 && performance.now() < this.#endsAt) this.toEnd();
    else if (by < 0 && below >= 2) this.isOn = false;
    else if (by > 0 && below < (this.#isFar ? NEAR : 2)) {
      this.isOn = true;
      this.#isFar = false;
    }
    return this.isOn;
  }

  get #below() {
    const { scrollHeight, scrollTop, clientHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight;
  }

  /** Whether a person moved it so far. @param {number} by px */
  #isPersons(by) {
    const way = by < 0 ? "up" : "down";
    if (this.#isHeld || performance.now() < this.#moves[way]) {
      this.#moves[way] = Math.max(this.#moves[way], performance.now() + ON);
      return true;
    }
    // Who searches by the browser has the keys in a box of its own.
    const isJump = !document.hasFocus() && Math.abs(by) > this.scroller.clientHeight / 2;
    if (this.#changes.takeRecords().length) this.#noteChange();
    return !this.#isChanged || isJump;
  }

  /** @param {number} by px; with 0 either way */
  #moved(by) {
    const until = performance.now() + LASTS;
    if (by <= 0) this.#moves.up = until;
    if (by >= 0) this.#moves.down = until;
  }

  /** @param {TouchEvent} event */
  #dragged({ touches }) {
    const finger = touches[0].clientY;
    if (touches.length === 1 && finger !== this.#finger) this.#moved(this.#finger - finger);
    this.#finger = finger;
  }

  /** @param {KeyboardEvent} event */
  #key({ key, shiftKey, target }) {
    if (ANYWHERE.includes(key)) this.#moved(0);
    else if (target instanceof Element && target.closest("input, select, textarea")) return;
    else if (UP.includes(key) || (key === " " && shiftKey)) this.#moved(-1);
    else if (DOWN.includes(key) || key === " ") this.#moved(1);
    if (key === "End") this.#endsAt = performance.now() + LASTS;
  }

  /** What is marked by a hand that goes beyond the edge scrolls. */
  #selected() {
    const marked = getSelection();
    if (marked && !marked.isCollapsed && this.scroller.contains(marked.focusNode)) this.#moved(0);
  }

  #noteChange() {
    if (this.#isChanged) return;
    this.#isChanged = true;
    // What a frame brings about is told of in the next one, before it is drawn.
    requestAnimationFrame(() => requestAnimationFrame(() => (this.#isChanged = false)));
  }
}
