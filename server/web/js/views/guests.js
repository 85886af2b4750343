// @ts-check
// The guests view: the links that were given to others, and what was done with them.

import { ageElement } from "../age.js";
import { coalesce, runSoon } from "../coalesce.js";
import { confirm } from "../dialogs.js";
import { button, make, patchChildren } from "../dom.js";
import { formatTime, pluralize } from "../format.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";

const MAX_SHOWN = 200;
const EVENTS = new Set(["guests:updated", "guest:acted"]);
const RELOAD_DELAY = 100; // ms in which several actions are handled together

/** @type {import("../app.js").MakeView} */
export function guestsView(app) {
  const links = make("div.rows-list");
  const log = make("ul.guest-log");
  const logSection = make("section.card", make("h2", "What guests did"), log, { hidden: true });
  const empty = make("div.empty", icon("external"), make("h2", "No guest links."), make("p", "Share a session or a project with other people: open it, and choose Share from its menu."));
  const element = make("div.page", empty, links, logSection);
  const load = coalesce(async () => {
    const [found, actions] = await Promise.all([app.read("list_guest_links"), app.read("list_guest_actions", { limit: MAX_SHOWN })]);
    if (!found || !actions) return;
    empty.hidden = found.length > 0;
    patchChildren(links, found.map((/** @type {any} */ link) => linkRow(app, link)));
    logSection.hidden = !actions.length;
    patchChildren(log, actions.map((/** @type {any} */ action) => actionRow(app, action)));
  });
  const loadSoon = runSoon(load, RELOAD_DELAY);
  load();
  return {
    title: "Guests",
    element,
    handleReload: load,
    handleEvent(name) {
      if (EVENTS.has(name)) loadSoon();
    },
    close: loadSoon.cancel,
  };
}

/** @param {import("../app.js").App} app @param {any} link */
function linkRow(app, link) {
  const isOver = link.expires_at * 1000 <= Date.now();
  const scope = make("a", link.scope_name, { href: link.session_id ? hashFor("session", link.session_id) : hashFor("project", link.project_id) });
  const revoke = async () => {
    const details = isOver ? "It has ended already." : "Open pages of the guest are disconnected at once.";
    if (await confirm(`End the access of “${link.name}”?`, details, "End it", { danger: true })) await app.run("revoke_guest_link", { linkId: link.id });
  };
  return make(
    "div",
    make(
      "p.grow",
      make("b", link.name),
      make("small", ` ${link.role} of `, scope, link.role === "viewer" ? "" : `, ${link.max_mode} at most`),
      make("small.guest-facts", [isOver ? "ended" : "until", ` ${formatTime(link.expires_at * 1000)} · ${link.devices} of ${pluralize(link.max_devices, "device")}`, link.last_used ? " · used " : " · not used yet", link.last_used && ageElement(link.last_used)]),
    ),
    button([icon("close"), isOver ? "Remove" : "End access"], revoke, isOver ? ".quiet" : ".danger"),
  );
}

/** @param {import("../app.js").App} app @param {any} action */
function actionRow(app, action) {
  const session = app.state.sessions.get(action.session_id ?? "");
  const device = action.device > 1 ? `, device ${action.device}` : "";
  return make(
    "li",
    make("time", formatTime(action.at * 1000), { dateTime: new Date(action.at * 1000).toISOString() }),
    " ",
    make("b", action.name),
    device,
    ` ${action.action}`,
    session ? [" in ", make("a", session.name, { href: hashFor("session", session.id) })] : "",
    action.ok ? "" : make("span.bad", " (refused)"),
  );
}
