// @ts-check
// Small questions to the person, each in the browser's own dialog: esc leaves it and changes nothing.

import { button, make } from "./dom.js";
import { closeOnBack } from "./overlays.js";

/**
 * Ask something that is answered by a button.
 * @param {string} question
 * @param {import("./dom.js").Parts} told what a yes would do
 * @param {string} yes
 * @param {{ danger?: boolean }} [how]
 * @returns {Promise<boolean>}
 */
export function confirm(question, told, yes, { danger = false } = {}) {
  return open(question, (close) => [
    make("div", told),
    make(
      "div.choices",
      button(yes, () => close(true), danger ? ".danger" : ".primary"),
      button("Cancel", () => close(false), "", { autofocus: danger }), // enter at the wrong moment destroys nothing
    ),
  ], false);
}

/**
 * Ask for a line or, with `rows`, for a text.
 * @param {string} question
 * @param {{ value?: string, yes: string, rows?: number, hint?: string, more?: (HTMLElement)[], take?: (given: string) => unknown }} how
 *   `take` does what was asked for: while it fails the dialog stays open, with the text and the reason
 * @returns {Promise<string | null>} `null` when it was left
 */
export function ask(question, { value = "", yes, rows = 1, hint = "", more = [], take = () => {} }) {
  const field = rows > 1 ? make("textarea", { rows }) : make("input");
  field.value = value;
  field.ariaLabel = question;
  const agree = make("button.primary", yes);
  const problem = make("p.bad", { role: "alert" });
  return open(question, (close) => {
    const form = make(
      "form",
      field,
      hint && make("p.hint", hint),
      more,
      problem,
      make("div.choices", agree, button("Cancel", () => close(null))),
    );
    form.onsubmit = async (event) => {
      event.preventDefault();
      agree.disabled = true;
      problem.textContent = "";
      try {
        await take(field.value);
        close(field.value);
      } catch (error) {
        problem.textContent = /** @type {Error} */ (error).message;
        field.focus();
      } finally {
        agree.disabled = false;
      }
    };
    return [form];
  }, /** @type {string | null} */ (null));
}

/**
 * Let one of several things be chosen.
 * @template Choice
 * @param {string} title
 * @param {[string, Choice][]} choices words, and what they stand for
 * @param {() => unknown} [reopen] for Forward, after Back has closed it
 * @returns {Promise<Choice | null>} `null` when it was left
 */
export function choose(title, choices, reopen) {
  return open(title, (close) => [
    make("div.list", choices.map(([words, choice]) => button(words, () => close(choice), ".quiet"))),
    make("div.choices", button("Cancel", () => close(null))),
  ], /** @type {Choice | null} */ (null), reopen);
}

/**
 * @template Answer
 * @param {string} title
 * @param {(close: (answer: Answer) => void) => HTMLElement[]} fill
 * @param {Answer} left what is answered when it is left
 * @param {() => unknown} [reopen]
 * @returns {Promise<Answer>}
 */
function open(title, fill, left, reopen) {
  return new Promise((resolve) => {
    const dialog = make("dialog", make("h2", title), { "aria-label": title });
    let answer = left;
    dialog.append(...fill((given) => {
      answer = given;
      dialog.close();
    }));
    showOver(dialog, () => resolve(answer), reopen);
  });
}

/**
 * Show a dialog over the page; once it is closed it is gone, and the keys are where they were.
 * @param {HTMLDialogElement} dialog @param {() => void} [closed] @param {() => unknown} [reopen]
 */
export function showOver(dialog, closed, reopen) {
  const before = document.activeElement;
  const release = closeOnBack(() => dialog.close(), reopen);
  dialog.onclose = () => {
    release();
    dialog.remove();
    const next = document.querySelector("dialog[open]"); // that this one has led to, or lay over
    if (before instanceof HTMLElement && before.isConnected && (!next || next.contains(before))) before.focus();
    closed?.();
  };
  document.body.append(dialog);
  dialog.showModal();
}
