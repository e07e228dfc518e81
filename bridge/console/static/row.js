import { ago, el, html, joined, left, link, state } from "./dom.js";

// facts returns the second line of a request in a list.
export function facts(r) {
  return el("span", { class: "more" }, joined(
    r.state === "pending" ? left(r.deadline) : state(r.state),
    r.risk && el("strong", { class: "risk" }, r.risk),
    r.from || r.agent,
    r.route && "route " + r.route,
    r.votes,
    r.by ? "by " + r.by : "",
    r.state === "pending" ? el("span", {}, "asked ", ago(r.created)) : ago(r.closed || r.created)));
}

// sessionLink returns a link to the requests of a session.
export const sessionLink = (r) =>
  r.session && el("a", { href: link("history", { session: r.session, agent: r.agent }) }, "Session " + r.session);

// row returns the line of a request in a list.
export function row(r) {
  return el("li", {}, el("a", { class: "row", href: "#/i/" + r.id }, el("span", { class: "what" }, html(r.head)), facts(r)));
}
