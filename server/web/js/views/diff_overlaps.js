// @ts-check
// Which changed files would be in conflict with other worktrees, or with the base branch.

export class Overlaps {
  /** @type {Map<string, string[]>} names of worktrees and the base, by path */ #names = new Map();
  #known = "";

  /** @param {import("./diff.js").DiffView} view */
  constructor(view) {
    this.view = view;
    this.follow();
  }

  /** Where else a file changed. @param {string} path */
  find(path) {
    return this.#names.get(path) ?? [];
  }

  /** Load them again if the worktree would be in conflict with something else now. */
  async follow() {
    const { app, id } = this.view;
    const worktree = app.state.worktrees.get(id);
    const now = JSON.stringify([worktree?.conflicts_with ?? [], worktree?.conflicts_with_base ?? false]);
    if (now === this.#known) return;
    this.#known = now;
    const isInConflict = worktree?.conflicts_with?.length || worktree?.conflicts_with_base;
    const found = isInConflict ? await app.connection.call("list_conflicts", { projectId: worktree?.project_id }).catch(() => []) : [];
    this.#names = new Map();
    for (const conflict of found) {
      if (conflict.worktree_id !== id) continue;
      const name = app.state.worktrees.get(conflict.with)?.name ?? conflict.with;
      for (const { path } of conflict.files) this.#names.set(path, [...this.find(path), name]);
    }
    for (const file of this.view.files) file.head.draw();
  }
}
