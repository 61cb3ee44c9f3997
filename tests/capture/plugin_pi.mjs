// Calls our extension as pi 0.87.1 does, and prints what came of it.
import load from "./plugin.mjs"

const handlers = {}
load({ on: (event, handler) => (handlers[event] = handler) })
load({})
const sessionManager = { getSessionFile: () => "/w/s.jsonl", getSessionId: () => "s1", getCwd: () => "/w/app" }
const ctx = { cwd: "/w/app", sessionManager }
await handlers.session_start({ reason: "startup" }, ctx)
const told = await handlers.before_agent_start({ prompt: "fix it" }, ctx)
const tool = async (toolName) => {
  const content = [{ type: "text", text: "done" }]
  const call = { toolName, toolCallId: `c-${toolName}`, input: { path: "/w/app/a.py" } }
  await handlers.tool_call(call, ctx)
  const found = await handlers.tool_result({ ...call, content }, ctx)
  return (found?.content ?? content).map((part) => part.text).join("\n\n")
}
const edited = await tool("edit")
const read = await tool("read")
for (const handler of Object.values(handlers)) await handler(undefined, undefined)
await handlers.agent_end({}, ctx)
await handlers.session_shutdown({ reason: "quit" }, ctx)
console.log(JSON.stringify([told ? [told.message.content] : [], edited, read, "no throw"]))
