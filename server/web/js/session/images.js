// @ts-check
// Pictures that go with a message: from this device, which Spinney then keeps, or by a path on its own machine.

import { ask, choose } from "../dialogs.js";
import { button, make } from "../dom.js";

const IS_IMAGE = /\.(png|jpe?g|gif|webp)$/i;
const TYPES = "image/png,image/jpeg,image/gif,image/webp";
const HINT = "Absolute, or in the worktree. PNG, JPEG, GIF or WebP.";
const LARGE = 1024 * 1024; // bytes from which on a picture is sent smaller, as agents look at it smaller anyway
const SIDE = 2000; // pixels

/** Whether agents can look at it. @param {string} path */
export const isImage = (path) => IS_IMAGE.test(path);

/** The end of a path. @param {string} path */
export const nameOf = (path) => path.split("/").at(-1) ?? path;

/** @param {import("../app.js").App} app @param {string} sessionId @param {string[]} paths @param {() => void} changed */
export function images(app, sessionId, paths, changed) {
  const element = make("ul.attached", { "aria-label": "Images that go with the message" });
  /** @type {Map<File, string>} pictures on their way, by what is said of them */ const coming = new Map();
  /** @type {Map<string, string>} what pictures were called on this device, by their paths */ const names = new Map();
  const draw = () => {
    element.hidden = paths.length + coming.size === 0;
    element.replaceChildren(
      ...paths.map((path) => make(
        "li",
        make("span", names.get(path) ?? nameOf(path), { title: path }),
        button("✕", () => remove(path), ".quiet", { "aria-label": `Without ${names.get(path) ?? nameOf(path)}` }),
      )),
      ...[...coming.values()].map((words) => make("li", make("span", words), { role: "status" })),
    );
  };
  /** @param {string[]} more */
  const add = (more) => {
    paths = [...new Set([...paths, ...more])];
    draw();
    changed();
  };
  /** @param {string} path */
  const remove = (path) => {
    paths = paths.filter((each) => each !== path);
    draw();
    changed();
  };
  /** @param {Iterable<File>} files */
  const upload = async (files) => {
    for (const file of files) {
      coming.set(file, `adding ${file.name} …`);
      draw();
      try {
        const kept = await app.connection.post(`/api/sessions/${sessionId}/images`, { data: await dataOf(file) });
        coming.delete(file);
        names.set(kept.path, file.name);
        add([kept.path]);
      } catch (error) {
        coming.delete(file);
        draw();
        app.say(`“${file.name}” was not added. ${/** @type {Error} */ (error).message}`, { bad: true });
      }
    }
  };
  const chooser = make("input", { type: "file", accept: TYPES, multiple: true, hidden: true, "aria-label": "Pictures of this device" });
  chooser.onchange = () => {
    upload([...(chooser.files ?? [])]);
    chooser.value = "";
  };
  const fromPath = () => ask("Path of the image", {
    yes: "Add",
    hint: HINT,
    take(given) {
      const path = given.trim();
      if (!isImage(path)) throw new Error("Agents look at PNG, JPEG, GIF and WebP. Mention any other file with @.");
      add([path]);
    },
  });
  const fromSomewhere = async () => {
    const from = await choose("Add an image", [
      ["From this device", () => chooser.click()],
      ["By its path on the machine where Spinney runs", fromPath],
    ]);
    from?.();
  };
  draw();
  return {
    element,
    chooser,
    button: button("▧", fromSomewhere, ".quiet", { "aria-label": "Add an image", title: "Add an image" }),
    get paths() {
      return paths;
    },
    /** Whether a picture is still on its way to Spinney. */
    get isAdding() {
      return coming.size > 0;
    },
    add,
    /** Have these alone. @param {string[]} others */
    set(others) {
      paths = [...new Set(others)];
      draw();
    },
    /** Take what is pasted or dropped. @param {HTMLElement} area @param {HTMLElement} text */
    receive(area, text) {
      text.addEventListener("paste", (event) => {
        const given = event.clipboardData;
        if (!given?.files.length || given.getData("text/plain")) return;
        event.preventDefault();
        upload([...given.files]);
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

/** A file in base64; a large picture smaller than it was. @param {File} file @returns {Promise<string>} */
async function dataOf(file) {
  const blob = file.size > LARGE && file.type !== "image/gif" ? await smaller(file) : file;
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error("It could not be read."));
    reader.readAsDataURL(blob);
  });
}

/** @param {File} file @returns {Promise<Blob>} the file itself where it cannot be made smaller */
async function smaller(file) {
  try {
    const picture = await createImageBitmap(file);
    const scale = Math.min(1, SIDE / Math.max(picture.width, picture.height));
    const canvas = make("canvas", { width: Math.round(picture.width * scale), height: Math.round(picture.height * scale) });
    canvas.getContext("2d")?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    const made = await new Promise((/** @type {(made: Blob | null) => void} */ resolve) => canvas.toBlob(resolve, "image/jpeg", 0.9));
    return made && made.size < file.size ? made : file;
  } catch {
    return file; // Spinney says what is wrong with it
  }
}
