// The page where a person signs an approval with a passkey.
import { act } from "./dom.js";
import { get, unusable } from "./webauthn.js";

const form = document.getElementById("sign");
const problem = document.getElementById("problem");
const done = document.getElementById("done");

// Times are in the reader's zone.
for (const t of document.querySelectorAll("time")) t.textContent = new Date(t.dateTime).toLocaleTimeString([], { timeZoneName: "short" });

function say(where, words) {
  where.textContent = words;
  where.hidden = false;
}

async function sign() {
  problem.hidden = true;
  const buttons = form.querySelectorAll("button"); // another click opens the dialog again
  try {
    const why = unusable();
    if (why) throw new Error(why);
    const passkey = await get(JSON.parse(form.dataset.options), "Nothing was signed: the passkey was not used. Try again.");
    buttons.forEach((b) => (b.disabled = true));
    const { note } = await act(location.pathname, { passkey });
    form.hidden = true;
    say(done, note + " You can close this page.");
    done.focus();
  } catch (e) {
    say(problem, e.unknown ? e.message + " Reload this page: it shows what is recorded." : e.message);
  } finally {
    buttons.forEach((b) => (b.disabled = false));
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  sign();
});
if (location.href.endsWith("?")) sign(); // the button was clicked before this script was loaded
