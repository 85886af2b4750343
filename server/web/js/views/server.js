// @ts-check
// The server that this page comes from: where it is, who may come in, and what this machine has.

import { confirm } from "../dialogs.js";
import { button, make } from "../dom.js";
import { copyText } from "../session/blocks.js";

/** @type {import("../app.js").MakeView} */
export function serverView(app) {
  const about = make("section");
  const agents = make("section");
  const element = make("div.page", about, agents);

  const look = async () => {
    const status = await app.run("get_http_server_status");
    if (!status) return;
    const copy = button("Copy the address", () => copyText(status.base_url, copy));
    about.replaceChildren(
      make("h2", "Server"),
      make("p", "Address: ", make("code", status.base_url)),
      make("p", status.localhost_only ? "Only this machine may connect." : "Other machines may connect."),
      make("p", status.token_required ? "It asks for its token." : "It asks for no token."),
      make("p", `${status.clients ?? 1} connected`),
      make("div.choices", copy, button("Sign out here", signOut), button("New token", renew, ".danger")),
    );
    const found = await app.run("list_backends");
    if (!found) return;
    agents.replaceChildren(make("h2", "Agents"), ...found.map(agentElement));
  };
  const renew = async () => {
    const told = "Everybody who is connected with the old one must sign in again, this page too. The terminal shows the new one.";
    if (await confirm("Make a new token?", told, "New token", { danger: true })) await app.run("regenerate_http_token");
  };
  const signOut = () => {
    sessionStorage.clear();
    localStorage.removeItem("spinney-token");
    location.reload();
  };
  look();
  return { title: "Server", element };
}

/** @param {any} agent */
function agentElement(agent) {
  const sign = agent.problem ? "✗" : "✓";
  const fix = agent.fix && !agent.problem?.includes(agent.fix) && make("code", agent.fix);
  return make("p", make("b", `${sign} ${agent.label} `), agent.version ?? "", agent.problem && make("span.bad", ` ${agent.problem} `), fix);
}
