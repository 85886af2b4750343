// @ts-check
// The dialog that shares a session or a project: makes a guest link, and shows it once, with its QR code.

import { showDialog } from "../dialogs.js";
import { button, make } from "../dom.js";
import { icon } from "../icons.js";
import { hashFor } from "../router.js";
import { copyText } from "../session/blocks.js";
import { qrElement } from "./qr_code.js";
import { labeled, select } from "./form_fields.js";

/** @typedef {import("../app.js").App} App */

/** @type {[string, string][]} */
const ROLES = [
  ["viewer", "Viewer: reads"],
  ["approver", "Approver: also answers, allows, approves"],
  ["driver", "Driver: also sends messages and stops"],
];
/** @type {[string, string][]} hours */
const TIMES = [["1", "1 hour"], ["8", "8 hours"], ["24", "1 day"], ["168", "1 week"], ["720", "30 days"]];
/** @type {[string, string][]} */
const MODES = [["plan", "plan"], ["build", "build"], ["yolo", "yolo: never asks"]];

/**
 * @param {App} app
 * @param {{ sessionId: string } | { projectId: string }} scope
 * @param {string} name of the session or project
 */
export function share(app, scope, name) {
  const title = `Share “${name}”`;
  const dialog = make("dialog.share", make("h2", title), { "aria-label": title });
  const who = make("input", { maxLength: 100, autocomplete: "off", placeholder: "For whom?", "aria-label": "For whom" });
  const role = select("Role", ROLES);
  const hours = select("Ends after", TIMES);
  hours.value = "24";
  const devices = make("input", { type: "number", min: "1", max: "100", value: "1", required: true, "aria-label": "Devices" });
  const mode = select("Highest mode", MODES);
  mode.value = "build";
  const modeField = labeled("Highest mode that the guest can set or approve", mode);
  const problem = make("p.bad", { role: "alert" });
  const submit = make("button.primary", "Make a link");
  const what = "sessionId" in scope ? "The guest sees this session only." : "The guest sees all sessions of this project.";
  const form = make(
    "form.fields",
    make("p.hint", `${what} Secrets are masked as far as they are recognized.`),
    labeled("For", who),
    labeled("Role", role),
    labeled("Ends after", hours),
    labeled("Devices that can open it", devices),
    modeField,
    problem,
    make("div.choices", submit, button("Cancel", () => dialog.close())),
  );
  const showFields = () => {
    modeField.hidden = role.value === "viewer";
  };
  role.addEventListener("change", showFields);
  showFields();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    submit.disabled = true;
    problem.textContent = "";
    const terms = { name: who.value.trim(), role: role.value, hours: Number(hours.value), maxDevices: Number(devices.value), maxMode: mode.value };
    try {
      showLink(dialog, title, await app.connection.call("create_guest_link", { ...scope, ...terms }));
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
      submit.disabled = false;
    }
  });
  dialog.append(form);
  showDialog(dialog, undefined, () => share(app, scope, name));
}

/** @param {HTMLDialogElement} dialog @param {string} title @param {{ url: string, rows: string[], hint: string }} made */
function showLink(dialog, title, { url, rows, hint }) {
  const copy = button([icon("copy"), "Copy the link"], () => copyText(url, copy), ".primary");
  dialog.replaceChildren(
    make("h2", title),
    make("p", "This is shown once. The link works for those who open it first: send it only to the people that it is for."),
    hint ? make("p.bad", hint) : "",
    make("p.link-text", make("code", url)),
    qrElement(rows, "QR code of the guest link"),
    make("div.choices", copy, make("a.button", "All guests", { href: hashFor("guests") }), button("Done", () => dialog.close())),
  );
  copy.focus();
}
