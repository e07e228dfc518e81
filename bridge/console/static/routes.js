// The routes of the config.
import { call, el } from "./dom.js";

export default async function draw() {
  const { routes } = await call("/console/routes");
  routes.sort((a, b) => a.name.localeCompare(b.name));
  return [el("h1", {}, "Routes"), el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Routes" }, el("table", {},
    el("thead", {}, el("tr", {}, ["Route", "Destinations", "Responders", "Approvals", "Escalation"].map((t) => el("th", { scope: "col" }, t)))),
    el("tbody", {}, routes.map((r) => el("tr", {},
      el("th", { scope: "row" }, r.name), el("td", {}, r.to.join(", ")), el("td", {}, r.responders.join(", ")),
      el("td", {}, String(r.quorum) + (r.must && r.must.length ? ", including " + r.must.join(", ") : "")),
      el("td", {}, r.steps ? r.steps + (r.steps === 1 ? " step" : " steps") : "none"))))))];
}
