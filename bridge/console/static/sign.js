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
    await send({ passkey: await signed(JSON.parse(form.dataset.options)) });
  } catch (e) {
    say(problem, e.name === "NotAllowedError" ? "Nothing was signed: the passkey was not used. Try again." : e.message);
  } finally {
    buttons.forEach((b) => (b.disabled = false));
  }
});
