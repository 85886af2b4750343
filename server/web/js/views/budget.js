// @ts-check
// Budgets of sessions, and of projects for each day.

import { ask } from "../dialogs.js";
import { make } from "../dom.js";
import { describeCost, formatCost, formatCount, pluralize } from "../format.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("../state.js").Resource} Resource
 */

/** Ask for the budget of a session. @param {App} app @param {Resource} session */
export async function setSessionBudget(app, session) {
  await ask("Budget of the session, in dollars", {
    value: String(session.budget_usd ?? ""),
    label: "Set",
    hint: `It has used ${formatCost(session.cost?.usd ?? 0)}. At 80 % you are notified; at its budget it pauses after the turn. Empty: as in the preferences. 0: no limit.`,
    submit: (text) => app.connection.call("set_budget", { sessionId: session.id, usd: parseDollars(text) }),
  });
}

/** The field for the budget of a project for each day, with what is used of it. @param {App} app @param {Resource} project */
export function projectBudget(app, project) {
  const before = String(project.budget_usd ?? "");
  const field = make("input", { inputMode: "decimal", autocomplete: "off", value: before, placeholder: "As in the preferences; 0 for no limit" });
  const used = make("small.hint", "Used today: …");
  app.connection.call("get_usage", { by: "day", projectId: project.id }).then(({ rows, today }) => {
    const row = rows.find((/** @type {any} */ each) => each.key === today);
    const parts = row ? [describeCost(row), `${formatCount(row.tokens)} tokens`, pluralize(row.turns, "turn")] : ["nothing"];
    used.textContent = `Used today: ${parts.join(" · ")}`;
  }, (error) => (used.textContent = error.message));
  return {
    element: make("label.setting", make("span", "Budget per day, in dollars"), field, used),
    isChanged: () => field.value.trim() !== before,
    /** Save it. Throws what is wrong with it. */
    save: () => app.connection.call("set_budget", { projectId: project.id, usd: parseDollars(field.value) }),
  };
}

/** Dollars, or `null` for the preference. @param {string} text */
function parseDollars(text) {
  const number = text.trim().replace(/^\$/, "").replaceAll(",", "");
  if (!number) return null;
  if (!Number.isFinite(Number(number))) throw new Error(`Not a number of dollars: ${text.slice(0, 40)}. Type one such as 5 or 2.50.`);
  return Number(number);
}
