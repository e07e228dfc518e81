package sandbox

import (
	"strconv"
	"strings"
	"time"
)

// typedState is the state of an input of one kind of value. What the client
// would not let a member type is an error here.
func typedState(kind string, e object, given []string, set bool) (object, error) {
	names := map[string][2]string{"datepicker": {"initial_date", "selected_date"}, "timepicker": {"initial_time", "selected_time"}}
	initial, value := "initial_value", "value"
	if n, ok := names[kind]; ok {
		initial, value = n[0], n[1]
	}
	text := str(e, initial)
	if set {
		text = strings.Join(given, "")
	}
	if text == "" {
		return object{"type": kind, value: nil}, nil
	}
	var err error
	switch kind {
	case "datepicker":
		_, err = time.Parse(time.DateOnly, text)
	case "timepicker":
		_, err = time.Parse("15:04", text)
	case "number_input":
		_, err = strconv.ParseFloat(text, 64)
	}
	return object{"type": kind, value: text}, err
}

// clientErrors are what the client itself finds wrong with a view's inputs.
func clientErrors(blocks []any, values object) map[string]string {
	errs := requiredErrors(blocks, values)
	for _, b := range blocks {
		block, _ := b.(object)
		e := sub(block, "element")
		text := str(sub(sub(values, str(block, "block_id")), str(e, "action_id")), "value")
		if text == "" {
			continue
		}
		problem := ""
		switch str(e, "type") {
		case "email_text_input":
			if !strings.Contains(text, "@") {
				problem = "Enter a valid email address."
			}
		case "url_text_input":
			if !strings.Contains(text, "://") {
				problem = "Enter a valid URL."
			}
		case "number_input":
			n, _ := strconv.ParseFloat(text, 64)
			least, err1 := strconv.ParseFloat(str(e, "min_value"), 64)
			most, err2 := strconv.ParseFloat(str(e, "max_value"), 64)
			if err1 == nil && n < least || err2 == nil && n > most || e["is_decimal_allowed"] == false && strings.Contains(text, ".") {
				problem = "Enter a number that is allowed."
			}
		case "plain_text_input":
			if least, ok := number(e, "min_length"); ok && runes(text) < int(least) {
				problem = "Enter more characters."
			}
		}
		if problem != "" {
			errs[str(block, "block_id")] = problem
		}
	}
	return errs
}
