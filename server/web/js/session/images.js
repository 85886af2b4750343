// @ts-check
// Images that go with a message. Spinney takes them by their paths on its own machine.

import { ask } from "../dialogs.js";
import { button, make } from "../dom.js";

const IS_IMAGE = /\.(png|jpe?g|gif|webp)$/i;
const HINT = "Its path on the machine where Spinney runs, absolute or in the worktree. PNG, JPEG, GIF or WebP.";
const NO_UPLOAD =
  "Spinney takes an image by its path on the machine where it runs, and cannot take one from this device. " +
  "Copy it there first, then add it by its path.";

/** Whether agents can look at it. @param {string} path */
export const isImage = (path) => IS_IMAGE.test(path);

/** @param {import("../app.js").App} app @param {string[]} paths @param {() => void} changed */
export function images(app, paths, changed) {
  const element = make("ul.attached", { "aria-label": "Images that go with the message" });
  const draw = () => {
    element.hidden = paths.length === 0;
    element.replaceChildren(...paths.map((path) => make(
      "li",
      make("span", path),
      button("✕", () => remove(path), ".quiet", { "aria-label": `Without ${path}` }),
    )));
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
  const fromPath = async () => {
    const path = (await ask("Add an image", { yes: "Add", hint: HINT }))?.trim();
    if (path && !isImage(path)) app.say("Agents look at PNG, JPEG, GIF and WebP. Mention any other file with @.", { bad: true });
    else if (path) add([path]);
  };
  draw();
  return {
    element,
    button: button("▧", fromPath, ".quiet", { "aria-label": "Add an image", title: "Add an image" }),
    get paths() {
      return paths;
    },
    add,
    clear() {
      paths = [];
      draw();
    },
    /** What is pasted or dropped: a file of this device cannot be sent, and that is said. @param {HTMLElement} area @param {HTMLElement} text */
    receive(area, text) {
      const told = () => app.say(NO_UPLOAD, { bad: true, action: ["By its path", fromPath] });
      text.addEventListener("paste", (event) => {
        const given = event.clipboardData;
        if (!given?.files.length || given.getData("text/plain")) return;
        event.preventDefault();
        told();
      });
      area.addEventListener("dragover", (event) => event.dataTransfer?.types.includes("Files") && event.preventDefault());
      area.addEventListener("drop", (event) => {
        if (!event.dataTransfer?.files.length) return;
        event.preventDefault();
        told();
      });
    },
  };
}
