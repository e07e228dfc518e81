// Small helpers to build elements. Text is always text, never markup.

export function h(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (v === undefined || v === null || v === false) continue;
    if (k === "class") e.className = v;
    else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (k in e && k !== "list") e[k] = v;
    else e.setAttribute(k, v);
  }
  for (const c of children.flat(Infinity)) {
    if (c !== undefined && c !== null && c !== false) e.append(c);
  }
  return e;
}

// named gives the first control of an element a name for screen readers.
export function named(e, name) {
  const fields = "input, textarea, select";
  (e.matches(fields) ? e : e.querySelector(fields))?.setAttribute("aria-label", name);
  return e;
}

// initials returns the text of an avatar.
export function initials(name) {
  return name.split(/\s+/).map((w) => w[0]).join("").slice(0, 2).toUpperCase();
}

export function avatar(name, bot) {
  return h("span", { class: bot ? "avatar bot" : "avatar" }, bot ? "✓" : initials(name));
}

export function clock(seconds) {
  return new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

// relative shows the distance between now and a time.
export function relative(seconds) {
  const left = seconds - Date.now() / 1000;
  const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const [unit, length] = units.find(([, n]) => Math.abs(left) >= n * 1.5) || units[3];
  return new Intl.RelativeTimeFormat("en").format(Math.round(left / length), unit);
}

export function size(bytes) {
  return bytes < 1024 ? bytes + " B" : (bytes / 1024).toFixed(1) + " KB";
}

// diff shows the lines of a diff in colors.
export function diff(text) {
  const kinds = { "+": "added", "-": "removed", "@": "place" };
  return text.split("\n").map((line, n) => [n ? "\n" : "", h("span", { class: kinds[line[0]] || "" }, line)]);
}

// link opens only web addresses; anything else stays text.
export function link(url, text) {
  if (!/^https?:\/\//.test(url)) return text;
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, text);
}

// inputs keeps unsent input across redraws, by service, message and field.
const kept = new Map();

export function keep(key, value) {
  kept.set(key, value);
}

export function keptValue(key) {
  return kept.get(key);
}

// toast shows a text for a few seconds.
export function toast(text, kind = "") {
  const t = h("div", { class: "toast " + kind }, text);
  document.getElementById("toasts").append(t);
  setTimeout(() => t.remove(), 6000);
}

// act performs an action as the chosen member and shows the messages of the
// client.
export async function act(action) {
  const resp = await fetch("/control/act", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(action),
  }).catch(() => null);
  if (!resp) {
    toast("The sandbox is unreachable.", "warning");
    return {};
  }
  const r = await resp.json();
  if (r.error) toast(r.error, "warning");
  if (r.warning) toast(r.warning, "warning");
  if (r.toast) toast(r.toast, r.alert ? "alert" : "");
  return r;
}

// commands is the input of a service on which members can only send commands to
// the app, such as /nod mine.
export function commands(service, channel, me, redraw) {
  const key = service + "/command/" + channel.id;
  const send = async () => {
    const text = (keptValue(key) || "").trim();
    if (!text) return;
    if (!text.startsWith("/")) {
      toast("Only commands work here, such as /nod mine.", "warning");
      return;
    }
    keep(key, "");
    await act({ service, as: me.key, do: "command", channel: channel.id, text });
    redraw();
  };
  return h("form", { class: "composer", onsubmit: (ev) => { ev.preventDefault(); send(); } },
    h("input", { value: keptValue(key) || "", "aria-label": "command", placeholder: "/nod mine", oninput: (ev) => keep(key, ev.target.value) }),
    h("button", { class: "send", "aria-label": "send" }, "➤"));
}
