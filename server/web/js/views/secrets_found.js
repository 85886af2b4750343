// @ts-check
// Asks about the secrets that a commit, push or pull request would publish.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { pluralize } from "../format.js";

/**
 * What each command would publish, what happens to it, and the words that let it happen.
 * @type {Record<string, [before: string, happens: string, anyway: string]>}
 */
const ACTS = {
  commit_changes: ["commit", "would be committed", "Commit anyway"],
  git_push: ["push", "would be pushed", "Push anyway"],
  open_pull_request: ["pull_request", "would be published", "Publish anyway"],
};

/**
 * After a command failed: show the secrets that refused it, and let the person decide.
 * @param {import("../app.js").App} app
 * @param {import("../state.js").Resource} worktree
 * @param {string} command
 * @param {Record<string, any>} args of the command
 * @param {unknown} error
 * @returns {Promise<string[] | undefined>} the fingerprints that may be published this time; `undefined` if it was
 *   refused for another reason, or the person goes back
 */
export async function askAboutSecrets(app, worktree, command, args, error) {
  const act = ACTS[command];
  if (!act || /** @type {{ kind?: string }} */ (error).kind !== "conflict") return undefined;
  const [before, happens, anyway] = act;
  const { stageAll, title, body } = args;
  const given = Object.fromEntries(Object.entries({ stageAll, title, body }).filter(([, value]) => value !== undefined));
  const report = await app.connection.call("find_secrets", { worktreeId: worktree.id, before, ...given }).catch(() => null);
  if (!report?.findings.length) return undefined;
  return new Promise((resolve) => show(app, worktree.project_id, report.findings, happens, anyway, resolve));
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
