// The pane of the program that uses the services: what it asked, that it is
// blocked, and what it does next.
import { h } from "./dom.js";

const marks = { asks: "?", blocked: "…", unblocked: "✓", says: "›", try: "☞" };
let drawn = "";

export function drawAgent(story) {
  const pane = document.getElementById("agent");
  const notes = (story && story.notes) || [];
  const now = JSON.stringify(story);
  if (now === drawn) return;
  drawn = now;
  pane.hidden = notes.length === 0;
  document.body.classList.toggle("told", notes.length > 0);
  if (pane.hidden) return;
  const list = h("ol", { "aria-live": "polite", tabIndex: 0, "aria-label": "what the agent does" }, notes.map((n) => h("li", { class: n.kind },
    h("span", { class: "mark", "aria-hidden": "true" }, marks[n.kind] || "›"), h("span", {}, n.text))));
  pane.replaceChildren(h("h2", {}, "Agent ", h("code", {}, story.program)), list);
  list.scrollTop = list.scrollHeight;
}
