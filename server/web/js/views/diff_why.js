// @ts-check
// Why a line is there: the turn that wrote it, with its prompt and plan, or the commit.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { hashFor } from "../router.js";

/** @param {import("./diff_file.js").DiffFile} file @param {import("./diff_rows.js").Row | undefined} row the line as it is now */
export async function explainLine(file, row) {
  const { app, id } = file.view;
  if (!row || row.sign === "-" || !row.new) {
    app.toast("Select a line that is in the file now, then ask why it is there.");
    return;
  }
  const origin = await app.run("explain_line", { worktreeId: id, path: file.path, line: row.new });
  if (!origin) return;
  const session = app.state.sessions.get(origin.session_id);
  const when = make("time", new Date(origin.time * 1000).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" }));
  /** @type {HTMLDialogElement} */
  const dialog = make(
    "dialog.why",
    make("h2", "Why this line is here"),
    make("pre", make("code", origin.text)),
    make("p", make("strong", headline(origin, session)), " ", when),
    origin.commit && make("p.hint", `commit ${origin.commit.slice(0, 10)} ${origin.summary ?? ""}`),
    origin.prompt && make("section", make("h3", "Prompt"), make("p.verbatim", origin.prompt)),
    origin.plan && make("section", make("h3", "Plan"), make("p.verbatim", origin.plan)),
    make(
      "div.choices",
      session && origin.message_id && make("a.button.primary", "Go to the message", { href: hashFor("session", session.id, { message: origin.message_id }), onclick: () => dialog.close() }),
      button("Close", () => dialog.close()),
    ),
    { "aria-label": "Why this line is here" },
  );
  showDialog(dialog, () => {});
}

/** @param {any} origin @param {import("../state.js").Resource | undefined} session */
function headline(origin, session) {
  if (origin.kind === "turn") return `${origin.author || "An agent"} wrote it${session ? ` in “${session.name}”` : ""}`;
  return origin.kind === "edit" ? "A person or another program changed it" : `${origin.author || "A person"} committed it`;
}
