// @ts-check
// The turns of a session: what each did to the files, and whether it was undone.

/**
 * @typedef {object} TurnFile
 * @property {string} path
 * @property {"added" | "modified" | "deleted"} status
 * @property {number | null} added
 * @property {number | null} removed
 * @property {boolean} others also changed by others at the same time
 *
 * @typedef {object} Turn
 * @property {string} turn_id
 * @property {number} number
 * @property {string} message_id
 * @property {number | null} ended_at
 * @property {TurnFile[]} files
 * @property {"files" | "conversation" | "both" | null} undone
 * @property {number | null} undone_at
 * @property {string} problem
 *
 * @typedef {{ changes: import("./change_card.js").FileChange[], turn?: Turn }} LastChanges without a turn, what the agent's edit tools changed
 */

const MAX_PAGE_SIZE = 500;

/**
 * Load what can be done with turns, and use it; the button that was pressed stays enabled, so that it has the focus again.
 * @param {(actions: typeof import("./turn_actions.js")) => unknown} use
 */
export function withTurnActions(use) {
  import("./turn_actions.js").then(use);
}

export class Turns {
  /** @type {Map<string, Turn>} by id */ #turns = new Map();

  /** @param {import("../app.js").App} app @param {import("./conversation.js").Conversation} conversation @param {() => unknown} onChange */
  constructor(app, conversation, onChange) {
    this.app = app;
    this.conversation = conversation;
    this.id = conversation.sessionId;
    this.onChange = onChange;
  }

  /** The newest turn. @returns {Turn | undefined} */
  get newest() {
    return [...this.#turns.values()].reduce((/** @type {Turn | undefined} */ last, turn) => (last && last.number > turn.number ? last : turn), undefined);
  }

  /** Load the newest turn; while offline they stay as they are. */
  async load() {
    /** @type {Turn[] | null} */
    const turns = await this.app.connection.call("list_turns", { sessionId: this.id, limit: 1 }).catch(() => null);
    if (!turns) return;
    this.#turns = new Map(turns.map((turn) => [turn.turn_id, turn]));
    this.onChange();
  }

  /** @param {string} name @param {any} body */
  handleEvent(name, body) {
    if ((name !== "turn:recorded" && name !== "turn:undone") || body.turn.session_id !== this.id) return;
    const { turn } = body;
    this.#turns.set(turn.id, { ...turn, turn_id: turn.id, undone: turn.undone?.what ?? null, undone_at: turn.undone?.at ?? null });
    this.onChange();
  }

  /** What the newest turn changed, or `null` if there is nothing to show. @returns {LastChanges | null} */
  lastChanges() {
    const turn = this.newest;
    if (turn?.undone) return { changes: turn.files, turn };
    const { newest } = this.conversation;
    if (!newest || newest.role === "user" || newest.status !== "completed") return null;
    if (turn?.ended_at && turn.files.length) return { changes: turn.files, turn };
    // Until it is recorded, or of files that git ignores.
    const changes = this.#editsOf(newest);
    return changes.length ? { changes } : null;
  }

  /** The files that the tools of an answer edited; those of one that has just ended are read first. @param {import("../state.js").Resource} message */
  #editsOf(message) {
    if (message.changes) return message.changes;
    message.changes = [];
    const hasEdits = message.content.some((/** @type {any} */ block) => block?.type === "tool_use" && block.name === "edit");
    if (hasEdits) this.#readEdits(message);
    return message.changes;
  }

  /** @param {import("../state.js").Resource} message */
  async #readEdits(message) {
    try {
      const { messages } = this.conversation;
      const limit = Math.min(messages.length - messages.indexOf(message), MAX_PAGE_SIZE);
      const page = await this.app.connection.call("get_message_blocks", { sessionId: this.id, limit });
      const read = page.messages.find((/** @type {any} */ found) => found.id === message.id);
      message.changes = read?.changes ?? [];
      this.onChange();
    } catch {
      // Offline; everything is loaded again after the reconnect.
    }
  }
}
