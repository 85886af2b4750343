// @ts-check
// The state of the review above the changes: hunks that are decided, and what an agent's review found; a line for each.

import { button, make, patchChildren } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { locate } from "./diff_reviewed.js";

/** @param {import("./diff.js").DiffView} view */
export function reviewBar(view) {
  const verdicts = make("div.review-line");
  const agent = make("div.review-line", { "aria-live": "polite" });
  const summary = make("p.hint");
  const list = make("ul.findings");
  const fold = make("div", summary, list, { hidden: true });
  const title = make("span");
  const toggle = button([make("span.fold-sign", icon("chevron-right")), title], () => unfold(Boolean(fold.hidden)), ".quiet.findings-toggle");
  const element = make("section.review-bar", verdicts, agent, fold, { "aria-label": "Review", hidden: true });
  let drawn = "";

  /** @param {boolean} isOpen whether all findings are listed */
  const unfold = (isOpen) => {
    fold.hidden = !isOpen;
    toggle.ariaExpanded = String(isOpen);
  };
  unfold(false);

  /** @param {import("./diff_reviewed.js").AgentReview} found */
  const drawAgent = (found) => {
    const { openFindings, isRunning } = view.reviewed;
    const all = found.findings;
    const isListed = !isRunning && found.status !== "failed" && all.length > 0;
    title.replaceChildren(make("b", describe(openFindings)), make("span.wide-label", found.summary && ` ${found.summary}`));
    const text = isRunning
      ? [make("span.spinner", { "aria-hidden": "true" }), make("span.grow", `${found.agent} is reviewing the changes.`)]
      : found.status === "failed"
        ? [make("span.grow.bad", `The review failed: ${found.error}`)]
        : [isListed ? toggle : make("span.grow", make("b", "Nothing to do"), found.summary && ` ${found.summary}`)];
    const actions = [
      openFindings.length > 1 && action("agent", "Fix all", " open…", () => view.findings.fix(view.reviewed.openFindings)),
      isRunning ? action("stop", "Stop", "", () => view.findings.toggle(), ".quiet") : action("refresh", "", "Review again", () => view.findings.toggle(), ".quiet"),
    ].filter((part) => part instanceof HTMLElement);
    patchChildren(agent, [...text, make("span.choices", actions)]);
    summary.textContent = found.summary;
    list.replaceChildren(...all.map((finding) => make("li", view.findings.card(finding, button(locate(finding), () => view.findings.goTo(finding), ".quiet.location")))));
    if (!isListed) unfold(false);
  };

  return {
    element,
    draw() {
      const { progress, unsent, state, byAgent } = view.reviewed;
      const signature = JSON.stringify([progress, byAgent, view.side]);
      if (signature === drawn) return;
      drawn = signature;
      const isReviewed = byAgent !== null && byAgent.status !== "none";
      element.hidden = !progress && !isReviewed;
      verdicts.hidden = !progress;
      patchChildren(verdicts, [
        make("span.grow", progress, { role: "status" }),
        make(
          "span.choices",
          (state?.verdicts.length ?? 0) > 0 && action("undo", "", "Undo verdict", () => view.verdicts.takeBack(), ".quiet"),
          unsent > 0 && action("send", `Send ${unsent}`, " rejected…", () => view.verdicts.send(), ".primary"),
        ),
      ]);
      agent.hidden = !isReviewed;
      if (isReviewed) drawAgent(byAgent);
    },
  };
}

/** A button whose label is short, or an icon alone, where there is little room. @param {string} symbol @param {string} label @param {string} more of the label, where there is room @param {() => unknown} run @param {string} [classes] */
function action(symbol, label, more, run, classes = "") {
  return button([icon(symbol), make("span", label, more && make("span.wide-label", more))], run, classes, { "aria-label": `${label}${more}` });
}

/** `3 findings, 1 new`. @param {import("./diff_reviewed.js").Finding[]} open */
function describe(open) {
  const fresh = open.filter((finding) => finding.is_new).length;
  const found = open.length ? pluralize(open.length, "finding") : "No open findings";
  return `${found}${fresh > 0 && fresh < open.length ? `, ${fresh} new` : ""}.`;
}
