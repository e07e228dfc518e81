// Ask people through nod, with nothing but Node.js.
//
//   export NOD_URL=http://127.0.0.1:8787 NOD_TOKEN=...
//   node nod.mts ask "Which region?" eu us
//   node nod.mts approve "Drop the table?" '{"command": "psql -c \"drop table x\""}'
//   node nod.mts exchange ai_sdk < parts.json
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Record {
  state: "pending" | "answered" | "approved" | "denied" | "expired" | "cancelled" | "superseded" | "undeliverable";
  queued?: string;
  response?: { answers?: { [question: string]: Json }; reason?: string; input?: Json; scope?: string };
}

// post sends a request and repeats it while the daemon restarts. The key makes
// repeats safe.
async function post(path: string, body: Json, key: string): Promise<{ status: number; answer: Json }> {
  const url = new URL(path, process.env.NOD_URL ?? "http://127.0.0.1:8787");
  url.searchParams.set("wait", "25s");
  const headers = { Authorization: `Bearer ${process.env.NOD_TOKEN}`, "Content-Type": "application/json", "Nod-Caller": key };
  for (let attempt = 0; attempt < 60; attempt++) {
    try {
      const resp = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
      if (resp.ok) return { status: resp.status, answer: (await resp.json()) as Json };
      if (resp.status < 500) throw new Error(await resp.text(), { cause: "refused" });
    } catch (err) {
      if ((err as Error).cause === "refused") throw err;
    }
    await new Promise((done) => setTimeout(done, Math.min(100 * 2 ** attempt, 3000)));
  }
  throw new Error("the nod daemon is not reachable");
}

// request asks, and returns the record once it is closed. See docs/api.md for
// the body.
export async function request(body: Json): Promise<Record> {
  const key = randomUUID();
  for (;;) {
    const record = (await post("/v1/interactions", body, key)).answer as unknown as Record;
    if (record.state !== "pending" || record.queued) return record;
  }
}

// ask returns the choice or the text; undefined if no one answered.
export async function ask(prompt: string, options: string[] = []): Promise<Json | undefined> {
  const question = { id: "q", widget: options.length ? "buttons" : "text", options: options.map((value) => ({ value })) };
  const record = await request({ prompt, questions: [question] });
  return record.state === "answered" ? record.response?.answers?.q : undefined;
}

// approve reports whether the request was approved. A timeout is not an approval.
export async function approve(prompt: string, input: Json): Promise<boolean> {
  return (await request({ prompt, approval: { input } })).state === "approved";
}

// exchange sends a message in an agent's own format, and returns the answer in
// the same format.
export async function exchange(dialect: string, message: Json, query: { [name: string]: string } = {}): Promise<Json> {
  const key = randomUUID();
  const path = `/v1/dialects/${dialect}?${new URLSearchParams(query)}`;
  for (;;) {
    const { status, answer } = await post(path, message, key);
    if (status !== 202) return answer; // 202 means that it is still pending
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [what, ...args] = process.argv.slice(2);
  if (what === "ask") {
    console.log(await ask(args[0]!, args.slice(1)));
  } else if (what === "approve") {
    process.exitCode = (await approve(args[0]!, JSON.parse(args[1]!))) ? 0 : 1;
  } else {
    let text = "";
    for await (const part of process.stdin) text += part;
    console.log(JSON.stringify(await exchange(args[0]!, JSON.parse(text))));
  }
}
