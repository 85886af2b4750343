// @ts-check
// The card of a project's train: its worktrees in their order as they are brought in, what stopped it, and landing what
// is ready.

import { confirm, showDialog } from "../dialogs.js";
import { button, make, patchChildren } from "../dom.js";
import { formatDuration, pluralize } from "../format.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { Autoscroll } from "../session/autoscroll.js";
import { sendProblem } from "./landing_check.js";
import { labeled, select } from "./form_fields.js";
import { undoLanding } from "./landing_history.js";
import { AFTER } from "./landing_types.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./landing_types.js").Train} Train
 * @typedef {import("./landing_types.js").TrainCar} TrainCar
 */

/** @type {Record<TrainCar["status"], [symbol: string, text: string, classes: string]>} */
const CARS = {
  waiting: ["·", "waits", ""],
  merging: ["◐", "is being brought in", "active"],
  checking: ["◐", "its check runs", "active"],
  ready: ["✓", "ready", "ok"],
  conflict: ["✗", "conflict", "bad"],
  failed: ["✗", "failed", "bad"],
  left_out: ["–", "left out", ""],
};
const MAX_FILES = 8; // of a conflict

/** @param {App} app @param {string} projectId */
export function trainCard(app, projectId) {
  const title = make("h2");
  const note = make("p");
  const cars = make("ol.cars");
  const choices = make("div.choices");
  const element = make("section.card.train", title, note, cars, choices, { hidden: true, "aria-label": "Train" });
  /** @type {Train | null} */ let train = null;

  /** @param {Train | null} changed */
  const show = (changed) => {
    train = changed;
    element.hidden = !changed;
    if (!changed) return;
    title.replaceChildren(icon("merge"), ` Train onto ${changed.base}`, make("small", ` ${changed.method}${changed.with_check ? ", check after each" : ", without checks"}`));
    note.textContent = describe(changed);
    note.className = ["stopped", "failed", "outdated"].includes(changed.status) ? "bad" : "hint";
    patchChildren(cars, changed.cars.map((car) => carItem(app, changed, car)));
    patchChildren(choices, choicesOf(changed));
  };

  /** @param {Train} shown @returns {HTMLElement[]} */
  const choicesOf = (shown) => {
    const ready = countReady(shown);
    const isRunning = shown.status === "running";
    const canLand = ready > 0 && ["ready", "stopped"].includes(shown.status);
    return [
      canLand && button([icon("merge"), `Land ${ready === shown.cars.length ? "all" : ready} …`], () => train && land(app, train, show), ".primary"),
      isRunning && button([icon("stop"), "Stop"], () => app.run("stop_train", { trainId: shown.id })),
      !isRunning && shown.status !== "landed" && button([icon("refresh"), "Run again"], () => train && runAgain(app, train, show)),
      shown.status === "landed" && shown.landing_id && button([icon("undo"), "Undo"], () => undoLanding(app, shown.landing_id ?? "")),
      button(shown.status === "landed" ? "Close" : "Discard", () => train && discard(app, train), shown.status === "landed" ? "" : ".quiet"),
    ].filter((part) => part instanceof HTMLElement);
  };

  return {
    element,
    show,
    async load() {
      const found = await app.read("get_train", { projectId });
      if (found !== undefined) show(found);
    },
  };
}

/** @param {Train} train */
const countReady = ({ cars }) => cars.filter((car) => car.status === "ready").length;

/** What a train does, or why it does not go on. @param {Train} train */
function describe(train) {
  const ready = countReady(train);
  const time = train.ended_at ? ` after ${formatDuration(train.ended_at - train.started_at)}` : "";
  const count = `${ready} of ${pluralize(train.cars.length, "worktree")} ready`;
  switch (train.status) {
    case "running":
      return `${count}. '${train.base}' stays where it is until you land.`;
    case "ready":
      return `${ready === train.cars.length ? `All ${ready} are ready` : `${count}, the others were left out`}${time}. '${train.base}' has not been touched yet.`;
    case "stopped":
      return `Stopped${time}: ${count}.${train.error ? ` ${train.error}` : ""} '${train.base}' has not been touched.`;
    case "landed":
      return `${pluralize(ready, "worktree")} landed on '${train.base}'.`;
    case "outdated":
      return train.error || `'${train.base}' or a branch has moved since. Run the train again.`;
    default:
      return train.error || "The train failed. Run it again.";
  }
}

/** @param {App} app @param {Train} train @param {TrainCar} car */
function carItem(app, train, car) {
  const [symbol, text, classes] = CARS[car.status];
  const name = app.state.worktrees.get(car.worktree_id)?.name ?? car.branch;
  const isActive = classes === "active";
  const isStopped = car.status === "conflict" || car.status === "failed";
  const hasOutput = car.check !== "none" || car.status === "checking";
  const mark = isActive ? make("span.spinner", { "aria-hidden": "true" }) : make(`span.mark${classes && `.${classes}`}`, symbol, { "aria-hidden": "true" });
  const checked = car.check === "none" ? "" : `, check ${car.check}`;
  const files = car.conflicts.slice(0, MAX_FILES).map((path) => make("li.path", path));
  if (car.conflicts.length > MAX_FILES) files.push(make("li.hint", `… ${pluralize(car.conflicts.length - MAX_FILES, "more file")}`));
  const output = hasOutput && button([icon("terminal"), make("span.wide-label", "Output")], () => showOutput(app, train, car, name), ".quiet", { "aria-label": `Output of the check after ${name}` });
  return make(
    "li.car",
    make("p", mark, make("span.grow", make("a", name, { href: hashFor("worktree", car.worktree_id) }), make(isStopped ? "span.bad" : "span.hint", ` ${text}${isStopped ? "" : checked}`)), output),
    isStopped && car.error && make("p.bad", car.error),
    files.length > 0 && make("ul.files", files),
    isStopped && car.siblings.length === 0 && make("div.choices", button([icon("agent"), "Send to a session…"], () => sendProblem(app, car.worktree_id))),
  );
}

/** @param {App} app @param {Train} train @param {TrainCar} car @param {string} name */
async function showOutput(app, train, car, name) {
  const output = await app.run("get_train_output", { trainId: train.id, worktreeId: car.worktree_id });
  if (!output) return;
  const title = `Check after ${name}`;
  const text = make("pre.output", output.message || "Nothing was printed.", { tabIndex: 0, role: "group", "aria-label": "Output of the check" });
  const dialog = make("dialog.git-sheet", make("h2", title), text, { "aria-label": title });
  dialog.append(make("div.choices", button("Close", () => dialog.close(), ".quiet")));
  showDialog(dialog);
  new Autoscroll(text, dialog).scrollToEnd();
}

/** @param {App} app @param {Train} train @param {(train: Train) => void} show */
async function runAgain(app, train, show) {
  const started = await app.run("start_train", { projectId: train.project_id, worktreeIds: train.cars.map((car) => car.worktree_id), method: train.method, withCheck: train.with_check, keepGoing: train.keep_going });
  if (started) show(started);
}

/** @param {App} app @param {Train} train */
async function discard(app, train) {
  const isOver = train.status === "landed" || countReady(train) === 0;
  if (!isOver && !(await confirm("Discard the train?", "Branches and base stay as they are. What was brought together for it is forgotten.", "Discard", { danger: true }))) return;
  await app.run("discard_train", { trainId: train.id });
}

/** Land what is ready, after a question. @param {App} app @param {Train} train @param {(train: Train) => void} show */
async function land(app, train, show) {
  const ready = train.cars.filter((car) => car.status === "ready");
  const after = select("Afterwards", AFTER);
  after.value = app.state.preferences.after_landing;
  const remote = make("input", { type: "checkbox" });
  const remoteLabel = make("label.check", remote, "Delete their branches on the remote, too", { hidden: after.value !== "delete" });
  after.addEventListener("change", () => (remoteLabel.hidden = after.value !== "delete"));
  const details = make(
    "div.fields",
    make("p", `'${train.base}' moves to the last of them:`),
    make("ol.cars", ready.map((car) => make("li.car", app.state.worktrees.get(car.worktree_id)?.name ?? car.branch))),
    labeled("Afterwards", after),
    remoteLabel,
  );
  if (!(await confirm(`Land ${pluralize(ready.length, "worktree")} on '${train.base}'?`, details, "Land"))) return;
  const landing = await app.run("land_train", { trainId: train.id, after: after.value, deleteRemoteBranch: after.value === "delete" && remote.checked });
  if (!landing) return;
  show({ ...train, status: "landed", landing_id: landing.id });
  app.toast([`Landed on '${landing.base}', now at ${landing.after.slice(0, 10)}.`, ...landing.notes].join(" "), { isValid: () => true, action: ["Undo", () => undoLanding(app, landing.id)] });
}
