// The page shows three services side by side and redraws them from the state of
// the sandbox.
import { h } from "./dom.js";
import * as slack from "./slack.js";
import * as discord from "./discord.js";
import * as telegram from "./telegram.js";
import { drawAgent } from "./agent.js";
import { focusModal } from "./modal.js";

const services = { slack, discord, telegram };
const names = { slack: "Slack", discord: "Discord", telegram: "Telegram" };
let state = null;
const open = {}; // chat shown, by service
const drawn = {}; // what a panel shows now, to redraw only what changed

const me = () => state.members.find((m) => m.key === document.getElementById("who").value) || state.members[0];

function setUp() {
  const main = document.getElementById("services");
  const tabs = document.getElementById("tabs");
  for (const id of Object.keys(services)) {
    main.append(h("section", { id, class: "service", "aria-label": names[id] },
      h("div", { class: "top" }, h("b", {}, names[id]), h("div", { class: "chats" }), h("span", { class: "state" })),
      h("div", { class: "messages" }), h("div", { class: "below" }), h("div", { class: "overlay" })));
    tabs.append(h("button", { "data-service": id, onclick: () => show(id) }, names[id], h("i", { class: "dot" })));
  }
  show(localStorage.getItem("service") || "slack");
  document.getElementById("who").addEventListener("change", (ev) => {
    localStorage.setItem("who", ev.target.value);
    drawAll();
  });
}

// show chooses the service on a narrow screen.
function show(id) {
  localStorage.setItem("service", id);
  for (const s of document.querySelectorAll(".service")) {
    const opens = s.id === id && !s.classList.contains("shown");
    s.classList.toggle("shown", s.id === id);
    const messages = s.querySelector(".messages");
    if (opens) messages.scrollTop = messages.scrollHeight; // a hidden panel cannot scroll
  }
  for (const b of document.querySelectorAll("#tabs button")) {
    b.classList.toggle("on", b.dataset.service === id);
    if (b.dataset.service === id) b.classList.remove("news");
  }
}

function drawMembers() {
  const who = document.getElementById("who");
  if (who.options.length) return;
  for (const m of state.members) who.append(h("option", { value: m.key }, m.name));
  who.value = localStorage.getItem("who") || state.members[0].key;
}

function draw(id) {
  const service = services[id];
  const panel = document.getElementById(id);
  const person = me();
  const chats = service.chats(state, person);
  const chat = chats.find((c) => c.id === open[id]) || chats.find((c) => !c.user) || chats[0];
  const view = service.modalFor(state, person);
  drawPart(id + "/chats", [chats.map((c) => [c.id, c.label]), chat.id], panel.querySelector(".chats"), () => chats.map((c) => h("button", {
    class: c.id === chat.id ? "on" : "", onclick: () => { open[id] = c.id; draw(id); },
  }, c.label)));
  const redraw = () => { drawn[id + "/messages"] = drawn[id + "/below"] = ""; draw(id); };
  const messages = panel.querySelector(".messages");
  const atEnd = messages.scrollHeight - messages.scrollTop - messages.clientHeight < 80;
  const threads = state[id].channels ? state[id].channels.filter((c) => c.parent === chat.id) : [];
  if (drawMessages(id + "/messages", [chat, threads, state[id].archived, person.key], messages, () => service.timeline(state, chat, person, redraw)) && atEnd) {
    messages.scrollTop = messages.scrollHeight;
    if (!panel.classList.contains("shown")) document.querySelector(`#tabs [data-service=${id}]`).classList.add("news");
  }
  if (service.composer) {
    const to = service.target(chat, person);
    drawPart(id + "/below", [chat.id, person.key, to && to.message_id], panel.querySelector(".below"), () => [service.composer(state, chat, person, redraw)]);
  }
  drawPart(id + "/view", [view && view.id, view && view.view, view && view.errors, person.key], panel.querySelector(".overlay"), () => (view ? [service.modal(view, person)] : []));
  const connected = id === "telegram" ? state.telegram.polling : state[id].connections > 0;
  panel.querySelector(".state").textContent = connected ? "" : "no bot connected";
}

// drawPart replaces a part of the page if what it shows has changed, and
// reports whether it did.
function drawPart(key, content, at, build) {
  const now = JSON.stringify(content);
  if (drawn[key] === now) return false;
  drawn[key] = now;
  const typing = at.contains(document.activeElement);
  at.replaceChildren(...build().flat(Infinity));
  if (typing) at.querySelector("input, textarea")?.focus();
  return true;
}

// drawMessages replaces only the messages that have changed, so that an open
// select or a text that is being typed is kept.
function drawMessages(key, content, at, timeline) {
  const now = JSON.stringify(content);
  if (drawn[key] === now) return false;
  drawn[key] = now;
  const old = new Map([...at.children].map((e) => [e.dataset.key, e]));
  const wanted = timeline().map((item) => {
    const drawnFrom = JSON.stringify(item.content);
    const kept = old.get(item.key);
    if (kept && kept.drawnFrom === drawnFrom) return kept;
    const e = item.build();
    e.dataset.key = item.key;
    e.drawnFrom = drawnFrom;
    return e;
  });
  wanted.forEach((e, n) => {
    if (at.children[n] !== e) at.insertBefore(e, at.children[n] || null);
  });
  while (at.children.length > wanted.length) at.lastChild.remove();
  return true;
}

function drawAll() {
  if (!state) return;
  drawMembers();
  drawAgent(state.story);
  for (const id of Object.keys(services)) draw(id);
  focusModal();
  document.body.dataset.revision = state.revision;
}

setUp();
const stream = new EventSource("/control/stream");
stream.onmessage = (ev) => {
  state = JSON.parse(ev.data);
  document.body.classList.remove("away");
  drawAll();
};
stream.onerror = () => document.body.classList.add("away");
