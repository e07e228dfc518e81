// The people and the groups of the config.
import { call, el, table } from "./dom.js";

const list = (items, none = "none") => (items.length ? items.join(", ") : none);

export default async function draw() {
  const { people, groups } = await call("/console/people");
  return [
    el("h1", {}, "People"),
    table("People", ["Person", "Accounts", "Groups", "Routes", "Console"], people.map((p) => [
      p.name, list(p.platforms), list(p.groups), list(p.routes),
      (p.signs_in ? "can sign in" : "cannot sign in") + (p.auditor ? ", auditor" : "")])),
    el("h2", {}, "Groups"),
    groups.length ? table("Groups", ["Group", "Members now", "From the config", "From platforms", "On call"], groups.map((g) => [
      g.name, g.error || list(g.now), list(g.people), list(g.native), g.oncall || "none"])) : el("p", { class: "soft" }, "No groups."),
  ];
}
