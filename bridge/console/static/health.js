// The health of the daemon.
import { clock, el, state } from "./dom.js";

export default async function draw() {
  const h = await fetch("/healthz", { cache: "no-store" }).then((r) => r.json()).catch(() => {
    throw new Error("No answer from nod arrived.");
  });
  const all = { redis: h.redis, ...h.platforms };
  return [el("h1", {}, "Health: " + h.status), el("ul", { class: "list" }, Object.entries(all).map(([name, x]) =>
    el("li", {}, el("div", { class: "row" }, el("p", {}, el("strong", {}, name), " ", state(x.state), " " + (x.reason || "") + (x.since && !x.since.startsWith("0001") ? " since " + clock(x.since) : ""))))))];
}
