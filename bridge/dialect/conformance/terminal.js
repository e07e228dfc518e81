// A terminal for programs that need one.
import { createRequire } from "node:module";

// terminal starts a program in a terminal of 120 by 50. CLAUDE_TERMINAL names
// the folder with the packages.
export function terminal(program, args, { cwd, env }) {
  const packages = createRequire(process.env.CLAUDE_TERMINAL + "/");
  const { Terminal } = packages("@xterm/headless");
  const size = { cols: 120, rows: 50 };
  const screen = new Terminal({ ...size, allowProposedApi: true, scrollback: 2000 });
  const child = packages("@lydell/node-pty").spawn(program, args, { ...size, cwd, env: { ...env, TERM: "xterm-256color" }, name: "xterm-256color" });
  let exited = false;
  const ended = new Promise((done) => child.onExit((e) => { exited = true; done(e); }));
  child.onData((d) => screen.write(d));
  screen.onData((d) => exited || child.write(d)); // answers to queries of the program
  return {
    pid: child.pid,
    ended,
    type: (keys) => child.write(keys),
    kill: (signal) => exited || child.kill(signal),
    // text returns everything that the terminal shows, and what has scrolled out of it.
    text() {
      const b = screen.buffer.active;
      return Array.from({ length: b.length }, (_, n) => b.getLine(n)?.translateToString(true) ?? "").join("\n").trimEnd();
    },
  };
}
