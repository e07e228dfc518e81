package bridge

// Statement is a decision that a person signs with a passkey. All fields are
// required.
type Statement struct {
	Version int    `json:"version"` // StatementVersion
	Nonce   string `json:"nonce"`   // unpadded base64url of 32 random bytes
	Request string `json:"request"` // the ID of the request
	// Payload is the digest of what is decided on: the request digest, or
	// the digest of the edited input, both as in receipts.
	Payload  string `json:"payload"`
	Decision string `json:"decision"` // such as "approved"
	Scope    string `json:"scope"`    // such as "once"
	Person   string `json:"person"`   // the name of the person in the config
}

// StatementVersion is the version of the statements that this release creates.
const StatementVersion = 1

// Assertion is a statement with a person's signature. Binary fields are
// unpadded base64url, as the browser returns them. Package bridge/passkey
// creates and verifies assertions.
type Assertion struct {
	Statement         Statement `json:"statement"`
	Credential        string    `json:"credential"`  // the ID of the key
	ClientData        string    `json:"client_data"` // the JSON text that the browser wrote
	AuthenticatorData string    `json:"authenticator_data"`
	Signature         string    `json:"signature"`
	RPID              string    `json:"rp_id"`  // the host name that the key belongs to
	Origin            string    `json:"origin"` // the origin of the page
}
