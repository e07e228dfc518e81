// The console in plain JavaScript, without a build step: navigation, sign-in
// and live updates. Each page is a module; see pages.js.
import { call, el, hush, onSignedOut, post } from "./dom.js";
import { keys, overlay } from "./keys.js";
import { loginPage } from "./login.js";
import { pages } from "./pages.js";

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const menu = document.getElementById("menu");
const live = document.getElementById("live");
const logout = document.getElementById("logout");
let session = {};
let stream = null;
let drawn = 0; // number of the last page that was opened, so that a slow page does not replace a newer one
let drawing = false; // a page that was opened is being fetched
const changed = new Set(); // the fields that have changed since the page was drawn
let waiting = 0; // number of pending requests for the person
let title = "nod";
let version = ""; // the version of the content that the page shows

const links = new Map(pages.filter((p) => p.label).map((p) => [p.name, el("a", { href: "#/" + p.name }, p.label)]));
nav.append(...links.values());

const events = [
  "interaction_request", "interaction_response", "posted", "failed", "delivered", "escalated", "widened", "queued", "voted", "completed",
  "reprompted",
];
const redraw = () => draw();

// content returns the elements of the page that the URL names.
async function content(page, id, query, isLive) {
  if (!session.person && !page.open) return loginPage(await call("/console/session"), begin);
  const module = await import(page.module);
  const place = { id, query, session, redraw, badge };
  if (isLive && module.update && (await module.update(place, main))) return null;
  return module.default(place);
}

// badge shows the number of requests for the person on every page.
function badge(counts) {
  waiting = counts.mine;
  const a = links.get("inbox");
  a.replaceChildren("Inbox", ...(waiting ? [" ", el("span", { class: "count" }, String(waiting))] : []));
  entitle();
}

function entitle() {
  document.title = (waiting ? "(" + waiting + ") " : "") + title;
}

async function count() {
  if (session.person) badge((await call("/console/inbox?who=none")).counts);
}

// draw shows the page that the URL names. A live update never discards a form
// that has been edited, unless it can no longer be sent.
async function draw(isLive = false) {
  if (isLive && drawing) return; // the page that is being fetched will be as new
  const turn = isLive ? drawn : ++drawn;
  drawing = drawing || !isLive;
  const [path, query] = (location.hash.replace(/^#\//, "") || pages[0].name).split("?");
  const [name, id] = path.split("/").map(decodeURIComponent);
  const page = pages.find((p) => p.name === name) || pages[0];
  nav.hidden = logout.hidden = menu.hidden = !session.person;
  let shown;
  try {
    shown = await content(page, id, new URLSearchParams(query || ""), isLive);
  } catch (e) {
    shown = [el("h1", {}, "Something went wrong"), el("p", {}, e.message)];
  }
  if (turn !== drawn || !shown) return;
  if (!isLive) drawing = false;
  const closed = shown[0] && shown[0].dataset && shown[0].dataset.state && shown[0].dataset.state !== "pending";
  if (isLive && ((edited() && !closed) || (shown.version && shown.version === version))) return;
  changed.clear();
  version = shown.version || "";
  title = shown.title || (page.label ? page.label + " · nod" : "nod");
  entitle();
  for (const [n, a] of links) {
    if (n === page.name) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  const at = document.activeElement && document.activeElement.getAttribute("href");
  main.replaceChildren(...shown.filter(Boolean));
  const row = at && [...main.querySelectorAll("a.row")].find((a) => a.getAttribute("href") === at);
  if (row) row.focus();
}

// edited reports whether a form has text that can still be sent.
const edited = () => [...changed].some((e) => e.isConnected && !e.disabled);

// listen redraws the page when an event arrives.
function listen() {
  if (stream) stream.close();
  stream = new EventSource("/v1/events");
  stream.onopen = () => (live.textContent = "live");
  stream.onerror = () => (live.textContent = "reconnecting…");
  let due = null;
  let last = 0;
  const soon = () => {
    if (due) return;
    due = setTimeout(() => {
      due = null;
      last = Date.now();
      draw(true);
      if (!main.querySelector(".inbox")) count().catch(() => {}); // the next event counts again
    }, Math.max(200, last + 1500 - Date.now())); // many events need not mean many lists
  };
  for (const type of events) stream.addEventListener(type, soon);
}

async function begin() {
  session = await call("/console/session");
  if (session.person) {
    logout.textContent = "Sign out " + session.person;
    listen();
    count().catch(() => {}); // the next event counts again
  }
  await draw();
}

function leave() {
  session = {};
  if (stream) stream.close();
  live.textContent = "";
  draw();
}

onSignedOut(() => session.person && leave());
logout.addEventListener("click", async () => {
  await post("/console/logout", {});
  leave();
});

document.getElementById("help").addEventListener("click", overlay);

function openMenu(open) {
  nav.classList.toggle("open", open);
  menu.setAttribute("aria-expanded", String(open));
}
menu.addEventListener("click", () => openMenu(!nav.classList.contains("open")));

main.addEventListener("input", (e) => !e.target.closest("[data-view]") && changed.add(e.target));

keys(main, () => session.person);
addEventListener("hashchange", () => {
  hush();
  openMenu(false);
  draw().then(() => main.focus());
});
begin().catch((e) => main.replaceChildren(el("p", {}, e.message)));
