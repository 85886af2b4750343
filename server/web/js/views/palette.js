// @ts-check
// The command palette: all actions, sessions, worktrees and projects, filtered by typing.

import { make } from "../dom.js";
import { keysFor } from "../keys.js";
import { markElement, markOf } from "../marks.js";
import { currentContext, isAvailable, listActions, performAction } from "../perform.js";
import { loadStylesheet } from "./stylesheet.js";

await loadStylesheet("palette");

/**
 * @typedef {import("../app.js").App} App
 * @typedef {{ title: string, key?: string, detail?: string, mark?: HTMLElement, do: () => unknown }} Entry
 */

const MAX_RESULTS = 60;

/**
 * Fill the open palette; returns a function that runs the chosen entry.
 * @param {App} app @param {HTMLDialogElement} dialog @param {HTMLInputElement} input
 */
export function palette(app, dialog, input) {
  const list = make("ul.entries", { role: "listbox", id: "entries", "aria-label": "Results" });
  dialog.append(list);
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-controls", "entries");
  input.setAttribute("aria-expanded", "true");
  const entries = [...actionEntries(app), ...destinations(app)];
  /** @type {Entry[]} */
  let results = [];
  let chosen = 0;

  /** @param {number} index */
  const choose = (index) => {
    chosen = results.length ? (index + results.length) % results.length : 0;
    for (const [position, option] of [...list.children].entries()) option.ariaSelected = String(position === chosen);
    const option = list.children[chosen];
    option?.scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", option?.id ?? "");
  };
  const draw = () => {
    results = filterEntries(entries, input.value).slice(0, MAX_RESULTS);
    list.replaceChildren(...results.map((entry, index) => make(
      "li",
      entry.mark,
      make("span", entry.title),
      entry.key && make("small.key", entry.key),
      entry.detail && make("small", entry.detail),
      { role: "option", id: `entry-${index}`, onclick: () => run(entry) },
    )));
    choose(0);
  };
  /** @param {Entry | undefined} entry */
  const run = (entry) => {
    if (!entry) return;
    dialog.close();
    entry.do();
  };
  input.addEventListener("input", draw);
  input.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in steps) choose(Math.max(0, Math.min(chosen + steps[/** @type {"ArrowUp"} */ (event.key)], results.length)));
    else if (event.key === "Enter") run(results[chosen]);
    else if (event.key === "Escape") dialog.close(); // the browser would clear the input first
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  draw();
  return () => run(results[chosen]);
}

/** @param {App} app @returns {Entry[]} */
function actionEntries(app) {
  const context = currentContext(app);
  const own = app.state.preferences.keybindings ?? {};
  return listActions().filter((action) => action.inPalette !== false && isAvailable(action, context)).map((action) => ({
    title: action.title,
    key: keysFor(action, own)[0],
    do: () => performAction(app, action.id),
  }));
}

/** @param {App} app @returns {Entry[]} */
function destinations(app) {
  const { projects, worktrees, sessions } = app.state;
  const visible = [...sessions.values()].filter((session) => !session.archived_at && !worktrees.get(session.worktree_id)?.archived_at);
  return [
    ...visible.map((session) => {
      const { worktree, project } = app.state.parentsOf(session);
      const detail = [project?.name, worktree?.name].filter(Boolean).join(" ▸ ");
      return { title: session.name, detail, mark: markElement(markOf(session)), do: () => app.go("session", session.id) };
    }),
    ...[...worktrees.values()].filter((worktree) => !worktree.archived_at).map((worktree) => ({
      title: worktree.name,
      detail: `worktree of ${projects.get(worktree.project_id)?.name ?? ""}`,
      do: () => app.go("worktree", worktree.id),
    })),
    ...[...projects.values()].map((project) => ({
      title: project.name,
      detail: project.is_folder ? "folder" : "project",
      do: () => app.go("project", project.id),
    })),
  ];
}

/** Entries with all words; titles that start with the first word come first. @param {Entry[]} entries @param {string} query */
function filterEntries(entries, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return entries;
  const matches = entries.filter(({ title, key = "", detail = "" }) => words.every((word) => `${title} ${key} ${detail}`.toLowerCase().includes(word)));
  /** @param {Entry} entry */
  const rank = ({ title }) => (title.toLowerCase().startsWith(words[0]) ? 0 : title.toLowerCase().includes(words[0]) ? 1 : 2);
  return matches.sort((a, b) => rank(a) - rank(b));
}
