// @ts-check
// Small dialogs, based on the browser's dialog element; Escape closes them without any change. On a phone they are
// sheets from below; on a desk, menus are beside the button that opened them.

import { button, make } from "./dom.js";
import { icon } from "./icons.js";
import { closeOnBack } from "./overlays.js";

const EDGE = 8; // px between a menu and the edges of the screen, or its button

/**
 * @template Choice
 * @typedef {[label: string, value: Choice, options?: { icon?: string, danger?: boolean, isApart?: boolean }]} MenuEntry
 *   a danger and what `isApart` begin a group of their own
 */

/**
 * Ask for confirmation.
 * @param {string} question
 * @param {import("./dom.js").Parts} details what confirming does
 * @param {string} label of the button that confirms
 * @param {{ danger?: boolean, isSafe?: boolean }} [options] `isSafe`: the focus is on Cancel, as if it were a danger
 * @returns {Promise<boolean>}
 */
export function confirm(question, details, label, { danger = false, isSafe = danger } = {}) {
  return open(question, (close) => [
    make("div", details),
    make(
      "div.choices",
      button(label, () => close(true), danger ? ".danger" : ".primary"),
      button("Cancel", () => close(false), "", { autofocus: isSafe }), // an accidental Enter or space does nothing
    ),
  ], false);
}

/**
 * Ask for a line of text or, with `rows`, for several.
 * @param {string} question
 * @param {{ value?: string, label: string, rows?: number, hint?: string, more?: (HTMLElement)[], submit?: (text: string) => unknown }} options
 *   `submit` uses the text: if it throws, the dialog stays open and shows the error
 * @returns {Promise<string | null>} `null` if it was canceled
 */
export function ask(question, { value = "", label, rows = 1, hint = "", more = [], submit = () => {} }) {
  const field = rows > 1 ? make("textarea", { rows }) : make("input");
  field.value = value;
  field.ariaLabel = question;
  const submitButton = make("button.primary", label);
  const problem = make("p.bad", { role: "alert" });
  return open(question, (close) => {
    const form = make(
      "form",
      field,
      hint && make("p.hint", hint),
      more,
      problem,
      make("div.choices", submitButton, button("Cancel", () => close(null))),
    );
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      submitButton.disabled = true;
      problem.textContent = "";
      try {
        await submit(field.value);
        close(field.value);
      } catch (error) {
        problem.textContent = /** @type {Error} */ (error).message;
        field.focus();
      } finally {
        submitButton.disabled = false;
      }
    });
    return [form];
  }, /** @type {string | null} */ (null));
}

/**
 * Let the user choose one of several items of a menu.
 * @template Choice
 * @param {string} title
 * @param {MenuEntry<Choice>[]} choices
 * @param {() => unknown} [reopen] for Forward, after Back has closed it
 * @returns {Promise<Choice | null>} `null` if it was canceled
 */
export function choose(title, choices, reopen) {
  const opener = document.activeElement;
  return open(title, (close, dialog) => {
    dialog.classList.add("menu");
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    if (opener instanceof HTMLButtonElement) requestAnimationFrame(() => placeBeside(dialog, opener));
    return [
      make("div.list", choices.map(([label, choice, { icon: name, danger, isApart } = {}]) =>
        button([name && icon(name), label], () => close(choice), `.quiet${danger ? ".danger" : ""}${isApart ? ".apart" : ""}`))),
      make("div.choices", button("Cancel", () => close(null), ".quiet")),
    ];
  }, /** @type {Choice | null} */ (null), reopen);
}

/** Place a menu below its button, or above it if there is no room. @param {HTMLDialogElement} dialog @param {HTMLElement} opener */
function placeBeside(dialog, opener) {
  const anchor = opener.getBoundingClientRect();
  dialog.classList.add("anchored");
  const { width, height } = dialog.getBoundingClientRect();
  const left = anchor.left + width + EDGE > innerWidth ? anchor.right - width : anchor.left;
  const top = anchor.bottom + EDGE / 2 + height + EDGE > innerHeight ? anchor.top - EDGE / 2 - height : anchor.bottom + EDGE / 2;
  dialog.style.setProperty("--left", `${Math.max(EDGE, left)}px`);
  dialog.style.setProperty("--top", `${Math.max(EDGE, Math.min(top, innerHeight - height - EDGE))}px`);
}

/**
 * @template Answer
 * @param {string} title
 * @param {(close: (answer: Answer) => void, dialog: HTMLDialogElement) => HTMLElement[]} build
 * @param {Answer} canceled the result if it is canceled
 * @param {() => unknown} [reopen]
 * @returns {Promise<Answer>}
 */
function open(title, build, canceled, reopen) {
  return new Promise((resolve) => {
    const dialog = make("dialog", make("h2", title), { "aria-label": title });
    let result = canceled;
    dialog.append(...build((text) => {
      result = text;
      dialog.close();
    }, dialog));
    showDialog(dialog, () => resolve(result), reopen);
  });
}

/**
 * Show a modal dialog; when it is closed, it is removed and the focus is restored.
 * @param {HTMLDialogElement} dialog @param {() => void} [onClose] @param {() => unknown} [reopen]
 */
export function showDialog(dialog, onClose, reopen) {
  const before = document.activeElement;
  const release = closeOnBack(() => dialog.close(), reopen);
  dialog.addEventListener("close", () => {
    release();
    dialog.remove();
    const next = document.querySelector("dialog[open]"); // opened from this one, or below it
    if (before instanceof HTMLElement && before.isConnected && (!next || next.contains(before))) before.focus();
    onClose?.();
  });
  document.body.append(dialog);
  dialog.showModal();
}
