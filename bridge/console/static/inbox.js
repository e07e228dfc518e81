// The requests that the person may answer.
import { call, el } from "./dom.js";
import { row } from "./row.js";

export default async function draw() {
  const [mine, all] = await Promise.all([call("/console/waiting"), call("/v1/interactions?state=pending&limit=100")]);
  const own = new Set(mine.items.map((r) => r.interaction.id));
  const others = all.items.filter((r) => !own.has(r.interaction.id));
  const content = [
    el("h1", {}, "Requests for you"),
    mine.items.length ? el("ul", { class: "list" }, mine.items.map(row)) : el("p", { class: "soft" }, "No pending requests."),
    mine.more && el("p", { class: "soft" }, "Older requests are pending too. Find them under History."),
    others.length > 0 && el("h2", {}, "Requests for others"),
    others.length > 0 && el("ul", { class: "list" }, others.map(row)),
  ];
  content.title = (own.size ? "(" + own.size + ") " : "") + "Inbox · nod";
  return content;
}
