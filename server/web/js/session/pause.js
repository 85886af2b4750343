// @ts-check
// Paused sessions: why they wait, when they continue, and the choice of another time, also for messages.

import { choose, showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { formatWhen } from "../format.js";
import { may } from "../guest.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

const SOON = 600; // s until which a time is shown with its seconds
const HOUR = 3600; // s

/** When a paused session continues, as a sentence. @param {Resource} pause */
export function describeResumption(pause) {
  const now = Date.now() / 1000;
  if (pause.until === null) {
    const end = pause.resets_at > now ? `The limit ends at ${formatWhen(pause.resets_at)}. ` : "";
    return `${end}It waits until you continue it.`;
  }
  if (pause.until <= now) return "It continues in a moment.";
  const time = formatWhen(pause.until, pause.until - now < SOON);
  if (pause.kind === "overloaded" || pause.kind === "network") return `Attempt ${pause.attempts + 1} is at ${time}.`;
  return `It continues at ${time}.`;
}

/** The reason of a pause with what can be done. @param {App} app @param {Resource} session */
export function pauseCard(app, session) {
  const { pause } = session;
  const reason = /[.!?]$/.test(pause.text) ? pause.text : `${pause.text}.`;
  return make(
    "section.paused",
    make("h3", "Paused"),
    make("p", reason, " ", describeResumption(pause)),
    make(
      "div.choices",
      may("resume_session") && button("Continue now", () => app.run("resume_session", { sessionId: session.id }), ".primary"),
      may("set_resume_time") && button("Change…", () => chooseContinuation(app, session.id)),
    ),
  );
}

/** Choose when a paused session continues, or all of its account. @param {App} app @param {string} sessionId @returns {Promise<unknown>} */
export async function chooseContinuation(app, sessionId) {
  const session = app.state.sessions.get(sessionId);
  const pause = session?.pause;
  if (!pause) return app.toast("This session is not paused.");
  const others = [...app.state.sessions.values()].filter((other) => other.pause?.account === pause.account && !other.archived_at);
  const all = `All ${others.length} paused sessions of this account`;
  /** @type {import("../dialogs.js").MenuEntry<[when: string, isAll: boolean]>[]} */
  const entries = [["Continue now", ["now", false]]];
  if (pause.resets_at && pause.resets_at !== pause.until) entries.push([`When the limit ends, ${formatWhen(pause.resets_at)}`, ["reset", false]]);
  entries.push(["At another time…", ["ask", false]]);
  if (pause.until !== null) entries.push(["Not by itself", ["never", false]]);
  entries.push(["End the pause; the queue stays", ["end", false]]);
  if (others.length > 1) {
    entries.push([`${all}: now`, ["now", true], { isApart: true }], [`${all}: at another time…`, ["ask", true]], [`${all}: not by themselves`, ["never", true]]);
  }
  const chosen = await choose("Continue the paused session", entries, () => chooseContinuation(app, sessionId));
  if (!chosen) return undefined;
  const [when, isAll] = chosen;
  if (when === "end") return app.run("stop_generation", { sessionId });
  if (when === "now" && !isAll) return app.run("resume_session", { sessionId });
  const at = when === "ask" ? await askTime("Continue at") : when === "never" ? null : when;
  if (when === "ask" && at === null) return undefined;
  return app.run("set_resume_time", { at, ...(isAll ? { account: pause.account } : { sessionId }) });
}

/**
 * Choose when a message is sent: seconds since 1970, or `reset`; `null` if it was canceled.
 * @param {Resource | undefined} session
 * @returns {Promise<number | "reset" | null>}
 */
export async function chooseSendTime(session) {
  const now = Date.now() / 1000;
  const morning = new Date();
  morning.setDate(morning.getDate() + 1);
  morning.setHours(9, 0, 0, 0);
  /** @type {import("../dialogs.js").MenuEntry<string | number>[]} */
  const entries = [["In an hour", now + HOUR], ["Tomorrow at 9:00", morning.getTime() / 1000], ["At another time…", "ask"]];
  if (session?.pause) entries.unshift(["When the limit ends", "reset"]);
  const chosen = await choose("Send the message", entries);
  return chosen === "ask" ? askTime("Send the message at") : /** @type {number | "reset" | null} */ (chosen);
}

/**
 * Ask for a time of this device's clock.
 * @param {string} title @param {number} [known] in seconds since 1970
 * @returns {Promise<number | null>} in seconds since 1970; `null` if it was canceled
 */
export function askTime(title, known = Date.now() / 1000 + HOUR) {
  return new Promise((resolve) => {
    const field = make("input", { type: "datetime-local", required: true, "aria-label": title, value: localValue(known), min: localValue(Date.now() / 1000) });
    const dialog = make("dialog", make("h2", title), { "aria-label": title });
    const form = make("form", field, make("div.choices", make("button.primary", "Choose"), button("Cancel", () => dialog.close())));
    dialog.append(form);
    /** @type {number | null} */
    let chosen = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      chosen = new Date(field.value).getTime() / 1000;
      dialog.close();
    });
    showDialog(dialog, () => resolve(chosen));
  });
}

/** The value of a field for date and time. @param {number} seconds */
function localValue(seconds) {
  const time = new Date(seconds * 1000);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
