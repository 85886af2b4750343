// @ts-check
// What can be done with a turn: see its changes, undo and redo it, fork from it, edit its message and send it again.

import { choose, showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { readingFile } from "../views/diff_reading.js";
import { redoTurn, undoDialog } from "./turn_undo.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./turns.js").Turn} Turn
 * @typedef {"edit" | "diff" | "undo" | "redo" | "fork" | "fork_worktree"} TurnAction
 */

const PAGE_SIZE = 200;
const STATES = { files: "files undone", conversation: "taken back, files kept", both: "undone" };

/** Offer what can be done with the turn that a message began. @param {App} app @param {string} sessionId @param {string} messageId */
export async function showTurnMenu(app, sessionId, messageId) {
  const turns = await readTurns(app, sessionId, (each) => each.message_id === messageId);
  const turn = turns?.find((each) => each.message_id === messageId);
  if (!turns) return;
  if (!turn) return app.toast("Nothing was recorded for this message, so that it cannot be undone.");
  if (turn.ended_at === null) return app.toast("The turn has not ended yet. Stop it, or answer what it waits for.");
  const title = `Turn ${turn.number}${turn.undone ? `: ${STATES[turn.undone]}` : ""}`;
  /** @type {import("../dialogs.js").MenuEntry<TurnAction>[]} */
  const entries = [
    ...(turn.undone ? [] : [/** @type {[string, TurnAction, any]} */ (["Edit and resend", "edit", { icon: "edit" }])]),
    ...(turn.files.length ? [/** @type {[string, TurnAction, any]} */ (["Show its changes", "diff", { icon: "diff" }])] : []),
    turn.undone ? ["Redo", "redo", { icon: "redo" }] : ["Undo", "undo", { icon: "undo" }],
    ...(turn.undone ? [] : /** @type {[string, TurnAction, any][]} */ ([
      ["Fork from here", "fork", { icon: "branch" }],
      ["Fork into a new worktree", "fork_worktree", { icon: "plus" }],
    ])),
  ];
  const chosen = await choose(title, entries);
  if (chosen) await runTurnAction(app, turn, chosen, turns);
}

/** Undo the newest turn that is not undone, or take the newest undo back. @param {App} app @param {string} sessionId @param {"undo" | "redo"} action */
export async function runOnNewest(app, sessionId, action) {
  const turns = await readTurns(app, sessionId, (each) => action === "undo" && !each.undone);
  if (!turns) return;
  const undone = turns.filter((each) => each.undone).sort((one, other) => (other.undone_at ?? 0) - (one.undone_at ?? 0));
  const turn = action === "undo" ? turns.findLast((each) => !each.undone) : undone[0];
  if (turn) await runTurnAction(app, turn, action, turns);
  else app.toast(action === "undo" ? "There is no turn to undo." : "No turn of this session is undone.");
}

/** @param {App} app @param {Turn} turn @param {TurnAction} action @param {Turn[]} [turns] those since, and this one */
export async function runTurnAction(app, turn, action, turns) {
  const sessionId = turn.turn_id.slice(0, turn.turn_id.lastIndexOf("."));
  if (action === "diff") return showTurnDiff(app, sessionId, turn);
  if (action === "redo") return redo(app, turn);
  if (action === "undo" || action === "edit") {
    const since = turns ?? (await readTurns(app, sessionId, (each) => each.number <= turn.number));
    return since && undo(app, sessionId, turn, since, action === "edit");
  }
  const newWorktree = action === "fork_worktree";
  return forkSession(app, sessionId, { turnId: turn.turn_id, ...(newWorktree ? { newWorktree } : {}) });
}

/** Continue the conversation in a second session. @param {App} app @param {string} sessionId @param {Record<string, unknown>} [from] */
export async function forkSession(app, sessionId, from = {}) {
  const created = await app.run("fork_session", { sessionId, ...from });
  if (created) app.go("session", created.id);
}

/**
 * Read turns in pages, from the newest back to the page with one that is wanted.
 * @param {App} app @param {string} sessionId @param {(turn: Turn) => boolean} isWanted @returns {Promise<Turn[] | undefined>} oldest first
 */
async function readTurns(app, sessionId, isWanted) {
  /** @type {Turn[]} */ let turns = [];
  for (;;) {
    const before = turns.length ? { before: turns[0].number } : {};
    /** @type {Turn[] | undefined} */
    const page = await app.run("list_turns", { sessionId, limit: PAGE_SIZE, ...before });
    if (!page) return undefined;
    turns = [...page, ...turns];
    if (!page.length || page.some(isWanted) || page[0].number === 1) return turns;
  }
}

/** @param {App} app @param {string} sessionId @param {Turn} turn @param {Turn[]} turns @param {boolean} edits */
async function undo(app, sessionId, turn, turns, edits) {
  if (turn.ended_at === null) return app.toast("The turn has not ended yet. Stop it, or answer what it waits for.");
  const result = await undoDialog(app, turn, turns, edits);
  if (!result) return;
  if (result.message) app.outbox.putBack({ sessionId, message: result.message, images: [], files: [] });
  app.toast("Undone.", { action: ["Redo", () => redo(app, turn)] });
}

/** @param {App} app @param {Turn} turn */
async function redo(app, turn) {
  if (await redoTurn(app, turn)) app.toast("Brought back.");
}

/** @param {App} app @param {string} sessionId @param {Turn} turn */
function showTurnDiff(app, sessionId, turn) {
  if (turn.problem) return app.toast(`There is no diff of this turn. ${turn.problem}`);
  const worktreeId = app.state.sessions.get(sessionId)?.worktree_id;
  const title = `Changes of turn ${turn.number}`;
  const files = turn.files.map((file, index) => readingFile(app, { worktreeId, turnId: turn.turn_id }, file, { isOpen: index === 0 }));
  /** @type {HTMLDialogElement} */
  const dialog = make("dialog.turn-diff", make("h2", title), make("div", files), make("div.choices", button("Close", () => dialog.close())), { "aria-label": title });
  showDialog(dialog);
}
