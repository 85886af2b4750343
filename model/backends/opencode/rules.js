// What OpenCode's agents may do, laid over the person's configuration once all of it is read.
//
// Whatever may change something asks, and Spinney answers by the mode of the session. The person's
// own rules come behind ours, where the last rule that matches holds: what they deny is denied in
// every mode. What they allow asks as well unless it only reads, for a mode may be narrower; Spinney
// knows these rules (`RULES`) and answers by them.

export const RULES = "spinney-rules"

const READING = [
  ["read", "*", "allow"],
  ["read", "*.env", "ask"],
  ["read", "*.env.*", "ask"],
  ["read", "*.env.example", "allow"],
  ...["glob", "grep", "list", "codesearch", "lsp", "skill", "question"].map((name) => [name, "*", "allow"]),
  ...["todowrite", "todoread"].map((name) => [name, "*", "allow"]),
]

const ASKING = [["*", "*", "ask"], ...READING]

const READS = new Set(READING.map(([name]) => name))

// These two are the program's own, for tasks of others: what they lack they shall not get from us.
const OWN = {
  general: [...ASKING, ["todowrite", "*", "deny"]],
  explore: [
    ["*", "*", "deny"],
    ...READING.filter(([name]) => name !== "question" && !name.startsWith("todo")),
    ...["bash", "webfetch", "websearch", "external_directory"].map((name) => [name, "*", "ask"]),
  ],
}

const MODES = {
  // Their names stand in the program's own prompts: it tells `plan` not to change anything.
  plan: { disable: false },
  build: { disable: false },
  yolo: { disable: false, mode: "primary", description: "Works without asking" },
}

// Who is denied something in `build` is not given it by another mode of ours.
const LIKE = { yolo: ["build"], plan: ["build"] }

export function lay(config, home) {
  const agents = (config.agent ??= {})
  const rulesOf = (permission) => listed(permission, home)
  const common = rulesOf(config.permission)
  const own = {}
  for (const [name, agent] of Object.entries(agents)) own[name] = rulesOf(agent.permission)
  const told = { "": common }
  for (const name of new Set([...Object.keys(agents), ...Object.keys(OWN), ...Object.keys(MODES)])) {
    const kept = [...(LIKE[name] ?? []), name].flatMap((each) => own[each] ?? [])
    told[name] = [...common, ...kept]
    const permission = written([...(OWN[name] ?? ASKING), ...told[name]])
    agents[name] = { ...agents[name], ...MODES[name], permission }
  }
  config.permission = written([...ASKING, ...common])
  agents["spinney-text"] = {
    mode: "primary",
    hidden: true,
    description: "Writes short texts",
    prompt: "You write the one text that is asked for, and nothing else.",
    permission: { "*": "deny" },
  }
  agents[RULES] = { mode: "primary", hidden: true, options: { rules: told }, permission: { "*": "deny" } }
}

function listed(permission, home) {
  if (typeof permission === "string") return [["*", "*", permission]]
  return Object.entries(permission ?? {}).flatMap(([name, value]) => {
    const patterns = typeof value === "string" ? { "*": value } : value
    return Object.entries(patterns ?? {}).map(([pattern, action]) => [name, expanded(pattern, home), action])
  })
}

// As the program does.
function expanded(pattern, home) {
  return pattern.replace(/^(~(?=\/|$)|\$HOME)/, () => home)
}

function matches(name, wildcard) {
  let source = wildcard.replace(/[.+^${}()|[\]\\]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".")
  if (source.endsWith(" .*")) source = `${source.slice(0, -3)}( .*)?`
  return new RegExp(`^${source}$`, "s").test(name)
}

// A list of rules in the form of the configuration, where a name stands once. A plain name gets all
// that is said of it, wildcards included, behind these; a wildcard that comes again is written
// otherwise, with another star.
function written(rules) {
  const result = {}
  let last = ""
  let key = ""
  for (const [name, pattern, action] of rules.filter(([each]) => /[*?]/.test(each))) {
    if (name !== last) for (key = name; key in result; ) key = key.replace("*", "**")
    last = name
    put((result[key] ??= {}), pattern, asking(action))
  }
  for (const plain of rules.map(([name]) => name).filter((name) => !/[*?]/.test(name))) {
    const patterns = {}
    const as = READS.has(plain) ? (action) => action : asking
    for (const [name, pattern, action] of rules) if (matches(plain, name)) put(patterns, pattern, as(action))
    const [only, ...more] = Object.entries(patterns)
    result[plain] = more.length === 0 && only[0] === "*" ? only[1] : patterns
  }
  return result
}

function asking(action) {
  return action === "allow" ? "ask" : action
}

function put(patterns, pattern, action) {
  delete patterns[pattern] // The order is that of the last word.
  patterns[pattern] = action
}
