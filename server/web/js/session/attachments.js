// @ts-check
// Pictures and files attached to a message: from the camera, the gallery or the files of this device, pasted, dropped,
// or by path on the machine that runs Spinney. They are uploaded at once; offline, they wait for the connection, also
// over a reload.

import { ask, choose } from "../dialogs.js";
import { isSentLater, loadDraft, saveDraft, setSentLater } from "../drafts.js";
import { button, make, syncKeyed } from "../dom.js";
import { icon } from "../icons.js";
import { newId } from "../outbox.js";
import { keepFile, keptFiles, NEW_TASK, releaseFile } from "./kept_files.js";
import { unescapeCommand } from "./slash_commands.js";
import { isScalable, scaleDown } from "./scaling.js";

/**
 * @typedef {object} Attachment
 * @property {string} key
 * @property {string} name
 * @property {boolean} isImage
 * @property {string} [path] on the machine that runs Spinney, once it is there
 * @property {Blob} [file] until it is there
 * @property {Promise<boolean>} [kept] whether the file survives a reload; settles when it can be uploaded
 * @property {boolean} [isLost] whether a reload would lose it
 * @property {string} [preview] a URL of the picture
 * @property {number} [progress] from 0 to 1, while it is being uploaded
 * @property {string} [error]
 * @property {boolean} [isRefused] whether it would fail again
 * @property {Attachments | null} [owner] what shows it; `null` while its session is not shown
 */

const UPLOADED = /^[0-9a-f]{16}-/; // what the names of uploaded files begin with
const PICTURE = /^[0-9a-f]{16}(?=\.)/; // the names of uploaded pictures
const IS_IMAGE = /\.(png|jpe?g|gif|webp)$/i;
const MAX_SIZE = 20 * 1024 * 1024; // bytes, as in the model
const TOO_LARGE = "It is larger than 20 MB.";
const HINT = "Absolute, or relative to the worktree.";

/** The file name of a path. @param {string} path */
export const nameOf = (path) => path.split("/").at(-1) ?? path;

/** The name that an attached file had on its device; that of a picture is not known. @param {string} path */
export const originalName = (path) => nameOf(path).replace(UPLOADED, "").replace(PICTURE, "picture");

/** What is not uploaded yet, of message boxes that are not shown. @type {Map<string, Attachment[]>} */
const parked = new Map();

export class Attachments {
  /** @type {Attachment[]} */ #items = [];
  #isClosed = false;
  /** @type {() => unknown} */ #unsubscribe;

  /**
   * @param {import("../app.js").App} app
   * @param {string | null} sessionId `null` if there is none yet; then nothing is uploaded before `uploadTo`
   * @param {import("../drafts.js").Paths} paths
   * @param {() => void} onChange
   */
  constructor(app, sessionId, paths, onChange) {
    this.app = app;
    this.sessionId = sessionId;
    this.place = sessionId ?? NEW_TASK;
    this.onChange = onChange;
    this.element = make("ul.attached", { "aria-label": "Attachments", hidden: true });
    this.button = button(icon("plus"), () => this.#choose(), ".quiet.icon-only.attach", { "aria-label": "Attach", title: "Attach pictures or files" });
    this.#insert(paths);
    this.#unpark();
    /** Settles when what was kept over a reload is here. */
    this.restored = this.#restore();
    this.#unsubscribe = app.onConnection((status) => {
      if (status.state === "open") this.#uploadAll();
      this.#draw();
    });
  }

  /** Go on without being shown: what is not uploaded yet waits for the connection. */
  close() {
    this.#isClosed = true;
    for (const item of this.#items) if (item.preview && !item.file) URL.revokeObjectURL(item.preview);
    for (const item of this.#items) if (item.file) park(this.place, item);
    if (!this.#items.some((item) => item.file)) this.#unsubscribe();
  }

  /** Take over what was attached before another view was shown. */
  #unpark() {
    for (const item of parked.get(this.place) ?? []) this.#items.push(Object.assign(item, { owner: this }));
    parked.delete(this.place);
  }

  /** Take over what was attached before a reload. */
  async #restore() {
    const files = await keptFiles(this.place);
    const known = new Set(this.#items.map((item) => item.key));
    const missing = files.filter(({ id }) => !known.has(id));
    if (this.#isClosed || !missing.length) return;
    for (const { id, name, isImage, data } of missing) {
      this.#addFile({ key: id, name, isImage, file: data, kept: Promise.resolve(true) });
    }
    this.#draw();
  }

  /** The paths of the pictures and of the other files. */
  get paths() {
    const pathsOf = (/** @type {boolean} */ isImage) => this.#items.flatMap((item) => (item.path && item.isImage === isImage ? [item.path] : []));
    return { images: pathsOf(true), files: pathsOf(false) };
  }

  /** Why a message cannot be sent, or an empty string. */
  get problem() {
    return this.#items.some((item) => item.error) ? "An attachment was not uploaded. Try again, or remove it." : "";
  }

  /** Whether something is not uploaded yet. */
  get isUploading() {
    return this.#items.some((item) => item.file && !item.error);
  }

  get isEmpty() {
    return !this.#items.length;
  }

  /** Add what is on the machine that runs Spinney. @param {import("../drafts.js").Paths} paths */
  addPaths(paths) {
    this.#insert(paths);
    this.#draw();
    this.onChange();
  }

  /** @param {import("../drafts.js").Paths} paths */
  #insert({ images, files }) {
    const known = new Set(this.#items.map((item) => item.path));
    for (const path of [...images, ...files]) {
      if (!known.has(path)) this.#items.push({ key: newId(), name: originalName(path), isImage: images.includes(path), path });
    }
  }

  /** Replace everything that is not being uploaded. @param {import("../drafts.js").Paths} paths */
  setPaths(paths) {
    const wanted = new Set([...paths.images, ...paths.files]);
    this.#items = this.#items.filter((item) => !item.path || wanted.has(item.path));
    this.addPaths(paths);
  }

  /** Add files of this device. @param {Iterable<File>} files */
  addFiles(files) {
    for (const file of files) {
      const isImage = isScalable(file) || IS_IMAGE.test(file.name);
      /** @type {Attachment} */
      const item = { key: newId(), name: file.name || "pasted picture", isImage, file };
      item.kept = this.#keep(item, file);
      this.#addFile(item);
    }
    this.#draw();
  }

  /** @param {Attachment} item */
  #addFile(item) {
    item.owner = this;
    if (item.isImage && item.file) item.preview = URL.createObjectURL(item.file);
    this.#items.push(item);
    this.#upload(item);
  }

  /** Keep what is to be uploaded. @param {Attachment} item @param {File} file */
  async #keep(item, file) {
    const at = performance.timeOrigin + performance.now(); // distinguishes files that are attached together
    const data = await scaleDown(file);
    item.file = data;
    const isTooLarge = data.size > MAX_SIZE;
    if (isTooLarge) Object.assign(item, { error: TOO_LARGE, isRefused: true }); // also offline
    const isKept = !isTooLarge && (await keepFile({ id: item.key, place: this.place, name: item.name, isImage: item.isImage, data, at }));
    item.isLost = !isKept;
    if (item.owner) item.owner.#draw();
    return isKept;
  }

  /** Accept what is pasted into the text and dropped on the area. @param {HTMLElement} area @param {HTMLElement} text */
  receive(area, text) {
    text.addEventListener("paste", (event) => {
      const clipboard = event.clipboardData;
      if (!clipboard?.files.length || clipboard.getData("text/plain")) return;
      event.preventDefault();
      this.addFiles(clipboard.files);
    });
    const hasFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
    area.addEventListener("dragover", (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      area.classList.add("dropping");
    });
    for (const name of /** @type {const} */ (["dragleave", "drop"])) area.addEventListener(name, () => area.classList.remove("dropping"));
    area.addEventListener("drop", (event) => {
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      this.addFiles(event.dataTransfer.files);
    });
  }

  // Choosing ---------------------------------------------------------------------------------------

  async #choose() {
    const isTouch = matchMedia("(pointer: coarse)").matches;
    /** @type {import("../dialogs.js").MenuEntry<() => unknown>[]} */
    const sources = [
      ["Pictures", () => this.#pick({ accept: "image/*" }), { icon: "image" }],
      ["Files", () => this.#pick({}), { icon: "file" }],
      ["By path on the machine that runs Spinney", () => this.#askForPath(), { icon: "server" }],
    ];
    if (isTouch) sources.unshift(["Camera", () => this.#pick({ accept: "image/*", capture: "environment" }), { icon: "camera" }]);
    (await choose("Attach", sources))?.();
  }

  /** @param {{ accept?: string, capture?: string }} options */
  #pick(options) {
    const chooser = make("input", { type: "file", multiple: !options.capture, hidden: true, ...options });
    chooser.addEventListener("change", () => {
      this.addFiles(chooser.files ?? []);
      chooser.remove();
    });
    chooser.addEventListener("cancel", () => chooser.remove());
    document.body.append(chooser);
    chooser.click();
  }

  #askForPath() {
    return ask("Path of the file", {
      label: "Attach",
      hint: HINT,
      submit: (text) => {
        const path = text.trim();
        if (!path) throw new Error("Enter the path of a file.");
        const isImage = IS_IMAGE.test(path);
        this.addPaths({ images: isImage ? [path] : [], files: isImage ? [] : [path] });
      },
    });
  }

  // Uploading --------------------------------------------------------------------------------------

  /** Upload everything to a new session. @param {string} sessionId */
  async uploadTo(sessionId) {
    this.sessionId = sessionId;
    await this.restored;
    await Promise.all(this.#items.map((item) => this.#upload(item)));
    if (this.problem || this.isUploading) throw new Error(this.problem || "The attachments were not uploaded. Try again when you are back online.");
  }

  /** Keep what was not uploaded for the message box of the session that was started, and nothing else. */
  async handOver() {
    const { sessionId } = this;
    if (!sessionId) return;
    for (const item of this.#items) {
      const { key, name, isImage, file } = item;
      if (file) park(sessionId, item);
      if (!(await item.kept)) continue;
      if (file) await keepFile({ id: key, place: sessionId, name, isImage, data: file, at: Date.now() });
      else await releaseFile(key);
    }
    this.#items = [];
  }

  /** Upload what is not shown by another message box. */
  #uploadAll() {
    const ours = this.#items.filter((item) => item.file && (!item.owner || item.owner === this));
    if (this.#isClosed && !ours.length) this.#unsubscribe();
    for (const item of ours) if (!item.isRefused) this.#upload(item);
  }

  /** @param {Attachment} item */
  async #upload(item) {
    const { sessionId } = this;
    if (!item.file || !sessionId || item.progress !== undefined || !this.app.connection.isOpen) return;
    item.progress = 0;
    item.error = undefined;
    this.#draw();
    const isKept = await item.kept;
    try {
      if (item.file.size > MAX_SIZE) throw Object.assign(new Error(TOO_LARGE), { kind: "refused" });
      const path = `/api/sessions/${sessionId}/attachments?name=${encodeURIComponent(item.name)}`;
      const uploaded = await this.app.connection.upload(path, item.file, (progress) => {
        item.progress = progress;
        if (item.owner) item.owner.#drawProgress(item);
      });
      Object.assign(item, { path: uploaded.path, isImage: uploaded.kind === "image", file: undefined });
    } catch (error) {
      // Offline it waits; it is uploaded when the connection is back, as is what broke off with it.
      item.isRefused = Boolean(/** @type {any} */ (error).kind);
      if (this.app.connection.isOpen) item.error = /** @type {Error} */ (error).message;
    }
    item.progress = undefined;
    // The files of a new task are kept until it has started.
    const isGone = item.path && isKept && this.place !== NEW_TASK && !(await releaseFile(item.key));
    if (item.path) unpark(this.place, item);
    if (item.owner && isGone) item.owner.#remove(item); // another tab was faster, or removed it
    else if (item.owner) item.owner.#finish(item);
    else if (item.path && !isGone) addToDraft(sessionId, item);
    if (!item.owner) sendLater(this.app, sessionId);
  }

  /** @param {Attachment} item */
  #finish(item) {
    this.#draw();
    if (this.#items.includes(item)) this.onChange();
  }

  /** @param {Attachment} item */
  #remove(item) {
    this.#items = this.#items.filter((other) => other !== item);
    item.kept?.then((isKept) => isKept && releaseFile(item.key));
    if (item.preview) URL.revokeObjectURL(item.preview);
    this.#draw();
    this.onChange();
  }

  // Drawing ----------------------------------------------------------------------------------------

  #draw() {
    this.element.hidden = this.isEmpty;
    const stateOf = (/** @type {Attachment} */ item) => `${item.key}/${item.error ?? ""}/${Boolean(item.file)}/${item.progress !== undefined}/${item.isLost}/${this.app.connection.isOpen}`;
    syncKeyed(this.element, this.#items, stateOf, (item, old) => old ?? this.#drawItem(item));
  }

  /** @param {Attachment} item */
  #drawItem(item) {
    const picture = item.preview ? make("img", { src: item.preview, alt: "" }) : icon(item.isImage ? "image" : "file");
    const waits = item.file && item.progress === undefined && !item.error && !this.app.connection.isOpen;
    const retry = button("Try again", () => this.#upload(item), ".quiet");
    return make(
      "li",
      picture,
      make(
        "span.about",
        item.error ? make("span.bad", `Could not attach '${item.name}'. ${item.error}`, { role: "alert" }) : make("span.name", item.name, { title: item.path ?? item.name }),
        item.progress !== undefined && make("progress", { max: 1, value: item.progress, "aria-label": `Uploading ${item.name}` }),
        waits && make("small", item.isLost ? "uploads when you are back online; keep this page open" : "uploads when you are back online"),
      ),
      item.error && retry,
      button(icon("close"), () => this.#remove(item), ".quiet.icon-only", { "aria-label": `Remove ${item.name}` }),
    );
  }

  /** @param {Attachment} item */
  #drawProgress(item) {
    const index = this.#items.indexOf(item);
    const bar = this.element.children[index]?.querySelector("progress");
    if (bar) bar.value = item.progress ?? 0;
  }
}

/** Add an uploaded file to the message of a session that is not shown. @param {string} sessionId @param {Attachment} item */
function addToDraft(sessionId, item) {
  const draft = loadDraft(sessionId);
  draft[item.isImage ? "images" : "files"].push(item.path ?? "");
  saveDraft(sessionId, draft);
}

/** Send the message of a session that is not shown if it has waited for its attachments, which are all uploaded now. @param {import("../app.js").App} app @param {string} sessionId */
function sendLater(app, sessionId) {
  const session = app.state.sessions.get(sessionId);
  // While a request is open it would be an answer, so it stays in the message box.
  if (!session || session.status === "waiting" || parked.has(sessionId) || !isSentLater(sessionId)) return;
  setSentLater(sessionId, false);
  const { message, ...paths } = loadDraft(sessionId);
  saveDraft(sessionId, { message: "", images: [], files: [] });
  app.outbox.add(sessionId, unescapeCommand(message), paths);
}

/** @param {string} place @param {Attachment} item */
function park(place, item) {
  item.owner = null;
  parked.set(place, [...(parked.get(place) ?? []), item]);
}

/** @param {string} place @param {Attachment} item */
function unpark(place, item) {
  const others = (parked.get(place) ?? []).filter((other) => other !== item);
  if (others.length) parked.set(place, others);
  else parked.delete(place);
}
