// @ts-check
// The open conversation: its newest messages without a gap, and what each event changes in them.

/**
 * @typedef {import("../state.js").Resource} Message
 *
 * @typedef {object} Blocks what `content-blocks` tells: the text's blocks from `from` on are these
 * @property {string} message_id
 * @property {number} content_index
 * @property {number} from
 * @property {any[]} blocks
 */

export const PAGE = 100;
const KEPT = 12; // conversations

/** Conversations that were read, the latest last. @type {Map<string, Conversation>} */
const kept = new Map();

/** Keep a conversation that was read, to be shown until it is read again. @param {Conversation} conversation */
export function keepConversation(conversation) {
  kept.delete(conversation.sessionId);
  kept.set(conversation.sessionId, conversation);
  const [oldest] = kept.keys();
  if (kept.size > KEPT) kept.delete(oldest);
}

/** @param {string} sessionId */
export const keptConversation = (sessionId) => kept.get(sessionId);

/** The messages of one session that are loaded, oldest first. */
export class Conversation {
  /** @type {Message[]} */ messages = [];
  total = 0;
  isLoaded = false;
  readAt = 0; // ms

  /** @param {string} sessionId */
  constructor(sessionId) {
    this.sessionId = sessionId;
  }

  /** How many messages stand before the first one that is loaded. */
  get older() {
    return Math.max(0, this.total - this.messages.length);
  }

  /** Begin anew with the newest page. @param {{ messages: Message[], total: number }} page */
  load(page) {
    this.messages = page.messages;
    this.total = Math.max(page.total, page.messages.length);
    this.isLoaded = true;
    this.readAt = Date.now();
  }

  /** Put an older page before the others; gives what was new of it. @param {{ messages: Message[], total: number }} page */
  prepend(page) {
    const known = new Set(this.messages.map((message) => message.id));
    const older = page.messages.filter((message) => !known.has(message.id));
    this.messages.unshift(...older);
    this.total = Math.max(page.total, this.messages.length);
    return older;
  }

  /**
   * Fold an event.
   * @param {string} name
   * @param {any} body
   * @returns {{ message: Message, index?: number, isEnd?: boolean } | null} the message that changed: one of its
   *   blocks, how it ended, or all of it
   */
  apply(name, body) {
    if (!this.isLoaded || body.session_id !== this.sessionId) return null;
    if (name === "message-started" || (name === "message-queued" && body.status === "processing")) {
      return { message: this.#put(body.message) };
    }
    const message = this.messages.findLast((known) => known.id === body.message_id);
    if (!message) return null;
    const index = body.content_index;
    switch (name) {
      case "content-delta":
        message.content[index] ??= { type: body.kind ?? "text", text: "", blocks: [] };
        message.content[index].text += body.content;
        return { message, index };
      case "content-blocks":
        message.content[index] ??= { type: "text", blocks: [] };
        this.#placeBlocks(message.content[index], body);
        return { message, index };
      case "tool-use":
        message.content[index] = {
          type: "tool_use",
          id: body.tool_use_id,
          name: body.tool_name,
          input: body.tool_input,
          parent_tool_use_id: body.parent_tool_use_id,
        };
        return { message, index };
      case "tool-running":
        Object.assign(message.content[index] ?? {}, { output_so_far: body.output, running_for: body.seconds });
        return { message, index };
      case "message-block":
        message.content[index] = { blocks: message.content[index]?.blocks, ...body.block };
        return { message, index };
      case "message-completed":
        Object.assign(message, { status: "completed", stop_reason: body.stop_reason, usage: body.usage });
        return { message, isEnd: true };
      case "message-error":
        Object.assign(message, { status: "completed", error: body, usage: body.usage });
        return { message, isEnd: true };
      default:
        return null;
    }
  }

  /** @param {any} block @param {Blocks} told */
  #placeBlocks(block, { from, blocks }) {
    const [first] = blocks;
    block.blocks ??= [];
    const old = block.blocks[from];
    const grown = first?.from_line !== undefined && old
      ? [{ ...first, lines: [...old.lines.slice(0, first.from_line), ...first.lines], from_line: undefined }, ...blocks.slice(1)]
      : blocks;
    block.blocks.splice(from, Infinity, ...grown);
  }

  /** @param {Message} message */
  #put(message) {
    const place = this.messages.findIndex((known) => known.id === message.id);
    if (place >= 0) this.messages[place] = message;
    else {
      this.messages.push(message);
      this.total += 1;
    }
    return message;
  }
}
