// @ts-check
// The ports of a worktree, and links to those on which a program listens.

import { make, patchChildren } from "../dom.js";
import { icon } from "../icons.js";
import { externalLink } from "../links.js";

/** @typedef {import("../app.js").App} App */

const PORT_COUNT = 10; // of each worktree
const POLL_INTERVAL = 3000; // ms; a program that begins to listen is no event

/** Shows the ports of a worktree. While the page is visible it looks what listens on them. */
export class Ports {
  /** @type {number[]} */ #listening = [];

  /** @param {App} app @param {string} worktreeId */
  constructor(app, worktreeId) {
    this.app = app;
    this.worktreeId = worktreeId;
    this.element = make("p.ports.hint");
    this.timer = setInterval(() => document.visibilityState === "visible" && this.load(), POLL_INTERVAL);
  }

  close() {
    clearInterval(this.timer);
  }

  async load() {
    if (this.app.state.worktrees.get(this.worktreeId)?.port == null) return;
    const args = { worktreeId: this.worktreeId };
    this.#listening = await this.app.connection.call("get_listening_ports", args).catch(() => []); // offline, or removed
    this.draw();
  }

  draw() {
    const first = this.app.state.worktrees.get(this.worktreeId)?.port;
    this.element.hidden = first == null;
    if (first == null) return;
    patchChildren(this.element, [make("span", `Ports ${first}–${first + PORT_COUNT - 1}`), ...this.#listening.map(portLink)]);
  }
}

/** A link to a port of the machine that the page comes from. @param {number} port */
const portLink = (port) => externalLink(`http://${location.hostname}:${port}`, [icon("link"), `:${port}`]);
