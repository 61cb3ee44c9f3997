// Holdfast's plug-in for opencode, written by `holdfast connect`; `holdfast disconnect opencode` takes it away.
// Nothing here may throw: an error in a plug-in would end the user's prompt.
import { spawn } from "node:child_process"

const COMMAND = ["holdfast-hook"]

// Runs our hook and gives what it says, at most after `wait` milliseconds; never fails.
function ask(event, given, wait) {
  return new Promise((done) => {
    try {
      const [program, ...first] = COMMAND
      const child = spawn(program, [...first, "opencode", event], { stdio: ["pipe", "pipe", "ignore"] })
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

export const Holdfast = async ({ directory }) => {
  const cwd = directory
  const seen = new Set()
  const waiting = new Map()
  const started = async (id) => {
    if (!id || seen.has(id)) return
    seen.add(id)
    await ask("SessionStart", { session_id: id, cwd }, 1000)
  }
  return {
    event: async ({ event }) => {
      try {
        const id = event?.properties?.sessionID
        if (event?.type === "session.idle" && id) await ask("Stop", { session_id: id, cwd }, 2000)
      } catch {}
    },
    dispose: async () => {
      try {
        for (const id of seen) await ask("SessionEnd", { session_id: id, cwd }, 1000)
      } catch {}
    },
    "chat.message": async (input, output) => {
      try {
        const id = input.sessionID
        await started(id)
        const typed = output.parts.filter((part) => part.type === "text" && !part.synthetic)
        const prompt = typed.map((part) => part.text).join("\n")
        const text = await ask("UserPromptSubmit", { session_id: id, cwd, prompt }, 2000)
        if (text) {
          const name = "prt_holdfast" + Date.now().toString(36) + Math.random().toString(36).slice(2, 10)
          const place = { messageID: output.message.id, sessionID: id }
          output.parts.push({ id: name, ...place, type: "text", text, synthetic: true })
        }
      } catch {}
    },
    "tool.execute.before": async (input, output) => {
      try {
        if (!["edit", "write", "patch", "apply_patch", "bash"].includes(input.tool)) return
        const named = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }
        const text = await ask("PreToolUse", { session_id: input.sessionID, cwd, ...named }, 2000)
        if (text) waiting.set(input.callID, text)
      } catch {}
    },
    "tool.execute.after": async (input, output) => {
      try {
        const text = waiting.get(input.callID)
        waiting.delete(input.callID)
        if (text) output.output = `${output.output}\n\n${text}`
      } catch {}
    },
  }
}
