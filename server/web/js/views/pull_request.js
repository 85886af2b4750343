// @ts-check
// The pull request of a worktree: where it stands, its reviewers, checks and open comments, and what can be done with it.

import { missingView } from "../app.js";
import { coalesce } from "../coalesce.js";
import { button, make, patchChildren } from "../dom.js";
import { formatTime, pluralize } from "../format.js";
import { icon } from "../icons.js";
import { externalLink } from "../links.js";
import { hashFor } from "../router.js";
import { PHASES } from "./landing_words.js";
import { openPullRequestMenu, requestReview, setDraft } from "./pull_request_acts.js";
import { Checks } from "./pull_request_checks.js";
import { Conversation } from "./pull_request_conversation.js";
import { MergeBox } from "./pull_request_merge.js";
import { Threads } from "./pull_request_threads.js";
import { loopSwitch } from "./pull_request_loop.js";
import { loadStylesheet } from "./stylesheet.js";

await loadStylesheet("pull_request");

/**
 * @typedef {import("../app.js").App} App
 * @typedef {import("./landing_types.js").MergeMethod} MergeMethod
 * @typedef {{ name: string, state: "requested" | "approved" | "changes_requested" | "commented" | "dismissed", is_team: boolean }} Reviewer
 *
 * @typedef {object} Check
 * @property {string} id
 * @property {string} name
 * @property {import("./landing_types.js").CheckState} state
 * @property {number | null} started_at
 * @property {number | null} ended_at
 * @property {string} url
 * @property {string} summary
 * @property {boolean} has_log
 * @property {boolean | null} is_required
 *
 * @typedef {object} Thread
 * @property {string} id
 * @property {string} path
 * @property {number | null} line
 * @property {boolean} is_resolved
 * @property {string} resolve_note why it cannot be resolved, or empty
 * @property {boolean} is_outdated
 * @property {boolean} needs_answer
 * @property {{ id: string, author: string, body: string, created_at: number | null, url: string, is_bot: boolean, is_outsider: boolean }[]} comments
 *
 * @typedef {object} PullRequest the result of `get_pull_request`
 * @property {number} number
 * @property {string} url
 * @property {string} title
 * @property {string} body
 * @property {import("./landing_types.js").Phase} phase
 * @property {string} author
 * @property {string} base
 * @property {string} head
 * @property {string} head_commit
 * @property {boolean} is_from_fork
 * @property {number | null} behind
 * @property {Reviewer[]} reviewers
 * @property {Check[]} checks
 * @property {string} checks_note
 * @property {Thread[]} threads
 * @property {string} threads_note
 * @property {Thread[]} conversation
 * @property {string} conversation_note
 * @property {MergeMethod[]} merge_methods
 * @property {boolean} can_merge
 * @property {string} merge_note
 * @property {boolean} can_auto_merge
 * @property {MergeMethod | null} auto_merge
 * @property {boolean} has_queue
 * @property {boolean} can_update
 * @property {boolean} must_rebase
 * @property {boolean} can_edit
 * @property {number} fetched_at
 */

/** @type {Record<Reviewer["state"], [symbol: string, word: string, classes: string]>} */
const REVIEWS = {
  requested: ["…", "asked", ""],
  approved: ["✓", "approved", "ok"],
  changes_requested: ["✗", "requests changes", "bad"],
  commented: ["·", "commented", ""],
  dismissed: ["–", "dismissed", ""],
};

/** @type {import("../app.js").MakeView} */
export function pullRequestView(app, route) {
  if (!app.state.worktrees.has(route.id)) return missingView(app, "worktrees", route.id);
  return new PullRequestView(app, route.id);
}

export class PullRequestView {
  /** @type {PullRequest | null} */ shown = null;

  /** @param {App} app @param {string} worktreeId */
  constructor(app, worktreeId) {
    this.app = app;
    this.id = worktreeId;
    this.status = make("p.hint", "Loading …", { role: "status" });
    this.head = make("section.pr-head");
    this.merge = new MergeBox(this);
    this.reviewers = make("section.card", { "aria-label": "Reviewers" });
    this.checks = new Checks(this);
    this.threads = new Threads(this);
    this.conversation = new Conversation(this);
    this.loop = loopSwitch(this);
    this.body = make("details.card.pr-body", make("summary", "Description"), make("p.verbatim"));
    this.content = make("div.pr-content", this.head, this.merge.element, this.checks.element, this.threads.element, this.conversation.element, this.loop.element, this.reviewers, this.body, { hidden: true });
    this.element = make("div.page.pull-request", this.status, this.content);
    this.load = coalesce(() => this.#load(false));
    this.load();
  }

  get worktree() {
    return this.app.state.worktrees.get(this.id);
  }

  get title() {
    return this.shown ? `#${this.shown.number} ${this.shown.title}` : "Pull request";
  }

  get subtitle() {
    return this.worktree?.name;
  }

  /** @param {import("../state.js").Change} change */
  update(change) {
    if (!change.tree) return;
    if (!this.worktree) this.app.showRoute();
    else this.loop.draw();
  }

  /** @param {string} name @param {any} body */
  handleEvent(name, body) {
    if (name === "pull_request:updated" && body.worktree_id === this.id) this.load();
  }

  handleReload() {
    this.load();
  }

  /** Ask the hosting service again. */
  refresh() {
    return this.#load(true);
  }

  /** @param {boolean} refresh */
  async #load(refresh) {
    try {
      this.show(await this.app.connection.call("get_pull_request", { worktreeId: this.id, refresh }));
    } catch (error) {
      this.#fail(/** @type {Error & { kind?: string }} */ (error));
    }
  }

  /** @param {Error & { kind?: string }} error */
  #fail(error) {
    if (!this.app.connection.isOpen) return; // it is read again when the connection is back
    const again = button([icon("refresh"), "Try again"], () => this.refresh());
    const back = make("a.button", "Worktree", { href: hashFor("worktree", this.id) });
    const openOne = button([icon("pull-request"), "Open a pull request"], async () => (await import("./git.js")).startGit(this.app, this.id, "pullRequest"), ".primary");
    this.status.hidden = false;
    this.status.replaceChildren(make("span.bad", error.message), make("span.choices", this.worktree?.pr_url ? again : openOne, back));
  }

  /**
   * Run a command whose result is the pull request, and show it; errors are a notice.
   * @param {string} command @param {Record<string, unknown>} [args]
   * @returns {Promise<boolean>} whether it succeeded
   */
  async run(command, args = {}) {
    const changed = await this.app.run(command, { worktreeId: this.id, ...args });
    if (changed) this.show(changed);
    return Boolean(changed);
  }

  /** @param {PullRequest} pr */
  show(pr) {
    this.shown = pr;
    this.content.hidden = false;
    this.status.hidden = true;
    patchChildren(this.head, this.#headParts(pr));
    this.merge.show(pr);
    this.checks.show(pr);
    this.threads.show(pr);
    this.conversation.show(pr);
    this.loop.draw();
    patchChildren(this.reviewers, this.#reviewerParts(pr));
    this.body.hidden = !pr.body.trim();
    const text = /** @type {HTMLElement} */ (this.body.lastElementChild);
    if (text.textContent !== pr.body) text.textContent = pr.body;
    this.app.updateTitle();
  }

  /** @param {PullRequest} pr */
  #headParts(pr) {
    const more = button(icon("more"), () => openPullRequestMenu(this), ".quiet.icon-only", { "aria-label": "More actions", title: "More" });
    const ready = pr.phase === "draft" && button("Mark as ready", () => setDraft(this, false), ".primary");
    const behind = pr.behind ? `${pluralize(pr.behind, "commit")} behind` : "";
    return [
      make(
        "div.page-head",
        make("h2", pr.title, " ", externalLink(pr.url, `#${pr.number}`)),
        make("span.badge", PHASES[pr.phase] ?? pr.phase, { "data-phase": pr.phase }),
        ready,
        more,
      ),
      make("p.hint", `${pr.author} wants to bring `, make("code", pr.head), " into ", make("code", pr.base), pr.is_from_fork && ", from a fork", behind && ` · ${behind}`, ` · as of ${formatTime(pr.fetched_at * 1000)}`),
    ];
  }

  /** @param {PullRequest} pr */
  #reviewerParts(pr) {
    const isOver = pr.phase === "merged" || pr.phase === "closed";
    const rows = pr.reviewers.map(({ name, state, is_team: isTeam }) => {
      const [symbol, word, classes] = REVIEWS[state];
      return make("li", make(`span.mark${classes && `.${classes}`}`, symbol, { "aria-hidden": "true" }), make("b", name), make("small", ` ${isTeam ? "team, " : ""}${word}`));
    });
    return [
      make("h3", "Reviewers"),
      rows.length ? make("ul.reviewers", rows) : make("p.hint", "No review was asked for."),
      ...(isOver ? [] : [make("div.choices", button([icon("plus"), "Request a review…"], () => requestReview(this)))]),
    ];
  }
}
