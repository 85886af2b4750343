// @ts-check
// Stage, unstage, discard and bring back: files, hunks, everything; always as it was seen.

/**
 * @typedef {import("./diff_file.js").DiffFile} DiffFile
 * @typedef {import("./diff_head.js").ChangedFile} ChangedFile
 * @typedef {[words: string, command: string, look: string]} Action
 */

/** What can be done with changes. */
export class Actions {
  /** How many discards can be undone, as far as this page knows. */
  discards = 0;

  /** @param {import("./diff.js").DiffView} view */
  constructor(view) {
    this.view = view;
  }

  /** What can be done with a file or its hunks on this side. @param {ChangedFile} file @returns {Action[]} */
  of(file) {
    const { side } = this.view;
    if (side === "branch") return [];
    if (side === "staged") return [["Unstage", "unstage_changes", ""]];
    const canDiscard = file.status !== "conflicted" && !file.submodule;
    /** @type {Action[]} */
    const discard = canDiscard ? [["Discard", "discard_changes", ".danger"]] : [];
    return [["Stage", "stage_changes", ""], ...discard];
  }

  /**
   * Do it as it was seen; the list is read anew whatever comes of it.
   * @param {string} command
   * @param {DiffFile} file
   * @param {number | null} [hunk] its place among the file's; null: the whole file
   */
  async act(command, file, hunk = null) {
    const { view } = this;
    const { app, id: worktreeId } = view;
    const name = hunk === null ? undefined : file.hunks[hunk];
    if (name === "") {
      app.say("This hunk is shown in part only; stage or discard the whole file.");
      return;
    }
    const at = view.files.indexOf(file);
    const seen = file.isOpen && file.digest ? { seen: file.digest } : {};
    const done = await app.run(command, { worktreeId, path: file.path, ...(name ? { hunk: name } : {}), ...seen });
    if (done && command === "discard_changes") {
      this.discards += 1;
      const what = name ? "A hunk of" : "What was changed in";
      app.say(`${what} “${file.path}” is discarded.`, { action: ["Undo", () => this.undo(done.id)] });
    }
    await view.reload();
    // The button that was pressed may be gone: the keys go on with what stands in its place.
    if (document.activeElement && document.activeElement !== document.body) return;
    const next = view.files.includes(file) ? file : view.files[Math.min(at, view.files.length - 1)];
    if (next) next.head.fold.focus();
    else view.focus();
  }

  /** By a key: only what this side offers. @param {string} command @param {import("./diff_keys.js").Here} here */
  actHere(command, { file, hunk }) {
    const { app, side } = this.view;
    if (file && this.of(file.file).some(([, known]) => known === command)) return this.act(command, file, hunk);
    if (!file) app.say("Go to a file or a line first (tab, arrow keys).");
    else if (side === "branch") app.say("This is committed already; a session can revert it.");
    else if (command === "unstage_changes") app.say("Only what is staged can be taken out; v leads there.");
    else if (side === "staged") app.say("Unstage it first (u); then it can be staged or discarded.");
    else app.say("A conflict is solved or aborted, a submodule changed inside it: neither is discarded here.");
    return undefined;
  }

  /** Stage everything, or take everything out. */
  async onAll() {
    const { app, id: worktreeId, side } = this.view;
    if (side === "branch") {
      app.say("This is committed already.");
      return;
    }
    await app.run(side === "unstaged" ? "stage_changes" : "unstage_changes", { worktreeId });
    await this.view.reload();
    this.view.focus();
  }

  /** Bring back what was discarded: last, or at that time. @param {string} [discardId] */
  async undo(discardId) {
    const { app, id: worktreeId } = this.view;
    try {
      const done = await app.connection.call("undo_discard", { worktreeId, ...(discardId ? { discardId } : {}) });
      app.say(`“${done.path}” is as it was before the discard.`);
      this.discards -= 1;
    } catch (error) {
      const { kind, message } = /** @type {Error & { kind?: string }} */ (error);
      app.say(message, { bad: true });
      if (kind === "not_found") this.discards = 0;
    }
    await this.view.reload();
  }
}
