// @ts-check
// The message box of a session. Its draft is kept until the message is accepted, also while offline.

import { button, make } from "../dom.js";
import { loadDraft, onDraftChange, saveDraft } from "../drafts.js";
import { images as imageList } from "./images.js";
import { unescapeCommand, isSlashCommand, runSlashCommand } from "./slash_commands.js";
import { settings } from "./settings.js";
import { replyHint } from "./reply_hint.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const SAVE_DELAY = 300; // ms after the last key, as saving a long draft is slow
const LONG_TEXT = 20_000; // characters, from which the box has its maximum height without being measured
const GROWS_BY_ITSELF = CSS.supports("field-sizing", "content");

/** @param {App} app @param {string} sessionId @param {() => unknown} onSend called when a message is sent */
export function composer(app, sessionId, onSend) {
  return new Composer(app, sessionId, onSend);
}

class Composer {
  #timer = 0;
  #draft = ""; // the saved draft, as last saved or loaded here
  /** @type {ReturnType<typeof import("../views/completion.js").completion> | undefined} */ completion;
  /** @type {() => unknown} */ #unregister;
  /** @type {() => unknown} */ #unsubscribe;

  /** @param {App} app @param {string} sessionId @param {() => unknown} onSend */
  constructor(app, sessionId, onSend) {
    this.app = app;
    this.id = sessionId;
    this.onSend = onSend;
    const draft = loadDraft(sessionId);
    this.#draft = JSON.stringify(draft);
    this.replyHint = replyHint(app, sessionId);
    this.text = make("textarea", { rows: 1, "aria-describedby": "reply-hint", placeholder: "Message the agent…", "aria-label": "Message", value: draft.message });
    this.images = imageList(app, sessionId, draft.images, () => this.#handleInput());
    this.settings = settings(app, sessionId);
    this.stopButton = button("Stop", () => this.#stop(), ".stop", { hidden: true });
    this.sendButton = make("button.primary", "Send");
    const controls = make("div.choices", this.settings.element, this.images.button, this.images.chooser, this.stopButton, this.sendButton);
    this.element = make("form.composer", this.replyHint.element, this.images.element, this.text, controls);
    this.element.onsubmit = (event) => {
      event.preventDefault();
      this.#submit();
    };
    this.element.onmousedown = (event) => this.#focusBox(event);
    this.text.onfocus = () => this.#loadCompletion();
    this.text.oninput = () => this.#handleInput();
    this.text.onkeydown = (event) => this.#handleKey(event);
    this.text.onpaste = (event) => this.#paste(event);
    this.images.receive(this.element, this.text);
    this.#unregister = app.outbox.registerBox(sessionId, (unsent) => this.insertText(unsent.message, unsent.images));
    this.save = this.save.bind(this);
    addEventListener("pagehide", this.save);
    this.#unsubscribe = onDraftChange(sessionId, () => this.#loadDraft());
    requestAnimationFrame(() => this.#grow());
  }

  /** The display name of the session's agent. */
  get agent() {
    return this.settings.agent;
  }

  /** @param {Resource} session */
  update(session) {
    // A question or a permission blocks the run. A plan does not: the conversation can continue.
    this.stopButton.hidden = session.status !== "running" && !["permission", "question"].includes(session.waiting_for);
    this.sendButton.textContent = this.replyHint.update(session);
    this.settings.update(session);
  }

  /** Insert a text before the text in the box. @param {string} text @param {string[]} [images] */
  insertText(text, images = []) {
    this.text.value = [text, this.text.value].filter(Boolean).join("\n");
    this.images.add(images);
    this.#handleInput();
    this.text.focus();
  }

  focus() {
    this.text.focus();
  }

  close() {
    this.save();
    this.#unregister();
    this.#unsubscribe();
    this.settings.close();
    removeEventListener("pagehide", this.save);
  }

  /** The unsent message. */
  get #current() {
    return { message: this.text.value, images: this.images.paths };
  }

  save() {
    clearTimeout(this.#timer);
    const serialized = JSON.stringify(this.#current);
    if (serialized === this.#draft) return; // keep what another tab has saved
    this.#draft = serialized;
    saveDraft(this.id, this.#current);
  }

  /** Take over a draft saved by another tab, in addition to unsaved text in this one. */
  #loadDraft() {
    const draft = loadDraft(this.id);
    const isNew = JSON.stringify(this.#current) !== this.#draft && this.text.value !== draft.message;
    this.#draft = JSON.stringify(draft);
    const { message, images } = isNew ? this.#current : { message: "", images: [] };
    this.text.value = [draft.message, message].filter(Boolean).join("\n");
    this.images.set([...draft.images, ...images]);
    this.#grow();
    if (isNew) this.save();
  }

  #handleInput() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.save, SAVE_DELAY);
    this.#grow();
    this.completion?.update();
  }

  /** Load the completion when the box is first focused. */
  async #loadCompletion() {
    this.text.onfocus = null;
    try {
      const { completion } = await import("../views/completion.js");
      this.completion = completion(this.app, this.id, this.text);
      this.element.prepend(this.completion.element);
      this.completion.update();
    } catch {
      this.text.onfocus = () => this.#loadCompletion(); // offline; the box works without it
    }
  }

  #grow() {
    if (GROWS_BY_ITSELF) return;
    const isLong = this.text.value.length > LONG_TEXT;
    this.text.style.height = isLong ? "40vh" : "auto";
    if (!isLong) this.text.style.height = `${this.text.scrollHeight + 2}px`;
  }

  /** Focus the box when its surroundings are pressed: it may have moved when the agent started waiting. @param {MouseEvent} event */
  #focusBox(event) {
    if (event.target instanceof Element && event.target.closest("button, select, input, textarea, [role=option]")) return;
    event.preventDefault(); // or the box would lose the focus
    this.text.focus();
  }

  // Chromium takes minutes to paste a text of many lines by itself; setting it is instantaneous.
  /** @param {ClipboardEvent} event */
  #paste(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.length < LONG_TEXT) return;
    event.preventDefault();
    this.text.setRangeText(text, this.text.selectionStart, this.text.selectionEnd, "end");
    this.#handleInput();
  }

  #submit() {
    const message = this.text.value.trim();
    if (!message && !this.images.paths.length) {
      this.text.focus();
      return;
    }
    if (isSlashCommand(message)) {
      const error = runSlashCommand(this.app, message);
      if (error) this.app.toast(error, { bad: true });
      else this.#clear(this.images.paths);
      return;
    }
    if (this.images.isUploading) {
      this.app.toast("An image is still being uploaded. Try again in a moment.");
      return;
    }
    // Cleared immediately, so that a second press sends nothing; the outbox returns refused messages.
    const paths = this.images.paths;
    if (this.replyHint.deny(message, () => this.#clear(paths))) return;
    this.#clear();
    this.app.outbox.add(this.id, unescapeCommand(message), paths);
    this.onSend();
  }

  /** @param {string[]} [images] to keep */
  #clear(images = []) {
    this.text.value = "";
    this.images.set(images);
    this.#handleInput();
    this.save();
  }

  async #stop() {
    this.stopButton.textContent = "Stopping…";
    await this.app.run("stop_generation", { sessionId: this.id });
    this.stopButton.textContent = "Stop";
  }

  /** @param {KeyboardEvent} event */
  #handleKey(event) {
    if (event.isComposing || this.completion?.key(event)) return;
    const isTouch = matchMedia("(pointer: coarse)").matches;
    if (event.key === "Enter" && !event.shiftKey && (!isTouch || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#submit();
    }
  }
}
