// @ts-check
// An agent's review of the changes: its findings at their lines, each to be fixed by a session, edited or dismissed.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { locate } from "./diff_reviewed.js";
import { labeled, optionsOf } from "./form_fields.js";
import { sendByCommand } from "./session_picker.js";
import { loadStylesheet } from "./stylesheet.js";

/**
 * @typedef {import("./diff.js").DiffView} DiffView
 * @typedef {import("./diff_file.js").DiffFile} DiffFile
 * @typedef {import("./diff_reviewed.js").Finding} Finding
 */

const BESIDE = 3; // lines by which a finding may be beside the lines that a diff shows
/** @type {[string, string][]} */
const SEVERITIES = [["critical", "Critical"], ["major", "Major"], ["minor", "Minor"], ["note", "Note"]];

export class Findings {
  /** @param {DiffView} view */
  constructor(view) {
    this.view = view;
  }

  get #reviewed() {
    return this.view.reviewed;
  }

  /** Let an agent review the changes, or stop it. */
  async toggle() {
    const { view } = this;
    if (this.#reviewed.isRunning) await view.app.run("stop_code_review", { worktreeId: view.id });
    else {
      const started = await view.app.run("run_code_review", { worktreeId: view.id });
      if (started) view.app.toast(`${started.agent} reviews the changes.${matchMedia("(pointer: coarse)").matches ? "" : " f goes to what it finds."}`);
    }
    await this.#reviewed.read();
  }

  /** Send findings to a session, which is to fix them. @param {Finding[]} findings */
  async fix(findings) {
    const { view } = this;
    if (!findings.length) return view.app.toast(this.describeNothing());
    const args = { findingIds: findings.map((finding) => finding.id) };
    const what = findings.length === 1 ? `the finding at ${locate(findings[0])}` : pluralize(findings.length, "finding");
    if (await sendByCommand(view.app, view.id, "send_findings", args, { title: "Fix", details: `The session gets ${what}, and is to fix ${findings.length === 1 ? "it" : "them"}.` })) await this.#reviewed.read();
    return undefined;
  }

  /** @param {Finding} finding @param {boolean} dismissed */
  async setDismissed(finding, dismissed) {
    const { view } = this;
    const changed = await view.app.run("update_finding", { worktreeId: view.id, findingId: finding.id, dismissed });
    if (changed && dismissed) view.app.toast("Dismissed the finding.", { action: ["Undo", () => this.setDismissed(finding, false)] });
    await this.#reviewed.read();
  }

  /** Change what a finding says. @param {Finding} finding */
  async edit(finding) {
    const { view } = this;
    await loadStylesheet("forms");
    const severity = make("select", optionsOf(SEVERITIES));
    severity.value = finding.severity;
    const explanation = make("textarea", { rows: 5, value: finding.explanation });
    const suggestion = make("textarea.code-field", { rows: 5, value: finding.suggestion, spellcheck: false });
    const problem = make("p.bad", { role: "alert" });
    const save = make("button.primary", "Save");
    const title = `Edit the finding at ${locate(finding)}`;
    const form = make("form.fields", labeled("Severity", severity), labeled("What is wrong", explanation), labeled("Lines that should replace these", suggestion), problem, make("div.choices", save, button("Cancel", () => dialog.close())));
    /** @type {HTMLDialogElement} */
    const dialog = make("dialog", make("h2", title), form, { "aria-label": title });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      save.disabled = true;
      try {
        await view.app.connection.call("update_finding", { worktreeId: view.id, findingId: finding.id, severity: severity.value, explanation: explanation.value.trim(), suggestion: suggestion.value });
        dialog.close();
        await this.#reviewed.read();
      } catch (error) {
        problem.textContent = /** @type {Error} */ (error).message;
      }
      save.disabled = false;
    });
    showDialog(dialog);
  }

  /** The finding whose card has the focus. @param {Element | null} target */
  at(target) {
    const id = /** @type {HTMLElement | null} */ (target?.closest("[data-finding]") ?? null)?.dataset.finding;
    return this.#reviewed.findings.find((finding) => finding.id === id);
  }

  /** Go to the finding after the focused one, in the order of the review. */
  next() {
    const { findings } = this.#reviewed;
    const here = this.at(document.activeElement);
    const next = findings[(here ? findings.indexOf(here) + 1 : 0) % findings.length];
    if (next) this.goTo(next);
    else this.view.app.toast(this.describeNothing());
  }

  /** Go to a finding at its lines, on the first side that shows its file. @param {Finding} finding */
  async goTo(finding) {
    const { view } = this;
    const sides = [view.side, ...view.sides.filter((side) => side !== view.side)];
    for (const side of sides) {
      if (view.counts.get(side) === 0) continue;
      await view.showSide(side);
      const file = view.fileOf(finding.path);
      if (!file) continue;
      view.goToFile(file);
      await file.load();
      const card = file.grid.querySelector(`[data-finding="${CSS.escape(finding.id)}"]`);
      if (!(card instanceof HTMLElement)) continue;
      card.focus({ preventScroll: true });
      card.scrollIntoView({ block: "center" });
      return;
    }
    view.app.toast(`No diff shows ${locate(finding)} any more.`);
  }

  /** Why there is no finding, and what to do. */
  describeNothing() {
    const found = this.#reviewed.byAgent;
    if (found?.status === "running") return `${found.agent} is still reviewing. R stops it.`;
    if (found?.status === "failed") return `The review failed: ${found.error} R runs it again.`;
    if (found?.status === "completed") return `The review left nothing to do. ${found.summary}`;
    return "No agent has reviewed these changes. R lets one do it.";
  }

  /** A finding, with what can be done about it. @param {Finding} finding @param {HTMLElement} [location] */
  card(finding, location) {
    const { severity, explanation, suggestion, state } = finding;
    const name = `${severity} finding at ${locate(finding)}`;
    const words = this.#reviewed.wordsOf(finding).map((word) => make("span.badge", word));
    const isDismissed = state === "dismissed";
    return make(
      "div.finding",
      make("p.finding-head", make("b.severity", severity, { "data-severity": severity }), words, location),
      make("p.comment-text", explanation),
      suggestion && !isDismissed && make("pre.suggestion", suggestion, { tabIndex: 0, role: "group", "aria-label": "Suggested lines" }),
      make(
        "div.choices",
        !isDismissed && button([icon("agent"), state === "sent" ? "Send again…" : "Fix…"], () => this.fix([finding]), "", { "aria-label": `Fix the ${name}` }),
        !isDismissed && button("Edit", () => this.edit(finding), ".quiet", { "aria-label": `Edit the ${name}` }),
        button(isDismissed ? "Bring back" : "Dismiss", () => this.setDismissed(finding, !isDismissed), ".quiet", { "aria-label": `${isDismissed ? "Bring back" : "Dismiss"} the ${name}` }),
      ),
      { role: "group", "aria-label": name, tabIndex: -1, "data-severity": severity, ...(location ? {} : { "data-finding": finding.id }) },
    );
  }

  /** Show the findings of a file below their lines. @param {DiffFile} file */
  draw(file) {
    const shown = new Map(/** @type {HTMLElement[]} */ ([...file.grid.querySelectorAll(".finding-row")]).map((row) => [row.dataset.key, row]));
    for (const finding of this.#reviewed.findings.filter(({ path }) => path === file.path)) {
      const row = file.elementOf(findLine(file.rows, finding));
      const key = JSON.stringify([finding, this.#reviewed.wordsOf(finding)]);
      const old = shown.get(key);
      if (!row || (old && isBelow(old, row))) {
        if (row) shown.delete(key);
        continue;
      }
      row.after(make("div.diff-row.comment-row.finding-row", make("div", this.card(finding), { role: "gridcell" }), { role: "row", "data-key": key }));
    }
    for (const old of shown.values()) old.remove();
  }
}

/** Whether a row is below another one, with only notes between them. @param {Element} below @param {Element} row */
function isBelow(below, row) {
  let previous = below.previousElementSibling;
  while (previous?.matches(".comment-row")) previous = previous.previousElementSibling;
  return previous === row;
}

/** The index of the last row of a finding, of the row beside lines that are gone, or -1. @param {import("./diff_rows.js").Row[]} rows @param {Finding} finding */
function findLine(rows, { first_line: first, last_line: last }) {
  let best = -1;
  let distance = BESIDE + 1;
  rows.forEach((row, index) => {
    if (row.new === null || row.sign === "-") return;
    const isInside = first <= row.new && row.new <= last;
    const away = isInside ? 0 : Math.abs(row.new - last);
    if (away < distance || (away === 0 && isInside)) [best, distance] = [index, away];
  });
  return best;
}
