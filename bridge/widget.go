package bridge

import "strings"

// Widget is the input type of a question. Its appearance depends on the
// platform.
type Widget string

// The widgets. The last three have several fields; see [Ask.Fields].
const (
	WidgetButtons         Widget = "buttons"          // one click answers
	WidgetConfirm         Widget = "confirm"          // two buttons, Yes and No by default
	WidgetSelect          Widget = "select"           // a drop-down menu and OK
	WidgetRadio           Widget = "radio"            // a vertical list and Submit, one choice
	WidgetActionSelection Widget = "action_selection" // a list of actions and Continue
	WidgetCheckbox        Widget = "checkbox"         // a vertical list and Submit, many choices
	WidgetText            Widget = "text"             // one line
	WidgetTextarea        Widget = "textarea"         // many lines
	WidgetNumber          Widget = "number"           // yields a JSON number
	WidgetDate            Widget = "date"             // YYYY-MM-DD
	WidgetTime            Widget = "time"             // HH:MM of a 24-hour clock
	WidgetDateTime        Widget = "datetime"         // RFC 3339 with an offset
	WidgetEmail           Widget = "email"            // one email address
	WidgetURL             Widget = "url"              // an absolute URL
	WidgetPlanReview      Widget = "plan_review"      // yields {decision, feedback?}
	WidgetFeedback        Widget = "feedback"         // yields an object from item ID to text
	WidgetForm            Widget = "form"             // yields an object that conforms to its schema
)

// widgetKinds holds the properties of each widget.
var widgetKinds = map[Widget]struct{ typed, oneTap, composite bool }{
	WidgetButtons: {oneTap: true}, WidgetConfirm: {oneTap: true},
	WidgetSelect: {}, WidgetRadio: {}, WidgetActionSelection: {}, WidgetCheckbox: {},
	WidgetText: {typed: true}, WidgetTextarea: {typed: true}, WidgetNumber: {typed: true}, WidgetDate: {typed: true},
	WidgetTime: {typed: true}, WidgetDateTime: {typed: true}, WidgetEmail: {typed: true}, WidgetURL: {typed: true},
	WidgetPlanReview: {composite: true}, WidgetFeedback: {composite: true}, WidgetForm: {composite: true},
}

const knownWidgets = "buttons, confirm, select, radio, action_selection, checkbox, text, textarea, number, date, time, datetime, email, url, plan_review, feedback, form"

// IsRequired reports whether the question must be answered.
func (q Question) IsRequired() bool { return q.Required == nil || *q.Required }

// Multiple reports whether the answer is a list.
func (q Question) Multiple() bool { return q.Widget == WidgetCheckbox }

// FreeText reports whether the answer is typed rather than chosen.
func (q Question) FreeText() bool { return widgetKinds[q.Widget].typed }

// OneTap reports whether one click on an option is a complete answer.
func (q Question) OneTap() bool { return widgetKinds[q.Widget].oneTap }

// Composite reports whether the question has several fields and its answer is
// an object.
func (q Question) Composite() bool { return widgetKinds[q.Widget].composite }

// Example returns the placeholder of an empty input. It shows the format of the
// answer. It is empty for plain text.
func (q Question) Example() string {
	switch q.Widget {
	case WidgetNumber:
		return q.bounds()
	case WidgetDate:
		return "YYYY-MM-DD"
	case WidgetTime:
		return "HH:MM, 24 hours"
	case WidgetDateTime:
		return "YYYY-MM-DDTHH:MM:SSZ"
	case WidgetEmail:
		return "name@example.com"
	case WidgetURL:
		return "https://example.com/"
	}
	return ""
}

// bounds describes the accepted numbers.
func (q Question) bounds() string {
	s := "a number"
	if q.Integer {
		s = "a whole number"
	}
	var ends []string
	if q.Min != nil {
		ends = append(ends, "at least "+formatNumber(*q.Min))
	}
	if q.Max != nil {
		ends = append(ends, "at most "+formatNumber(*q.Max))
	}
	if len(ends) > 0 {
		s += ", " + strings.Join(ends, ", ")
	}
	return s
}
