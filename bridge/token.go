package bridge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/google/uuid"
)

// Action is what pressing a control does.
type Action byte

// The actions. Their numbers are part of every token on every posted message:
// never renumber.
const (
	ActionChoose Action = 1 // take an option: answers, or sets it in the draft
	ActionToggle Action = 2 // flip an option of a list in the draft
	ActionPick   Action = 3 // a native select changed: Click.Inputs holds the new value
	ActionSubmit Action = 4 // settle with the draft and Click.Inputs
	ActionInput  Action = 5 // open a native text input or form; Option is one of the Option constants
	ActionStep   Action = 6 // show the question named by Question
	ActionPage   Action = 7 // show the page of options numbered by Option

	ActionDecline  Action = 8  // end an ask without an answer
	ActionSnooze   Action = 10 // remind whoever pressed, later
	ActionHandOver Action = 11 // ask the person numbered by Option as well
	ActionAll      Action = 9  // decide what is pending of a batch; Option is an index into BatchDecisions, Question how many the card shows
)

// Values of Control.Option for ActionInput and the ActionSubmit that follows it.
const (
	OptionForm   = 0 // the question itself, or the page of questions that starts at it
	OptionOther  = 1 // free text beside the options
	OptionReason = 2 // the reason of a denial
	// 3 is OptionShown.
	OptionEdit    = 4 // another input of an approval; Question is the decision
	OptionConfirm = 5 // what has to be typed to approve; Question is the decision
	// OptionPage and above name a page of a form that needs several.
	OptionPage = 16
)

// Control is one thing a human can press. It is bound to one interaction and
// one destination; Question and Option are indexes into the interaction.
type Control struct {
	Interaction ID
	Destination int // 0 to MaxDestinations-1
	Action      Action
	Question    int // 0 to MaxQuestions-1
	Option      int // 0 to MaxOptions-1, a page, or an Option constant
	// Terms is Interaction.Terms of the card. Of ActionAll, it is the sum of
	// those of the batch.
	Terms byte
}

// TokenLength is the length of every token in bytes: what fits the tightest
// place, the 64 bytes that one service gives a button.
const TokenLength = 51

const (
	tokenBody = 22
	tokenMAC  = 16
)

// Keyring signs and checks tokens. The first key signs; all verify, so that a
// key can be rotated while its buttons are still on the wall.
type Keyring struct{ keys [][]byte }

// MinKey is the least number of bytes a key may have.
const MinKey = 32

// NewKeyring returns a keyring. It needs at least one key, each of at least
// MinKey bytes.
func NewKeyring(keys ...[]byte) (Keyring, error) {
	if len(keys) == 0 {
		return Keyring{}, Errorf(CodeInvalid, "key: none given")
	}
	for _, k := range keys {
		if len(k) < MinKey {
			return Keyring{}, Errorf(CodeInvalid, "key: %d bytes are too short", len(k)).WithHint("use at least %d random bytes", MinKey)
		}
	}
	return Keyring{keys: keys}, nil
}

// Sign returns the token of a control: TokenLength bytes of unpadded base64url.
func (k Keyring) Sign(c Control) string {
	raw := make([]byte, 0, tokenBody+tokenMAC)
	id, _ := c.Interaction.bytes() // a malformed id yields a token nobody can use
	raw = append(raw, byte(c.Action))
	raw = append(raw, id[:]...)
	raw = append(raw, byte(c.Destination), byte(c.Question))
	raw = binary.BigEndian.AppendUint16(raw, uint16(c.Option))
	raw = append(raw, c.Terms)
	raw = append(raw, mac(k.keys[0], raw)...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Verify returns the control of a token that Sign made with one of the keys;
// anything else is CodeForbidden.
func (k Keyring) Verify(token string) (Control, error) {
	bad := Errorf(CodeForbidden, "this control was not made by nod")
	body, sum, ok := split(token)
	if !ok {
		return Control{}, bad
	}
	good := false
	for _, key := range k.keys {
		good = hmac.Equal(sum, mac(key, body)) || good
	}
	if !good {
		return Control{}, bad
	}
	return decodeControl(body), nil
}

func mac(key, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte("nod control v1\x00"))
	h.Write(body)
	return h.Sum(nil)[:tokenMAC]
}

// PeekAction is the action a token claims, unchecked: it only tells an adapter
// which of the Sink's methods to ask. Zero for what is no token.
func PeekAction(token string) Action {
	return peek(token).Action
}

// PeekOption is the option a token claims, unchecked.
func PeekOption(token string) int {
	return peek(token).Option
}

// PeekQuestion is the question a token claims, unchecked.
func PeekQuestion(token string) int {
	return peek(token).Question
}

func peek(token string) Control {
	body, _, ok := split(token)
	if !ok {
		return Control{}
	}
	return decodeControl(body)
}

// split takes a token apart into what is signed and the signature; false for
// what has not the form of a token.
func split(token string) (body, sum []byte, ok bool) {
	raw, err := DecodeBase64(token)
	if err != nil || len(raw) != tokenBody+tokenMAC {
		return nil, nil, false
	}
	return raw[:tokenBody], raw[tokenBody:], true
}

// DecodeBase64 decodes unpadded base64 for URLs. It refuses a text that spells
// the same bytes in another way: the library skips line ends, and without Strict
// it ignores the last bits.
func DecodeBase64(s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, base64.CorruptInputError(strings.IndexAny(s, "\r\n"))
	}
	return base64.RawURLEncoding.Strict().DecodeString(s)
}

func decodeControl(body []byte) Control {
	id, _ := uuid.FromBytes(body[1:17]) // 16 bytes always are a UUID
	return Control{
		Interaction: ID(id.String()),
		Action:      Action(body[0]),
		Destination: int(body[17]),
		Question:    int(body[18]),
		Option:      int(binary.BigEndian.Uint16(body[19:21])),
		Terms:       body[21],
	}
}
