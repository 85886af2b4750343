// @ts-check
// The message box of a session: what is written is kept until it was accepted, offline too.

import { button, make } from "../dom.js";
import { draftOf, followDraft, keepDraft } from "../drafts.js";
import { images as imageList } from "./images.js";
import { forTheAgent, isOrder, runOrder } from "./orders.js";
import { settings } from "./settings.js";
import { wordsBack } from "./words_back.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const PAUSE = 300; // ms after the last key until the draft is kept: a long one takes a while
const LONG = 20_000; // characters from which on the box is as high as it gets, unmeasured
const GROWS = CSS.supports("field-sizing", "content");

/** @param {App} app @param {string} sessionId @param {() => unknown} sent a message is on its way */
export function composer(app, sessionId, sent) {
  return new Composer(app, sessionId, sent);
}

class Composer {
  #timer = 0;
  #draft = ""; // as the browser keeps it, told or read here
  /** @type {ReturnType<typeof import("../views/completion.js").completion> | undefined} */ completion;
  /** @type {() => unknown} */ #leave;
  /** @type {() => unknown} */ #forget;

  /** @param {App} app @param {string} sessionId @param {() => unknown} sent */
  constructor(app, sessionId, sent) {
    this.app = app;
    this.id = sessionId;
    this.sent = sent;
    const draft = draftOf(sessionId);
    this.#draft = JSON.stringify(draft);
    this.wordsBack = wordsBack(app, sessionId);
    this.text = make("textarea", { rows: 1, "aria-describedby": "words-back", placeholder: "Message the agent…", "aria-label": "Message", value: draft.message });
    this.images = imageList(app, sessionId, draft.images, () => this.#changed());
    this.settings = settings(app, sessionId);
    this.stop = button("Stop", () => this.#stop(), ".stop", { hidden: true });
    this.send = make("button.primary", "Send");
    const line = make("div.choices", this.settings.element, this.images.button, this.images.chooser, this.stop, this.send);
    this.element = make("form.composer", this.wordsBack.element, this.images.element, this.text, line);
    this.element.onsubmit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    this.element.onmousedown = (event) => this.#reach(event);
    this.text.onfocus = () => this.#complete();
    this.text.oninput = () => this.#changed();
    this.text.onkeydown = (event) => this.#key(event);
    this.text.onpaste = (event) => this.#paste(event);
    this.images.receive(this.element, this.text);
    this.#leave = app.outbox.box(sessionId, (letter) => this.put(letter.message, letter.images));
    this.keep = this.keep.bind(this);
    addEventListener("pagehide", this.keep);
    this.#forget = followDraft(sessionId, () => this.#take());
    requestAnimationFrame(() => this.#grow());
  }

  /** What people call the session's agent. */
  get agent() {
    return this.settings.agent;
  }

  /** @param {Resource} session */
  follow(session) {
    // A plan ends nothing: one goes on talking. A question or a permission holds the run up.
    this.stop.hidden = session.status !== "running" && !["permission", "question"].includes(session.waiting_for);
    this.send.textContent = this.wordsBack.follow(session);
    this.settings.follow(session);
  }

  /** Put a text into the box, before what is there. @param {string} words @param {string[]} [images] */
  put(words, images = []) {
    this.text.value = [words, this.text.value].filter(Boolean).join("\n");
    this.images.add(images);
    this.#changed();
    this.text.focus();
  }

  focus() {
    this.text.focus();
  }

  close() {
    this.keep();
    this.#leave();
    this.#forget();
    this.settings.close();
    removeEventListener("pagehide", this.keep);
  }

  /** What is written here. */
  get #written() {
    return { message: this.text.value, images: this.images.paths };
  }

  keep() {
    clearTimeout(this.#timer);
    const written = JSON.stringify(this.#written);
    if (written === this.#draft) return; // what was written in another tab stays
    this.#draft = written;
    keepDraft(this.id, this.#written);
  }

  /** Have what was written in another tab; where something was written here as well, both. */
  #take() {
    const draft = draftOf(this.id);
    const isNew = JSON.stringify(this.#written) !== this.#draft && this.text.value !== draft.message;
    this.#draft = JSON.stringify(draft);
    const { message, images } = isNew ? this.#written : { message: "", images: [] };
    this.text.value = [draft.message, message].filter(Boolean).join("\n");
    this.images.set([...draft.images, ...images]);
    this.#grow();
    if (isNew) this.keep();
  }

  #changed() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.keep, PAUSE);
    this.#grow();
    this.completion?.follow();
  }

  /** Have the completion at hand, once somebody is about to write. */
  async #complete() {
    this.text.onfocus = null;
    try {
      const { completion } = await import("../views/completion.js");
      this.completion = completion(this.app, this.id, this.text);
      this.element.prepend(this.completion.element);
      this.completion.follow();
    } catch {
      this.text.onfocus = () => this.#complete(); // offline; one can write without
    }
  }

  #grow() {
    if (GROWS) return;
    const isLong = this.text.value.length > LONG;
    this.text.style.height = isLong ? "40vh" : "auto";
    if (!isLong) this.text.style.height = `${this.text.scrollHeight + 2}px`;
  }

  /** What is pressed beside box and controls meant the box, which moves as the agent begins to wait. @param {MouseEvent} event */
  #reach(event) {
    if (event.target instanceof Element && event.target.closest("button, select, input, textarea, [role=option]")) return;
    event.preventDefault(); // else the box would lose the keys
    this.text.focus();
  }

  // Chromium takes minutes to type a text of many lines into a box, and no time to put it there.
  /** @param {ClipboardEvent} event */
  #paste(event) {
    const words = event.clipboardData?.getData("text/plain") ?? "";
    if (words.length < LONG) return;
    event.preventDefault();
    this.text.setRangeText(words, this.text.selectionStart, this.text.selectionEnd, "end");
    this.#changed();
  }

  #submit() {
    const message = this.text.value.trim();
    if (!message && !this.images.paths.length) {
      this.text.focus();
      return;
    }
    if (isOrder(message)) {
      const why = runOrder(this.app, message);
      if (why) this.app.say(why, { bad: true });
      else this.#empty(this.images.paths);
      return;
    }
    if (this.images.isAdding) {
      this.app.say("A picture is still on its way. Send it in a moment.");
      return;
    }
    // Emptied at once, so that a second press sends nothing; the outbox gives back what is refused.
    const paths = this.images.paths;
    if (this.wordsBack.deny(message, () => this.#empty(paths))) return;
    this.#empty();
    this.app.outbox.add(this.id, forTheAgent(message), paths);
    this.sent();
  }

  /** @param {string[]} [images] that stay */
  #empty(images = []) {
    this.text.value = "";
    this.images.set(images);
    this.#changed();
    this.keep();
  }

  async #stop() {
    this.stop.textContent = "Stopping…";
    await this.app.run("stop_generation", { sessionId: this.id });
    this.stop.textContent = "Stop";
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.isComposing || this.completion?.key(event)) return;
    const onPhone = matchMedia("(pointer: coarse)").matches;
    if (event.key === "Enter" && !event.shiftKey && (!onPhone || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#submit();
    }
  }
}
