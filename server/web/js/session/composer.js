// @ts-check
// The message box of a session. Its draft is kept until the message is accepted, also while offline.

import { button, make } from "../dom.js";
import { isSentLater, loadDraft, onDraftChange, saveDraft, setSentLater } from "../drafts.js";
import { icon } from "../icons.js";
import { Attachments } from "./attachments.js";
import { unescapeCommand, isSlashCommand, runSlashCommand } from "./slash_commands.js";
import { settings } from "./settings.js";
import { replyHint } from "./reply_hint.js";
import { chooseSendTime } from "./pause.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const SAVE_DELAY = 300; // ms after the last key, as saving a long draft is slow
const LONG_TEXT = 20_000; // characters, from which the box has its maximum height without being measured
const ONE_LINE = 12; // characters that fit between the buttons of a phone
const NO_PATHS = { images: [], files: [] };
/** An event of the message box: ask when its message is to be sent. */
const SEND_LATER = "sendlater";
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
    this.text = make("textarea", { rows: 1, "aria-describedby": "reply-hint", placeholder: "Message…", "aria-label": "Message", value: draft.message });
    this.attachments = new Attachments(app, sessionId, draft, () => this.#handleAttachments());
    this.uploadHint = make("p.hint", "Sends as soon as the attachments are uploaded.", { role: "status", hidden: true });
    this.attachments.restored.then(() => this.#waitForAttachments(isSentLater(sessionId) && this.attachments.isUploading));
    this.settings = settings(app, sessionId);
    this.stopButton = button([icon("stop"), make("span.words", "Stop")], () => this.#stop(), ".stop", { hidden: true, "aria-label": "Stop", title: "Stop (Escape)" });
    this.sendLabel = make("span.words", "Send");
    this.sendButton = make("button.primary.send", icon("send"), this.sendLabel, { "aria-label": "Send" });
    this.steerButton = button("Send now", () => this.#submit({ steers: true }), ".steer", { hidden: true, title: "The agent reads it during this turn (Ctrl+Enter)" });
    const box = make("div.composer-box", this.attachments.button, this.settings.chip, this.text, this.settings.element, this.stopButton, this.steerButton, this.sendButton);
    this.element = make("form.composer", this.replyHint.element, this.attachments.element, this.uploadHint, box);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.sendButton.addEventListener("contextmenu", (event) => {
      event.preventDefault();
      this.#sendLater();
    });
    this.element.addEventListener(SEND_LATER, () => this.#sendLater());
    this.element.addEventListener("mousedown", (event) => this.#focusBox(event));
    this.text.addEventListener("focus", () => this.#loadCompletion(), { once: true });
    this.text.addEventListener("input", () => {
      this.#waitForAttachments(false); // what is being typed is not sent
      this.#handleInput();
    });
    this.text.addEventListener("keydown", (event) => this.#handleKey(event));
    this.text.addEventListener("paste", (event) => this.#paste(event));
    this.attachments.receive(this.element, this.text);
    this.#unregister = app.outbox.registerBox(sessionId, (unsent) => this.insertText(unsent.message, unsent));
    this.save = this.save.bind(this);
    addEventListener("pagehide", this.save);
    this.#unsubscribe = onDraftChange(sessionId, () => this.#loadDraft());
    requestAnimationFrame(() => this.#grow());
  }

  /** The display name of an agent, or of the session's. @param {string | null} name */
  labelOf(name) {
    return this.settings.labelOf(name);
  }

  /** @param {Resource} session */
  update(session) {
    // A question or a permission blocks the run. A plan does not: the conversation can continue.
    this.stopButton.hidden = session.status !== "running" && !["permission", "question"].includes(session.waiting_for);
    this.sendLabel.textContent = this.sendButton.ariaLabel = this.sendButton.title = this.replyHint.update(session);
    this.steerButton.hidden = session.status !== "running";
    this.settings.update(session);
  }

  /** Insert a text before the text in the box. @param {string} text @param {import("../drafts.js").Paths} [paths] */
  insertText(text, paths = NO_PATHS) {
    this.text.value = [text, this.text.value].filter(Boolean).join("\n");
    this.attachments.addPaths(paths);
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
    this.attachments.close();
    removeEventListener("pagehide", this.save);
  }

  /** The unsent message. */
  get #current() {
    return { message: this.text.value, ...this.attachments.paths };
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
    const { message, images, files } = isNew ? this.#current : { message: "", ...NO_PATHS };
    this.text.value = [draft.message, message].filter(Boolean).join("\n");
    this.attachments.setPaths({ images: [...draft.images, ...images], files: [...draft.files, ...files] });
    this.#grow();
    if (isNew) this.save();
  }

  #handleInput() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.save, SAVE_DELAY);
    this.#grow();
    this.completion?.update();
  }

  /** Send a message that waited for its attachments. */
  #handleAttachments() {
    this.#handleInput();
    this.save(); // what was uploaded is kept nowhere else
    if (this.uploadHint.hidden || this.attachments.isUploading) return;
    this.#waitForAttachments(false);
    this.#submit();
  }

  /** Say and remember whether the message is sent once its attachments are uploaded. @param {boolean} isWaiting */
  #waitForAttachments(isWaiting) {
    this.uploadHint.hidden = !isWaiting;
    setSentLater(this.id, isWaiting);
  }

  /** Load the completion when the box is first focused. */
  async #loadCompletion() {
    try {
      const { completion } = await import("../views/completion.js");
      this.completion = completion(this.app, this.id, this.text);
      this.element.prepend(this.completion.element);
      this.completion.update();
    } catch {
      this.text.addEventListener("focus", () => this.#loadCompletion(), { once: true }); // offline; the box works without it
    }
  }

  #grow() {
    const { value } = this.text;
    // Longer texts have the whole width of a phone, above the buttons.
    this.element.classList.toggle("tall", value.includes("\n") || value.length > ONE_LINE);
    if (GROWS_BY_ITSELF) return;
    const isLong = value.length > LONG_TEXT;
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

  /** Ask for a time, and send the message then. */
  async #sendLater() {
    if (!this.text.value.trim() && this.attachments.isEmpty) this.app.toast("Write a message first.");
    else {
      const sendAt = await chooseSendTime(this.app.state.sessions.get(this.id));
      if (sendAt !== null) this.#submit({ sendAt });
    }
    this.text.focus();
  }

  /** @param {{ steers?: boolean, sendAt?: number | "reset" }} [options] `steers`: whether it is to be read during the running turn; `sendAt`: when it is sent, in seconds since 1970 */
  #submit({ steers = false, sendAt } = {}) {
    const message = this.text.value.trim();
    if (!message && this.attachments.isEmpty) {
      this.text.focus();
      return;
    }
    if (isSlashCommand(message)) {
      const error = runSlashCommand(this.app, message);
      if (error) this.app.toast(error, { bad: true });
      else this.#clear(this.attachments.paths);
      return;
    }
    if (this.attachments.problem) {
      this.app.toast(this.attachments.problem);
      return;
    }
    if (this.attachments.isUploading) {
      this.#waitForAttachments(true);
      return;
    }
    // Cleared immediately, so that a second press sends nothing; the outbox returns refused messages.
    const { paths } = this.attachments;
    if (!sendAt && this.replyHint.deny(message, () => this.#clear(paths))) return;
    this.#clear();
    this.app.outbox.add(this.id, unescapeCommand(message), paths, { steers, sendAt });
    this.onSend();
  }

  /** @param {import("../drafts.js").Paths} [paths] to keep */
  #clear(paths = NO_PATHS) {
    this.text.value = "";
    this.attachments.setPaths(paths);
    this.#handleInput();
    this.save();
  }

  async #stop() {
    const label = /** @type {HTMLElement} */ (this.stopButton.lastElementChild);
    label.textContent = this.stopButton.title = "Stopping…";
    this.stopButton.classList.add("busy");
    await this.app.run("stop_generation", { sessionId: this.id });
    label.textContent = "Stop";
    this.stopButton.title = "Stop (Escape)";
    this.stopButton.classList.remove("busy");
  }

  /** @param {KeyboardEvent} event */
  #handleKey(event) {
    if (event.isComposing || this.completion?.key(event)) return;
    const isTouch = matchMedia("(pointer: coarse)").matches;
    if (event.key === "Enter" && !event.shiftKey && (!isTouch || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.#submit({ steers: !isTouch && event.ctrlKey && !this.steerButton.hidden });
    }
  }
}
