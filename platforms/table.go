package platforms

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// About is the subject of an error of a service. It determines the calls that
// the error stops.
type About string

// The subjects of errors.
const (
	AboutService    About = "service"    // the service does not work, or the call may have had an effect
	AboutLimit      About = "limit"      // too many calls
	AboutAccount    About = "account"    // the token
	AboutRival      About = "rival"      // another program uses the account
	AboutSetting    About = "setting"    // a setting of the account, which nod can change
	AboutMoved      About = "moved"      // the chat has another ID
	AboutPermission About = "permission" // a permission of this call only; other calls continue
	AboutChannel    About = "channel"
	AboutClosed     About = "closed channel" // the channel is closed or gone
	AboutThread     About = "thread"         // the channel itself may accept the message
	AboutPerson     About = "person"
	AboutDeleted    About = "deleted"  // the message no longer exists
	AboutFrozen     About = "frozen"   // the message cannot be changed
	AboutContent    About = "content"  // the content of this call
	AboutFeature    About = "feature"  // a feature that the service or the app lacks
	AboutLate       About = "late"     // the time to respond has passed
	AboutNothing    About = "no error" // the requested state already exists
)

// effect holds nod's reaction to an error.
type effect struct {
	code  bridge.Code
	is    error  // error of package bridge; nil if the code is sufficient
	means string // meaning for people
	does  string // for the documentation
}

var effects = map[About]effect{
	AboutService: {bridge.CodeUnavailable, nil, "the chat service does not work at the moment",
		"Repeats the call. A request waits, and nod shows it as late. After six failures, its card appears without its text, because the service may accept that."},
	AboutLimit: {bridge.CodeRateLimited, nil, "the chat service accepts no more messages for now",
		"Waits as long as the service requires. nod shows the request as late, or as undeliverable if the wait would exceed its timeout."},
	AboutAccount: {bridge.CodeForbidden, bridge.ErrRefused, "the chat service refuses nod's token",
		"Checks the token a second later. If the token is refused again, the platform is down until it is accepted. Requests wait, and nod shows them as late."},
	AboutRival: {bridge.CodeUnavailable, nil, "another program uses nod's token",
		"Continues. Health and `nod doctor` name the other program."},
	AboutSetting: {bridge.CodeUnavailable, nil, "a setting prevents it",
		"Changes the setting that prevents the call, and repeats it."},
	AboutMoved: {bridge.CodeUnavailable, nil, "the group has a new ID",
		"Repeats the call with the new ID, and posts pending cards again there."},
	AboutPermission: {bridge.CodeForbidden, nil, "the app lacks a permission",
		"Gives up this call only. The card of the call is undeliverable there."},
	AboutChannel: {bridge.CodeForbidden, nil, "nod may not post in the channel",
		"Gives up this channel. Other channels are not affected."},
	AboutClosed: {bridge.CodeForbidden, bridge.ErrClosed, "the channel is archived or gone",
		"Gives up this channel. A pending card in a thread is posted once more, to the channel of the thread. Any other pending card is undeliverable there."},
	AboutThread: {bridge.CodeForbidden, nil, "the thread is locked or gone",
		"Posts to the channel if nod started the thread, and gives up the thread otherwise."},
	AboutPerson: {bridge.CodeForbidden, nil, "nod cannot reach this person there",
		"Tells the person in another chat, if possible."},
	AboutDeleted: {bridge.CodeNotFound, bridge.ErrDeleted, "someone deleted the message",
		"Posts a pending card again, once. The second time, the request is undeliverable there."},
	AboutFrozen: {bridge.CodeConflict, bridge.ErrFrozen, "the message can no longer be changed",
		"Writes the outcome as a reply to the card, because the card keeps its buttons."},
	AboutContent: {bridge.CodeInvalid, nil, "the chat service refused the message",
		"Gives up this call only, and logs it. If the call was to show an outcome, the card shows the outcome without the text of the request."},
	AboutFeature: {bridge.CodeUnsupported, nil, "the chat service lacks a feature",
		"Works without the feature."},
	AboutLate: {bridge.CodeConflict, nil, "the time to respond has passed",
		"Asks the person to click again. A recorded decision stays recorded."},
	AboutNothing: {"", nil, "", "Continues."},
}

// Row is a row of the table of a service's errors.
type Row struct {
	About  About
	Errors []string // name of the error in the service
	// Fix is the action for the administrator. It is the hint of the error.
	Fix string
	// Wait is the time to wait if the service does not name one.
	Wait time.Duration
}

// Table lists the errors of a service. An error belongs to the first row that
// matches it, or to the last row if none matches.
type Table []Row

// AnyOther is the row for errors that a table does not list.
const AnyOther = "any other"

// Find returns the row of the first error that matches.
func (t Table) Find(matches func(name string) bool) Row {
	for _, row := range t {
		for _, name := range row.Errors {
			if matches(name) {
				return row
			}
		}
	}
	return t[len(t)-1]
}

// Failure is the cause of an error response of a service.
type Failure struct {
	About About
	Cause error // error of the SDK; may be nil
}

// Error implements error.
func (f Failure) Error() string {
	if f.Cause == nil {
		return "about the " + string(f.About)
	}
	return f.Cause.Error()
}

// Unwrap returns the cause, and the error of package bridge for the subject of
// the failure.
func (f Failure) Unwrap() []error {
	var out []error
	for _, err := range []error{f.Cause, effects[f.About].is} {
		if err != nil {
			out = append(out, err)
		}
	}
	return out
}

// AboutOf returns the subject of an error. It is empty for an error without a
// response of a service, such as a lost connection.
func AboutOf(err error) About {
	f, _ := errors.AsType[Failure](err)
	return f.About
}

// Is reports whether the subject of an error is one of the given subjects.
func Is(err error, about ...About) bool {
	of := AboutOf(err)
	for _, a := range about {
		if of == a && of != "" {
			return true
		}
	}
	return false
}

// Err returns the error of a row with a message and a cause, which may be nil. It
// returns nil for a row about nothing.
func (r Row) Err(cause error, format string, args ...any) error {
	if r.About == AboutNothing {
		return nil
	}
	e := bridge.Wrap(effects[r.About].code, Failure{r.About, cause}, format, args...)
	e.Hint, e.RetryAfter, e.Means = r.Fix, r.Wait, effects[r.About].means
	return e
}

// WithWait returns the row with the wait time of the service, if the service
// named one.
func (r Row) WithWait(d time.Duration) Row {
	if d > 0 {
		r.Wait = d
	}
	return r
}

// NotAsked returns the text for a person whose click should have opened a
// dialog or posted a prompt, after the service refused it. In this case,
// nothing was recorded.
func NotAsked(service string, err error) string {
	e := bridge.PublicError(err)
	again := " Nothing was recorded. Click again"
	switch AboutOf(err) {
	case AboutLimit:
		return fmt.Sprintf("%s accepts no more messages from nod here right now.%s in %d seconds.", service, again, max(1, int(math.Ceil(e.RetryAfter.Seconds()))))
	case AboutThread:
		return "This thread or topic is closed, so nod cannot ask you here. Nothing was recorded. Open it again, or answer elsewhere."
	case "", AboutService, AboutLate, AboutAccount, AboutMoved, AboutDeleted:
		return "nod could not ask you in time." + again + "."
	}
	return service + " does not let nod ask you here: " + e.Message + ". Nothing was recorded, and another click will not help. " +
		"Tell your nod administrator, or answer elsewhere."
}

// Markdown returns the table for the documentation.
func (t Table) Markdown() string {
	var b strings.Builder
	b.WriteString("| Error | What nod does | What you do |\n|---|---|---|\n")
	for _, row := range t {
		b.WriteString("| `" + strings.Join(row.Errors, "`, `") + "` | " + effects[row.About].does + " | " + sentence(row.Fix) + " |\n")
	}
	return b.String()
}

func sentence(fix string) string {
	if fix == "" {
		return "Nothing."
	}
	return strings.ToUpper(fix[:1]) + fix[1:] + "."
}
