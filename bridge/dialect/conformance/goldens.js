// The answers that nod's own tests have pinned.
import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../", import.meta.url);

// goldens returns the answers of a dialect's golden files by name. What has no
// form in the dialect is left out.
export function goldens(dialect) {
  const dir = new URL(`${dialect}/testdata/`, root);
  const out = {};
  for (const file of readdirSync(dir)) {
    if (!file.endsWith(".json")) continue;
    const { out: answer } = JSON.parse(readFileSync(new URL(file, dir), "utf8"));
    try {
      out[file.replace(/\.json$/, "")] = JSON.parse(answer);
    } catch {
      // an error's text: nobody decided
    }
  }
  return out;
}
