// @ts-check
// Asks about the secrets that a commit, a push or a text would publish.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { pluralize } from "../format.js";

/**
 * What happens to secrets, and the words that let it happen.
 * @type {Record<string, [happens: string, anyway: string]>}
 */
const WORDS = {
  commit: ["would be committed", "Commit anyway"],
  push: ["would be pushed", "Push anyway"],
  pull_request: ["would be published", "Publish anyway"],
  text: ["would be published", "Publish anyway"],
};

/** What each command commits or publishes. @type {Record<string, keyof typeof WORDS>} */
const ACTS = {
  commit_changes: "commit",
  amend_commit: "commit",
  fixup_commit: "commit",
  continue_operation: "commit",
  git_push: "push",
  push_base: "push",
  open_pull_request: "pull_request",
  edit_pull_request: "text",
  reply_to_thread: "text",
};

/**
 * Call a command; if secrets refuse it, show them, and call it again with those that the person allows.
 * @param {import("../app.js").App} app
 * @param {string} command
 * @param {Record<string, any>} [args]
 * @returns {Promise<any>} rejects as the command, also if the person goes back
 */
export async function callAfterSecrets(app, command, args = {}) {
  try {
    return await app.connection.call(command, args);
  } catch (error) {
    const allowedSecrets = await ask(app, command, args, error);
    if (!allowedSecrets) throw error;
    return app.connection.call(command, { ...args, allowedSecrets });
  }
}

/**
 * @param {import("../app.js").App} app @param {string} command @param {Record<string, any>} args @param {unknown} error
 * @returns {Promise<string[] | undefined>} the fingerprints that may be published this time; `undefined` if it was
 *   refused for another reason, or the person goes back
 */
async function ask(app, command, args, error) {
  const before = ACTS[command];
  if (!before || /** @type {{ kind?: string }} */ (error).kind !== "conflict") return undefined;
  const worktree = [...app.state.worktrees.values()].find(({ id, path }) => id === args.worktreeId || path === args.worktreePath);
  const { stageAll, title, branch } = args;
  const searched = { worktreeId: worktree?.id, projectId: args.projectId, stageAll, title, branch, body: args.body ?? args.message ?? args.text };
  const given = Object.fromEntries(Object.entries(searched).filter(([, value]) => value !== undefined));
  const report = await app.connection.call("find_secrets", { before, ...given }).catch(() => null);
  if (!report?.findings.length) return undefined;
  const [happens, anyway] = WORDS[before];
  return new Promise((resolve) => show(app, args.projectId ?? worktree?.project_id, report.findings, happens, anyway, resolve));
}

/**
 * @param {import("../app.js").App} app @param {string} projectId @param {import("../state.js").Resource[]} findings
 * @param {string} happens @param {string} anyway @param {(allowed: string[] | undefined) => void} resolve
 */
function show(app, projectId, findings, happens, anyway, resolve) {
  /** @type {string[] | undefined} */ let allowed;
  let left = findings;
  const heading = make("p");
  const list = make("ul.secrets");
  const dialog = make("dialog", make("h2", "Possible secrets"), heading, list, { "aria-label": "Possible secrets" });
  /** @param {string[]} fingerprints */
  const goOn = (fingerprints) => {
    allowed = fingerprints;
    dialog.close();
  };
  /** @param {import("../state.js").Resource} found */
  const allow = async (found) => {
    const about = `${found.label} in ${found.path}`;
    if (!(await app.run("allow_secret", { projectId, fingerprint: found.fingerprint, about }))) return;
    left = left.filter(({ fingerprint }) => fingerprint !== found.fingerprint);
    if (left.length) draw();
    else goOn([]);
  };
  const draw = () => {
    heading.textContent = `${pluralize(left.length, "possible secret")} ${happens}:`;
    list.replaceChildren(
      ...left.map((found) => make(
        "li",
        make("strong", found.label),
        make("code", placeOf(found)),
        make("code.hint", found.excerpt),
        button("Allow in the project", () => allow(found), ".quiet"),
      )),
    );
  };
  draw();
  dialog.append(make(
    "div.choices",
    button("Back, to take them out", () => dialog.close(), ".primary", { autofocus: true }),
    button(anyway, () => goOn(left.map(({ fingerprint }) => fingerprint)), ".danger"),
  ));
  showDialog(dialog, () => resolve(allowed));
}

/** @param {import("../state.js").Resource} found */
function placeOf({ path, line, commit }) {
  return `${path}${line === null ? "" : `:${line}`}${commit ? ` in ${commit}` : ""}`;
}
