// The whole life of a worktree, driven from outside over HTTP and WebSocket. Nothing but Node:
//
//   node --experimental-websocket examples/worktree-life.mjs BASE_URL TOKEN REPOSITORY
//
// REPOSITORY is the absolute path of a git repository with a remote `origin`. The server must know
// the demo agent (`spinney serve --demo`). Node 22 and newer need no flag.

const PATIENCE = 60_000; // Milliseconds for each answer and each event.

function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`waited in vain for ${what}`)), PATIENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** One WebSocket: commands with their replies, and the events in the order they came. */
class Connection {
  #replies = new Map(); // Replies may overtake each other, so each finds its request by its id.
  #events = []; // Came, but were not asked for yet: an event may well precede a command's reply.
  #wake = () => {};
  #ended = null;
  #lastId = 0;

  static open(url) {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(url);
      socket.onopen = () => resolve(new Connection(socket));
      socket.onerror = () => reject(new Error("the WebSocket was refused"));
    });
  }

  constructor(socket) {
    this.socket = socket;
    socket.onmessage = ({ data }) => this.#receive(JSON.parse(data));
    socket.onclose = ({ code }) => this.#end(new Error(`the connection was closed (${code})`));
  }

  /** The result of a command; its error as an exception. */
  call(command, args) {
    const id = String(++this.#lastId);
    const reply = new Promise((...settle) => this.#replies.set(id, settle));
    this.socket.send(JSON.stringify({ id, command, args }));
    return within(reply, `an answer to ${command}`);
  }

  /** What `wanted` makes of the first event that it wants; those before it are passed over. */
  next(what, wanted) {
    return within(this.#search(wanted), what);
  }

  async #search(wanted) {
    for (;;) {
      while (this.#events.length) {
        const { event, data, payload } = this.#events.shift();
        const found = wanted(event, data ?? payload); // Chat says `data`, worktrees `payload`.
        if (found) return found;
      }
      if (this.#ended) throw this.#ended;
      await new Promise((resolve) => (this.#wake = resolve));
    }
  }

  #receive(frame) {
    if (frame.event) {
      this.#events.push(frame);
      return this.#wake();
    }
    const [resolve, reject] = this.#replies.get(frame.id);
    this.#replies.delete(frame.id);
    return frame.type === "error" ? reject(new Error(frame.error)) : resolve(frame.data);
  }

  #end(reason) {
    this.#ended = reason;
    for (const [, reject] of this.#replies.values()) reject(reason);
    this.#wake();
  }
}

/** `ask(method, path, body)` gives an answer's JSON; an error's sentence as an exception. */
function httpClient(baseUrl, token) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  return async (method, path, body) => {
    const request = { method, headers, signal: AbortSignal.timeout(PATIENCE) };
    const answer = await fetch(baseUrl + path, { ...request, body: JSON.stringify(body) });
    const json = await answer.json();
    if (!answer.ok) throw new Error(`${json.error} (${json.error_type})`);
    return json;
  };
}

/** A worktree that is ready to work in: the command answers before git has made it. */
async function createWorktree(connection, projectId) {
  const { id } = await connection.call("create_worktree", { projectId });
  return connection.next("worktree:created", (event, about) => {
    if (event === "worktree:create_error" && about.id === id) throw new Error(about.error);
    return event === "worktree:created" && about.worktree.id === id && about.worktree;
  });
}

/** `until(end)` gives what the agent said until it stopped: at a `plan`, or with `end_turn`. */
function listener(connection, sessionId) {
  const texts = new Map(); // By message: deltas and errors do not name their session.
  return async (end) => {
    const stop = await connection.next("the agent", (event, about) => {
      const { message_id: id, session_id: session } = about;
      if (event === "session-waiting" && session === sessionId) return about.waiting_for;
      if (event === "message-started" && session === sessionId) texts.set(id, "");
      if (event === "content-delta" && texts.has(id)) texts.set(id, texts.get(id) + about.content);
      if (event === "message-error" && texts.has(id)) throw new Error(about.error);
      return event === "message-completed" && session === sessionId && about.stop_reason;
    });
    if (stop !== end) throw new Error(`the agent stopped with ${stop} instead of ${end}`);
    return [...texts.values()].at(-1);
  };
}

/** Talk in a new session: a greeting, then a plan that is approved and carried out. */
async function workOn(worktree, connection, ask) {
  const wanted = { execution_mode: "plan", backend: "demo" };
  const session = await ask("POST", `/api/worktrees/${worktree.id}/sessions`, wanted);
  say("session", `${session.name} (${session.backend}, ${session.execution_mode})`);
  const path = `/api/sessions/${session.id}`;
  const until = listener(connection, session.id);

  await ask("POST", `${path}/messages`, { message: "/demo say Good morning." });
  say("chat", await until("end_turn"));

  const message = "/demo plan write note.md: Written by an agent; say It is written.";
  await ask("POST", `${path}/messages`, { message });
  await until("plan");
  const { messages } = await ask("GET", `${path}/messages?limit=1`);
  const { text: plan } = messages[0].content.find((block) => block.type === "plan");
  say("plan", plan.trim().replaceAll("\n", " "));

  await ask("POST", `${path}/approve`, { mode: "build" });
  say("approve", await until("end_turn"));
}

/** Bring what was written to the remote. */
async function publish({ id: worktreeId, path: worktreePath }, connection) {
  const diff = await connection.call("get_git_diff", { worktreePath, diffType: "working" });
  say("diff", diff.match(/^\+[^+].*/gm).join(" "));

  const commit = { worktreeId, message: "Add a note", stageAll: true };
  say("commit", (await connection.call("commit_changes", commit)).commit_sha);

  // Git's refusal is no error of the command: its words are the result.
  const { success, output } = await connection.call("git_push", { worktreePath });
  if (!success) throw new Error(output);
  say("push", output.trim().split("\n").at(-1).trim());
}

/** Put it away, bring it back, and remove it for good: its work is safe at the remote. */
async function putAway({ id: worktreeId }, connection) {
  await connection.call("archive_worktree", { worktreeId });
  const { archived_at: since } = await connection.call("get_worktree", { worktreeId });
  say("archive", `since ${new Date(since * 1000).toISOString()}`);

  const { path } = await connection.call("unarchive_worktree", { worktreeId });
  say("restore", path);

  await connection.call("remove_worktree", { worktreeId });
  say("remove", path);
}

const say = (step, what) => console.log(`${step.padEnd(8)} ${what}`);

async function main(baseUrl, token, repository) {
  if (!globalThis.WebSocket) throw new Error("Node before 22 needs --experimental-websocket");
  if (!repository) throw new Error("usage: worktree-life.mjs BASE_URL TOKEN REPOSITORY");
  const ask = httpClient(baseUrl, token);
  await ask("GET", "/api/auth"); // A WebSocket is refused without a reason; this gives one.
  const address = `${baseUrl.replace(/^http/, "ws")}/ws?token=${encodeURIComponent(token)}`;
  const connection = await Connection.open(address);

  const project = await connection.call("add_project", { path: repository });
  say("project", project.path);
  const worktree = await createWorktree(connection, project.id);
  say("worktree", `${worktree.branch} in ${worktree.path}`);
  await workOn(worktree, connection, ask);
  await publish(worktree, connection);
  await putAway(worktree, connection);
  await connection.call("remove_project", { projectId: project.id }); // Its files stay.
  connection.socket.close();
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(`worktree-life: ${(error.cause ?? error).message}`);
  process.exit(1);
});
