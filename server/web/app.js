// The page: a tree of sessions beside one session, drawn from the state whenever that changes.

import { Connection, tokenInAddress } from "/connection.js";
import { button, make } from "/dom.js";
import { requestCard } from "/requests.js";
import { State } from "/state.js";
import { messageElement, redraw } from "/transcript.js";

const $ = (id) => document.getElementById(id);
const state = new State();
const drafts = new Map();
const changedMessages = new Set();
let treeChanged = false;
let frame = 0;

const connection = new Connection({
  loaded(snapshot) {
    state.load(snapshot);
    $("door").hidden = true;
    state.messages = null;
    if (connection.isOpen) openSession(sessionInAddress());
    drawSoon("tree");
  },
  event(name, body) {
    drawSoon(state.apply(name, body));
  },
  state(what, seconds) {
    const words = { open: "connected", lost: `connection lost, next try in ${seconds} s` };
    $("link").textContent = words[what] ?? "";
    $("link").dataset.state = what;
    if (what === "refused") askForToken();
    if (what === "open" && !state.messages) openSession(sessionInAddress());
  },
});

function askForToken() {
  const again = !$("door").hidden || sessionStorage.getItem("token");
  $("refused").textContent = again ? "This token is not accepted (any more)." : "";
  $("door").hidden = false;
  $("token").value = "";
  $("token").focus();
}

$("door").onsubmit = (event) => {
  event.preventDefault();
  connection.use($("token").value.trim());
};

/** Run a command and say what went wrong; gives whether it went well. */
async function run(command, args) {
  try {
    await connection.call(command, args);
    return true;
  } catch (error) {
    toast(error.message);
    return false;
  }
}

function toast(text) {
  const box = $("toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(box.timer);
  box.timer = setTimeout(() => (box.hidden = true), 6000);
}

// Drawing: at most once a frame, and only what changed.

function drawSoon(changed) {
  if (!changed) return;
  if (changed === "tree") treeChanged = true;
  else changedMessages.add(changed);
  frame ||= requestAnimationFrame(draw);
}

function draw() {
  frame = 0;
  const scroller = document.querySelector(".transcript");
  const atEnd = !scroller || scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80;
  if (treeChanged) {
    document.documentElement.dataset.theme = state.preferences.theme ?? "system";
    drawTree();
    drawFrame();
  }
  const list = document.querySelector(".messages");
  for (const message of state.messages ?? []) {
    if (list && changedMessages.has(message.id)) redraw(list, message);
  }
  drawQueue();
  treeChanged = false;
  changedMessages.clear();
  if (atEnd && scroller) scroller.scrollTop = scroller.scrollHeight;
}

const STATUS = {
  running: ["◐", "running"], waiting: ["◆", "needs you"], failed: ["✕", "failed"], idle: ["○", "idle"],
};

function sessionLink(session) {
  const [sign, words] = STATUS[session.status] ?? STATUS.idle;
  const mark = make(`span.sign.${session.status}`, sign, { title: words });
  const link = make("a.session", mark, make("span", session.name), session.unread && make("span.unread", "new"));
  link.href = `#/session/${session.id}`;
  if (session.id === state.openId) link.ariaCurrent = "page";
  return link;
}

function changes(worktree) {
  const { cached_uncommitted_added: more, cached_uncommitted_removed: less } = worktree;
  if (!more && !less) return null;
  return make("span.changes", make("ins", `+${more ?? 0}`), " ", make("del", `−${less ?? 0}`));
}

function placeOf({ branch, detached_at: commit }) {
  return commit ? `detached at ${commit.slice(0, 7)} (${branch})` : branch;
}

function worktreeItem(worktree) {
  const add = button("+", () => newSession(worktree.id), ".quiet");
  add.ariaLabel = `New session in ${worktree.name}`;
  const note = worktree.status === "ready" ? changes(worktree) : make("small", worktree.status);
  return make(
    "li",
    make("div.worktree", make("span.branch", placeOf(worktree)), note, add),
    state.sessionsOf(worktree.id).map(sessionLink),
  );
}

function drawTree() {
  const waiting = state.waiting();
  const projects = state.projectsInOrder().map((project) =>
    make("section", make("h2", project.name), make("ul", state.worktreesOf(project.id).map(worktreeItem))),
  );
  const needed = waiting.length > 0 && make("section.needed", make("h2", "Needs you"), waiting.map(sessionLink));
  const empty = projects.length === 0 &&
    make("p.hint", "No projects yet. Add one in the terminal: spinney /path/to/repository");
  $("tree").replaceChildren(...[needed, ...projects, empty].filter(Boolean));
  document.title = waiting.length ? `(${waiting.length}) Spinney` : "Spinney";
}

async function newSession(worktreeId) {
  try {
    const made = await connection.call("create_session", { worktreeId });
    location.hash = `#/session/${made.id}`;
  } catch (error) {
    toast(error.message);
  }
}

// The open session.

function sessionInAddress() {
  return location.hash.match(/^#\/session\/([\w-]+)$/)?.[1] ?? null;
}

async function openSession(id) {
  state.openId = state.sessions.has(id) ? id : null;
  state.messages = null;
  document.body.classList.toggle("in-session", state.openId !== null);
  $("back").hidden = state.openId === null;
  $("session").replaceChildren();
  drawSoon("tree");
  if (!state.openId) return;
  try {
    const found = await connection.call("get_session", { sessionId: id });
    if (state.openId !== id) return;
    state.messages = found.messages;
    drawFrame();
    const list = document.querySelector(".messages");
    list.replaceChildren(...state.messages.map(messageElement));
    const scroller = document.querySelector(".transcript");
    scroller.scrollTop = scroller.scrollHeight;
  } catch (error) {
    toast(error.message);
  }
}

/** Everything around the messages, made once per session and then kept up to date. */
function drawFrame() {
  const session = state.sessions.get(state.openId);
  const room = $("session");
  if (!session) {
    $("title").textContent = "Spinney";
    room.replaceChildren(make("p.hint.centre", "Choose a session to see what its agent does."));
    return;
  }
  $("title").textContent = session.name;
  if (room.dataset.session !== session.id || !room.querySelector(".composer")) {
    room.dataset.session = session.id;
    room.replaceChildren(
      make("div.transcript", make("div.messages"), make("div.queue"), make("div.asked")),
      composer(session.id),
    );
  }
  const asked = room.querySelector(".asked");
  const key = session.request?.id ?? "";
  if (asked.dataset.request !== key) {
    asked.dataset.request = key;
    asked.replaceChildren(...[requestCard(session, run)].filter(Boolean));
  }
  const busy = session.status === "running" || session.waiting_for !== null;
  room.querySelector(".stop").hidden = !busy;
  room.querySelector("select").value = session.execution_mode;
  if (session.unread && document.visibilityState === "visible") {
    run("mark_session_read", { sessionId: session.id });
  }
}

function drawQueue() {
  const box = document.querySelector(".queue");
  if (!box) return;
  const waiting = state.queued.get(state.openId) ?? [];
  box.replaceChildren(
    ...waiting.map((message) => {
      const text = message.content.map((block) => block.text ?? block.path).join(" ");
      const takeBack = () =>
        run("remove_queued_message", { sessionId: state.openId, messageId: message.id });
      return make("p.queued", "waits: ", text, button("✕", takeBack, ".quiet"));
    }),
  );
}

function composer(sessionId) {
  const text = make("textarea", { rows: 1, placeholder: "Message the agent…", value: drafts.get(sessionId) ?? "" });
  text.ariaLabel = "Message";
  const grow = () => {
    text.style.height = "auto";
    text.style.height = `${Math.min(text.scrollHeight, 200)}px`;
    drafts.set(sessionId, text.value);
  };
  const modes = ["plan", "build", "yolo"].map((mode) => make("option", mode, { value: mode }));
  const mode = make("select", modes, { title: "How far the agent may go" });
  mode.ariaLabel = "Mode";
  mode.onchange = () => run("update_session", { sessionId, executionMode: mode.value });
  const send = async () => {
    const message = text.value.trim();
    if (!message) return;
    const session = state.sessions.get(sessionId);
    const sent = session.waiting_for === "question"
      ? await run("answer_question", { sessionId, answer: message })
      : await run("send_chat_message", { sessionId, message });
    if (sent && text.value.trim() === message) text.value = "";
    grow();
  };
  const form = make(
    "form.composer",
    text,
    make("div.choices", mode, button("Stop", () => run("stop_generation", { sessionId }), ".stop"),
      make("button.primary", "Send")),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    send();
  };
  text.oninput = grow;
  text.onkeydown = (event) => {
    const onPhone = matchMedia("(pointer: coarse)").matches;
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !onPhone) {
      event.preventDefault();
      send();
    }
  };
  return form;
}

$("back").onclick = () => (location.hash = "");
addEventListener("hashchange", () => {
  const token = tokenInAddress();
  if (token) connection.use(token);
  else openSession(sessionInAddress());
});
connection.start();
