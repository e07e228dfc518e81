// The console in plain JavaScript, without a build step. Texts are inserted as
// text. The only HTML is that of cards, which the daemon has escaped.

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const live = document.getElementById("live");
const said = document.getElementById("said");
const logout = document.getElementById("logout");
let me = null;
let stream = null;
let drawn = 0; // number of the last page that was opened, so that a slow page does not replace a newer one
let drawing = false; // a page that was opened is being fetched
let dirty = false; // the form has changed since the page was drawn
let shown = ""; // the JSON that the page shows

// visible replaces invisible characters with their code points, as cards do.
// Variation selectors and joiners stay inside an emoji.
const unseen = /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}])\p{Variation_Selector}|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d|(?![\n\t \u200d]|\p{Variation_Selector})[\p{Default_Ignorable_Code_Point}\p{C}\p{Z}\u2800\u{1d159}\ufff9-\ufffd]/gu;

function visible(text) {
  return text.replace(unseen, (c) => "⟨U+" + c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
}

// el returns an element with attributes and children.
function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [k, v] of Object.entries(attributes)) {
    if (v === false || v === undefined || v === null) continue;
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false).map((c) => (typeof c === "string" ? visible(c) : c)));
  return e;
}

async function call(path, options = {}) {
  const response = await fetch(path, { headers: { Accept: "application/json" }, ...options });
  const body = await response.json().catch(() => ({}));
  if (response.status === 401 && me) {
    me = null;
    draw();
  }
  if (!response.ok) {
    const e = body.error || { message: "nod responded with status " + response.status };
    throw new Error(e.message + (e.hint ? " (" + e.hint + ")" : ""));
  }
  return body;
}

const post = (path, body) =>
  call(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });

let sayTimer;
function say(text) {
  said.textContent = visible(text);
  said.hidden = false;
  clearTimeout(sayTimer);
  sayTimer = setTimeout(() => (said.hidden = true), 8000);
}

const clock = (at) => new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "medium" }).replace(/\s/g, " ");

function left(deadline) {
  const s = Math.round((new Date(deadline) - Date.now()) / 1000);
  if (s <= 0) return "deadline passed";
  if (s < 90) return s + " s left";
  if (s < 5400) return Math.round(s / 60) + " min left";
  return Math.round(s / 3600) + " h left";
}

const state = (s) => el("span", { class: "state " + s }, s);

function row(record) {
  const i = record.interaction;
  const more = [i.agent, clock(i.created)];
  if (record.state === "pending") more.push(left(i.deadline));
  else if (record.response && record.response.actor) more.push("by " + (record.response.actor.person || record.response.actor.name || record.response.actor.user) + " on " + record.response.actor.platform);
  return el("li", {}, el("a", { class: "row", href: "#/i/" + i.id },
    el("span", { class: "what" }, i.prompt.replace(/\*\*|`/g, "").replace(/\s+/g, " ").slice(0, 200)),
    el("span", { class: "more" }, state(record.state), " " + more.join(" · "))));
}

const pages = {
  async waiting() {
    const [mine, all] = await Promise.all([call("/console/waiting"), call("/v1/interactions?state=pending&limit=100")]);
    const own = new Set(mine.items.map((r) => r.interaction.id));
    const others = all.items.filter((r) => !own.has(r.interaction.id));
    document.title = (own.size ? "(" + own.size + ") " : "") + "nod";
    return [
      el("h1", {}, "Requests for you"),
      mine.items.length ? el("ul", { class: "list" }, mine.items.map(row)) : el("p", { class: "soft" }, "No pending requests."),
      mine.more && el("p", { class: "soft" }, "Older requests are pending too. Find them under History."),
      others.length > 0 && el("h2", {}, "Requests for others"),
      others.length > 0 && el("ul", { class: "list" }, others.map(row)),
    ];
  },

  async history(_, query) {
    const text = query.get("text") || "";
    const path = "/v1/interactions?limit=50&text=" + encodeURIComponent(text) + "&state=" + encodeURIComponent(query.get("state") || "");
    const list = el("ul", { class: "list" });
    const more = el("button", { type: "button" }, "Show older");
    const add = async (cursor) => {
      const page = await call(path + "&cursor=" + encodeURIComponent(cursor));
      list.append(...page.items.map(row));
      more.hidden = !page.next;
      more.onclick = () => add(page.next).catch((e) => say(e.message));
      if (!list.children.length) list.append(el("li", { class: "soft" }, "No requests found."));
    };
    await add("");
    const states = ["", "pending", "answered", "approved", "denied", "expired", "cancelled", "superseded", "undeliverable"];
    const form = el("form", { class: "search", role: "search", onsubmit: (e) => {
      e.preventDefault();
      location.hash = "#/history?" + new URLSearchParams(new FormData(form));
    } },
      el("input", { type: "search", name: "text", value: text, "aria-label": "Search prompts, tools, names and IDs" }),
      el("select", { name: "state", "aria-label": "State" }, states.map((s) => el("option", { value: s, selected: s === (query.get("state") || "") }, s || "any state"))),
      el("button", { type: "submit" }, "Search"));
    return [el("h1", {}, "History"), form, list, el("div", { class: "buttons" }, more)];
  },

  async i(id) {
    const card = await call("/console/cards/" + encodeURIComponent(id));
    shown = JSON.stringify(card);
    return [cardOf(card)];
  },

  async grants() {
    const { items: grants } = await call("/v1/grants");
    return [
      el("h1", {}, "Grants"),
      grants.length ? el("ul", { class: "list" }, grants.map((g) => el("li", {}, el("div", { class: "row" },
        el("p", { class: "what" }, g.words),
        el("button", { type: "button", class: "bad", "aria-label": "Revoke: " + g.words, onclick: async () => {
          await call("/v1/grants/" + encodeURIComponent(g.id), { method: "DELETE" });
          say("Grant revoked. Requests that it covered need approval again.");
          draw();
        } }, "Revoke"))))) : el("p", { class: "soft" }, "No grants."),
    ];
  },

  async routes() {
    const { routes } = await call("/console/routes");
    routes.sort((a, b) => a.name.localeCompare(b.name));
    return [el("h1", {}, "Routes"), el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Routes" }, el("table", {},
      el("thead", {}, el("tr", {}, ["Route", "Destinations", "Responders", "Approvals", "Escalation"].map((t) => el("th", { scope: "col" }, t)))),
      el("tbody", {}, routes.map((r) => el("tr", {},
        el("th", { scope: "row" }, r.name), el("td", {}, r.to.join(", ")), el("td", {}, r.responders.join(", ")),
        el("td", {}, String(r.quorum) + (r.must && r.must.length ? ", including " + r.must.join(", ") : "")),
        el("td", {}, r.steps ? r.steps + (r.steps === 1 ? " step" : " steps") : "none"))))))];
  },

  async health() {
    const h = await fetch("/healthz").then((r) => r.json());
    const all = { redis: h.redis, ...h.platforms };
    return [el("h1", {}, "Health: " + h.status), el("ul", { class: "list" }, Object.entries(all).map(([name, x]) =>
      el("li", {}, el("div", { class: "row" }, el("p", {}, el("strong", {}, name), " ", state(x.state), " " + (x.reason || "") + (x.since && !x.since.startsWith("0001") ? " since " + clock(x.since) : ""))))))];
  },
};

// html returns the elements of HTML that the daemon has escaped.
function html(text) {
  const t = document.createElement("template");
  t.innerHTML = text;
  return t.content;
}

function cardOf(c) {
  const form = el("form", { onsubmit: (e) => e.preventDefault() });
  const problems = el("div", { role: "alert" });
  const send = async (answer) => {
    problems.replaceChildren();
    try {
      const got = await post("/console/cards/" + c.id, { ...values(form, c), terms: c.terms, ...answer });
      if (got.problems) {
        for (const [id, text] of Object.entries(got.problems)) {
          problems.append(el("p", { class: "problem" }, (c.fields.find((f) => f.id === id) || {}).label + ": " + text));
        }
        return;
      }
      say(got.state === "pending" ? "Vote recorded." : "Response recorded: " + got.state + ".");
      draw();
    } catch (e) {
      say(e.message);
      draw();
    }
  };
  if (c.may_answer) {
    form.append(...c.fields.map(inputOf), problems, ...decisionsOf(c, send));
  }
  return el("article", { class: "card", "aria-labelledby": "headline", "data-state": c.state },
    el("h1", { id: "headline" }, c.headline),
    el("p", { class: "soft" }, c.from + (c.state === "pending" ? " · " + left(c.deadline) : "")),
    html(c.body), html(c.closing),
    c.notes.map((n) => el("p", { class: "soft" }, n)),
    form,
    c.state === "pending" && !c.may_answer && el("p", { class: "soft" }, "You cannot respond to this request. Responders: " + c.asked.join(", ") + "."),
    el("h2", {}, "Timeline"),
    el("ol", { class: "timeline" }, c.timeline.map((m) => el("li", {}, el("time", { datetime: m.at }, clock(m.at)), m.text))),
    el("p", { class: "soft" }, [c.id, c.route && "route " + c.route, c.session && "session " + c.session, c.digest].filter(Boolean).join(" · ")));
}

function decisionsOf(c, send) {
  const buttons = el("div", { class: "buttons" });
  const wants = el("div");
  for (const d of c.decisions) {
    buttons.append(el("button", { type: "button", class: d.tone, onclick: () => (d.wants ? ask(d) : send({ decision: d.id })) }, d.label));
  }
  if (c.fields.length) buttons.append(el("button", { type: "button", class: "good", onclick: () => send({}) }, "Submit"));
  if (c.declinable) buttons.append(el("button", { type: "button", class: "bad", onclick: () => send({ decline: true }) }, "Decline"));
  function ask(d) {
    const label = { reason: "Reason for the denial", input: "Edited input", confirm: "To approve, type: " + c.confirm }[d.wants];
    const field = d.wants === "confirm" ? el("input", { id: "wanted", autocomplete: "off" }) : el("textarea", { id: "wanted", class: d.wants });
    if (d.wants === "input") field.value = pretty(c.input);
    wants.replaceChildren(el("label", { for: "wanted" }, label), field,
      el("div", { class: "buttons" }, el("button", { type: "button", class: d.tone, onclick: () => send({ decision: d.id, [d.wants]: field.value }) }, d.label.replace("…", ""))));
    field.focus();
  }
  return [buttons, wants];
}

function pretty(json) {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

const kinds = { number: "number", date: "date", time: "time", email: "email", url: "url" };

function inputOf(f, n) {
  const id = "field-" + n;
  const hint = f.hint && el("p", { class: "soft", id: id + "-hint" }, f.hint);
  const described = f.hint ? id + "-hint" : false;
  const other = f.other && el("input", { name: "other:" + f.id, "aria-label": "Other answer for " + f.label, placeholder: "Other answer" });
  if (f.options.length) {
    return el("fieldset", { "aria-describedby": described }, el("legend", {}, f.label + (f.required ? "" : " (optional)")), hint,
      f.options.map((o) => el("label", { class: "choice" },
        el("input", { type: f.many ? "checkbox" : "radio", name: f.id, value: o.value, checked: f.value.includes(o.value) }),
        el("span", {}, o.label || o.value, o.description && el("span", { class: "soft" }, " " + o.description)))), other);
  }
  const long = f.widget === "textarea";
  const input = el(long ? "textarea" : "input", { id, name: f.id, type: long ? false : kinds[f.widget] || "text", step: f.widget === "number" ? "any" : false, placeholder: f.placeholder, "aria-describedby": described });
  input.value = f.value[0] || "";
  return el("div", {}, el("label", { for: id }, f.label + (f.required ? "" : " (optional)")), hint, input, other);
}

function values(form, c) {
  const data = new FormData(form);
  const out = { values: {}, others: {} };
  for (const f of c.fields) {
    out.values[f.id] = data.getAll(f.id).filter((v) => v !== "");
    const other = data.get("other:" + f.id);
    if (other) out.others[f.id] = other;
  }
  return out;
}

function loginPage(session) {
  const token = el("input", { id: "token", type: "password", autocomplete: "current-password", required: true });
  return [el("div", { class: "login" },
    el("h1", {}, "Sign in"),
    session.refused && el("p", { class: "problem", role: "alert" }, session.refused),
    session.oidc && el("p", {}, el("a", { href: "/console/oidc" }, "Sign in with your identity provider")),
    el("form", { onsubmit: async (e) => {
      e.preventDefault();
      try {
        await post("/console/login", { token: token.value });
        location.hash = "#/waiting";
        said.hidden = true;
        await begin();
      } catch (err) {
        say(err.message);
      }
    } },
      el("label", { for: "token" }, "Your token"), token,
      el("p", { class: "soft" }, "The token of a person in the config. Run nod token to create one."),
      el("div", { class: "buttons" }, el("button", { type: "submit", class: "good" }, "Sign in"))))];
}

// draw shows the page that the URL names. A live update never discards a form
// that has been edited, unless it can no longer be sent.
async function draw(live = false) {
  if (live && drawing) return; // the page that is being fetched will be as new
  const turn = live ? drawn : ++drawn;
  const before = shown;
  drawing = drawing || !live;
  const [path, query] = (location.hash.replace(/^#\//, "") || "waiting").split("?");
  const [name, id] = path.split("/");
  nav.hidden = logout.hidden = !me;
  let content;
  try {
    content = me ? await (pages[name] || pages.waiting)(id, new URLSearchParams(query || "")) : loginPage(await call("/console/session"));
  } catch (e) {
    content = [el("h1", {}, "Something went wrong"), el("p", {}, e.message)];
  }
  if (turn !== drawn) return;
  if (!live) drawing = false;
  const closed = content[0] && content[0].dataset && content[0].dataset.state && content[0].dataset.state !== "pending";
  if (live && ((dirty && !closed) || (name === "i" && shown === before))) return;
  dirty = false;
  for (const a of nav.children) {
    if (a.getAttribute("href") === "#/" + name) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  const at = document.activeElement && document.activeElement.getAttribute("href");
  main.replaceChildren(...content.filter(Boolean));
  const row = at && [...main.querySelectorAll("a.row")].find((a) => a.getAttribute("href") === at);
  if (row) row.focus();
}

// listen redraws the page when an event arrives.
function listen() {
  if (stream) stream.close();
  stream = new EventSource("/v1/events");
  stream.onopen = () => (live.textContent = "live");
  stream.onerror = () => (live.textContent = "reconnecting…");
  let due = null;
  const soon = () => {
    clearTimeout(due);
    due = setTimeout(() => draw(true), 200);
  };
  for (const type of ["interaction_request", "interaction_response", "posted", "failed", "delivered", "escalated", "widened", "queued", "voted", "completed", "reprompted"]) stream.addEventListener(type, soon);
}

async function begin() {
  const session = await call("/console/session");
  me = session.person || null;
  if (me) {
    logout.textContent = "Sign out " + me;
    listen();
  }
  await draw();
}

logout.addEventListener("click", async () => {
  await post("/console/logout", {});
  me = null;
  if (stream) stream.close();
  live.textContent = "";
  draw();
});

main.addEventListener("input", () => (dirty = true));

// j, k and the arrow keys move through a list. Tab and Enter do the rest.
addEventListener("keydown", (e) => {
  if (e.altKey || e.ctrlKey || e.metaKey || ["INPUT", "TEXTAREA", "SELECT"].includes(e.target.tagName)) return;
  const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[e.key];
  const rows = [...main.querySelectorAll("a.row")];
  if (!step || !rows.length) return;
  e.preventDefault();
  const at = rows.indexOf(document.activeElement);
  rows[Math.min(Math.max(at + step, 0), rows.length - 1)].focus();
});

addEventListener("hashchange", () => (said.hidden = true) && draw(false).then(() => main.focus()));
begin().catch((e) => main.replaceChildren(el("p", {}, e.message)));
