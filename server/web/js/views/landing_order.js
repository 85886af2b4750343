// @ts-check
// The dialog that puts worktrees into the order of a train, by drag or by buttons, and starts it.

import { showDialog } from "../dialogs.js";
import { button, make, syncKeyed } from "../dom.js";
import { icon } from "../icons.js";
import { segmented } from "./form_fields.js";
import { METHODS } from "./landing_types.js";

/**
 * @typedef {{ id: string, name: string, detail: string }} Item
 * @typedef {import("./landing_types.js").Train} Train
 */

/** @param {import("../app.js").App} app @param {string} projectId @param {Item[]} items in the suggested order @param {(train: Train) => void} onStart */
export function orderTrain(app, projectId, items, onStart) {
  const list = make("ol.order", { "aria-label": "Order" });
  const announced = make("p.visually-hidden", { "aria-live": "polite" });
  const method = segmented("Method", METHODS, app.state.projects.get(projectId)?.landing_method ?? app.state.preferences.landing_method);
  const check = make("input", { type: "checkbox", checked: true });
  const keepGoing = make("input", { type: "checkbox" });
  const status = make("p.bad", { role: "alert" });
  const submit = make("button.primary", icon("play"), "Start");
  let order = [...items];
  let dragged = "";

  /** Move an item to another place. @param {string} id @param {number} to */
  const move = (id, to) => {
    const item = order.find((each) => each.id === id);
    if (!item || to < 0 || to >= order.length) return;
    order = order.filter((each) => each !== item);
    order.splice(to, 0, item);
    draw();
    announced.textContent = `${item.name} is number ${to + 1} of ${order.length}.`;
  };
  /** @param {string} id @param {number} offset @param {HTMLElement} pressed */
  const step = (id, offset, pressed) => {
    move(id, order.findIndex((each) => each.id === id) + offset);
    pressed.focus();
  };
  /** @param {Item} item */
  const makeRow = ({ id, name, detail }) => {
    const up = button(icon("chevron-up"), () => step(id, -1, up), ".quiet.icon-only", { "aria-label": `Move ${name} up` });
    const down = button(icon("chevron-down"), () => step(id, +1, down), ".quiet.icon-only", { "aria-label": `Move ${name} down` });
    const drop = button(icon("close"), () => {
      order = order.filter((each) => each.id !== id);
      draw();
    }, ".quiet.icon-only", { "aria-label": `Leave ${name} out` });
    const row = make("li", make("span.handle", icon("drag")), make("span.grow", make("b", name), make("small", detail)), up, down, drop, { draggable: true });
    row.addEventListener("dragstart", (event) => {
      dragged = id;
      event.dataTransfer?.setData("text/plain", name);
    });
    row.addEventListener("dragend", () => (dragged = ""));
    row.addEventListener("dragover", (event) => {
      if (!dragged) return;
      event.preventDefault();
      if (dragged !== id) move(dragged, order.findIndex((each) => each.id === id));
    });
    row.addEventListener("drop", (event) => event.preventDefault());
    return row;
  };
  const draw = () => {
    syncKeyed(list, order, (item) => item.id, (item, old) => old ?? makeRow(item));
    submit.disabled = order.length === 0;
  };

  const dialog = make("dialog.git-sheet", make("h2", "Land as a train"), { "aria-label": "Land as a train" });
  const form = make(
    "form.fields",
    make("p.hint", "Each is brought in on top of the one before it, beside all checkouts. The base branch stays where it is until you land them."),
    list,
    announced,
    make("div.field", make("span", "Method"), method.element),
    make("label.check", check, "Run the check after each"),
    make("label.check", keepGoing, "Leave out one that fails, and go on"),
    status,
    make("div.choices", submit, button("Cancel", () => dialog.close())),
    { "aria-label": "Train" },
  );
  dialog.append(form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (submit.disabled) return;
    submit.disabled = true;
    status.textContent = "";
    try {
      const args = { projectId, worktreeIds: order.map((item) => item.id), method: method.value(), withCheck: check.checked, keepGoing: keepGoing.checked };
      onStart(await app.connection.call("start_train", args));
      dialog.close();
    } catch (error) {
      status.textContent = /** @type {Error} */ (error).message;
      submit.disabled = false;
    }
  });
  draw();
  showDialog(dialog);
  submit.focus();
}
