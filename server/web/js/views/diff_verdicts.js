// @ts-check
// A person's verdicts about hunks: accept, reject with a reason, take back, send to a session.

import { ask } from "../dialogs.js";
import { pluralize } from "../format.js";
import { sendByCommand } from "./session_picker.js";

/** @typedef {import("./diff_file.js").DiffFile} DiffFile */

export class Verdicts {
  /** @param {import("./diff.js").DiffView} view */
  constructor(view) {
    this.view = view;
  }

  /** Whether hunks of the current side can be decided about. @param {import("./diff_head.js").ChangedFile} file */
  canDecide(file) {
    return this.view.side !== "staged" && file.status !== "conflicted" && !file.submodule;
  }

  /** Decide about the hunk under the cursor, or a whole file. @param {"accepted" | "rejected"} verdict @param {import("./diff_keys.js").Target} target */
  decideOnTarget(verdict, { file, hunk }) {
    const { app, side } = this.view;
    if (!file) app.toast("Select a hunk or a file first (Tab, arrow keys).");
    else if (side === "staged") app.toast("Staged hunks are accepted. Unstage one (u), then it can be rejected.");
    else if (!this.canDecide(file.file) || !file.hunks.length) app.toast("This change has no lines to decide about. Stage or discard the file instead.");
    else return this.decide(verdict, file, hunk === null ? file.hunks.map((_, index) => index) : [hunk]);
    return undefined;
  }

  /** Accept or reject hunks of a file. @param {"accepted" | "rejected"} verdict @param {DiffFile} file @param {number[]} hunks their indexes */
  async decide(verdict, file, hunks) {
    const { view } = this;
    const names = hunks.map((index) => file.hunks[index]).filter(Boolean);
    if (names.length < hunks.length) return view.app.toast("This hunk is only partly shown. Stage or discard the whole file.");
    let reason = "";
    if (verdict === "rejected") {
      const what = hunks.length > 1 ? `${hunks.length} hunks` : "a hunk";
      const answer = await ask(`Reject ${what} of ${file.path}`, { label: "Reject", rows: 3, hint: "Why? The session gets the reason. It is reverted in the worktree and kept; undoing the verdict brings it back." });
      if (answer === null) return undefined;
      reason = answer.trim();
    }
    const seen = hunks.length === 1 && file.digest ? { seen: file.digest } : {};
    /** @type {any} */ let decided;
    // From the end: staging a hunk changes the names of those after it.
    for (const hunk of names.reverse()) {
      decided = await view.app.run("decide_hunk", { worktreeId: view.id, path: file.path, hunk, verdict, reason, side: view.side, ...seen });
      if (!decided) break;
    }
    if (decided) this.#report(decided, hunks.length);
    await view.reload();
    await view.reviewed.read();
    view.actions.focusNear(file);
    return undefined;
  }

  /** @param {import("./diff_reviewed.js").HunkVerdict} decided @param {number} count */
  #report({ id, verdict }, count) {
    if (verdict === "accepted") return;
    const what = count === 1 ? "the hunk" : pluralize(count, "hunk");
    this.view.app.toast(`Rejected ${what}.`, count === 1 ? { action: ["Undo", () => this.takeBack(id)] } : {});
  }

  /** Take a verdict back, by default the newest. @param {string} [verdictId] */
  async takeBack(verdictId) {
    const { view } = this;
    if (!verdictId && !view.reviewed.state?.verdicts.length) return view.app.toast("There is no verdict to take back here.");
    const undone = await view.app.run("undo_verdict", { worktreeId: view.id, ...(verdictId ? { verdictId } : {}) });
    if (undone) view.app.toast(`The hunk of '${undone.path}' is no longer ${undone.verdict}.`);
    await view.reload();
    return view.reviewed.read();
  }

  /** Send the rejected hunks with their reasons to a session. */
  async send() {
    const { view } = this;
    const count = view.reviewed.unsent;
    if (!count) return view.app.toast("There are no rejected hunks to send. n on a hunk rejects it.");
    const what = `${pluralize(count, "rejected hunk")} with ${count === 1 ? "its reason" : "their reasons"}`;
    if (await sendByCommand(view.app, view.id, "send_verdicts", {}, { title: "Send the rejected hunks", details: `The session gets ${what} as one message.` })) await view.reviewed.read();
    return undefined;
  }
}
