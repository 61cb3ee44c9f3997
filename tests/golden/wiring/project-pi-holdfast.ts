// Holdfast's extension for pi, written by `holdfast connect`; `holdfast disconnect pi` takes it away.
// Nothing here may throw: an extension that throws keeps pi from starting.
import { spawn } from "node:child_process"

const COMMAND = ["holdfast-hook"]

// Runs our hook and gives what it says, at most after `wait` milliseconds; never fails.
function ask(event, given, wait) {
  return new Promise((done) => {
    try {
      const [program, ...first] = COMMAND
      const child = spawn(program, [...first, "pi", event], { stdio: ["pipe", "pipe", "ignore"] })
      let said = ""
      const end = setTimeout(() => done(""), wait)
      child.on("error", () => (clearTimeout(end), done("")))
      child.on("close", () => (clearTimeout(end), done(said.trim())))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (data) => (said += data))
      child.stdin.end(JSON.stringify(given))
    } catch {
      done("")
    }
  })
}

export default function (pi) {
  const waiting = new Map()
  const session = (ctx) => {
    const known = ctx?.sessionManager
    const path = known?.getSessionFile?.()
    return { session_id: known?.getSessionId?.(), transcript_path: path, cwd: ctx?.cwd ?? known?.getCwd?.() }
  }
  const on = (event, answer) => {
    try {
      pi.on(event, async (given, ctx) => {
        try {
          return await answer(given, ctx)
        } catch {}
      })
    } catch {}
  }
  on("session_start", async (_, ctx) => void (await ask("SessionStart", session(ctx), 1000)))
  on("agent_end", async (_, ctx) => void (await ask("Stop", session(ctx), 2000)))
  on("session_shutdown", async (_, ctx) => void (await ask("SessionEnd", session(ctx), 1000)))
  on("before_agent_start", async (event, ctx) => {
    const text = await ask("UserPromptSubmit", { ...session(ctx), prompt: event.prompt }, 2000)
    if (text) return { message: { customType: "holdfast", content: text, display: false } }
  })
  on("tool_call", async (event, ctx) => {
    if (!["edit", "write", "bash"].includes(event.toolName)) return
    const named = { tool_name: event.toolName, tool_input: event.input, tool_use_id: event.toolCallId }
    const text = await ask("PreToolUse", { ...session(ctx), ...named }, 2000)
    if (text) waiting.set(event.toolCallId, text)
  })
  on("tool_result", async (event) => {
    const text = waiting.get(event.toolCallId)
    waiting.delete(event.toolCallId)
    if (text) return { content: [...event.content, { type: "text", text }] }
  })
}
