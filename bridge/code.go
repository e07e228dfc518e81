package bridge

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"
	"unicode/utf8"
)

// LongPayload is the length of an input or a prompt, in characters, and LongPayloadLines its
// number of lines, above which a risky approval needs a verification code. Two of
// the platforms do not show a longer input on the card itself.
const (
	LongPayload      = 2800
	LongPayloadLines = 120
)

// codeLetters are letters and digits that people do not confuse.
const codeLetters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

// WithCode returns the approval with a verification code if its input is long
// and the risk level is high or critical. Without an input, people approve the
// prompt, so that its length counts. Approvers find the code after the last line
// of the text, and enter it to show that they got there. It is an aid to
// reading, not a secret: it derives from the text alone.
func (a Approval) WithCode(risk, prompt string) Approval {
	a = a.withoutCode()
	level := strings.ToLower(strings.TrimSpace(risk))
	text := string(a.Input)
	lines := strings.Count(text, `\n`)
	if a.promptOnly() {
		text, lines = prompt, strings.Count(prompt, "\n")
	}
	if level != "high" && level != "critical" || utf8.RuneCountInString(text) <= LongPayload && lines <= LongPayloadLines {
		return a
	}
	a.Code = codeOf([]byte(text))
	a.Confirm = strings.TrimSpace(a.Confirm + " " + a.Code)
	return a
}

// codeOf returns six characters that people can compare.
func codeOf(data []byte) string {
	sum := sha256.Sum256(data)
	var b strings.Builder
	for n, c := range sum[:6] {
		if n == 3 {
			b.WriteByte(' ')
		}
		b.WriteByte(codeLetters[int(c)%len(codeLetters)])
	}
	return b.String()
}

// promptOnly reports whether the approval has no input, so that people approve
// the prompt.
func (a Approval) promptOnly() bool {
	input := string(bytes.TrimSpace(a.Input))
	return input == "" || input == "null" || input == "{}"
}

// SignCode returns the code that a card shows together with the page where
// people prove their approval, so that they can compare both. It is an aid to
// reading: the proof itself covers the complete digest.
func (i Interaction) SignCode() string { return codeOf([]byte("sign " + i.Digest)) }

// withoutCode returns the approval without its verification code.
func (a Approval) withoutCode() Approval {
	a.Confirm, a.Code = a.ConfirmWords(), ""
	return a
}

// ConfirmWords returns what an approver has to type before the verification
// code. It is empty if that is nothing.
func (a Approval) ConfirmWords() string {
	if a.Code == "" {
		return a.Confirm
	}
	return strings.TrimSpace(strings.TrimSuffix(a.Confirm, a.Code))
}

// confirmed reports whether a text is the typed confirmation. Its verification
// code may be in lower case and without the space.
func (a Approval) confirmed(typed string) bool {
	typed = strings.TrimSpace(typed)
	if a.Code == "" || typed == a.Confirm {
		return typed == a.Confirm
	}
	rest := strings.TrimPrefix(typed, a.ConfirmWords())
	return strings.HasPrefix(typed, a.ConfirmWords()) && foldCode(rest) == foldCode(a.Code)
}

// foldCode returns a code as people mean it.
func foldCode(s string) string {
	return strings.Map(func(r rune) rune {
		if slices.Contains([]rune(" -\t"), r) {
			return -1
		}
		return r
	}, strings.ToUpper(s))
}

// unconfirmed tells a person that what they typed is not the confirmation. It
// does not repeat the code.
func (a Approval) unconfirmed() string {
	switch words := a.ConfirmWords(); {
	case a.Code == "":
		return "Type exactly: " + a.Confirm
	case words != "":
		return "Nothing was approved. Type " + words + ", and then the code after the last line of the text."
	}
	return "Nothing was approved. That is not the code after the last line of the text."
}
