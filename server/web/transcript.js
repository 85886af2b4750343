// One message after another, each drawn again only when it changed.

import { make } from "/dom.js";

const FENCE = /^\s*(```|~~~)/;
const HEADING = /^#{1,6} /;
const MARKED = /(\*\*[^*\n]+\*\*|`[^`\n]+`)/;

/** Bold and code inside a line. */
function inline(text) {
  return text.split(MARKED).map((piece, place) => {
    if (place % 2 === 0) return piece;
    return piece.startsWith("`") ? make("code", piece.slice(1, -1)) : make("b", piece.slice(2, -2));
  });
}

/** The little of Markdown that reads badly as it was written: fences, headings, bold, code. */
function prose(text) {
  const pieces = [];
  let lines = [];
  let code = false;
  const end = () => {
    const whole = lines.join("\n");
    if (lines.length) pieces.push(code ? make("pre", whole) : make("p", inline(whole)));
    lines = [];
  };
  for (const line of text.trim().split("\n")) {
    if (FENCE.test(line)) {
      end();
      code = !code;
    } else if (!code && HEADING.test(line)) {
      end();
      pieces.push(make("h4", line.replace(HEADING, "")));
    } else if (!code && !line.trim()) end();
    else lines.push(line);
  }
  end();
  return make("div.prose", pieces);
}

function summary(block) {
  const input = block.input ?? {};
  const subject = input.file_path ?? input.command ?? input.pattern ?? input.url ?? input.description;
  return [make("b", block.name), subject ? ` ${subject}` : ""];
}

function folded(kind, title, text) {
  const body = make("pre", text);
  return make(`details.${kind}`, make("summary", title), body);
}

function tool(block, result) {
  const { old_content: before, new_content: after } = block.input ?? {};
  const input =
    block.name === "edit"
      ? make("pre.diff", make("del", before ?? ""), make("ins", after ?? ""))
      : make("pre", JSON.stringify(block.input, null, 2));
  const outcome = result && make(result.is_error ? "pre.failed" : "pre", result.content);
  return make(result?.is_error ? "details.tool.failed" : "details.tool", make("summary", summary(block)), input, outcome);
}

function question(block) {
  const answers = typeof block.answer === "string" ? [block.answer] : Object.values(block.answer ?? {});
  return make(
    "div.card",
    block.questions.map((one) => make("p", one.question)),
    answers.map((answer) => make("p.answer", `→ ${answer}`)),
  );
}

function drawn(block, results, streaming) {
  switch (block.type) {
    case "text":
      return prose(block.text);
    case "thinking":
      return folded("thinking", streaming ? "thinking…" : "thought", block.text);
    case "tool_use":
      return tool(block, results.get(block.id));
    case "plan":
      return make(
        "div.card.plan",
        prose(block.text),
        block.approved && make("p.answer", `→ approved (${block.approved})`),
      );
    case "question":
      return question(block);
    case "image":
      return make("p.file", `▧ ${block.path}`);
    default:
      return null;
  }
}

/** The element of a message. */
export function messageElement(message) {
  const blocks = message.content.filter(Boolean);
  const results = new Map(
    blocks.filter((b) => b.type === "tool_result").map((b) => [b.tool_use_id, b]),
  );
  const streaming = message.role === "assistant" && message.status === "processing";
  const last = blocks.at(-1);
  return make(
    `article.${message.role}`,
    { id: `m-${message.id}` },
    blocks.map((block) => drawn(block, results, streaming && block === last)),
    (message.files ?? []).map((path) => make("p.file", `▤ ${path}`)),
    streaming && make("p.pulse", { ariaLabel: "writing" }, "●●●"),
    message.error && make("p.error", message.error.error),
  );
}

/** Draw a message in its place, leaving folds open that were open. */
export function redraw(list, message) {
  const old = document.getElementById(`m-${message.id}`);
  const made = messageElement(message);
  if (!old) {
    list.append(made);
    return;
  }
  const before = old.querySelectorAll("details");
  made.querySelectorAll("details").forEach((fold, place) => {
    fold.open = before[place]?.open ?? false;
  });
  old.replaceWith(made);
}
