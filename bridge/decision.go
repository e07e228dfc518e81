package bridge

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Decision is one way to respond to an approval.
type Decision string

// The decisions, in display order.
const (
	DecideDeny       Decision = "deny"
	DecideDenyReason Decision = "deny_reason"
	DecideDenyAlways Decision = "deny_always"
	DecideDenyStop   Decision = "deny_stop"
	// DecideRespond answers the call with text. The text becomes the result of
	// the call, which does not run.
	DecideRespond Decision = "respond"
	DecideOnce    Decision = "once"
	DecideSession Decision = "session"
	DecideAlways  Decision = "always"
	DecideEdit    Decision = "edit"
)

var allDecisions = []Decision{DecideDeny, DecideDenyReason, DecideDenyAlways, DecideDenyStop, DecideRespond, DecideOnce, DecideSession, DecideAlways, DecideEdit}

// Decisions returns the decisions that the approval offers. It returns none for
// a question. The index of a decision is the Option of its Control, or the
// Question of a Control that opens a native input.
func (r Ask) Decisions() []Decision {
	a := r.Approval
	switch {
	case a == nil:
		return nil
	case len(a.Decisions) > 0:
		return a.Decisions
	}
	d := []Decision{DecideDeny, DecideDenyReason}
	for _, s := range a.Scopes {
		d = append(d, Decision(s))
	}
	return d
}

// Approves reports whether the decision is an approval.
func (d Decision) Approves() bool {
	switch d.Kind() {
	case DecideOnce, DecideSession, DecideAlways, DecideEdit:
		return true
	}
	return false
}

// cardOrder lists the decisions in order of preference for the two controls of
// a card. moreOrder lists the decisions behind ActionMore in display order.
var (
	cardOrder = []Decision{
		DecideOnce, DecideSession, DecideAlways, DecideEdit, DecideDeny, DecideDenyReason, DecideRespond, DecideDenyAlways, DecideDenyStop,
	}
	moreOrder = []Decision{
		DecideOnce, DecideSession, DecideAlways, DecideEdit, DecideRespond, DecideDeny, DecideDenyReason, DecideDenyAlways, DecideDenyStop,
	}
)

// OnCard returns the indexes of the decisions with a control on the card: one
// approval and one denial, if they are offered.
func (r Ask) OnCard() []int {
	if r.Approval == nil {
		return nil
	}
	return onCard(r.Decisions())
}

func onCard(all []Decision) []int {
	var out []int
	for _, approves := range [...]bool{true, false} {
		for _, d := range cardOrder {
			if n := slices.Index(all, d); n >= 0 && d.Approves() == approves {
				out = append(out, n)
				break
			}
		}
	}
	return out
}

// More returns the indexes of all other decisions, in display order.
func (r Ask) More() []int {
	var out []int
	all := r.Decisions()
	shown := onCard(all)
	for _, kind := range moreOrder {
		for n, d := range all {
			if d.Kind() == kind && !slices.Contains(shown, n) {
				out = append(out, n)
			}
		}
	}
	return out
}

// DecisionControl returns the control of decision n of an approval, on a card
// or in a list of decisions. The control decides immediately, opens the native
// input that the decision requires, or opens the statement of its effect.
func (r Ask) DecisionControl(n int) (action Action, question, option int) {
	switch d := r.Decisions()[n]; {
	case d == DecideDenyReason:
		return ActionInput, 0, OptionReason
	case d == DecideEdit:
		return ActionInput, n, OptionEdit
	case d != DecideOnce && d != DecideDeny:
		return ActionInput, n, OptionDecide
	case d.OnePress(r.Approval):
		return ActionChoose, 0, n
	}
	return ActionInput, n, OptionConfirm
}

// StatedControl returns the control of decision n of an approval, for use below
// the statement of its effect. The control decides immediately, or opens the
// native input that the decision requires.
func (r Ask) StatedControl(n int) (action Action, question, option int) {
	action, question, option = r.DecisionControl(n)
	if option == OptionDecide && action == ActionInput && r.Decisions()[n].OnePress(r.Approval) {
		action = ActionSubmit
	}
	return action, question, option
}

// Denies reports whether the decision is a plain denial. A response to the
// agent is not a plain denial, because the agent acts on its text.
func (d Decision) Denies() bool { return !d.Approves() && d != DecideRespond }

// OnePress reports whether the decision needs no text, so that one click on its
// control is enough.
func (d Decision) OnePress(a *Approval) bool {
	return d != DecideDenyReason && d != DecideRespond && d != DecideEdit && (!d.Approves() || a.Confirm == "")
}

// Given holds the texts that a person typed with a decision.
type Given struct {
	Reason  string          // reason for a denial, or the answer instead of an approval
	Input   json.RawMessage // replaces Approval.Input
	Confirm string          // text for Approval.Confirm
}

// Decide converts a decision into a response. If a text is missing, it returns
// a sentence for people instead. It returns CodeInvalid if the decision is not
// offered. The caller sets the ApprovedDigest of a response that has an Input.
func (r Ask) Decide(d Decision, g Given) (Response, string, error) {
	if !slices.Contains(r.Decisions(), d) {
		return Response{}, "", Errorf(CodeInvalid, "decision: %q is not offered", d).WithHint("use one of %s", Listed(r.Decisions()))
	}
	if a := r.Approval; a.Confirm != "" && d.Approves() && !sameTyped(a.Confirm, g.Confirm) {
		return Response{}, "Type exactly: " + a.Confirm, nil
	}
	switch d.Kind() {
	case DecideDeny, DecideDenyReason, DecideDenyAlways:
		return Response{State: StateDenied, Reason: g.Reason, Scope: d.denied()}, "", nil
	case DecideDenyStop:
		return Response{State: StateDenied, Reason: g.Reason, Stop: true}, "", nil
	case DecideRespond:
		if strings.TrimSpace(g.Reason) == "" {
			return Response{}, "Enter an answer.", nil
		}
		return Response{State: StateDenied, Reason: g.Reason, Respond: true}, "", nil
	case DecideEdit:
		return r.Approval.edited(g.Input)
	}
	return Response{State: StateApproved, Scope: Scope(d)}, "", nil
}

// phones maps each typographic character that phones and editors insert while
// people type. The value is the plain character.
var phones = strings.NewReplacer("’", "'", "‘", "'", "ʼ", "'", "“", `"`, "”", `"`, "„", `"`, "–", "-", "‑", "-", "…", "...", "\u00a0", " ")

// sameTyped reports whether a person has typed the required text, with any
// keyboard. A dash matches one or two hyphens. A letter with an accent matches
// the same letter in two characters.
func sameTyped(want, typed string) bool {
	plain := func(s, dash string) string {
		return strings.Join(strings.Fields(strings.ReplaceAll(phones.Replace(norm.NFC.String(s)), "—", dash)), " ")
	}
	return strings.TrimSpace(typed) == want || plain(typed, "-") == plain(want, "-") || plain(typed, "--") == plain(want, "--")
}

// edited returns the approval of an edited input.
func (a Approval) edited(input json.RawMessage) (Response, string, error) {
	if len(input) > MaxInput {
		return Response{}, "That is too long. Nothing was approved.", nil
	}
	var text bytes.Buffer
	if err := json.Compact(&text, input); err != nil || !utf8.Valid(input) {
		return Response{}, "That is not valid JSON. Nothing was approved.", nil
	}
	if was := bytes.TrimSpace(a.Input); was[0] != text.Bytes()[0] && (was[0] == '{' || was[0] == '[') {
		return Response{}, "The input must remain a JSON object or list. Nothing was approved.", nil
	}
	if err := CheckJSON(text.Bytes()); err != nil {
		return Response{}, "That cannot be approved: " + PublicError(err).Message + ". Nothing was approved.", nil
	}
	r := Response{State: StateApproved, Scope: ScopeOnce}
	if !bytes.Equal(ReadableJSON(text.Bytes()), ReadableJSON(a.Input)) {
		r.Input = text.Bytes()
	}
	return r, "", nil
}

// EditText returns the input of an approval, indented for editing.
func (a Approval) EditText() string {
	var b bytes.Buffer
	input := ReadableJSON(a.Input)
	if err := json.Indent(&b, input, "", "  "); err != nil {
		return string(input)
	}
	return b.String()
}

// WithInput returns the request with another input, such as an input that a
// person edited and approved.
func (r Ask) WithInput(input json.RawMessage) Ask {
	a := *r.Approval
	a.Input = input
	r.Approval = &a
	return r
}

// normalizeDecisions checks the decisions to offer, and derives the scopes from
// them.
func (a *Approval) normalizeDecisions(session string) error {
	if len(a.Decisions) == 0 {
		return nil
	}
	given := a.Scopes
	a.Scopes, a.Decisions = nil, slices.Clone(a.Decisions)
	for n, d := range a.Decisions {
		switch {
		case !a.known(d):
			return Errorf(CodeInvalid, "approval.decisions[%d]: unknown decision %q", n, d).WithHint("use decisions of %v", allDecisions)
		case slices.Contains(a.Decisions[:n], d):
			return Errorf(CodeInvalid, "approval.decisions[%d]: duplicate decision %q", n, d)
		}
	}
	slices.SortFunc(a.Decisions, orderDecisions)
	if len(a.Input) == 0 || utf8.RuneCountInString(a.EditText()) > DefaultMaxLength {
		a.Decisions = slices.DeleteFunc(a.Decisions, func(d Decision) bool { return d == DecideEdit })
	}
	if session == "" {
		a.Decisions = slices.DeleteFunc(a.Decisions, func(d Decision) bool { return d.Kind() == DecideSession })
	}
	for _, d := range a.Decisions {
		if s := Scope(d); ScopeOrder(s) >= 0 {
			a.Scopes = append(a.Scopes, s)
		}
	}
	if len(given) > 0 && !slices.Equal(given, a.Scopes) {
		return Errorf(CodeInvalid, "approval.scopes: do not match approval.decisions").WithHint("omit approval.scopes; approval.decisions already lists the scopes")
	}
	if !slices.ContainsFunc(a.Decisions, Decision.Approves) {
		return Errorf(CodeInvalid, "approval.decisions: at least one must approve").WithHint("add once, session, always or edit")
	}
	if a.Confirm != "" && slices.Contains(a.Decisions, DecideEdit) {
		return Errorf(CodeInvalid, "approval.decisions: edit is not allowed with approval.confirm").WithHint("remove one of them")
	}
	return nil
}

// checkWords checks the texts that people read and type.
func (a *Approval) checkWords() error {
	if a.Confirm != strings.TrimSpace(a.Confirm) || strings.ContainsAny(a.Confirm, "\r\n\t") {
		return Errorf(CodeInvalid, "approval.confirm: must be a single line without leading or trailing spaces")
	}
	for s := range a.ScopeNotes {
		if ScopeOrder(s) < 0 && !slices.Contains(a.Decisions, Decision(s)) {
			return Errorf(CodeInvalid, "approval.scope_notes: unknown scope %q", s).WithHint("use once, session or always")
		}
	}
	return nil
}

// maxVariants limits the options of one kind that an agent offers.
const maxVariants = 9

// varied lists the decisions that an agent may offer several times under
// different names, because it remembers approvals itself.
var varied = []Decision{DecideDeny, DecideDenyAlways, DecideOnce, DecideSession, DecideAlways}

// Variant returns the n-th option of a decision, counted from 1. The first
// option is the decision itself. The second option of always is always:2.
func (d Decision) Variant(n int) Decision {
	if n <= 1 {
		return d
	}
	return d + Decision(":"+strconv.Itoa(n))
}

// Kind returns a decision without the number of its variant.
func (d Decision) Kind() Decision { return Decision(kindOfVariant(string(d))) }

// Kind returns a scope without the number of its variant.
func (s Scope) Kind() Scope { return Scope(kindOfVariant(string(s))) }

// Number returns the number of the variant of a scope, counted from 1.
func (s Scope) Number() int {
	_, n, _ := strings.Cut(string(s), ":")
	number, err := strconv.Atoi(n)
	if err != nil {
		return 1
	}
	return number
}

func kindOfVariant(s string) string {
	kind, _, _ := strings.Cut(s, ":")
	return kind
}

// known reports whether an approval may offer a decision.
func (a *Approval) known(d Decision) bool {
	if d.Kind() == d {
		return slices.Contains(allDecisions, d)
	}
	for n := 2; n <= maxVariants; n++ {
		if d == d.Kind().Variant(n) {
			return a.AgentRemembers && slices.Contains(varied, d.Kind())
		}
	}
	return false
}

// orderDecisions compares decisions by their kind, and then by their number.
func orderDecisions(x, y Decision) int {
	return cmp.Or(slices.Index(allDecisions, x.Kind())-slices.Index(allDecisions, y.Kind()), strings.Compare(string(x), string(y)))
}

// denied returns the scope of a denial: the variant of the decision, if any.
func (d Decision) denied() Scope {
	_, number, varied := strings.Cut(string(d), ":")
	switch {
	case d.Kind() == DecideDenyAlways && varied:
		return ScopeAlways + Scope(":"+number)
	case d.Kind() == DecideDenyAlways:
		return ScopeAlways
	case varied:
		return ScopeOnce + Scope(":"+number)
	}
	return ""
}

// OptionName returns the agent's name for a decision. It returns "" unless the
// agent offers several decisions of its kind.
func (r Ask) OptionName(d Decision) string {
	same := 0
	for _, other := range r.Decisions() {
		if other.Kind() == d.Kind() {
			same++
		}
	}
	if same < 2 {
		return ""
	}
	return r.Approval.ScopeNotes[Scope(d)]
}
