// @ts-check
// What sessions do for a pull request by themselves: fix its checks and answer its comments after each push, until a
// limit.

import { make } from "../dom.js";
import { pluralize } from "../format.js";
import { sessionPicker } from "./session_picker.js";

const DEFAULT_LIMIT = 3;

/** The switch that lets a session do it by itself. @param {import("./pull_request.js").PullRequestView} view */
export function loopSwitch(view) {
  const { app, id: worktreeId } = view;
  const picker = sessionPicker(app, worktreeId, { hasNew: false });
  const toggle = make("input.toggle", { type: "checkbox", role: "switch", "aria-label": "Fix checks and answer comments by itself" });
  const limit = make("input", { type: "number", min: "1", max: "20", value: String(DEFAULT_LIMIT), "aria-label": "At most this often" });
  const state = make("p.hint", { role: "status" });
  const element = make(
    "section.card.loop",
    make("div.card-head", make("h3", "By itself"), toggle),
    make("p.hint", "After each push, the session fixes red checks and answers new comments. Then it waits for you."),
    make("div.field-row", make("label", make("span", "Session"), picker.element), make("label", make("span", "At most"), limit)),
    state,
    { "aria-label": "By itself" },
  );
  const session = () => app.state.sessions.get(picker.value());
  const save = async (/** @type {boolean} */ enabled) => {
    const sessionId = picker.value();
    if (sessionId) await app.run("set_pull_request_loop", { sessionId, enabled, limit: Math.min(20, Math.max(1, Number(limit.value) || DEFAULT_LIMIT)) });
    draw();
  };
  toggle.addEventListener("change", () => save(toggle.checked));
  limit.addEventListener("change", () => toggle.checked && save(true));
  picker.element.addEventListener("change", () => draw());
  const draw = () => {
    picker.draw();
    const shown = session();
    element.hidden = !shown || view.shown?.phase === "merged" || view.shown?.phase === "closed";
    if (!shown) return;
    const loop = shown.pull_request_loop;
    toggle.checked = Boolean(loop);
    if (loop && document.activeElement !== limit) limit.value = String(loop.limit);
    const used = loop ? `Did so ${loop.used} of ${pluralize(loop.limit, "time")}.${loop.waits ? " There is more to do, but it waits for you: switch it off and on again to go on." : ""}` : "";
    if (state.textContent !== used) state.textContent = used;
  };
  draw();
  return { element, draw };
}
