// @ts-check
// The message box of a session: what is written is kept until it was accepted, offline too.

import { button, make } from "../dom.js";
import { draftOf, keepDraft } from "../drafts.js";
import { images as imageList } from "./images.js";
import { forTheAgent, isOrder, runOrder } from "./orders.js";
import { settings } from "./settings.js";

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
  /** @type {ReturnType<typeof import("../views/completion.js").completion> | undefined} */ completion;
  /** @type {() => unknown} */ #leave;

  /** @param {App} app @param {string} sessionId @param {() => unknown} sent */
  constructor(app, sessionId, sent) {
    this.app = app;
    this.id = sessionId;
    this.sent = sent;
    const draft = draftOf(sessionId);
    this.text = make("textarea", { rows: 1, placeholder: "Message the agent…", "aria-label": "Message", value: draft.message });
    this.images = imageList(app, draft.images, () => this.#changed());
    this.settings = settings(app, sessionId);
    this.stop = button("Stop", () => app.run("stop_generation", { sessionId }), ".stop", { hidden: true });
    this.send = make("button.primary", "Send");
    const line = make("div.choices", this.settings.element, this.images.button, this.stop, this.send);
    this.element = make("form.composer", this.images.element, this.text, line);
    this.element.onsubmit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    this.text.onfocus = () => this.#complete();
    this.text.oninput = () => this.#changed();
    this.text.onkeydown = (event) => this.#key(event);
    this.text.onpaste = (event) => this.#paste(event);
    this.images.receive(this.element, this.text);
    this.#leave = app.outbox.box(sessionId, (letter) => this.put(letter.message, letter.images));
    this.keep = this.keep.bind(this);
    addEventListener("pagehide", this.keep);
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
    this.send.textContent = session.status === "running" ? "Queue" : "Send";
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
    this.settings.close();
    removeEventListener("pagehide", this.keep);
  }

  keep() {
    clearTimeout(this.#timer);
    keepDraft(this.id, { message: this.text.value, images: this.images.paths });
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
    if (!message && !this.images.paths.length) return;
    if (isOrder(message)) {
      const why = runOrder(this.app, message);
      if (why) this.app.say(why, { bad: true });
      else this.#empty();
      return;
    }
    // Emptied at once, so that a second press sends nothing; the outbox gives back what is refused.
    const paths = this.images.paths;
    this.#empty();
    this.app.outbox.add(this.id, forTheAgent(message), paths);
    this.sent();
  }

  #empty() {
    this.text.value = "";
    this.images.clear();
    this.#changed();
    this.keep();
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
