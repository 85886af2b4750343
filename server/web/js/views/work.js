// @ts-check
// Open work: the issues and pull requests of all projects in one list, and the lists of one project: issues, pull
// requests, failed workflow runs, security alerts, advisories, tracker issues. Work begins from any of them.

import { missingView } from "../app.js";
import { button, make, patchChildren, syncKeyed } from "../dom.js";
import { pluralize } from "../format.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { select } from "./form_fields.js";
import { Selection } from "./selection.js";
import { loadStylesheet } from "./stylesheet.js";
import { keyOf, searchText, worktreesOf, workRow } from "./work_items.js";
import { TABS, readPage, statesOf, tabOf } from "./work_source.js";

await Promise.all([loadStylesheet("landing"), loadStylesheet("work")]);

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./work_source.js").Entry} Entry
 */

const SEARCH_DELAY = 500; // ms without a key until the service is asked: it allows some thirty searches a minute
const MAX_SHOWN = 300; // rows that are drawn at once

/** @type {import("../app.js").MakeView} */
export function workView(app, route) {
  if (route.id && !app.state.projects.has(route.id)) return missingView(app, "projects", route.id);
  return new WorkView(app, route);
}

class WorkView {
  title = "Open work";
  /** @type {Entry[]} */ #entries = [];
  /** @type {{ project_id: string, message: string }[]} */ #problems = [];
  /** What the service searched for. */ #searched = "";
  #page = 0;
  #isComplete = false;
  #isReading = false;
  #failure = "";
  #limit = MAX_SHOWN;
  /** The number of the newest reading; the answers of earlier ones are dropped. */ #reading = 0;
  /** @type {number | undefined} */ #timer;

  /** @param {App} app @param {import("../router.js").Route} route */
  constructor(app, route) {
    this.app = app;
    const projects = [...app.state.projects.values()].filter((project) => !project.is_folder);
    this.tab = tabOf(route.query.get("kind")) ?? (route.id ? TABS[1] : TABS[0]);
    this.isAll = this.tab.id === "all";
    this.projectId = this.isAll ? "" : (projects.find((project) => project.id === route.id) ?? projects[0])?.id ?? "";
    /** @type {import("./work_source.js").Filters} */
    this.filters = { state: statesOf(this.tab)[0][0], labels: [], assignee: "" };
    this.lists = make("nav.work-lists", { "aria-label": "Lists" }, TABS.map((tab) => this.#link(tab, route.id || (projects[0]?.id ?? ""))));
    this.search = make("input", { type: "search", placeholder: "Search", "aria-label": "Search open work", autocomplete: "off", spellcheck: false, value: route.query.get("q") ?? "" });
    this.search.addEventListener("input", () => this.#handleTyping());
    this.refresh = button(icon("refresh"), () => this.#read(1, { refresh: true }), ".quiet.icon-only", { "aria-label": "Ask the hosting service again", title: "Refresh" });
    this.status = make("p.hint", { role: "status" });
    this.selection = new Selection("items", () => this.#draw(), () => [button([icon("play"), "Start…"], () => this.#start(this.#chosen()), ".primary")]);
    this.problems = make("ul.work-problems", { "aria-label": "Problems" });
    this.list = make("ul.work-rows", { "aria-label": this.tab.title });
    this.more = button("Show more", () => this.#showMore(), "", { hidden: true });
    this.element = make("div.page.work", this.lists, make("div.work-filters", make("div.search-field", icon("search"), this.search), ...this.#filterFields(projects), this.refresh), make("div.page-head", this.status, this.selection.allLabel), this.selection.bar, this.problems, this.list, this.more);
    this.#searched = this.search.value.trim();
    this.#read(1);
  }

  get subtitle() {
    return this.isAll ? "all projects" : (this.app.state.projects.get(this.projectId)?.name ?? "");
  }

  focus() {
    if (matchMedia("(pointer: fine)").matches) this.search.focus();
  }

  close() {
    clearTimeout(this.#timer);
  }

  handleReload() {
    this.#read(1);
  }

  /** @param {import("../state.js").Change} change */
  update(change) {
    if (change.tree) this.#draw(); // what works on them may have changed
  }

  /** @param {import("./work_source.js").Tab} tab @param {string} projectId */
  #link(tab, projectId) {
    const href = tab.id === "all" ? hashFor("work") : hashFor("work", projectId, { kind: tab.id });
    return make("a", tab.title, { href, ...(tab === this.tab ? { "aria-current": "page" } : {}) });
  }

  /** @param {import("../state.js").Resource[]} projects */
  #filterFields(projects) {
    if (this.isAll) return [];
    const project = select("Project", projects.map((each) => [each.id, each.name]));
    project.value = this.projectId;
    project.addEventListener("change", () => this.app.go("work", project.value, { kind: this.tab.id }));
    const state = select("State", statesOf(this.tab));
    const labels = make("input", { placeholder: "Labels, with commas", "aria-label": "Labels, separated by commas", autocomplete: "off", spellcheck: false });
    const assignee = make("input", { placeholder: "Assignee, or @me", "aria-label": "Assignee", autocomplete: "off", spellcheck: false, autocapitalize: "off" });
    for (const field of [state, labels, assignee]) {
      field.addEventListener("change", () => {
        this.filters = { state: state.value, labels: labels.value.split(",").map((label) => label.trim()).filter(Boolean), assignee: assignee.value.trim() };
        this.#read(1);
      });
    }
    return [projects.length > 1 && project, state, ...(this.tab.hasPeople ? [labels, assignee] : [])].filter((field) => field instanceof HTMLElement);
  }

  // Reading ----------------------------------------------------------------------------------------

  /** Read a page; the first one replaces what was read. @param {number} page @param {{ refresh?: boolean }} [options] */
  async #read(page, { refresh = false } = {}) {
    if (!this.isAll && !this.projectId) {
      this.#isComplete = true;
      this.#draw();
      return;
    }
    const reading = ++this.#reading;
    this.#isReading = true;
    this.#failure = "";
    this.#draw();
    try {
      const found = await readPage(this.app, this.tab, this.projectId, { search: this.#searched, filters: this.filters, page, refresh });
      if (reading !== this.#reading) return;
      const known = page > 1 ? this.#entries : [];
      const keys = new Set(known.map(keyOf)); // an item may move to the next page meanwhile
      this.#entries = [...known, ...found.entries.filter((entry) => !keys.has(keyOf(entry)))];
      this.#problems = found.problems;
      this.#page = page;
      this.#isComplete = found.isLast;
    } catch (error) {
      if (reading !== this.#reading) return;
      this.#failure = /** @type {Error} */ (error).message;
    }
    this.#isReading = false;
    this.#draw();
  }

  /** Filter at once what was read; let the service search if that may lack something. */
  #handleTyping() {
    clearTimeout(this.#timer);
    const words = wordsOf(this.search.value);
    if (!wordsOf(this.#searched).every((word) => words.includes(word))) {
      this.#searched = ""; // what the service found is too little for this filter
      this.#read(1);
    }
    this.#draw();
    if (words.length && this.tab.hasSearch) this.#timer = setTimeout(() => this.#askService(), SEARCH_DELAY);
  }

  #askService() {
    const query = this.search.value.trim();
    if (query === this.#searched || (this.#isComplete && this.#matching().length)) return;
    this.#searched = query;
    this.#read(1);
  }

  /** The entries that match the filter. */
  #matching() {
    const searched = wordsOf(this.#searched);
    const words = wordsOf(this.search.value).filter((word) => !searched.includes(word));
    if (!words.length) return this.#entries;
    return this.#entries.filter((entry) => {
      const text = searchText(this.app, entry);
      return words.every((word) => text.includes(word));
    });
  }

  #showMore() {
    this.#limit += MAX_SHOWN;
    return this.#isComplete || this.#matching().length >= this.#limit ? this.#draw() : this.#read(this.#page + 1);
  }

  // Drawing ----------------------------------------------------------------------------------------

  #draw() {
    const found = this.#matching();
    const shown = found.slice(0, this.#limit);
    this.selection.follow(shown.map(keyOf), found.map(keyOf));
    this.status.textContent = this.#describe(found.length);
    this.status.classList.toggle("bad", Boolean(this.#failure));
    syncKeyed(this.list, shown, keyOf, (entry, old) => this.#row(entry, old));
    patchChildren(this.problems, this.#problems.map(({ project_id: id, message }) => make("li", icon("warning"), make("span", make("b", `${this.app.state.projects.get(id)?.name ?? "A project"}: `), message))));
    this.more.hidden = this.#isReading || (this.#isComplete && shown.length === found.length) || !this.#entries.length;
  }

  /** @param {number} count */
  #describe(count) {
    if (this.#failure) return this.#failure;
    if (!this.isAll && !this.projectId) return "Add a project first: its issues are listed here.";
    if (this.#isReading && !this.#entries.length) return this.#searched ? `Searching for '${this.#searched}' …` : "Loading …";
    if (count) return `${pluralize(count, "item")}${this.#isComplete ? "" : ", and more"}${this.#isReading ? " …" : ""}`;
    if (this.#isReading) return "Searching …";
    if (this.search.value.trim()) return `Nothing matches '${this.search.value.trim()}'.`;
    return this.isAll ? "No project with a remote at a hosting service has open issues or pull requests." : "There is nothing here.";
  }

  /** @param {Entry} entry @param {HTMLElement | undefined} old */
  #row(entry, old) {
    const key = keyOf(entry);
    const isSelected = this.selection.has(key);
    const trees = worktreesOf(this.app, entry).map((tree) => [tree.name, this.app.state.sessionsOf(tree.id).map((session) => [session.id, session.name, session.status, session.waiting_for, session.unread])]);
    const signature = JSON.stringify([entry.item, isSelected, trees]);
    if (old?.dataset.signature === signature) return old;
    const row = workRow(this.app, entry, { withProject: this.isAll, isSelected, onSelect: (isChosen) => this.selection.select(key, isChosen), start: () => this.#start([entry]) });
    row.dataset.signature = signature;
    if (old?.contains(document.activeElement)) queueMicrotask(() => row.querySelector("input")?.focus());
    return row;
  }

  /** The selected entries. */
  #chosen() {
    return this.#matching().filter((entry) => this.selection.has(keyOf(entry)));
  }

  /** @param {Entry[]} entries */
  async #start(entries) {
    const { startWork } = await import("./work_start.js");
    startWork(this.app, entries, () => {
      const begun = entries.filter((entry) => worktreesOf(this.app, entry).length).map(keyOf);
      this.selection.replace(this.selection.ids.filter((key) => !begun.includes(key)));
    });
  }
}

/** @param {string} text */
const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);
