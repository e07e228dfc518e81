// The sessions of agents, and the page of one session with its requests.
import { act, ago, call, clock, el, joined, link, plural, say } from "./dom.js";
import { row } from "./row.js";

const every = 10 * 1000; // reports have no live event, so the page asks for them

export default async function draw({ id, query, redraw }) {
  const { items } = await call("/v1/sessions");
  const content = id ? await one(items.find((s) => s.id === id && s.agent === query.get("agent")), id, redraw) : list(items, redraw);
  const timer = setInterval(() => {
    if (!content[0].isConnected) clearInterval(timer);
    else if (document.visibilityState !== "hidden" && !content[1].contains(document.activeElement)) redraw();
  }, every);
  return content;
}

function list(items, redraw) {
  return [el("h1", {}, "Sessions"), items.length
    ? el("ul", { class: "list" }, items.map((s) => el("li", {}, el("div", { class: "row" },
      el("a", { class: "what", href: link("sessions/" + encodeURIComponent(s.id), { agent: s.agent }) }, phase(s) + name(s)), facts(s), control(s, redraw)))))
    : el("p", { class: "soft" }, "No sessions. A session appears here with its first request or report.")];
}

async function one(s, id, redraw) {
  if (!s) return [el("h1", {}, "Session " + id), el("p", { class: "soft" }, "nod no longer has this session, or you may not see it.")];
  const { items } = await call("/console/history?" + new URLSearchParams({ session: s.id, agent: s.agent }));
  const st = s.status || {};
  const line = (label, value) => value && el("tr", {}, el("th", { scope: "row" }, label), el("td", {}, value));
  const content = [el("h1", {}, name(s)), el("div", {}, el("p", {}, phase(s), facts(s)), control(s, redraw)),
    el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Details" }, el("table", {}, el("tbody", {},
      line("Session", s.id), line("Started", st.started && clock(st.started)), line("Steps", st.steps && String(st.steps)),
      line("Last step", st.step && el("code", {}, st.step)), line("Last message", st.last_message)))),
    el("h2", {}, "Requests"),
    items.length ? el("ul", { class: "list" }, items.map(row)) : el("p", { class: "soft" }, "No requests.")];
  content.title = name(s) + " · nod";
  return content;
}

const name = (s) => (s.status && s.status.title) || "Session " + s.id;

// phase returns the state as the message of the session in chat shows it.
function phase(s) {
  const state = s.status && s.status.state;
  if (s.stopped) return "⏹️ Stopped: ";
  if (s.pending) return "⏸️ Waiting: ";
  return { waiting: "⏸️ Waiting: ", finished: "🏁 Finished: ", working: "▶️ Working: " }[state] || "";
}

function facts(s) {
  const st = s.status || {};
  return el("span", { class: "more" }, joined(s.agent, st.host, st.folder, st.branch && "branch " + st.branch,
    s.stopped && "stopped by " + (s.stopped.by.person || s.stopped.by.name || s.stopped.by.user),
    s.pending ? plural(s.pending, "pending request") : st.waits_for && "waits for " + st.waits_for,
    st.updated ? el("span", {}, "reported ", ago(st.updated)) : s.last && ago(s.last)));
}

// control returns the button that stops or resumes a session. A finished session
// has none.
function control(s, redraw) {
  if (!s.stopped && !s.pending && s.status && s.status.state === "finished") return null;
  const verb = s.stopped ? "resume" : "stop";
  const done = s.stopped ? "Resumed. Its requests are shown again." : "Stopped. nod denies what the session asks until someone resumes it.";
  const label = s.stopped ? "Resume" : "Stop";
  return el("button", { type: "button", "aria-label": label + ": " + name(s), onclick: async () => {
    try {
      await act("/v1/sessions/" + encodeURIComponent(s.id) + "/" + verb, { agent: s.agent });
      say(done);
    } catch (e) {
      say(e.message);
    }
    redraw();
  } }, label);
}
