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
let used = false; // the person has typed or clicked something on the page since it was drawn
let waiting = 0; // number of pending requests for the person
let title = "nod";
let look = ""; // the content that was drawn, without times that pass

const links = new Map(pages.filter((p) => p.label).map((p) => [p.name, el("a", { href: "#/" + p.name }, p.label)]));
nav.append(...links.values());

const events = [
  "interaction_request", "interaction_response", "posted", "failed", "delivered", "widened", "queued", "voted", "completed",
  "reprompted",
];
const redraw = () => draw();

// content returns the elements of the page that the URL names.
async function content(page, id, query, isLive) {
  if (!session.person && !page.open) return loginPage(await call("/console/session"), begin);
  const module = await import(page.module);
  const place = { id, query, session, redraw, badge };
  if (isLive && module.update) {
    if (await module.update(place, main)) return null;
    used = false; // the page knows better what is in use
  }
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

// draw shows the page that the URL names, and reports whether it did. A live
// update never replaces a page that the person is using, unless the page can no
// longer be used: it would take away what they typed, opened or are reading.
async function draw(isLive = false) {
  if (isLive && drawing) return false; // the page that is being fetched will be as new
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
  if (turn !== drawn || !shown) return false;
  if (!isLive) drawing = false;
  const now = lookOf(shown);
  if (isLive && now === look) return false;
  const closed = shown[0] && shown[0].dataset && shown[0].dataset.state && shown[0].dataset.state !== "pending";
  if (isLive && inUse() && !closed) {
    announce();
    return false;
  }
  used = false;
  look = now;
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
  return true;
}

// inUse reports whether the person works on the page. A field with the focus is
// in use before the first letter.
const inUse = () => used || (main.contains(document.activeElement) && document.activeElement.matches("input, textarea, select"));

const lookOf = (shown) => shown.filter(Boolean).map((e) => {
  const copy = e.cloneNode(true);
  copy.querySelectorAll("time[data-as]").forEach((t) => t.remove());
  return copy.outerHTML;
}).join("");

// announce offers the new content instead of showing it.
function announce() {
  if (main.querySelector(".news button")) return;
  main.prepend(el("div", { class: "news", role: "status" }, el("button", { type: "button", onclick: redraw }, "Show changes")));
}

// listen redraws the page when an event arrives.
function listen() {
  if (stream) stream.close();
  stream = new EventSource("/v1/events");
  stream.onopen = () => (live.textContent = "● Live");
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

main.addEventListener("input", () => (used = true));
main.addEventListener("click", (e) => (used = used || Boolean(e.target.closest("button, summary"))));

keys(main, () => session.person);
addEventListener("hashchange", () => {
  hush();
  openMenu(false);
  draw().then((shown) => shown && main.focus()); // a page that another one overtook must not take the focus from it
});
begin().catch((e) => main.replaceChildren(el("p", {}, e.message)));
