package bridge

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"

	"github.com/google/uuid"
)

// Action is the effect of a click on a control.
type Action byte

// The actions. Never renumber them, because the tokens on posted messages
// contain these numbers.
const (
	ActionChoose Action = 1 // choose an option, as the answer or in the draft
	ActionToggle Action = 2 // toggle an option of a list in the draft
	ActionPick   Action = 3 // a native select changed: Click.Inputs holds the new value
	ActionSubmit Action = 4 // submit the draft and Click.Inputs
	ActionInput  Action = 5 // open a native text input or form; Option is one of the Option constants
	ActionStep   Action = 6 // show the question named by Question
	ActionPage   Action = 7 // show the page of options with the number in Option

	ActionDecline  Action = 8  // decline the question without an answer
	ActionSnooze   Action = 10 // remind the person who clicked later
	ActionHandOver Action = 11 // delegate to the person with the index in Option, or with OptionAnyone
	// ActionMore shows the person who clicked the decisions without a
	// control on the card.
	ActionMore Action = 12
	// ActionSession changes the session whose message was clicked; see the
	// Session options.
	ActionSession Action = 13
)

// Values of Control.Option for ActionInput and the ActionSubmit that follows it.
const (
	OptionForm   = 0 // the question, or the page of questions that starts with it
	OptionOther  = 1 // text in addition to the options
	OptionReason = 2 // the reason for a denial
	// OptionShown is 3.
	OptionEdit    = 4 // the edited input of an approval; Question is the decision
	OptionConfirm = 5 // the text that confirms an approval; Question is the decision
	// OptionDecide states the effect of a decision before the decision counts;
	// Question is the decision.
	OptionDecide = 6
	// OptionRead shows the complete text of a closed request or a notice. It
	// decides nothing.
	OptionRead = 12
	// OptionReview shows a private request to a person who may respond, with
	// the controls that its card omits.
	OptionReview = 13
	// OptionMessage asks for a message to the agent of a session.
	OptionMessage = 14
	// OptionPage and higher values are pages of a form with several pages.
	OptionPage = 16
	// OptionEdited and higher values approve with the edited input in the
	// person's draft, after that person has seen the change; see EditedOption.
	// Question is the decision.
	OptionEdited = 1 << 15
)

// Values of Control.Option for ActionSession.
const (
	SessionStop   = 0
	SessionResume = 1
)

// EditedOption returns the option that approves with an edited input. It
// depends on the input, so a control approves only the change that is next to
// it.
func EditedOption(input string) int {
	sum := sha256.Sum256([]byte(input))
	return OptionEdited | int(binary.BigEndian.Uint16(sum[:2])>>1)
}

// OptionAnyone is the option of an ActionHandOver that delegates to the account
// in Click.Picked.
const OptionAnyone = 1<<16 - 1

// Control is a control of a card. It is bound to one interaction and one
// destination. Question and Option are indexes into the interaction.
type Control struct {
	Interaction ID
	Destination int // 0 to MaxDestinations-1
	Action      Action
	Question    int  // 0 to MaxQuestions-1
	Option      int  // 0 to MaxOptions-1, a page, or an Option constant
	Terms       byte // Interaction.Terms of the card
}

// TokenLength is the length of every token in bytes. It has to fit in the
// callback data of a button, which one platform limits to 64 bytes.
const TokenLength = 51

const (
	tokenBody = 22
	tokenMAC  = 16
)

// Keyring signs and verifies tokens. It signs with the first key and verifies
// with all keys, so that tokens on posted messages stay valid after a key
// rotation. It is safe for concurrent use.
type Keyring struct{ keys [][]byte }

// MinKey is the minimum length of a key in bytes.
const MinKey = 32

// NewKeyring returns a keyring. It requires at least one key, and at least
// MinKey bytes in each key.
func NewKeyring(keys ...[]byte) (Keyring, error) {
	if len(keys) == 0 {
		return Keyring{}, Errorf(CodeInvalid, "key: required")
	}
	for _, k := range keys {
		if len(k) < MinKey {
			return Keyring{}, Errorf(CodeInvalid, "key: %d bytes are too short (at least %d)", len(k), MinKey).WithHint("use random bytes")
		}
	}
	return Keyring{keys}, nil
}

// Sign returns the token of a control: TokenLength bytes of unpadded base64url.
func (k Keyring) Sign(c Control) string {
	id, _ := c.Interaction.bytes() // a token for a malformed ID is not valid
	raw := append([]byte{byte(c.Action)}, id[:]...)
	raw = append(raw, byte(c.Destination), byte(c.Question))
	raw = binary.BigEndian.AppendUint16(raw, uint16(c.Option))
	raw = append(raw, c.Terms)
	raw = append(raw, tokenMACOf(k.keys[0], raw)...)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Verify returns the control of a token that Sign created with one of the keys.
// It returns CodeForbidden for any other token.
func (k Keyring) Verify(token string) (Control, error) {
	body, sum, ok := split(token)
	good := false
	for _, key := range k.keys {
		good = ok && hmac.Equal(sum, tokenMACOf(key, body)) || good
	}
	if !good {
		return Control{}, Errorf(CodeForbidden, "this control was not made by nod")
	}
	return decodeControl(body), nil
}

// tokenDomain separates the MACs of tokens from other MACs with the same key.
const tokenDomain = "nod control v1\x00"

// tokenMACOf returns the MAC of the body of a token.
func tokenMACOf(key, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(tokenDomain))
	h.Write(body)
	return h.Sum(nil)[:tokenMAC]
}

// PeekAction returns the unverified action of a token. An adapter uses it to
// select the method of the Sink. It returns zero if the text is not a token.
func PeekAction(token string) Action {
	return peek(token).Action
}

// PeekOption returns the unverified option of a token.
func PeekOption(token string) int {
	return peek(token).Option
}

// PeekStated reports whether an unverified token makes its decision in a
// separate message or form, below a text that states what the decision covers.
func PeekStated(token string) bool {
	c := peek(token)
	return c.Action == ActionSubmit && (c.Option >= OptionDecide && c.Option < OptionPage || c.Option >= OptionEdited)
}

// PeekQuestion returns the unverified question of a token.
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

// split splits a token into its body and its MAC. It returns false if the text
// does not have the form of a token.
func split(token string) (body, sum []byte, ok bool) {
	raw, err := DecodeBase64(token)
	if err != nil || len(raw) != tokenBody+tokenMAC {
		return nil, nil, false
	}
	return raw[:tokenBody], raw[tokenBody:], true
}

// DecodeBase64 decodes unpadded base64url. It accepts only one encoding of the
// same bytes. Package base64 would skip line breaks and, without Strict, ignore
// trailing bits.
func DecodeBase64(s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, base64.CorruptInputError(strings.IndexAny(s, "\r\n"))
	}
	return strictBase64.DecodeString(s)
}

var strictBase64 = base64.RawURLEncoding.Strict()

func decodeControl(body []byte) Control {
	id, _ := uuid.FromBytes(body[1:17]) // any 16 bytes are a UUID
	return Control{
		Interaction: ID(id.String()),
		Action:      Action(body[0]),
		Destination: int(body[17]),
		Question:    int(body[18]),
		Option:      int(binary.BigEndian.Uint16(body[19:21])),
		Terms:       body[21],
	}
}
