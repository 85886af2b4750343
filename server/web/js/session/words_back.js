// @ts-check
// A message that is sent while the agent waits for a person answers in words: it is feedback on a plan, the answer to
// a question, or the reason of a denial. The box says which before; letters typed there approve nothing.

import { make } from "../dom.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const MOMENT = 800; // ms in which a message that was on its way when a permission was asked for does not deny it

/** @type {Record<string, { send: string, words: string }>} `send` is short: on a phone a second row of buttons would move the box away from under a finger */
const KINDS = {
  plan: { send: "Send", words: "Your message goes to the agent as feedback on the plan. It approves nothing." },
  question: { send: "Send", words: "Your message answers the question." },
  permission: { send: "Say no", words: "Your message denies the permission, and tells the agent why." },
};

/** @param {App} app @param {string} sessionId */
export function wordsBack(app, sessionId) {
  const element = make("p.hint", { id: "words-back", role: "status", hidden: true });
  let asked = "";
  let since = 0;
  const session = () => app.state.sessions.get(sessionId);
  return {
    element,
    /** Say what a message does now; gives the word for its button. @param {Resource} now */
    follow(now) {
      const id = now.request?.id ?? "";
      if (id !== asked) since = performance.now();
      asked = id;
      const kind = KINDS[now.waiting_for];
      element.hidden = !kind;
      element.textContent = kind?.words ?? "";
      return kind?.send ?? (now.status === "running" ? "Queue" : "Send");
    },
    /**
     * Deny the permission that waits, with these words as the reason; gives `false` where none waits that the
     * person can have meant, so that they are a message like any other.
     * @param {string} words @param {() => unknown} taken empties the box
     */
    deny(words, taken) {
      const request = session()?.request;
      if (request?.kind !== "permission" || !app.connection.isOpen) return false;
      if (performance.now() - since < MOMENT) return false;
      if (!words) {
        app.say("A denial takes words only. The pictures stay here for your next message.");
        return true;
      }
      taken();
      const given = { sessionId, requestId: request.id, decision: "deny", reason: words };
      app.connection.call("answer_permission", given).then(
        () => app.say("Denied. The agent reads what you wrote."),
        (error) => app.outbox.giveBack({ sessionId, message: words, images: [] }, error.message),
      );
      return true;
    },
  };
}
