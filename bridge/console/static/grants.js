// The grants that the person may see.
import { call, el, say } from "./dom.js";

export default async function draw({ redraw }) {
  const { items: grants } = await call("/v1/grants");
  return [
    el("h1", {}, "Grants"),
    grants.length ? el("ul", { class: "list" }, grants.map((g) => el("li", {}, el("div", { class: "row" },
      el("p", { class: "what" }, g.words),
      el("button", { type: "button", class: "bad", "aria-label": "Revoke: " + g.words, onclick: async () => {
        try {
          await call("/v1/grants/" + encodeURIComponent(g.id), { method: "DELETE" });
          say("Grant revoked. Requests that it covered need approval again.");
        } catch (e) {
          say(e.message);
        }
        redraw();
      } }, "Revoke"))))) : el("p", { class: "soft" }, "No grants."),
  ];
}
