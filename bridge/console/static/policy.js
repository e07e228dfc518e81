// The rules of the policy, and a form that explains what they say about an
// operation without asking anyone.
import { call, el, joined, post, state } from "./dom.js";

const effects = { allow: "allowed without asking", ask: "people are asked", deny: "denied without asking" };

export default async function draw() {
  const { rules, risks } = await call("/console/policy");
  return [
    el("h1", {}, "Policy"),
    el("p", { class: "soft" }, "nod evaluates each part of an operation. The first rule that matches a part applies to it. ",
      "If no rule matches, people are asked."),
    tryBox(),
    el("h2", {}, "Rules"),
    rules.length ? el("ol", { class: "list rules" }, rules.map(rule)) : el("p", { class: "soft" }, "No rules. People decide everything."),
    risks.length > 0 && el("h2", {}, "Risk levels, lowest first"),
    risks.length > 0 && el("ul", {}, risks.map((r) => el("li", {}, joined(el("strong", {}, r.name), settings(r))))),
  ];
}

function conditions(r) {
  const out = [];
  for (const [name, label] of [["agents", "agent"], ["tools", "tool"], ["command", "command"], ["path", "path"], ["where", "location"]]) {
    if (r[name]?.length) out.push([label, r[name].join(" or ")]);
  }
  for (const [field, pattern] of Object.entries(r.input || {})) out.push(["input " + field, pattern]);
  if (r.options) out.push(["options", r.options.join(" ") || "none"]);
  return out;
}

function settings(s) {
  return joined(s.risk && "risk " + s.risk, s.routes?.length && "route " + s.routes.join(", "), s.quorum > 1 && s.quorum + " approvals",
    s.confirm && "typed confirmation: " + s.confirm, s.scopes?.length && "scopes " + s.scopes.join(", "), s.reason);
}

function rule(r) {
  return el("li", {}, el("p", {}, el("strong", {}, r.name), " ", state(r.then), " ", el("span", { class: "soft" }, settings(r.set || {}))),
    el("dl", { class: "conditions" }, conditions(r).flatMap(([label, text]) => [el("dt", {}, label), el("dd", {}, el("code", {}, text))])));
}

function tryBox() {
  const result = el("div", { role: "status" });
  const field = (name, label, hint) => el("div", {}, el("label", { for: "try-" + name }, label),
    el("input", { id: "try-" + name, name, placeholder: hint, autocomplete: "off" }));
  const form = el("form", { class: "panel", onsubmit: async (e) => {
    e.preventDefault();
    try {
      result.replaceChildren(...explained(await post("/console/policy", Object.fromEntries(new FormData(form)))));
    } catch (err) {
      result.replaceChildren(el("p", { class: "problem" }, err.message));
    }
  } },
    el("h2", {}, "Try the rules"),
    el("div", { class: "columns" }, field("command", "Command", "git push origin main"), field("tool", "Tool", "Bash"),
      field("agent", "Agent", "ci"), field("where", "Location", "/srv/app")),
    el("details", {}, el("summary", {}, "Input as JSON instead of a command"),
      el("label", { for: "try-input" }, "Input"), el("textarea", { id: "try-input", name: "input", class: "input" })),
    el("div", { class: "buttons" }, el("button", { type: "submit", class: "good" }, "Try")), result);
  return form;
}

function explained({ ruling, steps }) {
  return [
    el("p", { class: "heading" }, state(ruling.effect), " " + effects[ruling.effect] + ", ",
      ruling.rule ? "by " + ruling.rule : "because no rule matches"),
    el("p", { class: "soft" }, settings(ruling)),
    steps.length > 0 && el("ul", { class: "steps" }, steps.map((s) => el("li", { class: s.matched ? "matched" : "" },
      joined(el("strong", {}, (s.matched ? "✓ " : "") + (s.rule || "no rule")), s.command && el("code", {}, s.command), s.why)))),
  ].filter(Boolean);
}
