// @ts-check
// The palette: everything that can be done, and every place, found by a few letters.

import { make } from "../dom.js";
import { keysOf } from "../keys.js";
import { markElement, markOf } from "../marks.js";
import { hereOf, isPossible, list, perform } from "../perform.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {{ title: string, told?: string, mark?: HTMLElement, do: () => unknown }} Entry
 */

const MOST = 60;

/**
 * Fill the palette, which is open already; gives what takes the chosen entry.
 * @param {App} app @param {HTMLDialogElement} dialog @param {HTMLInputElement} box
 */
export function palette(app, dialog, box) {
  const list = make("ul.entries", { role: "listbox", id: "entries", "aria-label": "What there is" });
  dialog.append(list);
  box.setAttribute("role", "combobox");
  box.setAttribute("aria-controls", "entries");
  box.setAttribute("aria-expanded", "true");
  const all = [...commands(app), ...places(app)];
  /** @type {Entry[]} */
  let found = [];
  let chosen = 0;

  /** @param {number} place */
  const choose = (place) => {
    chosen = found.length ? (place + found.length) % found.length : 0;
    for (const [at, option] of [...list.children].entries()) option.ariaSelected = String(at === chosen);
    const option = list.children[chosen];
    option?.scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", option?.id ?? "");
  };
  const draw = () => {
    found = fitting(all, box.value).slice(0, MOST);
    list.replaceChildren(...found.map((entry, place) => make(
      "li",
      entry.mark,
      make("span", entry.title),
      entry.told && make("small", entry.told),
      { role: "option", id: `entry-${place}`, onclick: () => take(entry) },
    )));
    choose(0);
  };
  /** @param {Entry | undefined} entry */
  const take = (entry) => {
    if (!entry) return;
    dialog.close();
    entry.do();
  };
  box.oninput = draw;
  box.onkeydown = (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in steps) choose(Math.max(0, Math.min(chosen + steps[/** @type {"ArrowUp"} */ (event.key)], found.length)));
    else if (event.key === "Enter") take(found[chosen]);
    else if (event.key === "Escape") dialog.close(); // by itself it would empty the box first
    else return;
    event.preventDefault();
  };
  dialog.onclick = (event) => event.target === dialog && dialog.close();
  draw();
  return () => take(found[chosen]);
}

/** @param {App} app @returns {Entry[]} */
function commands(app) {
  const here = hereOf(app);
  const own = app.state.preferences.keybindings ?? {};
  return list().filter((action) => action.inPalette !== false && isPossible(action, here)).map((action) => ({
    title: action.title,
    told: keysOf(action, own)[0],
    do: () => perform(app, action.id),
  }));
}

/** @param {App} app @returns {Entry[]} */
function places(app) {
  const { projects, worktrees, sessions } = app.state;
  const shown = [...sessions.values()].filter((session) => !session.archived_at && !worktrees.get(session.worktree_id)?.archived_at);
  return [
    ...shown.map((session) => {
      const { worktree, project } = app.state.placeOf(session);
      const told = [project?.name, worktree?.name].filter(Boolean).join(" ▸ ");
      return { title: session.name, told, mark: markElement(markOf(session)), do: () => app.go("session", session.id) };
    }),
    ...[...worktrees.values()].filter((worktree) => !worktree.archived_at).map((worktree) => ({
      title: worktree.name,
      told: `worktree of ${projects.get(worktree.project_id)?.name ?? ""}`,
      do: () => app.go("worktree", worktree.id),
    })),
    ...[...projects.values()].map((project) => ({
      title: project.name,
      told: project.is_folder ? "folder" : "project",
      do: () => app.go("project", project.id),
    })),
  ];
}

/** Those with all the words, titles that begin so first. @param {Entry[]} entries @param {string} query */
function fitting(entries, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return entries;
  const hits = entries.filter(({ title, told = "" }) => words.every((word) => `${title} ${told}`.toLowerCase().includes(word)));
  /** @param {Entry} entry */
  const rank = ({ title }) => (title.toLowerCase().startsWith(words[0]) ? 0 : title.toLowerCase().includes(words[0]) ? 1 : 2);
  return hits.sort((a, b) => rank(a) - rank(b));
}
