package passkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/strictjson"
)

// Site is the web site of a daemon. Keys belong to a site. A Site does not
// change and is safe for concurrent use.
type Site struct {
	rpID    string
	origins []string
}

// patience is the time in which the browser expects an answer.
const patience = 5 * time.Minute

// maxResponse is the maximum length of a response of a browser, in bytes.
const maxResponse = 64 << 10

// NewSite returns the site of a public URL. The RP ID is its host name. Further
// origins are accepted if they have the same host or a subdomain of it. It
// returns CodeInvalid for a URL that browsers do not accept. A URL must have
// the scheme https, unless its host is localhost. Its host cannot be an IP
// address.
func NewSite(publicURL string, origins ...string) (Site, error) {
	var s Site
	for _, u := range append([]string{publicURL}, origins...) {
		origin, host, err := originOf(u)
		if err != nil {
			return Site{}, err
		}
		if s.rpID == "" {
			s.rpID = host
		}
		if host != s.rpID && !strings.HasSuffix(host, "."+s.rpID) {
			return Site{}, bridge.Errorf(bridge.CodeInvalid, "origin: %q is not on the host %q or below it", u, s.rpID)
		}
		if !slices.Contains(s.origins, origin) {
			s.origins = append(s.origins, origin)
		}
	}
	return s, nil
}

// originOf returns the origin of a URL as browsers write it, and its host.
func originOf(raw string) (origin, host string, err error) {
	bad := func(why string) (string, string, error) {
		return "", "", bridge.Errorf(bridge.CodeInvalid, "console.url: %q cannot be used for passkeys: %s", raw, why).
			WithHint("use https and a host name, or http://localhost with a port")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil {
		return bad("not a URL with a host")
	}
	host = strings.ToLower(u.Hostname())
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	switch {
	case net.ParseIP(host) != nil:
		return bad("browsers do not accept an IP address")
	case protocol.ValidateRPID(host) != nil:
		return bad("not a host name")
	case u.Scheme != "https" && (u.Scheme != "http" || !local):
		return bad("https is required")
	}
	port := u.Port()
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		return u.Scheme + "://" + host, host, nil
	}
	return u.Scheme + "://" + host + ":" + port, host, nil
}

// RPID returns the host name that keys belong to.
func (s Site) RPID() string { return s.rpID }

// Origins returns the accepted origins. The first is the origin of the public
// URL.
func (s Site) Origins() []string { return slices.Clone(s.origins) }

// handle returns the user handle of a person. It is opaque, because
// authenticators show and synchronize it.
func (s Site) handle(person string) protocol.URLEncodedBase64 {
	sum := sha256.Sum256([]byte("nod passkey user v1\n" + s.rpID + "\n" + person))
	return sum[:]
}

// Request returns the options for navigator.credentials.get as JSON, in the
// format of PublicKeyCredential.parseRequestOptionsFromJSON. It returns
// CodeForbidden if the person has no valid key.
func (s Site) Request(st Statement, creds []Credential) ([]byte, error) {
	if err := st.check(); err != nil {
		return nil, err
	}
	keys := descriptors(owned(creds, st.Person))
	if len(keys) == 0 {
		return nil, refuse("%s has no passkey", st.Person)
	}
	return encode(protocol.PublicKeyCredentialRequestOptions{
		Challenge: st.Challenge(), Timeout: int(patience.Milliseconds()), RelyingPartyID: s.rpID,
		AllowedCredentials: keys, UserVerification: protocol.VerificationRequired,
	})
}

// Check checks the response of a browser to [Site.Request]. It returns the
// assertion, and the key with its new counter, which the caller must store with
// UsePasskey of bridge/rooms/passkeys. It returns CodeInvalid for a response
// that cannot be decoded and CodeForbidden for one that proves nothing. If the
// counter does not grow, it returns the assertion as well, because its
// signature is valid.
func (s Site) Check(st Statement, creds []Credential, response []byte) (Assertion, Credential, error) {
	var a Assertion
	r, err := parseResponse(response)
	if err != nil {
		return a, Credential{}, err
	}
	c, err := find(owned(creds, st.Person), r.RawID)
	if err != nil {
		return a, Credential{}, err
	}
	if h := r.AssertionResponse.UserHandle; len(h) > 0 && !bytes.Equal(h, s.handle(st.Person)) {
		return a, Credential{}, refuse("this passkey belongs to another person")
	}
	a = Assertion{
		Statement: bridge.Statement(st), Credential: c.Name(), ClientData: text(r.AssertionResponse.ClientDataJSON),
		AuthenticatorData: text(r.AssertionResponse.AuthenticatorData), Signature: text(r.AssertionResponse.Signature),
		RPID: s.rpID, Origin: originIn(r.AssertionResponse.ClientDataJSON),
	}
	if err := Verify(a, c.PublicKey, s.rpID, s.origins); err != nil {
		return Assertion{}, Credential{}, err
	}
	auth, err := decode(a)
	if err != nil {
		return Assertion{}, Credential{}, err
	}
	switch {
	case auth.flags().HasBackupEligible() != c.BackupEligible:
		return Assertion{}, Credential{}, refuse("the backup eligibility of this passkey has changed since it was created")
	case !Grows(c.Counter, auth.counter()):
		return a, Credential{}, counterError()
	}
	c.Counter, c.BackedUp = auth.counter(), auth.flags().HasBackupState()
	return a, c, nil
}

// counterError returns the error for a counter that does not grow.
func counterError() error {
	return bridge.Errorf(bridge.CodeForbidden, "passkey: the counter of this passkey decreased, so a copy of it may exist").
		WithHint("revoke this passkey and add another one")
}

// parseResponse decodes a response of a browser.
func parseResponse(raw []byte) (r protocol.CredentialAssertionResponse, err error) {
	if err := checkResponse(raw); err != nil {
		return r, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(raw)
	if err != nil {
		return r, bridge.Wrap(bridge.CodeInvalid, err, "passkey: the response of the browser cannot be decoded")
	}
	return parsed.Raw, nil
}

// checkResponse returns CodeInvalid for text that is too long or ambiguous.
func checkResponse(raw []byte) error {
	if len(raw) > maxResponse {
		return bridge.Errorf(bridge.CodeInvalid, "passkey: the response of the browser exceeds %d bytes", maxResponse)
	}
	if err := strictjson.Check(raw); err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "passkey: the response of the browser is not valid JSON")
	}
	return nil
}

// originIn returns the origin in client data. Verify compares it.
func originIn(client []byte) string {
	var c struct {
		Origin string `json:"origin"`
	}
	_ = strictjson.Decode(client, &c) // Verify refuses data that cannot be decoded
	return c.Origin
}

// owned returns the keys of a person.
func owned(creds []Credential, person string) []Credential {
	return slices.DeleteFunc(slices.Clone(creds), func(c Credential) bool { return c.Person != person })
}

// descriptors returns the valid keys in the format of the options.
func descriptors(creds []Credential) []protocol.CredentialDescriptor {
	var out []protocol.CredentialDescriptor
	for _, c := range creds {
		if !c.Valid() {
			continue
		}
		d := protocol.CredentialDescriptor{Type: protocol.PublicKeyCredentialType, CredentialID: c.ID}
		for _, t := range c.Transports {
			d.Transport = append(d.Transport, protocol.AuthenticatorTransport(t))
		}
		out = append(out, d)
	}
	return out
}

func encode(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "passkey options")
	}
	return raw, nil
}
