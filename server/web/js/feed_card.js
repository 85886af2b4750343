// @ts-check
// The card of a session at work: what it writes and does, its changes, and a button to stop it.

import { describeActivity } from "./activity.js";
import { button, make, patchChildren } from "./dom.js";
import { plainText } from "./format.js";
import { icon } from "./icons.js";
import { changeCounts, markElement } from "./marks.js";
import { hashFor } from "./router.js";

/** The beginning of a list's item, which says nothing in a single line. */
const BULLET = /^\s*(?:[-*+]|\d+\.)\s+/;

export class RunningCard {
  #isStopping = false;

  /** @param {import("./app.js").App} app @param {string} sessionId */
  constructor(app, sessionId) {
    this.app = app;
    this.sessionId = sessionId;
    this.name = make("b");
    this.path = make("small");
    this.counts = make("span.git");
    this.line = make("p.live-line");
    this.tool = make("p.tool-line");
    this.stopButton = button([icon("stop"), "Stop"], () => this.#stop());
    const link = make("a.session", markElement("running"), this.name, this.path, { href: hashFor("session", sessionId) });
    const head = make("div.card-head", make("h3", link), this.counts, this.stopButton);
    this.element = make("li.card.running-item", head, this.line, this.tool, { "data-key": sessionId });
    this.update(undefined);
  }

  /** @param {string | undefined} line the last line of its text */
  update(line) {
    const session = this.app.state.sessions.get(this.sessionId);
    if (!session) return;
    const { worktree, project } = this.app.state.parentsOf(session);
    setText(this.name, session.name);
    setText(this.path, [project?.name, worktree?.name].filter(Boolean).join(" ▸ "));
    this.stopButton.ariaLabel = `Stop ${session.name}`;
    if (worktree) patchChildren(this.counts, changeCounts(worktree).filter((part) => part instanceof Element));
    setText(this.line, plainText(line ?? "").replace(BULLET, ""));
    const activity = this.app.state.activities.get(this.sessionId);
    const isWriting = !activity || (["thinking", "writing"].includes(activity.verb) && Boolean(line));
    setText(this.tool, this.#isStopping ? "stopping…" : isWriting ? "" : [describeActivity(activity), activity.detail].filter(Boolean).join("  "));
  }

  async #stop() {
    this.#isStopping = true;
    this.update(undefined);
    const isStopped = (await this.app.run("stop_generation", { sessionId: this.sessionId })) !== undefined;
    this.#isStopping = isStopped;
  }
}

/** @param {HTMLElement} element @param {string} text */
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
