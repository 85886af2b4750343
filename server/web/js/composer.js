// @ts-check
// The message box of a session: what is written is kept until it was accepted, offline too.

import { button, make } from "./dom.js";

/**
 * @typedef {import("./app.js").App} App
 * @typedef {import("./state.js").Resource} Resource
 */

const MODES = ["plan", "build", "yolo"];

/** @param {App} app @param {string} sessionId */
export function composer(app, sessionId) {
  const key = `spinney-draft-${sessionId}`;
  const text = make("textarea", { rows: 1, placeholder: "Message the agent…", "aria-label": "Message" });
  text.value = localStorage.getItem(key) ?? "";
  const mode = make("select", MODES.map((name) => make("option", name, { value: name })), {
    "aria-label": "Mode",
    title: "How far the agent may go",
  });
  const stop = button("Stop", () => app.run("stop_generation", { sessionId }), ".stop", { hidden: true });
  const send = make("button.primary", "Send");
  const status = make("span.status");
  const form = make("form.composer", text, make("div.choices", mode, status, stop, send));
  const grow = () => {
    text.style.height = "auto";
    text.style.height = `${text.scrollHeight + 2}px`;
  };
  const keep = () => {
    if (text.value) localStorage.setItem(key, text.value);
    else localStorage.removeItem(key);
  };
  const submit = async () => {
    const message = text.value.trim();
    if (!message || send.disabled) return;
    const session = app.state.sessions.get(sessionId);
    const request = session?.request;
    send.disabled = true;
    const sent = request?.kind === "question"
      ? await app.run("answer_question", { sessionId, requestId: request.id, answer: message })
      : await app.run("send_chat_message", { sessionId, message });
    send.disabled = false;
    if (sent !== undefined && text.value.trim() === message) text.value = "";
    keep();
    grow();
  };
  form.onsubmit = (event) => {
    event.preventDefault();
    submit();
  };
  text.oninput = () => {
    keep();
    grow();
  };
  text.onkeydown = (event) => {
    const onPhone = matchMedia("(pointer: coarse)").matches;
    const sends = event.key === "Enter" && !event.shiftKey && !event.isComposing;
    if (sends && (!onPhone || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      submit();
    }
  };
  mode.onchange = () => app.run("update_session", { sessionId, executionMode: mode.value });
  requestAnimationFrame(grow);

  return {
    element: form,
    agent: "agent",
    /** @param {Resource} session */
    follow(session) {
      const busy = session.status === "running" || session.waiting_for === "permission";
      stop.hidden = !busy;
      send.textContent = session.status === "running" ? "Queue" : "Send";
      if (document.activeElement !== mode) mode.value = session.execution_mode;
      status.textContent = statusOf(session);
    },
    /** Put a text into the box, before what is there. @param {string} words */
    put(words) {
      text.value = [words, text.value].filter(Boolean).join("\n");
      keep();
      grow();
      text.focus();
    },
    close: keep,
  };
}

/** @param {Resource} session */
function statusOf(session) {
  const parts = [session.model];
  const { context_tokens: used, context_window: room } = session;
  if (used && room) parts.push(`context ${Math.round((100 * used) / room)} %`);
  if (session.status === "running") parts.push("running");
  return parts.filter(Boolean).join(" · ");
}
