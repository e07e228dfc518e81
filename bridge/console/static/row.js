import { clock, el, left, state } from "./dom.js";

// row returns the line of a request in a list.
export function row(record) {
  const i = record.interaction;
  const more = [i.agent, clock(i.created)];
  if (record.state === "pending") more.push(left(i.deadline));
  else if (record.response && record.response.actor) more.push("by " + (record.response.actor.person || record.response.actor.name || record.response.actor.user) + " on " + record.response.actor.platform);
  return el("li", {}, el("a", { class: "row", href: "#/i/" + i.id },
    el("span", { class: "what" }, i.prompt.replace(/\*\*|`/g, "").replace(/\s+/g, " ").slice(0, 200)),
    el("span", { class: "more" }, state(record.state), " " + more.join(" · "))));
}
