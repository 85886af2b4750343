// @ts-check
// The preference of notices: a table of reasons and channels, with a test of the channels.

import { button, make } from "../dom.js";
import { LABELS } from "../generated.js";

/**
 * @typedef {import("../app.js").App} App
 * @typedef {{ control: HTMLElement, element: HTMLElement, show: (value: any) => void }} Field as in preference_fields.js
 * @typedef {{ name: string, label: string, is_ready: boolean, hint: string, problem: string | null }} Channel
 */

const CHANNELS = { terminal: "Terminal", page: "Page", command: "Command", apprise: "Apprise", ntfy: "ntfy", push: "Push" };

/** @param {string} reason @returns {string} */
const labelOf = (reason) => LABELS[/** @type {keyof typeof LABELS} */ (reason)] ?? reason;

/** @param {App} app @param {import("./preference_row.js").Row} row @param {(value: any) => Promise<boolean>} change @returns {Field} */
export function noticesField(app, row, change) {
  const channels = /** @type {(keyof typeof CHANNELS)[]} */ (Object.keys(CHANNELS));
  const control = make("table.notice-matrix");
  /** @type {Record<string, Record<string, HTMLInputElement>>} */
  const boxes = {};
  /** @type {Record<string, string[]>} */
  let shown = {};
  control.append(make("thead", make("tr", make("td"), channels.map((name) => make("th", CHANNELS[name], { scope: "col" })))));
  const body = make("tbody");
  for (const reason of row.entries) {
    boxes[reason] = {};
    const cells = channels.map((name) => {
      const box = make("input", { type: "checkbox", ariaLabel: `${labelOf(reason)} by ${CHANNELS[name]}` });
      box.addEventListener("change", async () => {
        const wanted = channels.filter((each) => (each === name ? box.checked : shown[reason]?.includes(each)));
        if (!(await change({ [reason]: wanted }))) box.checked = !box.checked;
      });
      boxes[reason][name] = box;
      return make("td", make("label", box));
    });
    body.append(make("tr", make("th", labelOf(reason), { scope: "row" }), cells));
  }
  control.append(body);
  const states = make("ul.hint.channel-states");
  const test = button("Send a test notice", () => testChannels(app, test, results));
  const results = make("ul.test-results", { role: "status" });
  showStates(app, states);
  return {
    control,
    element: make("div.wide", make("div.scroll-x", control), states, make("div.choices", test), results),
    show(value) {
      shown = value;
      for (const reason of row.entries) for (const name of channels) boxes[reason][name].checked = value[reason]?.includes(name) ?? false;
    },
  };
}

/** @param {App} app @param {HTMLElement} list */
async function showStates(app, list) {
  /** @type {Channel[]} */
  const channels = await app.connection.call("list_notice_channels").catch(() => []);
  list.replaceChildren(
    ...channels.map(({ label, is_ready, hint, problem }) =>
      problem ? make("li.bad", make("b", label), `: the last notice could not be sent: ${problem}.`) : make("li", make("b", label), `: ${is_ready ? "set up" : "not set up yet"}. ${hint}`),
    ),
  );
}

/** @param {App} app @param {HTMLButtonElement} test @param {HTMLElement} results */
async function testChannels(app, test, results) {
  test.disabled = true;
  results.replaceChildren(make("li", "Sending…"));
  /** @type {{ ok: boolean, detail: string }[] | undefined} */
  const tested = await app.run("test_notice");
  results.replaceChildren(...(tested ?? []).map(({ ok, detail }) => make(ok ? "li" : "li.bad", detail)));
  test.disabled = false;
}
