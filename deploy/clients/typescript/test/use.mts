// A program that uses the package. The tests only check its types.
import { type Decision, Nod, NodError, type Request, type RequestRecord } from "./dist/index.js";

const nod = new Nod({ token: "token", patience: 1000 });
const region: string | undefined = await nod.ask("Which region?", ["eu", "us"], { session: "s" });
const yes: boolean = await nod.approve("Deploy?", { tool: "deploy", input: { region } }, { timeout: "5m" }, { deadline: 1000 });
const decision: Decision = await nod.decide("Deploy?", { decisions: ["deny", "once", "edit"] });
const variants: Decision = await nod.decide("Go on?", { agent_remembers: true, decisions: ["deny", "once", "always", "always:2"] });
const body: Request = { prompt: "New service", questions: [{ id: "name", widget: "text" }] };
const record: RequestRecord = await nod.request(body);
const state: "pending" | "answered" | "approved" | "denied" | "expired" | "cancelled" | "superseded" | "undeliverable" = record.state;
console.log(variants.scope === "always:2", yes, decision.approved, state, new NodError("invalid", "x").code);
// @ts-expect-error A typo in a field is an error.
await nod.ask("Which region?", [], { timout: "5m" });
// @ts-expect-error So is an unknown widget.
await nod.request({ prompt: "x", questions: [{ widget: "slider" }] });
// @ts-expect-error So is a variant of a decision that has none.
await nod.decide("Go on?", { decisions: ["edit:2"] });
