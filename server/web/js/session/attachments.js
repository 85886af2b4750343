// @ts-check
// Pictures and files attached to a message: from the camera, the gallery or the files of this device, pasted, dropped,
// or by path on the machine that runs Spinney. They are uploaded at once; offline, they wait for the connection.

import { ask, choose } from "../dialogs.js";
import { button, make, syncKeyed } from "../dom.js";
import { icon } from "../icons.js";
import { isScalable, scaleDown } from "./scaling.js";

/**
 * @typedef {object} Attachment
 * @property {string} key
 * @property {string} name
 * @property {boolean} isImage
 * @property {string} [path] on the machine that runs Spinney, once it is there
 * @property {File} [file] until it is there
 * @property {string} [preview] a URL of the picture
 * @property {number} [progress] from 0 to 1, while it is being uploaded
 * @property {string} [error]
 */

const IS_IMAGE = /\.(png|jpe?g|gif|webp)$/i;
const MAX_SIZE = 20 * 1024 * 1024; // bytes, as in the model
const HINT = "Absolute, or relative to the worktree.";

/** The file name of a path. @param {string} path */
export const nameOf = (path) => path.split("/").at(-1) ?? path;

export class Attachments {
  /** @type {Attachment[]} */ #items = [];
  #lastKey = 0;
  /** @type {() => unknown} */ #unsubscribe;

  /** @param {import("../app.js").App} app @param {string} sessionId @param {import("../drafts.js").Paths} paths @param {() => void} onChange */
  constructor(app, sessionId, paths, onChange) {
    this.app = app;
    this.sessionId = sessionId;
    this.onChange = onChange;
    this.element = make("ul.attached", { "aria-label": "Attachments", hidden: true });
    this.button = button(icon("plus"), () => this.#choose(), ".quiet.icon-only.attach", { "aria-label": "Attach", title: "Attach pictures or files" });
    this.#insert(paths);
    this.#unsubscribe = app.onConnection((status) => {
      if (status.state === "open") for (const item of this.#items) if (item.file && !item.error) this.#upload(item);
      this.#draw();
    });
  }

  close() {
    this.#unsubscribe();
    for (const item of this.#items) if (item.preview) URL.revokeObjectURL(item.preview);
  }

  /** The paths of the pictures and of the other files. */
  get paths() {
    const pathsOf = (/** @type {boolean} */ isImage) => this.#items.flatMap((item) => (item.path && item.isImage === isImage ? [item.path] : []));
    return { images: pathsOf(true), files: pathsOf(false) };
  }

  /** Why a message cannot be sent yet, or an empty string. */
  get problem() {
    if (this.#items.some((item) => item.error)) return "An attachment was not uploaded. Try again, or remove it.";
    const isWaiting = this.#items.some((item) => item.file);
    if (!isWaiting) return "";
    return this.app.connection.isOpen ? "An attachment is still being uploaded. Try again in a moment." : "An attachment will be uploaded when you are back online. Send then, or remove it.";
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
      if (!known.has(path)) this.#items.push({ key: this.#newKey(), name: nameOf(path), isImage: images.includes(path), path });
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
      const item = { key: this.#newKey(), name: file.name || "pasted picture", isImage, file };
      if (isImage) item.preview = URL.createObjectURL(file);
      this.#items.push(item);
      this.#upload(item);
    }
    this.#draw();
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

  #newKey() {
    return String(++this.#lastKey);
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
    chooser.onchange = () => {
      this.addFiles(chooser.files ?? []);
      chooser.remove();
    };
    chooser.oncancel = () => chooser.remove();
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

  /** @param {Attachment} item */
  async #upload(item) {
    const { file } = item;
    if (!file || item.progress !== undefined || !this.app.connection.isOpen) return;
    item.progress = 0;
    item.error = undefined;
    this.#draw();
    try {
      const data = await scaleDown(file);
      if (data.size > MAX_SIZE) throw new Error("It is larger than 20 MB.");
      const path = `/api/sessions/${this.sessionId}/attachments?name=${encodeURIComponent(item.name)}`;
      const uploaded = await this.app.connection.upload(path, data, (progress) => {
        item.progress = progress;
        this.#drawProgress(item);
      });
      Object.assign(item, { path: uploaded.path, isImage: uploaded.kind === "image", file: undefined });
    } catch (error) {
      // Offline it waits; it is uploaded when the connection is back.
      if (this.app.connection.isOpen) item.error = /** @type {Error} */ (error).message;
    }
    item.progress = undefined;
    this.#draw();
    if (item.path && this.#items.includes(item)) this.onChange();
  }

  /** @param {Attachment} item */
  #remove(item) {
    this.#items = this.#items.filter((other) => other !== item);
    if (item.preview) URL.revokeObjectURL(item.preview);
    this.#draw();
    this.onChange();
  }

  // Drawing ----------------------------------------------------------------------------------------

  #draw() {
    this.element.hidden = this.isEmpty;
    const stateOf = (/** @type {Attachment} */ item) => `${item.key}/${item.error ?? ""}/${Boolean(item.file)}/${item.progress !== undefined}`;
    syncKeyed(this.element, this.#items, stateOf, (item, old) => old ?? this.#drawItem(item));
  }

  /** @param {Attachment} item */
  #drawItem(item) {
    const picture = item.preview ? make("img", { src: item.preview, alt: "" }) : icon(item.isImage ? "image" : "file");
    const waits = item.file && item.progress === undefined && !item.error;
    const retry = button("Try again", () => this.#upload(item), ".quiet");
    return make(
      "li",
      picture,
      make(
        "span.about",
        item.error ? make("span.bad", `Could not attach '${item.name}'. ${item.error}`, { role: "alert" }) : make("span.name", item.name, { title: item.path ?? item.name }),
        item.progress !== undefined && make("progress", { max: 1, value: item.progress, "aria-label": `Uploading ${item.name}` }),
        waits && make("small", "uploads when you are back online"),
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
