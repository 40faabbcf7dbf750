// A plug-in for opencode while Dragoman drives it.
//
// It makes every agent ask, sub-agents included, before it runs a command, changes a file or reaches the network:
// the permissions of a session do not hold for its sub-agents, those of the configuration do. What the user's own
// configuration denies stays denied. Dragoman then answers as the access of the session says.
//
// It also hides the server's password from commands and MCP servers, which could otherwise approve for the user, and
// tells commands which session they are of.

const PASSWORD = "OPENCODE_SERVER_PASSWORD"
const SESSION = "OPENCODE_SESSION_ID"
const QUIET = ["read", "glob", "grep", "list", "task", "skill", "lsp", "todowrite", "todoread", "question"]
const LOUD = ["bash", "edit", "webfetch", "websearch", "codesearch"]
const READERS = ["explore", "plan"]

const MARK = "dragoman"

const asked = (action) => (action === "allow" ? "ask" : action)

// The rules of one permission, none of which allows anything.
function guarded(rules) {
  if (typeof rules === "string") return asked(rules)
  return Object.fromEntries(Object.entries(rules ?? {}).map(([pattern, action]) => [pattern, asked(action)]))
}

function guardedAll(permission, base) {
  const given = typeof permission === "string" ? { "*": permission } : (permission ?? {})
  const made = {}
  for (const [name, rules] of Object.entries(given)) {
    if (name !== "*") continue
    made["*"] = guarded(rules)
    if (rules === "allow") for (const quiet of QUIET) made[quiet] = "allow"
  }
  if (given["*"] !== "deny") for (const loud of base) made[loud] = "ask"
  for (const [name, rules] of Object.entries(given)) {
    if (name === "*") continue
    delete made[name] // the last rule that fits decides, so its place matters
    if (QUIET.includes(name)) made[name] = rules
    else if (base.includes(name) && typeof rules !== "string") made[name] = { "*": "ask", ...guarded(rules) }
    else made[name] = guarded(rules)
  }
  return made
}

export const DragomanGuard = async () => ({
  async config(config) {
    const servers = Object.entries(config.mcp ?? {})
    const tools = servers.map(([name]) => name.replace(/[^a-zA-Z0-9_-]/g, "_") + "_*")
    // By this rule Dragoman sees that the plug-in was loaded.
    config.permission = { ...guardedAll(config.permission, [...LOUD, ...tools]), [MARK]: "ask" }
    config.agent ??= {}
    for (const name of READERS) config.agent[name] ??= {}
    for (const [name, agent] of Object.entries(config.agent)) {
      const own = guardedAll(agent.permission, [])
      agent.permission = READERS.includes(name) ? { edit: "deny", ...own } : own
    }
    for (const [, server] of servers) {
      if (server?.type === "local") server.environment = { ...server.environment, [PASSWORD]: "" }
    }
  },
  async "shell.env"(input, output) {
    output.env[PASSWORD] = ""
    if (input?.sessionID) output.env[SESSION] = input.sessionID
  },
})
