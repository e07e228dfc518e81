// The console in plain JavaScript, without a build step: navigation, sign-in
// and live updates. Each page is a module; see pages.js.
import { act, call, el, hush, onSignedOut, say } from "./dom.js";
import { belong, keep, restore } from "./drafts.js";
import { keys, overlay } from "./keys.js";
import { askAgain, loginPage } from "./login.js";
import { pages } from "./pages.js";
import { follow } from "./stream.js";

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const menu = document.getElementById("menu");
const live = document.getElementById("live");
const logout = document.getElementById("logout");
let session = {};
let version = ""; // of the files that this page has loaded
let unfollow = () => {};
let connected = false; // the stream of events is known to be open
let current = false; // the page has been fetched since the last event
let drawn = 0; // number of the last page that was opened, so that a slow page does not replace a newer one
let drawing = false; // a page that was opened is being fetched
let shows = ""; // the fragment of the page that is shown, or nothing for one that could not be fetched
let used = false; // the person has typed or clicked something on the page since it was drawn
let waiting = 0; // number of pending requests for the person
let title = "nod";
let look = ""; // the content that was drawn, without times that pass

const links = new Map(pages.filter((p) => p.label).map((p) => [p.name, el("a", { href: "#/" + p.name }, p.label)]));
nav.append(...links.values());

const redraw = () => draw();

// content returns the elements of the page that the URL names.
async function content(page, id, query, isLive) {
  if (!session.person && !page.open) return loginPage(await call("/console/session"), begin);
  const place = { id, query, session, redraw, badge };
  if (isLive && page.update) {
    if (await page.update(place, main)) return null;
    used = false; // the page knows better what is in use
  }
  return page.draw(place);
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

// failed returns the page for one that could not be fetched.
const failed = (e) => [el("h1", {}, "This page could not be loaded"), el("p", {}, e.message),
  el("div", { class: "buttons" }, el("button", { type: "button", class: "good", onclick: redraw }, "Try again"))];

// draw shows the page that the URL names, and reports whether it did. A failure
// never replaces a page that is shown already. A live update never replaces a
// page that the person is using, unless the page can no longer be used: it would
// take away what they opened or are reading.
async function draw(isLive = false) {
  if (isLive && drawing) return false; // the page that is being fetched will be as new
  const turn = isLive ? drawn : ++drawn;
  drawing = drawing || !isLive;
  const place = location.hash;
  const [path, query] = (place.replace(/^#\//, "") || pages[0].name).split("?");
  const [name, id] = path.split("/").map(decodeURIComponent);
  const page = pages.find((p) => p.name === name) || pages[0];
  nav.hidden = logout.hidden = menu.hidden = !session.person;
  let shown;
  try {
    shown = await content(page, id, new URLSearchParams(query || ""), isLive);
  } catch (e) {
    if (turn === drawn && !isLive) drawing = false;
    if (isLive) throw e;
    if (turn !== drawn) return false;
    stale();
    if (shows === place && session.person) return false;
    shown = failed(e);
    shown.failed = true;
  }
  if (turn !== drawn || !shown) return false;
  if (!isLive) drawing = false;
  const now = lookOf(shown);
  if (isLive && now === look) return false;
  const closed = shown[0] && shown[0].dataset && shown[0].dataset.state && shown[0].dataset.state !== "pending";
  if (isLive && shows === place && inUse() && !closed) {
    announce();
    return false;
  }
  used = false;
  look = now;
  shows = shown.failed ? "" : place;
  title = shown.title || (page.label ? page.label + " · nod" : "nod");
  entitle();
  for (const [n, a] of links) {
    if (n === page.name) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  const at = document.activeElement && document.activeElement.getAttribute("href");
  main.replaceChildren(...shown.filter(Boolean));
  restore(main);
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

// label shows whether the page is up to date.
function label() {
  if (!live.querySelector("button")) live.textContent = !session.person ? "" : connected && current ? "● Live" : "Connecting…";
}

// stale notes that the page may no longer be up to date, until it was fetched
// again.
function stale(least = 3000) {
  current = false;
  label();
  soon(least);
}

let due = null;
let last = 0;

// soon fetches the page again. Many events need not mean many fetches.
function soon(least = 200) {
  due = due || setTimeout(refresh, Math.max(least, last + 1500 - Date.now()));
}

async function refresh() {
  due = null;
  last = Date.now();
  if (!session.person || document.visibilityState === "hidden") return;
  try {
    if (!current) await check();
    await draw(true);
    if (!main.querySelector(".inbox")) await count();
    current = true;
    label();
  } catch {
    stale();
  }
}

// check notices the end of the session, and an upgrade of the daemon.
async function check() {
  const now = await call("/console/session");
  if (!now.person) ended();
  if (version && now.version !== version) {
    live.replaceChildren(el("button", { type: "button", class: "quiet", onclick: () => location.reload() }, "nod was updated: reload"));
  }
}

async function begin(isLive = false) {
  session = await call("/console/session");
  version = version || session.version;
  unfollow();
  if (session.person) {
    belong(session.person);
    logout.textContent = "Sign out " + session.person;
    unfollow = follow(soon, (open) => {
      connected = open;
      stale(0);
    });
    count().catch(() => {}); // the next event counts again
  }
  await draw(isLive);
  label();
}

// ended lets the person sign in again without leaving the page.
function ended() {
  if (!session.person) return;
  unfollow();
  connected = false;
  label();
  askAgain(call("/console/session"), async () => {
    const was = session.person;
    session = await call("/console/session");
    await begin(session.person === was);
  });
}

function leave() {
  session = {};
  belong("");
  unfollow();
  shows = "";
  label();
  draw();
}

onSignedOut(ended);
logout.addEventListener("click", () => act("/console/logout", {}).then(leave, (e) => say(e.message)));

document.getElementById("help").addEventListener("click", overlay);

function openMenu(open) {
  nav.classList.toggle("open", open);
  menu.setAttribute("aria-expanded", String(open));
}
menu.addEventListener("click", () => openMenu(!nav.classList.contains("open")));

main.addEventListener("input", (e) => {
  used = true;
  keep(e.target);
});
main.addEventListener("click", (e) => (used = used || Boolean(e.target.closest("button, summary"))));

keys(main, () => session.person);
addEventListener("hashchange", () => {
  hush();
  openMenu(false);
  draw().then((shown) => shown && main.focus(), () => {}); // a page that another one overtook must not take the focus from it
});

// start tries until the daemon answers.
function start() {
  begin().catch((e) => {
    main.replaceChildren(el("p", { role: "status" }, e.message + " Trying again…"));
    setTimeout(start, 2000);
  });
}
start();
