// @ts-check
// Stage, unstage, discard and undo discards, for files, hunks, or everything; only what the user has seen.

/**
 * @typedef {import("./diff_file.js").DiffFile} DiffFile
 * @typedef {import("./diff_head.js").ChangedFile} ChangedFile
 * @typedef {[label: string, command: string, classes: string]} Action
 */

/** Actions on changes. */
export class DiffActions {
  /** @param {import("./diff.js").DiffView} view */
  constructor(view) {
    this.view = view;
  }

  /** The actions for a file or its hunks on the current side. @param {ChangedFile} file @returns {Action[]} */
  actionsFor(file) {
    const { side } = this.view;
    if (side === "branch") return [];
    if (side === "staged") return [["Unstage", "unstage_changes", ""]];
    const canDiscard = file.status !== "conflicted" && !file.submodule;
    /** @type {Action[]} */
    const discard = canDiscard ? [["Discard", "discard_changes", ".danger"]] : [];
    return [["Stage", "stage_changes", ""], ...discard];
  }

  /**
   * Run an action on what the user has seen; reloads the list in any case.
   * @param {string} command
   * @param {DiffFile} file
   * @param {number | null} [hunk] its index in the file, or `null` for the whole file
   */
  async run(command, file, hunk = null) {
    const { view } = this;
    const { app, id: worktreeId } = view;
    const name = hunk === null ? undefined : file.hunks[hunk];
    if (name === "") {
      app.toast("This hunk is only partly shown. Stage or discard the whole file instead.");
      return;
    }
    const index = view.files.indexOf(file);
    const seen = file.isOpen && file.digest ? { seen: file.digest } : {};
    const result = await app.run(command, { worktreeId, path: file.path, ...(name ? { hunk: name } : {}), ...seen });
    if (result && command === "discard_changes") {
      const what = name ? "a hunk of" : "changes in";
      app.toast(`Discarded ${what} '${file.path}'.`, { action: ["Undo", () => this.undo(result.id)] });
    }
    await view.reload();
    this.focusNear(file, index);
  }

  /** Move the focus to what replaces a file or hunk, if the pressed button is gone. @param {DiffFile} file @param {number} [index] its former one */
  focusNear(file, index = 0) {
    const { view } = this;
    if (document.activeElement && document.activeElement !== document.body) return;
    const next = view.files.includes(file) ? file : view.files[Math.min(index, view.files.length - 1)];
    if (next) next.head.fold.focus();
    else view.focus();
  }

  /** Run an action by key, if the current side offers it. @param {string} command @param {import("./diff_keys.js").Target} here */
  runOnTarget(command, { file, hunk }) {
    const { app, side } = this.view;
    if (file && this.actionsFor(file.file).some(([, available]) => available === command)) return this.run(command, file, hunk);
    if (!file) app.toast("Select a file or a line first (Tab, arrow keys).");
    else if (side === "branch") app.toast("This is already committed. A session can revert it.");
    else if (command === "unstage_changes") app.toast("Only staged changes can be unstaged. Press v to show them.");
    else if (side === "staged") app.toast("Unstage it first (u), then you can stage or discard it.");
    else app.toast("Conflicts and submodules cannot be discarded here. Resolve or abort the conflict, or change the submodule itself.");
    return undefined;
  }

  /** Stage or unstage everything. */
  async runOnAll() {
    const { app, id: worktreeId, side } = this.view;
    if (side === "branch") {
      app.toast("This is already committed.");
      return;
    }
    await app.run(side === "unstaged" ? "stage_changes" : "unstage_changes", { worktreeId });
    await this.view.reload();
    this.view.focus();
  }

  /** Undo the last discard, or a given one. @param {string} [discardId] */
  async undo(discardId) {
    const { app, id: worktreeId } = this.view;
    try {
      const result = await app.connection.call("undo_discard", { worktreeId, ...(discardId ? { discardId } : {}) });
      app.toast(result.conflicted ? `The conflict in '${result.path}' is back.` : `Restored '${result.path}'.`);
    } catch (error) {
      app.toast(/** @type {Error} */ (error).message, { bad: true });
    }
    await this.view.reload();
  }
}
