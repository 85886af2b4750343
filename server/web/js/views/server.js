// @ts-check
// The server view: address, access and token of the server, and the agents on its machine.

import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { copyText } from "../session/blocks.js";

/** @type {import("../app.js").MakeView} */
export function serverView(app) {
  const serverSection = make("section");
  const agentsSection = make("section");
  const element = make("div.page", serverSection, agentsSection);

  const load = async () => {
    const status = await app.run("get_http_server_status");
    if (!status) return;
    const copy = button("Copy the address", () => copyText(status.base_url, copy));
    serverSection.replaceChildren(
      make("h2", "Server"),
      make("p", "Address: ", make("code", status.base_url)),
      make("p", status.localhost_only ? "Only this machine can connect." : "Other machines can connect."),
      make("p", status.token_required ? "A token is required." : "No token is required."),
      make("p", `${status.clients ?? 1} connected`),
      make("div.choices", copy, button("Sign out here", signOut), button("New token", renewToken, ".danger")),
    );
    const backends = await app.run("list_backends");
    if (!backends) return;
    agentsSection.replaceChildren(make("h2", "Agents"), ...backends.map(agentElement));
  };
  const renewToken = async () => {
    const details = "Everyone who is signed in with the old token must sign in again, including this page. The terminal shows the new one.";
    if (await confirm("Create a new token?", details, "New token", { danger: true })) await app.run("regenerate_http_token");
  };
  const signOut = () => {
    sessionStorage.clear();
    localStorage.removeItem("spinney-token");
    location.reload();
  };
  load();
  return { title: "Server", element };
}

/** @param {any} agent */
function agentElement(agent) {
  const symbol = agent.problem ? "✗" : "✓";
  const fix = agent.fix && !agent.problem?.includes(agent.fix) && make("code", agent.fix);
  return make("p", make("b", `${symbol} ${agent.label} `), agent.version ?? "", agent.problem && make("span.bad", ` ${agent.problem} `), fix);
}
