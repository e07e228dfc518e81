// All requests that the person may read, with search.
import { call, el, say } from "./dom.js";
import { row } from "./row.js";

export default async function draw({ query }) {
  const text = query.get("text") || "";
  const path = "/v1/interactions?limit=50&text=" + encodeURIComponent(text) + "&state=" + encodeURIComponent(query.get("state") || "");
  const list = el("ul", { class: "list" });
  const more = el("button", { type: "button" }, "Show older");
  const add = async (cursor) => {
    const page = await call(path + "&cursor=" + encodeURIComponent(cursor));
    list.append(...page.items.map(row));
    more.hidden = !page.next;
    more.onclick = () => add(page.next).catch((e) => say(e.message));
    if (!list.children.length) list.append(el("li", { class: "soft" }, "No requests found."));
  };
  await add("");
  const states = ["", "pending", "answered", "approved", "denied", "expired", "cancelled", "superseded", "undeliverable"];
  const form = el("form", { class: "search", role: "search", onsubmit: (e) => {
    e.preventDefault();
    location.hash = "#/history?" + new URLSearchParams(new FormData(form));
  } },
    el("input", { type: "search", name: "text", value: text, "aria-label": "Search prompts, tools, names and IDs" }),
    el("select", { name: "state", "aria-label": "State" }, states.map((s) => el("option", { value: s, selected: s === (query.get("state") || "") }, s || "any state"))),
    el("button", { type: "submit" }, "Search"));
  return [el("h1", {}, "History"), form, list, el("div", { class: "buttons" }, more)];
}
