// The panel of Slack: messages, threads, modals and the Home tab.
import { act, avatar, clock, h, keep, keptValue, link, toast } from "./dom.js";
import { learn, mrkdwn, userName } from "./mrkdwn.js";
import { block, setPlaces, values } from "./slack-blocks.js";

const bot = "U0BOT00000";
const replying = {}; // the message that the composer answers, by channel
let workspace = null;

const usedOn = (blocks, key, action) => (control) => act({ service: "slack", do: "press", ...action, control, values: values(blocks, key) });

function attachment(a) {
  const box = h("div", { class: "attachment" },
    a.pretext && h("div", { class: "section" }, mrkdwn(a.pretext)), a.author_name && h("small", {}, a.author_name),
    a.title && h("div", { class: "heading level3" }, a.title_link ? link(a.title_link, a.title) : a.title),
    a.text && h("div", { class: "section" }, mrkdwn(a.text)),
    (a.fields || []).map((f) => h("div", {}, h("b", {}, f.title), " ", mrkdwn(String(f.value || "")))),
    a.footer && h("small", {}, a.footer));
  if (/^#[0-9a-f]{3,6}$/i.test(a.color || "")) box.style.borderLeftColor = a.color;
  return box;
}

// agent shows the state of the session whose thread a message begins.
function agent(m, room, me) {
  const s = (workspace.slack.sessions || []).find((x) => x.channel === room.id && x.thread_ts === m.ts);
  if (!s || !["processing", "suspended"].includes(s.status)) return undefined;
  return h("div", { class: "session" }, "Status of this thread in Slack: ", s.status === "processing" ? "Working… " : "Needs attention",
    s.status === "processing" && h("button", { onclick: () => act({ service: "slack", as: me.key, do: "stop", channel: room.id, message: m.ts }) }, "Stop"));
}

function message(m, room, me, note, redraw) {
  const key = "slack/" + room.id + "/" + m.ts;
  const at = { service: "slack", as: me.key, channel: room.id, message: m.ts };
  const use = usedOn(m.blocks, key, at);
  const own = m.user && m.user !== bot;
  const root = m.thread_ts && m.thread_ts !== m.ts;
  const shown = m.blocks && m.blocks.length;
  return h("article", { class: "message" + (note ? " note" : "") + (root ? " reply" : ""), "data-message": m.ts },
    avatar(own ? userName(m.user) : "nod", !own),
    h("div", { class: "body" },
      h("div", { class: "by" }, h("b", {}, own ? userName(m.user) : "nod"), !own && h("span", { class: "app" }, "APP"), h("time", {}, clock(Number(m.ts))),
        !note && h("button", { class: "answer", onclick: () => { replying[room.id] = m.thread_ts || m.ts; redraw(); } }, "Reply in thread")),
      note && h("div", { class: "only" }, "Only visible to you"),
      root && h("div", { class: "only" }, m.subtype === "thread_broadcast" ? "replied to a thread" : "in a thread"),
      shown ? m.blocks.map((b) => block(b, key, use)) : m.text && h("div", { class: "section" }, mrkdwn(m.text), m.edits ? h("small", { class: "edited" }, " (edited)") : ""),
      (m.attachments || []).map(attachment),
      shown && m.text && h("details", { class: "notification" }, h("summary", {}, "Notification"), m.text),
      agent(m, room, me)));
}

export function modal(view, me) {
  const v = view.view;
  const key = "slack/view/" + view.id;
  const close = (text) => () => act({ service: "slack", as: me.key, do: "close", view: view.id, text });
  const use = usedOn(v.blocks, key, { as: me.key, view: view.id });
  const submit = async () => {
    const r = await act({ service: "slack", as: me.key, do: "submit", view: view.id, values: values(v.blocks, key) });
    for (const e of document.querySelectorAll("#slack .modal .error")) e.remove();
    for (const [id, why] of Object.entries(r.errors || {})) {
      const at = document.querySelector(`#slack .modal [data-block="${CSS.escape(id)}"]`);
      if (at) at.after(h("div", { class: "error" }, why));
    }
  };
  return h("div", { class: "modal", role: "dialog", "aria-label": v.title.text },
    h("div", { class: "title" }, v.title.text, h("button", { class: "x", "aria-label": "close", onclick: close("all") }, "✕")),
    h("div", { class: "content" }, v.blocks.map((b) => block(b, key, use, view.errors || {}))),
    h("div", { class: "foot" },
      h("button", { onclick: close("") }, v.close ? v.close.text : "Cancel"),
      v.submit && h("button", { class: "primary", onclick: submit }, v.submit.text)));
}

const homeID = (me) => "home/" + me.slack;
let opened = "";

// home shows the Home tab. Opening it tells the app.
function home(room, me) {
  const v = (workspace.slack.homes || []).find((x) => x.user === me.slack);
  const key = "slack/view/" + (v ? v.id : "");
  const body = () => (v ? v.view.blocks.map((b) => block(b, key, usedOn(v.view.blocks, key, { as: me.key, view: v.id })))
    : h("div", { class: "only" }, "The app has not published its Home tab yet."));
  return [{ key: homeID(me), content: [v || ""], build: () => h("div", { class: "home" }, body()) }];
}

// timeline lists the shown messages, each with its data.
export function timeline(state, room, me, redraw) {
  workspace = state;
  learn(state);
  setPlaces(state);
  if (room.home) {
    if (opened !== room.id) act({ service: "slack", as: me.key, do: "home" });
    opened = room.id;
    return home(room, me);
  }
  opened = "";
  const notes = (room.private || []).filter((p) => p.user === me.slack).map((p) => [p.message, true]);
  return [...room.messages.map((m) => [m, false]), ...notes]
    .sort((a, b) => Number(a[0].ts) - Number(b[0].ts))
    .map(([m, note]) => ({
      key: m.ts, content: [m, note, me.key, room.sessions.filter((s) => s.thread_ts === m.ts), state.slack.groups],
      build: () => message(m, room, me, note, redraw),
    }));
}

export function chats(state, me) {
  const rooms = state.slack.channels.filter((c) => !c.user || c.user === me.slack).map((c) => ({
    ...c, label: c.user ? "nod (direct)" : "# " + c.name, sessions: (state.slack.sessions || []).filter((s) => s.channel === c.id),
  }));
  const shown = (state.slack.homes || []).find((x) => x.user === me.slack);
  return [...rooms, { id: homeID(me), user: me.slack, label: "Home", home: true, shown: shown || "" }];
}

// The modal on top of a member's stack is the last one.
export const modalFor = (state, me) => state.slack.views.findLast((v) => v.user === me.slack);
export const mine = (me) => me.slack;
export const target = (room) => replying[room.id] && { message_id: replying[room.id] };

// composer sends commands, messages and replies.
export function composer(state, room, me, redraw) {
  if (room.home) return h("span");
  const key = "slack/composer/" + room.id;
  const to = replying[room.id];
  const send = async () => {
    const text = (keptValue(key) || "").trim();
    if (!text) return;
    keep(key, "");
    const at = { service: "slack", as: me.key, channel: room.id, text };
    if (!text.startsWith("/")) await act({ ...at, do: to ? "reply" : "send", message: to });
    else if (to) toast("Commands do not work in threads.", "warning");
    else await act({ ...at, do: "command" });
    delete replying[room.id];
    redraw();
  };
  return h("form", { class: "composer", onsubmit: (ev) => { ev.preventDefault(); send(); } },
    to && h("div", { class: "replying" }, "Reply in thread ", h("button", { type: "button", class: "x", "aria-label": "cancel reply", onclick: () => { delete replying[room.id]; redraw(); } }, "✕")),
    h("input", { value: keptValue(key) || "", "aria-label": "command", placeholder: to ? "Reply…" : "Message or /nod mine", oninput: (ev) => keep(key, ev.target.value) }),
    h("button", { class: "send", "aria-label": "send" }, "➤"));
}
