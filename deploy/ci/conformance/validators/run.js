// Runs every validator on recordings and on cards, and prints totals.
// It fails on a complaint that explained.js does not explain.
import * as builders from "./builders.js";
import { explanation, unused } from "./explained.js";
import { cards, read } from "./records.js";
import * as tdlib from "./tdlib.js";
import * as types from "./types.js";

const validators = { "type definitions (tsc)": types, "@discordjs/builders": builders, TDLib: tdlib };
const sides = { bot: "nod sends", service: "the sandbox sends" };

// The first recording is of nod. The second file has the cards of the renderers.
// The third is a recording of other people's bots. Only the messages from the
// sandbox to these bots count.
const [own, payloads, others] = process.argv.slice(2);
const recorded = read(own),
  rendered = cards(payloads);
const foreign = (others ? read(others) : []).map((x) => ({ ...x, foreign: true }));
const exchanges = [...recorded, ...rendered, ...foreign];
const rows = [];
let open = 0;
for (const [name, validator] of Object.entries(validators)) {
  const { checked, complaints, skipped } = validator.check(exchanges);
  if (skipped) console.log(`conformance: ${name} is skipped: ${skipped}`);
  const ours = complaints.filter((c) => c.side === "service" || !c.exchange.foreign);
  const left = ours.filter((c) => !explanation(name, c));
  open += left.length;
  for (const [c, times] of grouped(left).slice(0, 40)) print(name, c, times);
  for (const service of Object.keys(checked)) {
    const of = (list) => list.filter((c) => c.exchange.service === service).length;
    rows.push({ validator: name, service, payloads: checked[service], complaints: of(ours), unexplained: of(left) });
  }
}

// grouped returns one complaint of each kind, and their numbers.
function grouped(complaints) {
  const groups = new Map();
  for (const c of complaints) {
    const key = [c.side, c.exchange.service, c.exchange.kind, c.exchange.method, essence(c.rule).replace(/[\d"'.]+/g, "")].join();
    groups.set(key, [groups.get(key)?.[0] ?? c, (groups.get(key)?.[1] ?? 0) + 1]);
  }
  return [...groups.values()];
}

// essence returns the end of a rule, where the compiler names the cause.
function essence(rule) {
  return rule
    .split("\n")
    .slice(-2)
    .map((line) => line.trim().replace(/'[^']{200,}'/g, (long) => `${long.slice(0, 80)} … ${long.slice(-80)}`))
    .join("\n        ");
}

function print(name, c, times) {
  const { service, kind, method, shape } = c.exchange;
  console.log(
    `${name}: ${service} ${kind} ${method} (${shape}), which ${sides[c.side]}${times > 1 ? `, and ${times - 1} more` : ""}`,
  );
  console.log(`  rule: ${essence(c.rule)}\n  payload: ${JSON.stringify(c.value).slice(0, 1000)}\n`);
}

console.log(
  `conformance: ${recorded.length} recorded exchanges, ${rendered.length} cards, ` +
    `${foreign.length} exchanges with other bots`,
);
console.table(rows);
const idle = unused();
if (idle.length > 0) console.log(`conformance: explanations that explained nothing in this run:\n  ${idle.join("\n  ")}`);
console.log(`conformance: ${open} unexplained complaints`);
process.exitCode = open > 0 || recorded.length === 0 || rendered.length === 0 ? 1 : 0;
