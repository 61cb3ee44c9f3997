// Calls our plug-in as opencode 1.18.33 does, and prints what came of it.
import { Holdfast } from "./plugin.mjs"

const hooks = await Holdfast({ directory: "/w/app" })
const parts = [{ type: "text", text: "fix it", id: "prt_1" }]
await hooks["chat.message"]({ sessionID: "ses_1" }, { message: { id: "msg_1" }, parts })
const tool = async (name) => {
  const output = { title: "", output: "done", metadata: {} }
  const call = { tool: name, sessionID: "ses_1", callID: `c-${name}` }
  await hooks["tool.execute.before"](call, { args: { filePath: "/w/app/a.py" } })
  await hooks["tool.execute.after"](call, output)
  return output.output
}
const edited = await tool("edit")
const read = await tool("read")
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } })
for (const odd of [undefined, {}, { event: null }]) {
  await hooks.event(odd ?? {})
  await hooks["chat.message"](odd ?? {}, {})
  await hooks["tool.execute.before"](odd ?? {}, {})
  await hooks["tool.execute.after"](odd ?? {}, {})
}
await hooks.dispose()
console.log(JSON.stringify([parts.slice(1).map((part) => part.text), edited, read, "no throw"]))
