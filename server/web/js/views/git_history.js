// @ts-check
// The commits of a branch, with their changes, amending and fixing up; and stashes.

import { ask, choose, confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { ageElement } from "../age.js";
import { icon } from "../icons.js";
import { pluralize } from "../format.js";
import { readingFile } from "./diff_reading.js";
import { showCommitted } from "./git_commit.js";

/**
 * @typedef {import("./git.js").GitPanel} GitPanel
 * @typedef {{ sha: string, short_sha: string, subject: string, body: string, author: string, authored_at: number, is_pushed: boolean, is_in_base: boolean, is_merge: boolean }} Commit
 * @typedef {{ id: string, message: string, branch: string, created_at: number, files: number }} Stash
 */

const PAGE_SIZE = 50;

/** Show the commits of the branch. @param {GitPanel} panel */
export async function showLog(panel) {
  const { app, id: worktreeId } = panel;
  const list = make("ul.commits");
  const more = button("Earlier commits", () => load(), ".quiet", { hidden: true });
  const load = async () => {
    const offset = list.childElementCount;
    /** @type {Commit[] | undefined} */
    const commits = await app.run("list_commits", { worktreeId, limit: PAGE_SIZE, offset });
    if (!commits) return;
    list.append(...commits.map((commit) => make("li", commitElement(panel, commit))));
    more.hidden = commits.length < PAGE_SIZE;
    if (!list.childElementCount) list.append(make("li.hint", "There are no commits yet."));
  };
  panel.show("Commits", list, more, make("div.choices", button("Close", () => panel.hide())));
  await load();
}

/** @param {GitPanel} panel @param {Commit} commit */
function commitElement(panel, commit) {
  const state = commit.is_in_base ? `in ${panel.base}` : commit.is_pushed ? "pushed" : "";
  const head = make(
    "summary",
    make("b", commit.subject),
    make("small", make("code", commit.short_sha), ` · ${commit.author} · `, ageElement(commit.authored_at), state && ` · ${state}`),
  );
  const canFix = !commit.is_pushed && !commit.is_in_base && !commit.is_merge;
  const element = make("details.commit", head);
  element.addEventListener("toggle", async () => {
    if (!element.open || element.childElementCount > 1) return;
    const files = await panel.app.read("list_commit_files", { worktreeId: panel.id, sha: commit.sha });
    if (!files) return;
    const inside = make(
      "div.inside",
      commit.body.trim() && make("p.verbatim", commit.body.trim()),
      files.map((/** @type {any} */ file) => readingFile(panel.app, { worktreeId: panel.id, commit: commit.sha }, file)),
      canFix && make("div.choices", button([icon("commit"), "Put my changes into this commit"], () => fixup(panel, commit))),
    );
    element.append(inside);
  });
  return element;
}

/** @param {GitPanel} panel @param {Commit} commit */
async function fixup(panel, commit) {
  const stageAll = await asksForAll(panel);
  if (stageAll === null) return;
  const result = await panel.run("Rewriting the commits …", "fixup_commit", { worktreeId: panel.id, sha: commit.sha, stageAll });
  if (result) panel.showResult(`The changes are in '${commit.subject}' now.`);
}

/** Whether to take all changes; `null` if there are none or it was canceled. @param {GitPanel} panel @returns {Promise<boolean | null>} */
async function asksForAll({ app, id: worktreeId }) {
  const staged = await app.run("list_changed_files", { worktreeId, side: "staged" });
  const unstaged = staged && (await app.run("list_changed_files", { worktreeId }));
  if (!unstaged) return null;
  if (!staged.files.length && !unstaged.files.length) app.toast("There are no changes.");
  if (!staged.files.length) return unstaged.files.length ? true : null;
  if (!unstaged.files.length) return false;
  return choose("Which changes?", [
    [`Staged changes: ${pluralize(staged.files.length, "file")}`, false],
    ["All changes", true],
  ]);
}

/** Change the last commit: its message, and what is in it. @param {GitPanel} panel */
export async function amend(panel) {
  const { app, id: worktreeId } = panel;
  /** @type {Commit[] | undefined} */
  const commits = await app.run("list_commits", { worktreeId, limit: 1 });
  const [last] = commits ?? [];
  if (!last) return void (commits && app.toast("There is no commit yet."));
  const all = make("input", { type: "checkbox", checked: true });
  const text = await ask("Amend the last commit", {
    value: [last.subject, last.body.trim()].filter(Boolean).join("\n\n"),
    rows: 5,
    label: "Amend",
    hint: last.is_pushed || last.is_in_base ? "It is pushed already: others may have it." : "",
    more: [make("label.check", all, "With all changes")],
    submit: (message) => {
      if (!message.trim()) throw new Error("Enter a commit message.");
    },
  });
  if (text === null) return;
  const args = { worktreeId, message: text.trim(), stageAll: all.checked };
  const isShared = last.is_pushed || last.is_in_base;
  if (isShared && !(await confirm("Amend a commit that is pushed?", "Pushing it again needs force, and everybody who has it must reset their branch.", "Amend it anyway", { danger: true }))) return;
  const result = await panel.run("Amending …", "amend_commit", { ...args, ...(isShared ? { force: true } : {}) });
  if (result) showCommitted(panel, result);
}

/** Put all changes aside. @param {GitPanel} panel */
export async function stash(panel) {
  const { app, id: worktreeId } = panel;
  const message = await ask("Stash all changes", { label: "Stash", hint: "A name for them, if you like. Untracked files are included." });
  if (message === null) return;
  const stashed = await app.run("stash_changes", { worktreeId, message: message.trim() });
  panel.onChange();
  if (!stashed) return;
  const undo = () => applyStash(panel, stashed);
  app.toast(`Stashed ${pluralize(stashed.files, "file")}.`, { about: stashed.id, action: ["Undo", undo] });
}

/** @param {GitPanel} panel @param {Stash} stashed */
async function applyStash(panel, stashed) {
  const result = await panel.app.run("apply_stash", { worktreeId: panel.id, stashId: stashed.id });
  panel.onChange();
  panel.checkOperation();
  if (!result) return false;
  const text = result.success ? "The stashed changes are back." : "The stashed changes conflict with those in the files. The stash is kept.";
  panel.app.toast(text, { about: stashed.id, bad: !result.success });
  return true;
}

/** Show the stashes of the repository. @param {GitPanel} panel */
export async function showStashes(panel) {
  const { app, id: worktreeId } = panel;
  /** @type {Stash[] | undefined} */
  const stashes = await app.run("list_stashes", { worktreeId });
  if (!stashes) return;
  const reopen = () => showStashes(panel);
  /** @param {Stash} stashed */
  const drop = async (stashed) => {
    if ((await app.run("drop_stash", { worktreeId, stashId: stashed.id })) === undefined) return;
    const restore = async () => {
      if ((await app.run("restore_stash", { worktreeId, stashId: stashed.id })) !== undefined) app.toast(`'${stashed.message}' is stashed again.`);
    };
    app.toast(`Dropped '${stashed.message}'.`, { about: stashed.id, action: ["Undo", restore] });
    await reopen();
  };
  const rows = stashes.map((stashed) =>
    make(
      "li.stash",
      make("span", make("b", stashed.message), make("small", `${stashed.branch} · ${pluralize(stashed.files, "file")} · `, ageElement(stashed.created_at))),
      make(
        "span.actions",
        button("Apply", async () => (await applyStash(panel, stashed)) && panel.hide()),
        button(icon("trash"), () => drop(stashed), ".quiet.icon-only.drop", { "aria-label": `Drop ${stashed.message}`, title: "Drop" }),
      ),
    ),
  );
  const list = rows.length ? make("ul.commits", rows) : make("p.hint", "Nothing is stashed. Stash changes to put them aside, and bring them back later in any worktree of the repository.");
  panel.show("Stashes", list, make("div.choices", button("Close", () => panel.hide())));
}
