// @ts-check
// The server view: how other devices connect, access and token, and the agents on the machine that runs Spinney.

import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { icon } from "../icons.js";
import { getToken, isRemembered, saveToken } from "../net.js";
import { copyText } from "../session/blocks.js";
import { hashFor } from "../router.js";
import { qrElement } from "./qr_code.js";
import { programSection } from "./server_program.js";

/** @type {import("../app.js").MakeView} */
export function serverView(app) {
  const serverSection = make("section.card");
  const deviceSection = make("section.card");
  const programCard = make("section.card");
  const agentsSection = make("section.card", make("h2", "Agents"), make("p.hint", "loading…"));
  const guestsSection = make(
    "section.card",
    make("h2", "Guests"),
    make("p", "Share a session or a project with others, without the token: choose Share from its menu."),
    make("div.choices", make("a.button", "Guests and what they did", { href: hashFor("guests") })),
  );
  const element = make("div.page", serverSection, deviceSection, guestsSection, programCard, agentsSection);

  const load = async () => {
    const status = await app.run("get_http_server_status");
    if (!status) return;
    const copy = button([icon("copy"), "Copy the address"], () => copyText(status.base_url, copy));
    const network = make("input.toggle", { type: "checkbox", checked: !status.localhost_only, "aria-label": "Other devices can connect" });
    network.addEventListener("change", () => changeNetwork(network.checked));
    serverSection.replaceChildren(
      make("h2", "This page"),
      make("p", make("code", status.base_url)),
      ...(status.warning ? [make("p.bad", status.warning)] : []),
      make("p.hint", [status.token_required ? "A token is required." : "No token is required.", `${status.clients ?? 1} connected.`].join(" ")),
      make("label.check", network, "Other devices can connect"),
      make("p", "Port ", make("b", String(status.port)), ", access and start: ", make("a", "Preferences", { href: hashFor("preferences", "", { q: "server" }) })),
      make("div.choices", copy, status.token_required && !isRemembered() && button([icon("check"), "Stay signed in here"], remember), button([icon("sign-out"), "Sign out here"], signOut), button([icon("key"), "New token"], renewToken, ".danger"), button([icon("stop"), "Stop the server"], stopServer, ".danger")),
    );
    await showDevices(status.localhost_only);
    showProgram();
    const backends = await app.run("list_backends");
    if (backends) agentsSection.replaceChildren(make("h2", "Agents"), ...backends.map(agentElement));
  };
  /** @param {boolean} isLocal */
  const showDevices = async (isLocal) => {
    deviceSection.replaceChildren(make("h2", "Open on another device"));
    if (isLocal) {
      deviceSection.append(make("p.hint", "Only this machine can connect. Allow other devices above, or use an SSH tunnel; see ", make("a", "Help", { href: hashFor("help") }), "."));
      return;
    }
    /** @type {{ url: string, kind: string, label: string }[]} */
    const addresses = (await app.run("list_server_addresses")) ?? [];
    const reachable = addresses.filter(({ kind }) => kind !== "machine");
    deviceSection.append(
      make("p", "A code opens this page signed in. It contains the token: show it only to your own camera."),
      ...reachable.map((address) => make("div.address", make("p", make("code", address.url), " ", make("span.hint", address.label)), button([icon("qr"), "Show the code"], () => showCode(address.url)))),
    );
  };
  /** @param {string} url */
  const showCode = async (url) => {
    const code = await app.run("get_connection_qr", { url });
    if (code) deviceSection.replaceChildren(make("h2", "Open on another device"), make("p", make("code", url)), qrElement(code.rows, "QR code of the address, with the token"), make("div.choices", button("Hide the code", () => showDevices(false))));
  };
  /** @param {boolean} isAllowed */
  const changeNetwork = async (isAllowed) => {
    const question = isAllowed ? "Let other devices connect?" : "Let only this machine connect?";
    const details = isAllowed ? "Everyone in your network who has the token can use Spinney, and with it this machine." : "Other devices are disconnected, this one too if it is not the machine that runs Spinney.";
    if (await confirm(question, details, isAllowed ? "Allow" : "Disconnect them", { danger: !isAllowed })) await app.run("update_preferences", { changes: { http_server_localhost_only: !isAllowed } });
    await load();
  };
  const stopServer = async () => {
    const details = "This page is served by it and disconnects, unless Spinney runs as 'spinney serve'. Start it again in the terminal.";
    if (await confirm("Stop the server?", details, "Stop", { danger: true })) await app.run("update_preferences", { changes: { http_server_enabled: false } });
  };
  const renewToken = async () => {
    const details = "Everyone who is signed in with the old token must sign in again, including this page. The terminal shows the new one.";
    if (await confirm("Create a new token?", details, "New token", { danger: true })) await app.run("regenerate_http_token");
  };
  const remember = () => {
    saveToken(getToken(), true);
    app.toast("This browser stays signed in, in new tabs and after it is closed.");
    return load();
  };
  const signOut = () => {
    sessionStorage.clear();
    localStorage.removeItem("spinney-token");
    location.reload();
  };
  const showProgram = () => programCard.replaceChildren(...programSection(app));
  load();
  return {
    title: "Server",
    element,
    handleReload: load,
    handleEvent: (name) => name === "program:updated" && showProgram(),
  };
}

/** @param {any} agent */
function agentElement(agent) {
  const problem = agent.problem?.replace(`${agent.label} `, ""); // the label is before it
  const fix = agent.fix && !problem?.includes(agent.fix) && make("code", agent.fix);
  const mark = agent.problem ? make("span.hint", icon("close", "missing")) : make("span.ok", icon("check", "ready"));
  return make("p.agent", mark, " ", make("b", agent.label), " ", agent.version && make("span.hint", `${agent.version} `), problem && make("span.hint", `${problem} `), fix);
}
