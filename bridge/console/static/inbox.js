// The pending requests, the next deadline first. A request can be answered in
// the list once the list shows all of it.
import { act, call, choose, dates, el, filtered, filters, find, html, joined, left, link, plural, say, zoned } from "./dom.js";
import { answers } from "./answers.js";
import { restore } from "./drafts.js";
import { facts } from "./row.js";

let chosen = new Map(); // the cards that are selected, by ID

const path = (query) => "/console/inbox?" + zoned(query);

export default async function draw({ query, redraw, badge }) {
  const data = await call(path(query));
  badge(data.counts);
  const shown = new Set(data.items.filter((r) => r.card).map((r) => r.id));
  chosen = new Map([...chosen].filter(([id]) => shown.has(id)));
  const list = el("ul", { class: "list inbox" });
  const bar = barOf(list, redraw);
  list.append(...data.items.map((r) => item(r, bar.update, redraw)));
  bar.update();
  const content = [
    el("h1", {}, "Inbox"), summary(data.counts, query),
    filters("inbox", query, find(query.get("text") || "", "Search prompts, tools, places, names and IDs"),
      choose("agent", "Agent", data.agents, query.get("agent")), choose("route", "Route", data.routes, query.get("route")),
      choose("person", "Person", data.people, query.get("person")), ...dates(query)),
    el("div", { class: "news", role: "status" }), bar.element,
    data.items.length ? list : el("p", { class: "soft" }, filtered(query) ? "No pending requests match the filters." : "No pending requests."),
    pager(data, query),
    data.lacks && el("p", { class: "soft" }, data.lacks),
    data.more && el("p", { class: "soft" }, "Requests with later deadlines are pending too. Find them under History."),
  ];
  content.shown = data;
  return content;
}

// update applies a live update. While someone works in the list, nothing moves
// under the pointer and nothing that they opened closes: closed requests are
// marked, and new ones are announced. On a touchscreen, a finger may be on its
// way at any time.
export async function update({ query, redraw, badge }, main) {
  const list = main.querySelector(".inbox");
  if (!list || !(chosen.size || near(list) || inUse(list, main.querySelector("form.filters")))) return false;
  const data = await call(path(query));
  badge(data.counts);
  const now = new Set(data.items.map((r) => r.id));
  const rows = [...list.querySelectorAll("li[data-id]:not(.closed)")];
  await Promise.all(rows.filter((li) => !now.has(li.dataset.id)).map(check)); // it may also be on the next page now
  const known = new Set([...list.querySelectorAll("li[data-id]")].map((li) => li.dataset.id));
  const fresh = data.items.filter((r) => !known.has(r.id)).length;
  const gone = list.querySelectorAll("li.closed").length;
  list.dispatchEvent(new Event("chosen"));
  main.querySelector(".news").replaceChildren(...(fresh + gone ? [el("button", { type: "button", onclick: redraw },
    fresh ? "Show " + plural(fresh, "new request") : "Remove " + plural(gone, "closed request"))] : []));
  return true;
}

const near = (list) => matchMedia("(pointer: coarse)").matches || list.matches(":hover") || list.contains(document.activeElement);

// inUse reports whether a pending request was opened or edited in the list, or
// a filter was typed and not applied.
const inUse = (list, filter) => list.querySelector("li.used:not(.closed)") || filter.contains(document.activeElement) ||
  [...filter.querySelectorAll("input")].some((e) => e.value !== e.defaultValue);

// check marks a request that was closed by someone else.
async function check(li) {
  const card = await call("/console/cards/" + li.dataset.id).catch((e) => {
    if (e.status === 404) return null;
    throw e;
  });
  if (card && card.state === "pending") return;
  chosen.delete(li.dataset.id);
  close(li, card ? card.headline : "No longer available.");
}

function close(li, text) {
  if (li.classList.contains("closed")) return;
  li.classList.add("closed");
  li.querySelectorAll("button, input, select, textarea").forEach((e) => (e.disabled = true));
  li.querySelectorAll("input.pick").forEach((e) => (e.checked = false));
  li.append(el("p", { class: "soft" }, text));
}

function summary(counts, query) {
  const tab = (who, n, label) => el("a", { href: link("inbox", { ...Object.fromEntries(query), who, page: "" }),
    "aria-current": (query.get("who") || "") === who ? "true" : false }, label + " ", el("span", { class: "count" }, String(n)));
  const soon = plural(counts.soon, "request") + (counts.soon === 1 ? " expires" : " expire") + " within 5 minutes";
  return el("div", { class: "tabs" },
    el("nav", { "aria-label": "Whose requests" }, tab("", counts.mine, "For you"), tab("others", counts.others, "For others")),
    counts.soon > 0 && el("span", { class: "urgent" }, soon));
}

function item(r, changed, redraw) {
  const use = () => li.classList.add("used");
  const li = el("li", { "data-id": r.id, onclick: (e) => e.target.closest("button, summary") && use(), oninput: use });
  const body = el("div", { class: "answer" });
  const pick = el("input", {
    type: "checkbox", class: "pick", "aria-label": "Select: " + r.title, checked: chosen.has(r.id), disabled: true,
  });
  const fill = (card) => {
    body.replaceChildren(...answers(card, { brief: true, done: (text) => close(li, text), failed: redraw }));
    pick.disabled = !(card.may_answer && card.together);
    pick.onchange = () => {
      if (pick.checked) chosen.set(r.id, { ...card, title: r.title });
      else chosen.delete(r.id);
      changed();
    };
  };
  if (r.card) fill(r.card);
  else {
    const all = el("button", { type: "button", class: "expand", onclick: async () => {
      try {
        fill(await call("/console/cards/" + r.id));
        restore(body);
        body.querySelector("button")?.focus();
      } catch (e) {
        say(e.message);
      }
    } }, "Show all " + plural(r.lines, "line"));
    body.append(el("pre", { class: "preview", tabindex: 0 }, el("code", {}, r.preview)), all);
  }
  const title = el("a", { class: "row", href: "#/i/" + r.id }, el("span", { class: "what" }, html(r.head)), facts(r));
  li.append(el("div", { class: "head" }, pick, title), body);
  return li;
}

// barOf returns the bar that decides the selected requests together.
function barOf(list, redraw) {
  const element = el("div", { class: "together", role: "region", "aria-label": "Selected requests", hidden: true });
  const update = () => {
    element.hidden = !chosen.size;
    const n = chosen.size;
    element.replaceChildren(el("span", {}, n + " selected"),
      el("button", { type: "button", class: "good", onclick: () => confirmAll("once", redraw) }, "Approve " + n + "…"),
      el("button", { type: "button", class: "bad", onclick: () => confirmAll("deny", redraw) }, "Deny " + n + "…"),
      el("button", { type: "button", onclick: () => { chosen.clear(); redraw(); } }, "Clear"));
  };
  list.addEventListener("chosen", update);
  return { element, update };
}

// confirmAll asks once more, with the list of the selected requests, and sends
// for each what the list shows of it.
function confirmAll(decision, redraw) {
  const cards = [...chosen.values()];
  const approve = decision === "once";
  const title = (approve ? "Approve " : "Deny ") + plural(cards.length, "request") + "?";
  const send = async () => {
    box.close();
    try {
      const { items } = await act("/console/answers", { decision, items: cards.map((c) => ({ id: c.id, seen: c.seen, terms: c.terms })) });
      const failed = items.filter((i) => i.error);
      chosen.clear();
      const lost = failed.length ? " " + failed.length + " not recorded: " + failed[0].error + "." : "";
      say(plural(items.length - failed.length, "response") + " recorded." + lost);
    } catch (e) {
      say(e.unknown ? e.message + " It is unknown which responses were recorded. Look at the list." : e.message);
    }
    redraw();
  };
  const box = el("dialog", { "aria-labelledby": "together-title", onclose: () => box.remove() },
    el("h2", { id: "together-title" }, title),
    el("ul", {}, cards.map((c) => el("li", {}, c.title, " ", el("span", { class: "soft" }, joined(c.from, left(c.deadline)))))),
    el("div", { class: "buttons" },
      el("button", { type: "button", class: approve ? "good" : "bad", onclick: send }, (approve ? "Approve " : "Deny ") + cards.length),
      el("button", { type: "button", autofocus: true, onclick: () => box.close() }, "Cancel")));
  document.body.append(box);
  box.showModal();
}

function pager(data, query) {
  if (data.pages < 2) return null;
  const to = (n) => link("inbox", { ...Object.fromEntries(query), page: n > 1 ? String(n) : "" });
  return el("nav", { class: "pager", "aria-label": "Pages of the list" },
    data.page > 1 && el("a", { href: to(data.page - 1), rel: "prev" }, "Earlier deadlines"),
    el("span", { class: "soft" }, "Page " + data.page + " of " + data.pages + ", " + plural(data.total, "request")),
    data.page < data.pages && el("a", { href: to(data.page + 1), rel: "next" }, "Later deadlines"));
}

