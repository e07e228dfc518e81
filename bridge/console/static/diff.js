// The difference between two texts, by lines.
import { el } from "./dom.js";

const most = 2000; // lines; longer texts are shown as removed and added

// compare returns the lines of both texts in order, each with its mark: a
// space, - or +.
export function compare(was, now) {
  const a = was.split("\n");
  const b = now.split("\n");
  if (a.length > most || b.length > most) return [...a.map((l) => ["-", l]), ...b.map((l) => ["+", l])];
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i][j] = a[i] === b[j] ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const out = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push([" ", a[i++]]);
      j++;
    } else if (j >= b.length || (i < a.length && common[i + 1][j] >= common[i][j + 1])) out.push(["-", a[i++]]);
    else out.push(["+", b[j++]]);
  }
  return out;
}

const classes = { "-": "del", "+": "add", " ": "same" };

// diff returns the difference as an element.
export function diff(was, now) {
  const lines = compare(was, now);
  if (lines.every(([mark]) => mark === " ")) return el("p", { class: "soft" }, "No changes yet.");
  return el("pre", { class: "diff", tabindex: 0, role: "region", "aria-label": "Your changes" },
    el("code", {}, lines.map(([mark, text]) => el("span", { class: classes[mark] }, mark + " " + text + "\n"))));
}
