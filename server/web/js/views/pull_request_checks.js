// @ts-check
// The checks of a pull request by name, those that need attention first, with the log of failed ones; and the button that
// lets a session fix them.

import { button, make, patchChildren, syncKeyed } from "../dom.js";
import { formatDuration, pluralize } from "../format.js";
import { icon } from "../icons.js";
import { externalLink } from "../links.js";
import { Autoscroll } from "../session/autoscroll.js";
import { STATES } from "./landing_words.js";
import { sendByCommand } from "./session_picker.js";

/**
 * @typedef {import("./pull_request.js").Check} Check
 * @typedef {import("./pull_request.js").PullRequest} PullRequest
 */

/** Those that need attention come first. */
const ORDER = Object.keys(STATES);
const MAX_QUIET = 10; // checks that passed or were skipped, from which on they are folded

export class Checks {
  /** @param {import("./pull_request.js").PullRequestView} view */
  constructor(view) {
    this.view = view;
    this.title = make("h3");
    this.note = make("p.hint");
    this.loud = make("ul.checks", { "aria-label": "Checks" });
    this.quiet = make("ul.checks", { "aria-label": "Checks that passed or were skipped" });
    this.summary = make("summary");
    this.fold = make("details.quiet-checks", this.summary, this.quiet);
    this.choices = make("div.choices");
    this.element = make("section.card", make("div.card-head", this.title, this.choices), this.note, this.loud, this.fold, { "aria-label": "Checks" });
  }

  /** @param {PullRequest} pr */
  show({ checks, checks_note: note }) {
    const sorted = [...checks].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
    const isQuiet = (/** @type {Check} */ check) => check.state === "passed" || check.state === "skipped";
    const quiet = sorted.filter(isQuiet);
    const isFolded = quiet.length > MAX_QUIET;
    this.title.textContent = `Checks${checks.length ? `: ${summarize(checks)}` : ""}`;
    this.note.textContent = note || (checks.length ? "" : "No checks have been reported for the newest commit.");
    this.note.hidden = !this.note.textContent;
    this.#draw(this.loud, isFolded ? sorted.filter((check) => !isQuiet(check)) : sorted);
    this.#draw(this.quiet, isFolded ? quiet : []);
    this.fold.hidden = !isFolded;
    this.summary.textContent = pluralize(quiet.length, "more check");
    const hasFailed = checks.some((check) => check.state === "failed");
    patchChildren(this.choices, hasFailed ? [button([icon("agent"), "Fix the checks…"], () => sendByCommand(this.view.app, this.view.id, "fix_checks", {}, { title: "Fix the checks", details: "The failed checks with the end of their logs are sent to a session, which is to fix them.", prompt: "investigate_workflow_run" }))] : []);
  }

  /** @param {HTMLElement} list @param {Check[]} checks */
  #draw(list, checks) {
    syncKeyed(list, checks, (check) => check.id, (check, old) => this.#row(check, old));
  }

  /** @param {Check} check @param {HTMLElement | undefined} old */
  #row(check, old) {
    const signature = JSON.stringify(check);
    if (old?.dataset.signature === signature) return old;
    const { symbol, word, classes } = STATES[check.state] ?? STATES.queued;
    const isActive = check.state === "running";
    const time = check.started_at && check.ended_at ? formatDuration(check.ended_at - check.started_at) : "";
    const facts = [word, time, check.is_required && "required", check.summary].filter(Boolean).join(" · ");
    return make(
      "li",
      make(
        "div.check",
        isActive ? make("span.spinner", { "aria-hidden": "true" }) : make(`span.mark${classes && `.${classes}`}`, symbol, { "aria-hidden": "true" }),
        make("span.grow", make("b", check.name), make("small", facts)),
        check.url && externalLink(check.url, [icon("external", `Open ${check.name} at the hosting service`)], "a.button"),
      ),
      check.has_log && check.state === "failed" && this.#log(check),
      { "data-signature": signature },
    );
  }

  /** The log of a check, loaded when it is opened. @param {Check} check */
  #log(check) {
    const text = make("pre.output", "Loading …", { tabIndex: 0, role: "group", "aria-label": `Log of ${check.name}` });
    const note = make("p.hint", { hidden: true });
    const fold = make("details.log", make("summary", "Log"), note, text);
    const autoscroll = new Autoscroll(text, fold);
    let isLoaded = false;
    fold.addEventListener("toggle", async () => {
      if (!fold.open || isLoaded) return;
      isLoaded = true;
      try {
        const log = await this.view.app.connection.call("get_check_log", { worktreeId: this.view.id, checkId: check.id });
        text.textContent = log.text || "The log is empty.";
        note.hidden = !log.left_out;
        note.textContent = `${pluralize(log.left_out, "line")} before are left out.`;
        autoscroll.scrollToEnd();
      } catch (error) {
        isLoaded = false;
        text.textContent = /** @type {Error} */ (error).message;
      }
    });
    return fold;
  }
}

/** `2 failed, 1 running, 12 passed`. @param {Check[]} checks */
function summarize(checks) {
  const counts = ORDER.map((state) => /** @type {[string, number]} */ ([state, checks.filter((check) => check.state === state).length]));
  return counts.filter(([, count]) => count > 0).map(([state, count]) => `${count} ${STATES[/** @type {keyof typeof STATES} */ (state)].word}`).join(", ");
}
