// Answers from the golden files of nod's own tests.
import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../", import.meta.url);

// goldens returns the answers in a dialect's golden files by name. It omits
// outcomes without a form in the dialect.
export function goldens(dialect) {
  const dir = new URL(`${dialect}/testdata/`, root);
  const out = {};
  for (const file of readdirSync(dir)) {
    if (!file.endsWith(".json")) continue;
    const inputs = JSON.parse(readFileSync(new URL(file, dir), "utf8"));
    for (const [name, answer] of inputs.flatMap((input) => Object.entries(input.out))) {
      try {
        out[name] = JSON.parse(answer);
      } catch {
        // the text of an error, because no one decided
      }
    }
  }
  return out;
}
