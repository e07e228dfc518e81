// Shows the texts of Slack: mrkdwn, plain text and dates, with the names of the
// members, channels and groups that they mention.
import { h, link } from "./dom.js";

let known = { users: {}, channels: {}, groups: {} };

// learn remembers the names of the workspace.
export function learn(state) {
  known = {
    users: { U0BOT00000: "nod", ...Object.fromEntries(state.members.map((m) => [m.slack, m.name])) },
    channels: Object.fromEntries(state.slack.channels.map((c) => [c.id, c.name])),
    groups: Object.fromEntries((state.slack.groups || []).map((g) => [g.id, g.name])),
  };
}

export const userName = (id) => known.users[id] || id;
const mention = (text) => h("span", { class: "mention" }, text);
export const user = (id) => mention("@" + userName(id));

const emojis = {
  white_check_mark: "✅", x: "❌", warning: "⚠️", eyes: "👀", tada: "🎉", thumbsup: "👍", "+1": "👍", thumbsdown: "👎", "-1": "👎",
  rocket: "🚀", fire: "🔥", lock: "🔒", closed_lock_with_key: "🔐", bell: "🔔", heart: "❤️", smile: "😄", wave: "👋", robot_face: "🤖",
  hourglass: "⌛", information_source: "ℹ️", no_entry: "⛔", heavy_check_mark: "✔️", question: "❓", bangbang: "‼️", memo: "📝",
};

const withEmoji = (s) => s.replace(/:([a-z0-9_+-]+):/g, (whole, name) => emojis[name] || whole);
const decoded = (s) => s.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

// date shows a time in the zone of the reader.
export function date(seconds, format) {
  const d = new Date(seconds * 1000);
  const pad = (n) => String(n).padStart(2, "0");
  const day = (options) => d.toLocaleDateString([], options);
  const long = { weekday: "long", month: "long", day: "numeric", year: "numeric" };
  const short = { month: "short", day: "numeric", year: "numeric" };
  const normal = { month: "long", day: "numeric", year: "numeric" };
  const near = (options) => {
    const days = Math.round((new Date(d).setHours(0, 0, 0, 0) - new Date().setHours(0, 0, 0, 0)) / 86400000);
    return { "-1": "Yesterday", 0: "Today", 1: "Tomorrow" }[days] || day(options);
  };
  const ago = () => {
    const minutes = Math.round((seconds - Date.now() / 1000) / 60);
    const [n, unit] = Math.abs(minutes) < 90 ? [minutes, "minute"] : Math.abs(minutes) < 2880 ? [minutes / 60, "hour"] : [minutes / 1440, "day"];
    return new Intl.RelativeTimeFormat("en").format(Math.round(n), unit);
  };
  const tokens = {
    date_num: () => d.getFullYear() + "-" + pad(d.getMonth() + 1) + "-" + pad(d.getDate()), date: () => day(normal),
    date_short: () => day(short), date_long: () => day(long), date_pretty: () => near(normal), date_short_pretty: () => near(short),
    date_long_pretty: () => near(long), time: () => d.toLocaleTimeString([], { hour: "numeric", minute: "2-digit" }),
    time_secs: () => d.toLocaleTimeString([], { hour: "numeric", minute: "2-digit", second: "2-digit" }), ago, day_divider_pretty: () => near(normal),
  };
  return (format || "{date} {time}").replace(/\{(\w+)\}/g, (whole, name) => (tokens[name] ? tokens[name]() : whole));
}

const stamp = (seconds, format, zone) => h("span", { class: "date", title: new Date(seconds * 1000).toLocaleString() + (zone || "") }, date(seconds, format));
export { stamp };

// token shows the text between < and >.
function token(src) {
  const at = src.indexOf("|");
  const [target, label] = at < 0 ? [src, ""] : [src.slice(0, at), src.slice(at + 1)];
  const word = decoded(label);
  if (target.startsWith("@")) return mention("@" + (word || userName(target.slice(1))));
  if (target.startsWith("#")) return mention("#" + (word || known.channels[target.slice(1)] || target.slice(1)));
  if (target.startsWith("!subteam^")) return mention(word || "@" + (known.groups[target.slice(9)] || target.slice(9)));
  const time = /^!date\^(\d+)\^([^^]*)(?:\^(.*))?$/.exec(target);
  if (time) {
    const shown = stamp(Number(time[1]), time[2]);
    return time[3] ? link(decoded(time[3]), shown) : shown;
  }
  if (target.startsWith("!")) return mention("@" + (word || target.slice(1)));
  return link(decoded(target), word || decoded(target).replace(/^mailto:/, ""));
}

const inlineRules = [
  [/^<([^<>\n]+)>/, (m) => token(m[1])],
  [/^`([^`\n]+)`/, (m) => h("code", {}, decoded(m[1]))],
];
const styles = {
  "*": ["b", /^\*(\S|\S[^\n]*?\S)\*(?![\p{L}\p{N}])/u], _: ["i", /^_(\S|\S[^\n]*?\S)_(?![\p{L}\p{N}])/u], "~": ["s", /^~(\S|\S[^\n]*?\S)~(?![\p{L}\p{N}])/u],
};
const address = /^https?:\/\/[^\s<>|]*[^\s<>|.,;:!?)'"\]]/;

// inline shows the styles, mentions and links of one line.
function inline(src, verbatim) {
  const out = [];
  let plain = "";
  const flush = () => {
    if (plain) out.push(withEmoji(decoded(plain)));
    plain = "";
  };
  for (let i = 0; i < src.length;) {
    const rest = src.slice(i);
    const before = i === 0 || !/[\p{L}\p{N}]/u.test(src[i - 1]);
    const rule = inlineRules.map(([at, show]) => [at.exec(rest), show]).find(([m]) => m);
    const style = before && styles[rest[0]];
    const styled = style && style[1].exec(rest);
    const auto = !verbatim && before && (address.exec(rest) || /^@(here|channel|everyone)\b/.exec(rest));
    if (rule) {
      flush();
      out.push(rule[1](rule[0]));
      i += rule[0][0].length;
    } else if (styled) {
      flush();
      out.push(h(style[0], {}, inline(styled[1], verbatim)));
      i += styled[0].length;
    } else if (auto) {
      flush();
      out.push(auto[0].startsWith("@") ? mention(auto[0]) : link(decoded(auto[0]), decoded(auto[0])));
      i += auto[0].length;
    } else {
      plain += src[i++];
    }
  }
  flush();
  return out;
}

// mrkdwn shows code blocks, quotes and lines.
export function mrkdwn(src, verbatim) {
  return src.split(/(```[\s\S]*?```)/).flatMap((part) => {
    if (part.length > 6 && part.startsWith("```")) return h("pre", {}, decoded(part.slice(3, -3).replace(/^\n/, "")));
    const out = [];
    let quote = null;
    part.split("\n").forEach((line, n, all) => {
      const quoted = /^(?:&gt;|>) ?(.*)$/.exec(line);
      if (quoted) {
        if (quote) quote.append("\n");
        else out.push(quote = h("blockquote"));
        quote.append(...inline(quoted[1], verbatim));
        return;
      }
      quote = null;
      out.push(...inline(line, verbatim));
      if (n < all.length - 1) out.push("\n");
    });
    return out;
  });
}

// text shows a text object.
export function text(t) {
  if (!t) return "";
  if (t.type === "plain_text") return t.emoji === false ? t.text : withEmoji(t.text);
  return mrkdwn(t.text || "", t.verbatim);
}
