// @ts-check
// Messages that are queued behind a run, or waiting for the connection. They can be edited and removed.

import { button, make, syncKeyed } from "../dom.js";
import { formatWhen } from "../format.js";
import { may } from "../guest.js";
import { icon } from "../icons.js";
import { choose } from "../dialogs.js";
import { hashFor } from "../router.js";
import { chooseSendTime } from "./pause.js";

/**
 * @typedef {import("../state.js").Resource} Resource
 * @typedef {import("../outbox.js").OutgoingMessage} OutgoingMessage
 */

const SEND_TIME = 800; // ms within which a message is normally accepted, and not yet shown as waiting

/** @param {import("../app.js").App} app @param {string} sessionId @param {(text: string, paths: import("../drafts.js").Paths) => void} change */
export function queueList(app, sessionId, change) {
  const element = make("ul.queue", { "aria-label": "Queued messages" });

  /** @param {Resource} message @param {string} label @param {string} action */
  const queuedRow = (message, label, action) => {
    const texts = message.content.filter((/** @type {any} */ block) => block.type === "text").map((/** @type {any} */ block) => block.text);
    const images = message.content.filter((/** @type {any} */ block) => block.type === "image").map((/** @type {any} */ block) => block.path);
    const args = { sessionId, messageId: message.id };
    const files = message.files ?? [];
    const edit = button("Edit", async () => {
      if ((await app.run("remove_queued_message", args)) !== undefined) change(texts.join("\n\n"), { images, files });
    }, ".quiet");
    const sendButton = action && button(action, () => sendNow(), ".quiet");
    const steers = !message.steered && app.state.sessions.get(sessionId)?.status === "running";
    const steer = steers ? [button("Send now", () => app.run("steer_queued_message", args), ".quiet", { title: "The agent reads it during this turn" })] : [];
    const time = message.steered || !may("set_send_time") ? [] : [button("Time", () => setTime(message), ".quiet", { title: "Change when it is sent" })];
    if (!may("remove_queued_message")) return row([label], [...texts, ...files].join(" "));
    return row([label, ...setupParts(), sendButton], [...texts, ...images, ...files].join(" "), ...steer, ...time, edit, remove(() => app.run("remove_queued_message", args)));
  };
  /** What helps where the first message waits for the setup: its output, and another run. */
  const setupParts = () => {
    const session = app.state.sessions.get(sessionId);
    const worktree = session?.message_count === 0 ? app.state.worktrees.get(session.worktree_id) : null;
    if (!worktree?.setup_hold || !may("run_worktree_script")) return [];
    const output = make("a", "Output", { href: hashFor("worktree", worktree.id) });
    const again = () => app.run("run_worktree_script", { worktreeId: worktree.id, script: "setup" });
    return [output, worktree.setup_hold === "failed" && button("Run again", again, ".quiet")];
  };
  /** Stop the run and send the first queued message. */
  const sendNow = async () => {
    const isIdle = app.state.sessions.get(sessionId)?.status !== "running" || (await app.run("stop_generation", { sessionId })) !== undefined;
    if (isIdle) await app.run("send_queued_messages", { sessionId });
  };
  /** Change when a message is sent. @param {Resource} message */
  const setTime = async (message) => {
    const args = { sessionId, messageId: message.id };
    const isTimed = Boolean(message.send_at) && (await choose("Send the message", [["When it is its turn", true], ["At another time…", false]]));
    if (isTimed === null) return;
    const at = isTimed ? null : await chooseSendTime(app.state.sessions.get(sessionId));
    if (isTimed || at !== null) await app.run("set_send_time", { ...args, at });
  };
  /** @param {OutgoingMessage} message @param {string} label */
  const outgoingRow = (message, label) => {
    if (message.tried) return row([label], message.message);
    const edit = button("Edit", () => {
      app.outbox.remove(message.id);
      change(message.message, message);
    }, ".quiet");
    return row([label], message.message, edit, remove(() => app.outbox.remove(message.id)));
  };
  const draw = () => {
    const isOffline = !app.connection.isOpen;
    const outgoing = app.outbox.forSession(sessionId).filter((message) => isOffline || Date.now() - message.at > SEND_TIME);
    const queued = app.state.queued.get(sessionId) ?? [];
    const next = queued.find((message) => !message.send_at);
    let before = "";
    /** What is said once above messages of which it is true. @param {string} label */
    const unlessSaid = (label) => {
      const isSaid = label === before;
      before = label;
      return isSaid ? "" : label;
    };
    const items = [
      ...queued.map((message) => {
        const status = sendingStatus(app.state, sessionId, message, message === next);
        const label = unlessSaid(status.text);
        return { key: `${message.id} ${label} ${status.action} ${status.text}`, make: () => queuedRow(message, label, status.action) };
      }),
      ...outgoing.map((message) => {
        const label = unlessSaid(message.tried ? "Sending" : "Will be sent when you are back online");
        return { key: `${message.id}/${message.tried}/${label}`, make: () => outgoingRow(message, label) };
      }),
    ];
    syncKeyed(element, items, (item) => item.key, (item, old) => old ?? item.make());
  };
  const unsubscribe = app.outbox.onChange(() => {
    draw();
    if (app.outbox.forSession(sessionId).length) setTimeout(draw, SEND_TIME * 1.1);
  });
  return { element, draw, close: unsubscribe };
}

/** When a queued message is sent, and the button that sends the first one now. @param {import("../state.js").State} state @param {string} sessionId @param {Resource} message @param {boolean} isFirst */
function sendingStatus(state, sessionId, message, isFirst) {
  const session = state.sessions.get(sessionId);
  const hold = session?.message_count === 0 ? state.worktrees.get(session.worktree_id)?.setup_hold : null;
  if (hold === "running") return { text: "Waiting for setup", action: isFirst ? "Send anyway" : "" };
  if (hold === "failed") return { text: "Setup failed", action: isFirst ? "Send anyway" : "" };
  if (session?.status === "running" && message.steered) return { text: "Sent; the agent has not read it yet", action: "" };
  if (message.send_at) return { text: `To be sent at ${formatWhen(message.send_at)}`, action: "" };
  if (session?.status === "paused") return { text: "Queued until the session continues", action: isFirst ? "Continue now" : "" };
  if (session?.status === "running") return { text: "Queued until this answer is complete", action: isFirst ? "Stop and send now" : "" };
  if (session?.status === "waiting") return { text: "Queued until you respond", action: "" };
  return { text: "Queued until your next message", action: isFirst ? "Send now" : "" };
}

/** @param {[label: string, ...actions: (HTMLElement | "" | false)[]]} head @param {string} text @param {HTMLElement[]} buttons */
const row = ([label, ...actions], text, ...buttons) => make("li", label && make("div.queue-head", make("b", label), ...actions), make("span", text), buttons);
/** @param {() => unknown} action */
const remove = (action) => button(icon("close"), action, ".quiet.icon-only", { "aria-label": "Remove" });
