// @ts-check
// The state of the review above the changes: hunks that are decided, and what an agent's review found.

import { button, make, patchChildren } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { locate } from "./diff_reviewed.js";

/** @param {import("./diff.js").DiffView} view */
export function reviewBar(view) {
  const verdicts = make("div.review-line");
  const agent = make("div.review-line", { "aria-live": "polite" });
  const list = make("ul.findings");
  const title = make("summary");
  const fold = make("details.findings-fold", title, list);
  const element = make("section.review-bar", verdicts, agent, fold, { "aria-label": "Review", hidden: true });
  let drawn = "";

  /** @param {import("./diff_reviewed.js").AgentReview} found */
  const drawAgent = (found) => {
    const { findings, openFindings, isRunning } = view.reviewed;
    const text = isRunning
      ? [make("span.spinner", { "aria-hidden": "true" }), make("span.grow", `${found.agent} is reviewing the changes.`)]
      : found.status === "failed"
        ? [make("span.grow.bad", `The review failed: ${found.error}`)]
        : [make("span.grow", make("b", findings.length ? describe(openFindings) : "Nothing to do"), found.summary && ` ${found.summary}`)];
    const actions = [
      openFindings.length > 1 && button([icon("agent"), "Fix all open…"], () => view.findings.fix(view.reviewed.openFindings)),
      button(isRunning ? [icon("stop"), "Stop"] : [icon("refresh"), "Review again"], () => view.findings.toggle(), ".quiet"),
    ].filter((part) => part instanceof HTMLElement);
    patchChildren(agent, [...text, make("span.choices", actions)]);
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
        make("span.choices", (state?.verdicts.length ?? 0) > 0 && button([icon("undo"), "Undo verdict"], () => view.verdicts.takeBack(), ".quiet"), unsent > 0 && button([icon("send"), `Send ${unsent} rejected…`], () => view.verdicts.send(), ".primary")),
      ]);
      agent.hidden = !isReviewed;
      if (isReviewed) drawAgent(byAgent);
      const all = byAgent?.findings ?? [];
      fold.hidden = !isReviewed || !all.length;
      title.textContent = `List ${pluralize(all.length, "finding")}`;
      list.replaceChildren(...all.map((finding) => make("li", view.findings.card(finding, button(locate(finding), () => view.findings.goTo(finding), ".quiet.location")))));
    },
  };
}

/** `3 findings, 1 new`. @param {import("./diff_reviewed.js").Finding[]} open */
function describe(open) {
  const fresh = open.filter((finding) => finding.is_new).length;
  const found = open.length ? pluralize(open.length, "finding") : "No open findings";
  return `${found}${fresh > 0 && fresh < open.length ? `, ${fresh} new` : ""}.`;
}
