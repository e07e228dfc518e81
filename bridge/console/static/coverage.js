// How far the agents on each host need a person, as the hosts report it.
import { call, clock, el } from "./dom.js";

const levels = {
  gated: ["gated", "approved"],
  partly: ["partly", "pending"],
  none: ["not at all", "denied"],
  open: ["fails open", "denied"],
};

function evidence(a) {
  if (!a.tested) return "Known only from its documentation";
  return "Tested with " + a.tested + (a.version && a.version !== a.tested ? ", not with " + a.version : "");
}

function agent(a) {
  const [words, look] = levels[a.level] || [a.level, ""];
  return el("li", {},
    el("p", {}, el("strong", {}, a.title || a.agent), a.version ? " " + a.version : "", " ", el("span", { class: "state " + look }, words)),
    a.reasons.map((r) => el("p", { class: "reason" }, r)),
    a.fix && el("p", { class: "reason" }, "→ " + a.fix),
    el("p", { class: "soft" }, evidence(a)));
}

function host(h) {
  return [
    el("h2", {}, h.user ? h.user + " on " + h.host : h.host),
    el("p", { class: "soft" }, "Reported by " + h.reporter + " at " + clock(h.at) + (h.program ? " with nod " + h.program : "")),
    h.agents.length ? el("ul", { class: "list" }, h.agents.map(agent)) : el("p", {}, "nod found no agent on this host."),
  ];
}

export default async function draw() {
  const { items } = await call("/v1/coverage");
  return [
    el("h1", {}, "Coverage"),
    el("p", { class: "soft" }, "How far agents need a person for their tools. Each host reports its own settings; nod cannot verify a report."),
    ...(items.length ? items.flatMap(host) : [el("p", {}, "No host has reported yet. Run nod coverage --report on a host, for example daily.")]),
  ];
}
