// @ts-check
// What a message does while the agent waits for the user: it is feedback on a plan, the answer to a question, or the
// reason of a denial. The hint says which; text typed into the box never approves anything.

import { make } from "../dom.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const GUARD_TIME = 800; // ms after a permission request in which a message does not deny it, as it was not meant for it

/** @type {Record<string, { send: string, text: string }>} `send` is short, because a second row of buttons on a phone would move the box while it is being pressed */
const KINDS = {
  plan: { send: "Send", text: "Your message is sent to the agent as feedback on the plan. It does not approve the plan." },
  question: { send: "Send", text: "Your message answers the question." },
  permission: { send: "Say no", text: "Your message denies the permission and is sent to the agent as the reason." },
};

/** @param {App} app @param {string} sessionId */
export function replyHint(app, sessionId) {
  const element = make("p.hint", { id: "reply-hint", role: "status", hidden: true });
  let requestId = "";
  let requestedAt = 0;
  const session = () => app.state.sessions.get(sessionId);
  return {
    element,
    /** Show what a message does now; returns the label of the send button. @param {Resource} current */
    update(current) {
      const id = current.request?.id ?? "";
      if (id !== requestId) requestedAt = performance.now();
      requestId = id;
      const kind = KINDS[current.waiting_for];
      const elsewhere = current.elsewhere_since ? "Continued in the agent's own screen. Your next message reads what was said there." : "";
      element.hidden = !kind && !elsewhere;
      element.textContent = kind?.text ?? elsewhere;
      return kind?.send ?? (["running", "paused"].includes(current.status) ? "Queue" : "Send");
    },
    /**
     * Deny the open permission request with a reason. Returns `false` if there is none that the user can have meant,
     * and the text is an ordinary message.
     * @param {string} text @param {() => unknown} clear clears the box
     */
    deny(text, clear) {
      const request = session()?.request;
      if (request?.kind !== "permission" || !app.connection.isOpen) return false;
      if (performance.now() - requestedAt < GUARD_TIME) return false;
      if (!text) {
        app.toast("A denial needs a reason in words. The attachments are kept for your next message.");
        return true;
      }
      clear();
      const args = { sessionId, requestId: request.id, decision: "deny", reason: text };
      app.connection.call("answer_permission", args).then(
        () => app.toast("Denied. The agent gets your reason."),
        (error) => app.outbox.returnToDraft({ sessionId, message: text, images: [], files: [] }, error.message),
      );
      return true;
    },
  };
}
