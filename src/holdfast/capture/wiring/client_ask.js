// Runs our hook and gives what it says, at most after `wait` milliseconds; never fails.
function ask(event, given, wait) {
  return new Promise((done) => {
    try {
      const [program, ...first] = COMMAND
      const child = spawn(program, [...first, "@client@", event], { stdio: ["pipe", "pipe", "ignore"] })
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
