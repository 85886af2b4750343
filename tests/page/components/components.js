// @ts-check
// All components of the page in all states, for tests/page/test_components.py to photograph.

const { version } = document.documentElement.dataset;
const at = (/** @type {string} */ name) => import(`/v/${version}/js/${name}.js`);
const [{ make, button }, { icon }, { markElement, MARKS }, { segmented, labeled, select }] = await Promise.all([at("dom"), at("icons"), at("marks"), at("views/form_fields")]);

const [{ changeCard }, { Attachments }, { drawRows }, { loadStylesheet }] = await Promise.all([at("session/change_card"), at("session/attachments"), at("views/diff_rows"), at("views/stylesheet")]);
await Promise.all([loadStylesheet("diff"), loadStylesheet("git")]);

const WORDS = "Write a test for pears, and run all tests. ";

/** @param {string} title @param {...any} parts */
const part = (title, ...parts) => make("section", make("h2", title), ...parts);
/** @param {...any} parts */
const row = (...parts) => make("div.choices", ...parts);

const symbols = await (await fetch(`/v/${version}/icons.svg`)).text();
const names = [...symbols.matchAll(/symbol id="([\w-]+)"/g)].map((match) => match[1]);

/** The kinds of buttons in one state. @param {string} label @param {object} [properties] */
const buttons = (label, properties = {}) =>
  row(
    ["primary", "", "quiet", "danger", "large"].map((kind) => button(`${kind || "plain"} ${label}`, () => {}, kind && `.${kind}`, properties)),
    button([icon("plus"), "with icon"], () => {}, "", properties),
    button(icon("more"), () => {}, ".icon-only", { "aria-label": `More ${label}`, ...properties }),
    make("a.button", icon("link"), "as a link", { href: "#" }),
  );

const sizes = ["xs", "sm", "md", "lg", "xl", "2xl"].map((size) => {
  const text = make("p", `--text-${size} ${WORDS}`);
  text.style.fontSize = `var(--text-${size})`;
  return text;
});

/** @param {string} classes @param {string} text */
const toast = (classes, text) => make(`p.toast${classes}`, icon(classes ? "warning" : "info"), make("span", text), button("Undo", () => {}, ".quiet"), button(icon("close"), () => {}, ".quiet.icon-only", { "aria-label": "Close" }));

const entries = [["edit", "Rename", ""], ["folder", "Move to a folder…", ""], ["archive", "Archive", ""], ["trash", "Delete permanently", ".danger"]];

const menu = make(
  "dialog.menu",
  make("h2", "first-steps"),
  make("div.list", entries.map(([name, label, classes]) => button([icon(name), label], () => {}, `.quiet${classes}`))),
  { open: true, "aria-label": "first-steps" },
);
const dialog = make(
  "dialog",
  make("h2", "Delete first-steps?"),
  make("div", make("p.bad", "It has 1 uncommitted file (notes.txt)"), make("p", "Archiving keeps everything.")),
  row(button("Delete", () => {}, ".danger"), button("Cancel", () => {})),
  { open: true, "aria-label": "Delete first-steps?" },
);

const waiting = make(
  "section.card.waiting",
  make("div.card-head", make("h3", make("a.session", markElement("needs-you"), make("span", make("b", "Pears too"), " asks for permission"), make("small", "orchard ▸ count-pears"), { href: "#" })), make("small", "5m")),
  make("div.request", make("h4", "Run this command?"), make("pre", `pytest -q ${"tests/very/long/path ".repeat(6)}`, { tabIndex: 0 }), row(button("Allow", () => {}, ".primary"), button("Allow for this session", () => {})), make("div.answer-line", make("input", { "aria-label": "Reason", placeholder: "Reason (optional)" }), button("Deny", () => {}))),
);

const changed = changeCard({}, { id: "w", cached_uncommitted_added: 12 }, [
  { path: "tests/very/long/path/with/many/parts/test_everything_about_pears.py", added: 12, removed: 3 },
  { path: "README.md", added: 1, removed: 0 },
]);

const offline = { connection: { isOpen: false }, onConnection: () => () => {} };
const attachments = new Attachments(offline, "s", { images: ["/pictures/a screenshot with a name that is too long for its place.png"], files: ["/data.csv"] }, () => {});
attachments.addFiles([new File(["a,b"], "written offline.txt")]);
const failing = { connection: { isOpen: true, upload: async () => { throw new Error("The file is larger than 20 MB."); } }, onConnection: () => () => {} };
const failed = new Attachments(failing, "s", { images: [], files: [] }, () => {});
failed.addFiles([new File(["a,b"], "measurements.csv")]);

/** @param {string} sign @param {number | null} before @param {number | null} now @param {...[string, string | null, boolean]} pieces */
const line = (sign, before, now, ...pieces) => ({ sign, pieces, old: before, new: now, hunk: sign === "@" ? 0 : null, unended: false });
const lines = [
  line("@", null, null, ["line 5 def count(trees: list[int]) -> int:", null, false]),
  line(" ", 5, 5, ["    total = ", null, false], ["0", "number", false]),
  line("-", 6, null, ["    total += apples", null, false]),
  line("+", null, 6, ["    total += ", null, false], ["max(0, ", null, true], ["apples", null, false], [")", null, true]),
  line("\\", null, null, ["The file is now executable.", null, false]),
];
/** @param {boolean} split */
const diff = (split) => make(`div.diff-rows${split ? ".split" : ""}`, drawRows(lines, { split, hunk: () => [button("Stage", () => {}, ".quiet")] }).groups, { role: "grid", "aria-label": `Lines, ${split ? "two columns" : "one column"}`, tabIndex: 0 });

const stopped = make(
  "div.stopped",
  make("p.warned", icon("warning"), "The merge stopped with 1 conflict."),
  make("ul.paths", make("li", make("a", "tests/test_pears.py", { href: "#" }), make("span.choices", ["Ours", "Theirs", "Both"].map((choice) => button(choice, () => {}))))),
  row(button("Abort the merge", () => {}, ".danger")),
);

document.querySelector("main")?.append(
  make("h1", "Components"),
  part("Type", make("div.type", sizes)),
  part("Buttons", buttons("button"), buttons("disabled", { disabled: true }), row(button("pressed", () => {}, "", { "aria-pressed": "true" }), button([make("b", "Hydraulic"), make("small", "Presses more, costs more")], () => {}))),
  part(
    "Fields",
    make("div.fields", labeled("Text", make("input", { placeholder: "Placeholder" })), labeled("Choice", select("Choice", [["a", "main"], ["b", "a-branch-with-a-long-name"]])), labeled("Several lines", make("textarea", { rows: 2, value: WORDS.repeat(4) }))),
    make("div.search-field", icon("search"), make("input", { type: "search", placeholder: "Search", "aria-label": "Search" })),
    row(make("label.check", make("input", { type: "checkbox", checked: true }), "Checkbox"), make("label.check", make("input.toggle", { type: "checkbox", checked: true }), "On"), make("label.check", make("input.toggle", { type: "checkbox" }), "Off")),
    segmented("Mode", [["plan", "Plan"], ["build", "Build"], ["yolo", "Yolo"]], "build").element,
  ),
  part("Badges and chips", row(make("span.badge", "plain"), make("span.badge.waiting", "2 need you"), make("span.badge.new", "3 new"), make("span.badge.failed", "failed"), make("span.chip", icon("branch"), "main"))),
  part("States", row(Object.keys(MARKS).map((mark) => make("span", markElement(mark), ` ${mark}`)), make("span.git", make("ins", "+12"), make("del", "−3"), "↑2 ↓1"))),
  part("Cards", waiting, make("section.card", make("h3", "A card"), make("p", WORDS.repeat(3)))),
  part("Changes of an answer", changed),
  part("Attachments", attachments.element, failed.element),
  part("Diff", make("div.diff-view", diff(false)), make("div.diff-view.wrap", diff(true))),
  part("Conflict", stopped, make("div.git-sheet", make("p.progress", make("span.spinner"), "Pushing 'calm-heron' …", button("Cancel", () => {})), make("p.done", icon("check"), "Pushed."))),
  part("Empty", make("div.empty", icon("archive"), make("h2", "The archive is empty."), make("p", "Archived worktrees and sessions keep everything."), row(button("New task", () => {}, ".primary"), button("All sessions", () => {})))),
  part("Loading", make("div.skeleton", Array.from({ length: 6 }, () => make("span"))), make("progress", { max: 100, value: 40, "aria-label": "Cloning" }), row(make("span.spinner"), "Starting…")),
  part("Toasts", toast("", "Archived first-steps. Its files are kept."), toast(".bad", "The connection was lost before the result arrived. Check whether it was done before you try again.")),
  part("Menu", menu),
  part("Dialog", dialog),
  part("Icons", make("div.icons", names.map((name) => make("span", icon(name), name)))),
);
document.body.dataset.ready = "yes";
