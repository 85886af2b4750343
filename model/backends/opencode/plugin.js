// Loaded by OpenCode, which one process serves all sessions with: lays our rules over its agents, and
// gives the commands of a session what belongs to its worktree alone, and a mark by which Spinney
// finds and ends them.

import { readFileSync } from "node:fs"
import { homedir } from "node:os"
import { lay } from "./rules.js"

export const Spinney = async ({ directory }) => ({
  config: async (config) => lay(config, homedir()),
  "shell.env": async (input, output) => {
    // Who drives the server decides what agents may do; that is not for their commands.
    output.env.OPENCODE_SERVER_PASSWORD = ""
    if (input.sessionID) output.env.SPINNEY_SESSION = input.sessionID
    try {
      const known = JSON.parse(readFileSync(process.env.SPINNEY_OPENCODE_WORKTREES, "utf8"))
      Object.assign(output.env, known[directory] ?? {})
    } catch {
      // Without the file a command still runs.
    }
  },
})
