// One request, with its controls and its timeline.
import { answers } from "./answers.js";
import { ago, call, clock, el, html, joined, left } from "./dom.js";
import { typed } from "./drafts.js";
import { receiptOf } from "./receipts.js";
import { sessionLink } from "./row.js";

export default async function draw({ id, redraw }) {
  const card = await call("/console/cards/" + encodeURIComponent(id));
  const content = [cardOf(card, redraw)];
  content.title = card.headline + " · nod";
  return content;
}

// unsent returns everything that the person had typed when the request was closed.
function unsent(id) {
  const texts = [...typed("wanted-" + id), ...typed("field-" + id)];
  return texts.length > 0 && el("details", {}, el("summary", {}, "You typed this, and it was not sent"), el("pre", {}, texts.join("\n")));
}

function cardOf(c, redraw) {
  const pending = c.state === "pending";
  return el("article", { class: "card", "aria-labelledby": "headline", "data-state": c.state },
    el("h1", { id: "headline" }, html(c.head)),
    el("p", { class: "soft" }, joined(c.from, pending ? left(c.deadline) : "", el("span", {}, "asked ", ago(c.created)))),
    answers(c, { done: redraw, failed: redraw }),
    pending && !c.may_answer && el("p", { class: "soft" }, "You cannot respond to this request. Responders: " + c.asked.join(", ") + "."),
    !pending && unsent(c.id),
    el("h2", {}, "Timeline"),
    el("ol", { class: "timeline" }, c.timeline.map((m) => el("li", {}, el("time", { datetime: m.at }, clock(m.at)), m.text))),
    el("p", { class: "soft facts" }, joined(c.id, c.route && "route " + c.route, sessionLink(c), c.digest)),
    c.receipt && receiptOf(c));
}
