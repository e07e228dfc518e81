// Compares nod's opinion about assertions with that of @simplewebauthn/server,
// which shares no code with nod. The arguments are files of cases.
import { readFileSync } from "node:fs";
import { verifyAuthenticationResponse } from "@simplewebauthn/server";
import { challenge } from "../../../verify/receipt.mjs";

// accepts reports whether the library accepts an assertion. The library knows
// nothing of statements and of the people who own keys, so that part is ours.
async function accepts({ assertion: a, keys, at }) {
  const key = keys.keys.find((k) => k.credential === a.credential && k.person === a.statement.person);
  if (!key || (key.revoked && at && new Date(at) >= new Date(key.revoked))) return false;
  if (a.rp_id !== keys.rp_id || !keys.origins.includes(a.origin)) return false;
  try {
    const { verified } = await verifyAuthenticationResponse({
      response: {
        id: a.credential, rawId: a.credential, type: "public-key", clientExtensionResults: {},
        response: { clientDataJSON: a.client_data, authenticatorData: a.authenticator_data, signature: a.signature },
      },
      expectedChallenge: challenge(a.statement), expectedOrigin: keys.origins, expectedRPID: keys.rp_id,
      credential: { id: key.credential, publicKey: Buffer.from(key.cose, "base64url"), counter: 0 },
      requireUserVerification: true,
    });
    return verified;
  } catch {
    return false;
  }
}

let good = 0, forged = 0, wrong = 0;
for (const path of process.argv.slice(2)) {
  for (const c of JSON.parse(readFileSync(path, "utf8"))) {
    if (c.good) good++;
    else forged++;
    if ((await accepts(c)) !== c.good) {
      wrong++;
      console.error(`passkeys: ${c.name}: @simplewebauthn/server ${c.good ? "refuses" : "accepts"} it`);
    }
  }
}
console.log(`conformance: @simplewebauthn/server agrees about ${good} good and ${forged} forged signatures, ${wrong} differences`);
process.exitCode = wrong || !good || !forged ? 1 : 0;
