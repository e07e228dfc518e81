// All requests that the person may read, newest first, with search.
import { call, choose, dates, el, filters, find, link, say, zoned } from "./dom.js";
import { row } from "./row.js";

const states = ["pending", "answered", "approved", "denied", "expired", "cancelled", "superseded", "undeliverable"];

export default async function draw({ query, session }) {
  const list = el("ul", { class: "list" });
  const more = el("button", { type: "button" }, "Show older");
  const q = zoned(query);
  const add = async (cursor) => {
    if (cursor) q.set("cursor", cursor);
    const page = await call("/console/history?" + q);
    list.append(...page.items.map(row));
    more.hidden = !page.next;
    more.onclick = () => add(page.next).catch((e) => say(e.message));
    if (!list.children.length) list.append(el("li", { class: "soft" }, "No requests found."));
    return page;
  };
  const { routes, people } = await add("");
  const form = filters("history", query,
    find(query.get("text") || "", "Search prompts, tools, places, names and IDs"),
    choose("state", "State", states, query.get("state")),
    choose("route", "Route", routes, query.get("route")),
    choose("person", "Person", people.includes(session.person) ? people : [session.person, ...people], query.get("person")),
    el("label", { class: "filter" }, "Agent", el("input", { name: "agent", value: query.get("agent") || "" })),
    ...dates(query));
  return [
    el("h1", {}, query.get("session") ? "Session " + query.get("session") : "History"),
    query.get("session") && el("p", {}, el("a", { href: link("history", {}) }, "All requests")),
    form, list, el("div", { class: "buttons" }, more)];
}
