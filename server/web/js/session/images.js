// @ts-check
// Images attached to a message: uploaded from this device, or by path on the machine that runs Spinney.

import { ask, choose } from "../dialogs.js";
import { button, make } from "../dom.js";

const IS_IMAGE = /\.(png|jpe?g|gif|webp)$/i;
const TYPES = "image/png,image/jpeg,image/gif,image/webp";
const HINT = "Absolute, or relative to the worktree. PNG, JPEG, GIF or WebP.";
const MAX_SIZE = 1024 * 1024; // bytes, from which images are scaled down before uploading, as agents do anyway
const MAX_SIDE = 2000; // pixels

/** Whether a path is an image that agents can read. @param {string} path */
export const isImage = (path) => IS_IMAGE.test(path);

/** The file name of a path. @param {string} path */
export const nameOf = (path) => path.split("/").at(-1) ?? path;

/** @param {import("../app.js").App} app @param {string} sessionId @param {string[]} paths @param {() => void} onChange */
export function images(app, sessionId, paths, onChange) {
  const element = make("ul.attached", { "aria-label": "Attached images" });
  /** @type {Map<File, string>} status texts of images that are being uploaded */ const uploading = new Map();
  /** @type {Map<string, string>} original file names of uploaded images, by path */ const names = new Map();
  const draw = () => {
    element.hidden = paths.length + uploading.size === 0;
    element.replaceChildren(
      ...paths.map((path) => make(
        "li",
        make("span", names.get(path) ?? nameOf(path), { title: path }),
        button("✕", () => remove(path), ".quiet", { "aria-label": `Remove ${names.get(path) ?? nameOf(path)}` }),
      )),
      ...[...uploading.values()].map((text) => make("li", make("span", text), { role: "status" })),
    );
  };
  /** @param {string[]} added */
  const add = (added) => {
    paths = [...new Set([...paths, ...added])];
    draw();
    onChange();
  };
  /** @param {string} path */
  const remove = (path) => {
    paths = paths.filter((other) => other !== path);
    draw();
    onChange();
  };
  /** @param {Iterable<File>} files */
  const upload = async (files) => {
    for (const file of files) {
      uploading.set(file, `uploading ${file.name} …`);
      draw();
      try {
        const uploaded = await app.connection.post(`/api/sessions/${sessionId}/images`, { data: await readData(file) });
        uploading.delete(file);
        names.set(uploaded.path, file.name);
        add([uploaded.path]);
      } catch (error) {
        uploading.delete(file);
        draw();
        app.toast(`Could not add '${file.name}'. ${/** @type {Error} */ (error).message}`, { bad: true });
      }
    }
  };
  const chooser = make("input", { type: "file", accept: TYPES, multiple: true, hidden: true, "aria-label": "Images from this device" });
  chooser.onchange = () => {
    upload([...(chooser.files ?? [])]);
    chooser.value = "";
  };
  const fromPath = () => ask("Path of the image", {
    label: "Add",
    hint: HINT,
    submit(text) {
      const path = text.trim();
      if (!isImage(path)) throw new Error("Only PNG, JPEG, GIF and WebP images are supported. Mention other files with @.");
      add([path]);
    },
  });
  const chooseSource = async () => {
    const source = await choose("Add an image", [
      ["From this device", () => chooser.click()],
      ["By path on the machine that runs Spinney", fromPath],
    ]);
    source?.();
  };
  draw();
  return {
    element,
    chooser,
    button: button("▧", chooseSource, ".quiet", { "aria-label": "Add an image", title: "Add an image" }),
    get paths() {
      return paths;
    },
    /** Whether an image is still being uploaded. */
    get isUploading() {
      return uploading.size > 0;
    },
    add,
    /** Replace all paths. @param {string[]} others */
    set(others) {
      paths = [...new Set(others)];
      draw();
    },
    /** Accept pasted and dropped images. @param {HTMLElement} area @param {HTMLElement} text */
    receive(area, text) {
      text.addEventListener("paste", (event) => {
        const clipboard = event.clipboardData;
        if (!clipboard?.files.length || clipboard.getData("text/plain")) return;
        event.preventDefault();
        upload([...clipboard.files]);
      });
      area.addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
      area.addEventListener("drop", (event) => {
        if (!event.dataTransfer?.files.length) return;
        event.preventDefault();
        upload([...event.dataTransfer.files]);
      });
    },
  };
}

/** Read a file as a base64 data URL; scales down large images. @param {File} file @returns {Promise<string>} */
async function readData(file) {
  const blob = file.size > MAX_SIZE && file.type !== "image/gif" ? await scaleDown(file) : file;
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error("The file could not be read."));
    reader.readAsDataURL(blob);
  });
}

/** @param {File} file @returns {Promise<Blob>} a smaller image, or the file itself */
async function scaleDown(file) {
  try {
    const bitmap = await createImageBitmap(file);
    const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
    const canvas = make("canvas", { width: Math.round(bitmap.width * scale), height: Math.round(bitmap.height * scale) });
    canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    const scaled = await new Promise((/** @type {(scaled: Blob | null) => void} */ resolve) => canvas.toBlob(resolve, "image/jpeg", 0.9));
    return scaled && scaled.size < file.size ? scaled : file;
  } catch {
    return file; // Spinney reports what is wrong with it
  }
}
