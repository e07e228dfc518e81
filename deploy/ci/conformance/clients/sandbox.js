// Starts the real binary's sandbox and acts in it as its members.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export async function start() {
  const child = spawn(process.env.NOD_BINARY, ["sandbox", "--listen", "127.0.0.1:0", "--no-limits"], { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const [first] = await once(lines, "line");
  const base = first.split(/\s+/)[1].replace(/\/$/, "");
  const call = async (method, path, body) => {
    const resp = await fetch(base + path, { method, headers: { "Content-Type": "application/json" }, body: body && JSON.stringify(body) });
    const answer = await resp.json();
    if (!resp.ok) throw new Error(`${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  return {
    base,
    state: () => call("GET", "/control/state"),
    act: (action) => call("POST", "/control/act", action),
    fault: (fault) => call("POST", "/control/faults", fault),
    stop: () => { child.kill(); },
  };
}

// until polls, as a client without events of its own has to.
export async function until(what, ok) {
  for (let n = 0; n < 500; n++) {
    const v = await ok();
    if (v) return v;
    await new Promise((r) => setTimeout(r, 20));
  }
  throw new Error(`not in time: ${what}`);
}
