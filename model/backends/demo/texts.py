"""The demo agent's texts: the tour for new users, its list of directives, and generated Markdown.

Standard library only; the agent's program imports nothing else from Spinney.
"""

import json
import re

DIRECTIVES = """\
I am the demo agent. I follow these directives, one per line:

- `/demo say TEXT` streams the text
- `/demo think TEXT` streams it as thinking
- `/demo write PATH: TEXT` writes a file in the worktree
- `/demo run COMMAND` runs a shell command in the worktree
- `/demo plan STEP; STEP` proposes a plan, and executes it when approved
- `/demo ask QUESTION | A | B` asks you
- `/demo permission COMMAND` asks before it runs the command
- `/demo stream N RATE` sends N pieces at RATE per second
- `/demo markdown N` writes N KiB of Markdown
- `/demo wait SECONDS` waits
- `/demo used PERCENT MINUTES` reports how much of your limit is used, and when it resets
- `/demo recall` repeats your earlier messages
- `/demo fail KIND` fails: rate_limit [SECONDS], overloaded, network, auth, crash, hang, deaf or \
garbage

Anything else gets a short tour of Spinney. A message that you send into a running turn is read \
after the step in progress.
"""

CONTINUES = "Continue. "
"""How the prompt begins that lets a paused turn continue."""

CONTINUED = "That is over, so I continue where I was interrupted. "

PLAN_REFUSAL = "Plan mode changes nothing. Approve a plan, or change the mode, and try again."

TOUR_FILE = "spinney-tour.md"

TOUR_THOUGHT = (
    "Perhaps a new user. I will keep it short and change one file, so that there is a diff."
)

TOUR_HELLO = """\
Hello! I am the **demo agent**. I need no account, but I really work in this worktree. \
What you see now is a *turn*: I stream, you read along.

- Press **stop** whenever I talk too much.
- Write while I work: your message waits its turn.
"""

TOUR_MODES = {
    "plan": """\
You are in **plan** mode: I read, but change nothing. Here is what I would do. \
Approve it, or reply to discuss it.
""",
    "build": """\
You are in **build** mode: I edit files at once, and ask before I run commands. \
(In **plan** mode I would propose a plan first; in **yolo** mode I ask nothing.)
""",
    "yolo": """\
You are in **yolo** mode: I do everything without asking. Handle with care. \
(**plan** mode proposes first, **build** mode edits but asks before commands.)
""",
}

TOUR_PLAN = """\
## A small change

1. Write `spinney-tour.md` with what you have seen so far
2. Show you the diff
3. Name three things to try next
"""

TOUR_EDITED = """\
Done. The edit above opens as a **diff**; in the file it is real:

```sh
git status --short   # ?? spinney-tour.md
```

Try next:

1. change the **mode** and send another message
2. `/demo ask Tea or coffee? | Tea | Coffee`
3. `/demo permission git status`

`/demo help` lists all I can do. Have fun!
"""


def tour_file(before: str, mode: str) -> str:
    """The new content of the tour's file: created once, then one more line per visit."""
    if not before:
        return (
            "# A tour of Spinney\n\n"
            "- a **worktree** is a directory with a branch of its own\n"
            "- a **session** is a chat with an agent in it\n"
            "- modes: plan (look), build (edit), yolo (everything)\n\n"
            f"Visit 1, in {mode} mode.\n"
        )
    visits = sum(line.startswith("Visit ") for line in before.splitlines())
    return f"{before}Visit {visits + 1}, in {mode} mode.\n"


def fill_form(prompt: str) -> str:
    """Fill in the form at the end of the prompt: each part is the first line of the material."""
    material, _, form = prompt.rpartition("Answer in exactly this form")
    first = re.search(r"^<(?:commits|message|conversation)>\n(.*)", material, re.MULTILINE)
    text = first[1] if first else "A text of the demo agent"
    tags = re.findall(r"^<(\w+)>$", form, re.MULTILINE)
    if tags == ["review"]:
        text = review(material)
    return "\n".join(f"<{tag}>{text}</{tag}>" for tag in tags)


def review(material: str) -> str:
    """Review numbered changes: a finding for each added TODO, and for the first line of a file."""
    findings = []
    path = ""
    is_first = False
    for line in material.splitlines():
        number, sign, text = line[:6].strip(), line[6:9], line[9:]
        if line.startswith("=== "):
            path, is_first = line[4:].rpartition(" (")[0], True
        elif number.isdecimal() and sign == " + " and (is_first or "TODO" in text):
            is_open = "TODO" in text
            what = "This is not done yet." if is_open else "The demo agent has read this file."
            findings.append(
                {
                    "path": path,
                    "first_line": int(number),
                    "last_line": int(number),
                    "severity": "major" if is_open else "note",
                    "explanation": what,
                    "suggestion": text.replace("TODO", "DONE") if is_open else "",
                }
            )
            is_first = False
    summary = f"The demo agent has read the changes and looked for TODO; findings: {len(findings)}."
    return json.dumps({"summary": summary, "findings": findings[:100]})


_SECTIONS = (
    """\
## Section {n}: what a *shuttle* does

A **shuttle** carries the weft through the shed. Pick {n} of the cloth went in `{n}` beats, see
[the notes](https://example.org/notes/{n}) and the quote below.

> The loom remembers what the hand forgets.
> {n} threads later, so do we.

```python
from dataclasses import dataclass


@dataclass(frozen=True)
class Thread:
    color: str
    length: float = {n}.5

    def cut(self, at: float) -> "Thread":
        return Thread(self.color, min(at, self.length))  # never longer than before
```
""",
    """\
## Section {n}: a table and a list

| thread | count | tension |
|:-------|------:|:-------:|
| warp   | {n}   | high    |
| weft   | 12    | *low*   |

1. wind the bobbin
   - left hand first
   - `count == {n}`
2. throw the shuttle
- [x] beaten
- [ ] cut

```typescript
export const tension = (threads: readonly number[]): number =>
  threads.reduce((sum, each) => sum + each / {n}, 0); // newtons
```
""",
    """\
### Section {n}: shells and pages

Run it *twice*; the second time ~~fails~~ does nothing. Wide letters: 織機 · ткацкий · مغزل · 🧵.

```sh
for file in *.draft; do
    weave --picks {n} "$file" || echo "no $file" >&2
done
```

```json
{{"draft": {{"picks": {n}, "shafts": [1, 2, 3, 4], "reversed": false}}}}
```
""",
    """\
### Section {n}: the same in other languages

```rust
fn beat(picks: u32) -> Option<u32> {{
    (0..picks).filter(|pick| pick % {n} == 0).last() // the reed comes forward
}}
```

```diff
-    shafts = 4
+    shafts = {n}
```

---

That was section {n}, with $x^{n}$ left as it is and a long line that has to be wrapped \
somewhere by the user interface, because it has no line breaks of its own on purpose.
""",
)


def markdown(kibibytes: float) -> str:
    """Generate varied Markdown of this size, the same at every call, cut at a line's end."""
    size = int(kibibytes * 1024)
    sections = [b"# Woven Markdown\n\n"]
    size_so_far = len(sections[0])
    while size_so_far < size:
        number = len(sections)
        section = _SECTIONS[number % len(_SECTIONS)].format(n=number) + "\n"
        sections.append(section.encode())
        size_so_far += len(sections[-1])
    cut = b"".join(sections)[:size].decode(errors="ignore")
    return cut[: cut.rfind("\n") + 1] or cut
