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

  /** @param {Resource} message */
  const queued = (message) => {
    const texts = message.content.filter((/** @type {any} */ block) => block.type === "text").map((/** @type {any} */ block) => block.text);
    const images = message.content.filter((/** @type {any} */ block) => block.type === "image").map((/** @type {any} */ block) => block.path);
    const given = { sessionId, messageId: message.id };
    const take = button("change", async () => {
      if ((await app.run("remove_queued_message", given)) !== undefined) change(texts.join("\n\n"), images);
    }, ".quiet");
    return row("waits: ", [...texts, ...images].join(" "), take, remove(() => app.run("remove_queued_message", given)));
  };
  /** @param {Letter} letter */
  const unsent = (letter) => {
    if (letter.tried) return row("on its way: ", letter.message);
    const take = button("change", () => {
      app.outbox.drop(letter.id);
      change(letter.message, letter.images);
    }, ".quiet");
    return row("goes when the connection is back: ", letter.message, take, remove(() => app.outbox.drop(letter.id)));
  };
  const draw = () => {
    const isOffline = !app.connection.isOpen;
    const letters = app.outbox.of(sessionId).filter((letter) => isOffline || Date.now() - letter.at > SOON);
    const items = [
      ...(app.state.queued.get(sessionId) ?? []).map((message) => ({ key: message.id, make: () => queued(message) })),
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

/** @param {string} state @param {string} text @param {HTMLElement[]} buttons */
const row = (state, text, ...buttons) => make("li", make("span", make("b", state), text), buttons);
/** @param {() => unknown} action */
const remove = (action) => button("✕", action, ".quiet", { "aria-label": "Remove" });
