// The routes of the config.
import { call, el, plural, table } from "./dom.js";

export default async function draw() {
  const { routes } = await call("/console/routes");
  routes.sort((a, b) => a.name.localeCompare(b.name));
  return [el("h1", {}, "Routes"), table("Routes", ["Route", "Destinations", "Responders", "Approvals", "Escalation"], routes.map((r) => [
    r.name, r.to.join(", "), r.responders.join(", "), String(r.quorum) + (r.must && r.must.length ? ", including " + r.must.join(", ") : ""),
    r.steps ? plural(r.steps, "step") : "none"]))];
}
