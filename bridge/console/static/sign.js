// The page where a person signs an approval with a passkey.
const form = document.getElementById("sign");
const problem = document.getElementById("problem");
const done = document.getElementById("done");

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

// signed asks the browser for the signature. Older browsers cannot read or write
// JSON themselves.
async function signed(options) {
  const publicKey = window.PublicKeyCredential?.parseRequestOptionsFromJSON
    ? PublicKeyCredential.parseRequestOptionsFromJSON(options)
    : {
        ...options,
        challenge: bytes(options.challenge),
        allowCredentials: options.allowCredentials.map((c) => ({ ...c, id: bytes(c.id) })),
      };
  const got = await navigator.credentials.get({ publicKey });
  if (got.toJSON) return got.toJSON();
  const r = got.response;
  return {
    id: got.id, rawId: text(got.rawId), type: got.type, clientExtensionResults: got.getClientExtensionResults(),
    response: {
      clientDataJSON: text(r.clientDataJSON), authenticatorData: text(r.authenticatorData), signature: text(r.signature),
      userHandle: r.userHandle ? text(r.userHandle) : undefined,
    },
  };
}

// Times are in the reader's zone.
for (const t of document.querySelectorAll("time")) t.textContent = new Date(t.dateTime).toLocaleTimeString([], { timeZoneName: "short" });

// unusable says why no passkey can be used here, or nothing.
function unusable() {
  if (!window.isSecureContext) return "Passkeys need https. Ask your administrator for the address of this page with https.";
  if (!window.PublicKeyCredential || !navigator.credentials)
    return "This app shows pages without passkeys. Open this page in your browser: use the menu of the app, or copy the address.";
  return "";
}

// problemOf explains an error of the browser.
function problemOf(e) {
  switch (e.name) {
    case "NotAllowedError":
    case "AbortError":
      return "Nothing was signed: the passkey was not used. Try again.";
    case "SecurityError":
      return "Nothing was signed: your passkey belongs to another address than " + location.hostname + ". Open the link from the card.";
    case "InvalidStateError":
    case "NotSupportedError":
      return "Nothing was signed: this device cannot use the passkey. Try another device.";
    case "TypeError":
      return "No answer from nod arrived. Look at the card: if it is still open, sign again.";
  }
  return e.message;
}

function say(where, words) {
  where.textContent = words;
  where.hidden = false;
}

async function send(proof) {
  const response = await fetch(location.pathname, {
    method: "POST", body: JSON.stringify(proof), headers: { "Content-Type": "application/json", Accept: "application/json" },
  });
  const body = await response.json().catch(() => ({}));
  if (!response.ok) {
    const e = body.error || { message: "nod responded with status " + response.status };
    throw new Error(e.message + (e.hint ? " (" + e.hint + ")" : ""));
  }
  form.hidden = true;
  say(done, body.note + " You can close this page.");
  done.focus();
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  problem.hidden = true;
  const buttons = form.querySelectorAll("button");
  buttons.forEach((b) => (b.disabled = true));
  try {
    const why = unusable();
    if (why) throw new Error(why);
    await send({ passkey: await signed(JSON.parse(form.dataset.options)) });
  } catch (e) {
    say(problem, problemOf(e));
  } finally {
    buttons.forEach((b) => (b.disabled = false));
  }
});
