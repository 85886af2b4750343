// @ts-check
// The loaded messages of a conversation, and how events change them.

/**
 * @typedef {import("../state.js").Resource} Message
 *
 * @typedef {object} Blocks the payload of `content-blocks`: replaces a text's blocks from index `from`
 * @property {string} message_id
 * @property {number} content_index
 * @property {number} from
 * @property {any[]} blocks
 */

export const PAGE_SIZE = 100;
const CACHE_SIZE = 12; // conversations

/** Recently loaded conversations, the newest last. @type {Map<string, Conversation>} */
const cache = new Map();

/** Cache a conversation, to show it until it is reloaded. @param {Conversation} conversation */
export function cacheConversation(conversation) {
  cache.delete(conversation.sessionId);
  cache.set(conversation.sessionId, conversation);
  const [oldest] = cache.keys();
  if (cache.size > CACHE_SIZE) cache.delete(oldest);
}

/** @param {string} sessionId */
export const cachedConversation = (sessionId) => cache.get(sessionId);

/** The loaded messages of a session, oldest first. */
export class Conversation {
  /** @type {Message[]} */ messages = [];
  total = 0;
  isLoaded = false;
  readAt = 0; // ms

  /** @param {string} sessionId */
  constructor(sessionId) {
    this.sessionId = sessionId;
  }

  /** The number of messages before the first loaded one. */
  get older() {
    return Math.max(0, this.total - this.messages.length);
  }

  /** Replace all messages by the newest page. @param {{ messages: Message[], total: number }} page */
  load(page) {
    this.messages = page.messages;
    this.total = Math.max(page.total, page.messages.length);
    this.isLoaded = true;
    this.readAt = Date.now();
  }

  /** Insert an older page; returns its messages that were not loaded yet. @param {{ messages: Message[], total: number }} page */
  prepend(page) {
    const known = new Set(this.messages.map((message) => message.id));
    const older = page.messages.filter((message) => !known.has(message.id));
    this.messages.unshift(...older);
    this.total = Math.max(page.total, this.messages.length);
    return older;
  }

  /**
   * Apply an event.
   * @param {string} name
   * @param {any} body
   * @returns {{ message: Message, index?: number, isEnd?: boolean } | null} the message that changed: one of its
   *   blocks, its end, or everything
   */
  apply(name, body) {
    if (!this.isLoaded || body.session_id !== this.sessionId) return null;
    if (name === "message-started" || (name === "message-queued" && body.status === "processing")) {
      return { message: this.#upsert(body.message) };
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
        this.#mergeBlocks(message.content[index], body);
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

  /** The newest message that was not taken back. */
  get newest() {
    return this.messages.findLast((message) => !message.rewound);
  }

  /** Mark messages as taken back, or not any more; returns those that are loaded. @param {any} body @returns {Message[]} */
  rewind(body) {
    if (!this.isLoaded || body.session_id !== this.sessionId) return [];
    const ids = new Set(body.message_ids);
    const changed = this.messages.filter((message) => ids.has(message.id));
    for (const message of changed) message.rewound = body.rewound;
    return changed;
  }

  /** @param {any} block @param {Blocks} payload */
  #mergeBlocks(block, { from, blocks }) {
    const [first] = blocks;
    block.blocks ??= [];
    const old = block.blocks[from];
    const merged = first?.from_line !== undefined && old
      ? [{ ...first, lines: [...old.lines.slice(0, first.from_line), ...first.lines], from_line: undefined }, ...blocks.slice(1)]
      : blocks;
    block.blocks.splice(from, Infinity, ...merged);
  }

  /** @param {Message} message */
  #upsert(message) {
    const index = this.messages.findIndex((known) => known.id === message.id);
    if (index >= 0) this.messages[index] = message;
    else {
      this.messages.push(message);
      this.total += 1;
    }
    return message;
  }
}
