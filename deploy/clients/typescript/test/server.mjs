// A server that misbehaves as a case of cases.json says, and a sandboxed daemon.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const read = (name) => JSON.parse(readFileSync(new URL("../../" + name, import.meta.url), "utf8"));
export const table = read("cases.json");
export const canonical = read("canonical.json");

// body returns the body of an answer.
function body(answer) {
  if (!("record" in answer)) return Buffer.from(answer.text ?? "");
  const record = structuredClone(table.records[answer.record]);
  for (const [path, value] of Object.entries(answer.set ?? {})) {
    const names = path.split(".");
    const last = names.pop();
    names.reduce((at, name) => at[name], record)[last] = value;
  }
  let text = JSON.stringify(record);
  if (answer.replace) {
    const [old, by] = answer.replace;
    text = old === "$" ? text + by : text.replaceAll(old, () => by);
    const bytes = Buffer.from(text);
    const at = bytes.indexOf("\\xff");
    return at < 0 ? bytes : Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at + 4)]);
  }
  return Buffer.from(text).subarray(0, answer.keep);
}

// bytes returns everything that the server sends for an answer.
function bytes(answer, other) {
  if ("bytes" in answer || answer.drop || (answer.hang && !("cut" in answer))) return Buffer.from(answer.bytes ?? "");
  let content = Buffer.concat([body(answer), Buffer.alloc(answer.pad ?? 0, " ")]);
  const headers = {
    "Content-Type": answer.type ?? "application/json",
    "Content-Length": content.length,
    ...(answer.proxy ? {} : { "Nod-Daemon": "test" }),
    ...answer.headers,
  };
  if (answer.chunked) {
    delete headers["Content-Length"];
    headers["Transfer-Encoding"] = "chunked";
    const [a, b] = [content.subarray(0, 100), content.subarray(100)];
    content = Buffer.concat([
      Buffer.from("64\r\n"),
      a,
      Buffer.from(`\r\n${b.length.toString(16)}\r\n`),
      b,
      Buffer.from("\r\n0\r\n\r\n"),
    ]);
  }
  const head = [
    `HTTP/1.1 ${answer.status ?? 200} x`,
    "Connection: close",
    ...Object.entries(headers).map(([k, v]) => `${k}: ${v}`),
  ];
  return Buffer.concat([
    Buffer.from((answer.before ?? "") + head.join("\r\n").replace("{other}", other) + "\r\n\r\n"),
    content.subarray(0, answer.cut),
  ]);
}

// send sends what belongs to an answer, at its pace.
async function send(socket, { pace, hang }, data) {
  for (; pace && data.length > 0 && !socket.destroyed; data = data.subarray(100)) {
    socket.write(data.subarray(0, 100));
    await new Promise((done) => setTimeout(done, pace * 1000));
  }
  if (hang) socket.write(data);
  else socket.end(data);
}

// misbehave answers calls in the order of a case. The last answer repeats.
export async function misbehave({ answers, host = "127.0.0.1", under = "" }, other = "") {
  const seen = { posts: 0, cancels: 0, hits: 0, keys: new Set() };
  const open = new Set();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    let data = "";
    socket.on("data", (part) => {
      data += part.toString("latin1");
      const end = data.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(data)?.[1] ?? 0);
      if (end < 0 || data.length < end + 4 + length) return;
      let answer = { record: "cancelled" };
      if (data.split("\r\n")[0].includes("/cancel")) seen.cancels++;
      else answer = answers[Math.min(seen.hits++, answers.length - 1)];
      if (data.startsWith(`POST ${under}/v1/interactions `)) {
        seen.posts++;
        seen.keys.add(/nod-caller: (\S+)/i.exec(data)[1]);
      }
      send(socket, answer, bytes(answer, other));
    });
  });
  server.listen(0, host);
  await once(server, "listening");
  const close = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  const at = `${host.includes(":") ? `[${host}]` : host}:${server.address().port}`;
  return { host: at, url: "http://" + at, seen, close };
}

export const agent = "token-of-the-agent-in-these-tests";
export const person = "token-of-the-person-in-these-tests";

// daemon starts the real daemon on the sandbox.
export async function daemon() {
  const sandbox = spawn(process.env.NOD_BINARY, ["sandbox", "--listen", "127.0.0.1:0", "--no-limits"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [first] = await once(createInterface({ input: sandbox.stdout }), "line");
  const base = first.split(/\s+/)[1].replace(/\/$/, "");
  const free = createServer().listen(0, "127.0.0.1");
  await once(free, "listening");
  const { port } = free.address();
  free.close();
  await once(free, "close");
  const dir = mkdtempSync(join(tmpdir(), "nod-"));
  const url = `http://127.0.0.1:${port}`;
  writeFileSync(
    join(dir, "nod.yaml"),
    `
listen: 127.0.0.1:${port}
log_level: error
sandbox: ${base}
telegram: {bot_token: "7000:sandbox-telegram-token"}
people: {ana: {telegram: "7001", token: ${person}}}
routes: {default: {to: ["telegram:-1001000000001"], responders: [ana], sessions: true}}
agents: {tester: {token: ${agent}}}
`,
  );
  const child = spawn(process.env.NOD_BINARY, ["serve", "--dev", "--config", join(dir, "nod.yaml")], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  for (let n = 0; !(await fetch(url + "/readyz").catch(() => ({}))).ok; n++) {
    if (n > 600) throw new Error("the daemon did not start");
    await new Promise((r) => setTimeout(r, 50));
  }
  // verify returns the exit code of nod receipt verify for a record.
  const verify = (record) => {
    const env = { ...process.env, NOD_URL: url, NOD_TOKEN: agent };
    const keys = join(dir, "keys.json");
    writeFileSync(keys, spawnSync(process.env.NOD_BINARY, ["receipt", "keys"], { env }).stdout);
    const input = JSON.stringify(record);
    return spawnSync(process.env.NOD_BINARY, ["receipt", "verify", "--keys", keys], { input }).status;
  };
  const stop = () => {
    child.kill();
    sandbox.kill();
    rmSync(dir, { recursive: true, force: true });
  };
  return { url, verify, stop };
}
