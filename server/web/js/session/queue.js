// @ts-check
// Messages that wait: behind a run, or for the connection. Each can be changed and removed.

import { button, make, placeKeyed } from "../dom.js";

/**
 * @typedef {import("../state.js").Resource} Resource
 * @typedef {import("../outbox.js").Letter} Letter
 */

const SOON = 800; // ms in which a message is taken where all is well; it is not shown as waiting before

/** @param {import("../app.js").App} app @param {string} sessionId @param {(text: string, images: string[]) => void} change */
export function waitingList(app, sessionId, change) {
  const element = make("ul.queue", { "aria-label": "Messages that wait" });

  /** @param {Resource} message @param {ReturnType<typeof whenSent>} when */
  const queued = (message, when) => {
    const texts = message.content.filter((/** @type {any} */ block) => block.type === "text").map((/** @type {any} */ block) => block.text);
    const images = message.content.filter((/** @type {any} */ block) => block.type === "image").map((/** @type {any} */ block) => block.path);
    const given = { sessionId, messageId: message.id };
    const edit = button("Edit", async () => {
      if ((await app.run("remove_queued_message", given)) !== undefined) change(texts.join("\n\n"), images);
    }, ".quiet");
    const now = when.now && button(when.now, () => sendNow(), ".quiet");
    return row(when.words, [...texts, ...images].join(" "), now, edit, remove(() => app.run("remove_queued_message", given)));
  };
  /** What was queued first, in place of what runs. */
  const sendNow = async () => {
    const isFree = app.state.sessions.get(sessionId)?.status !== "running" || (await app.run("stop_generation", { sessionId })) !== undefined;
    if (isFree) await app.run("send_queued_messages", { sessionId });
  };
  /** @param {Letter} letter */
  const unsent = (letter) => {
    if (letter.tried) return row("On its way: ", letter.message);
    const edit = button("Edit", () => {
      app.outbox.drop(letter.id);
      change(letter.message, letter.images);
    }, ".quiet");
    return row("Sends when you are back online: ", letter.message, edit, remove(() => app.outbox.drop(letter.id)));
  };
  const draw = () => {
    const isOffline = !app.connection.isOpen;
    const letters = app.outbox.of(sessionId).filter((letter) => isOffline || Date.now() - letter.at > SOON);
    const items = [
      ...(app.state.queued.get(sessionId) ?? []).map((message, place) => {
        const when = whenSent(app.state, sessionId, place === 0);
        return { key: `${message.id} ${when.words} ${when.now}`, make: () => queued(message, when) };
      }),
      ...letters.map((letter) => ({ key: `${letter.id}/${letter.tried}`, make: () => unsent(letter) })),
    ];
    placeKeyed(element, items, (item) => item.key, (item, old) => old ?? item.make());
  };
  const unwatch = app.outbox.watch(() => {
    draw();
    if (app.outbox.of(sessionId).length) setTimeout(draw, SOON * 1.1);
  });
  return { element, draw, close: unwatch };
}

/** When a queued message is sent, and what sends the first of them at once. @param {import("../state.js").State} state @param {string} sessionId @param {boolean} isFirst */
function whenSent(state, sessionId, isFirst) {
  const session = state.sessions.get(sessionId);
  const hold = session?.message_count === 0 ? state.worktrees.get(session.worktree_id)?.setup_hold : null;
  if (hold === "running") return { words: "Waiting for setup: ", now: isFirst ? "Send anyway" : "" };
  if (hold === "failed") return { words: "Setup did not end well: ", now: isFirst ? "Send anyway" : "" };
  if (session?.status === "running") return { words: "Queued, sends after this answer: ", now: isFirst ? "Stop and send now" : "" };
  if (session?.status === "waiting") return { words: "Queued, sends after this is answered: ", now: "" };
  return { words: "Queued, sends after your next message: ", now: isFirst ? "Send now" : "" };
}

/** @param {string} state @param {string} text @param {(HTMLElement | "")[]} buttons */
const row = (state, text, ...buttons) => make("li", make("span", make("b", state), text), buttons);
/** @param {() => unknown} action */
const remove = (action) => button("✕", action, ".quiet", { "aria-label": "Remove" });
