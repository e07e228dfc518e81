package bridge

import (
	"encoding/json"
	"errors"
	"math"
	"math/big"
)

// numbers holds limits of a number in a form for which a question has no
// fields. A nil field means no limit.
type numbers struct{ above, below, step *float64 }

// numberType sets the limits of a number. It rounds the limits of an integer
// inward.
func (f *Field) numberType(at string, all memberList) error {
	n := &numbers{}
	minimum, above, err := limits(at, "minimum", "exclusiveMinimum", all)
	if err != nil {
		return err
	}
	maximum, below, err := limits(at, "maximum", "exclusiveMaximum", all)
	if err != nil {
		return err
	}
	if err := decode(at+".multipleOf", all.get("multipleOf"), &n.step); err != nil {
		return err
	}
	if n.step != nil && *n.step <= 0 {
		return Errorf(CodeInvalid, "%s.multipleOf: must be more than 0", at)
	}
	f.Min, f.Max = minimum, maximum
	if !f.Integer {
		n.above, n.below = above, below
		above, below = nil, nil
	}
	if above != nil {
		if least := math.Floor(*above) + 1; f.Min == nil || least > *f.Min {
			f.Min = &least
		}
	}
	if below != nil {
		if most := math.Ceil(*below) - 1; f.Max == nil || most < *f.Max {
			f.Max = &most
		}
	}
	if *n != (numbers{}) {
		f.numbers = n
	}
	return nil
}

// limits returns the inclusive limit and the exclusive limit of a number. In
// old versions of JSON Schema, the exclusive keyword is true or false, and true
// makes the other limit exclusive.
func limits(at, plain, exclusive string, all memberList) (included, excluded *float64, err error) {
	var only bool
	if json.Unmarshal(all.get(exclusive), &only) == nil {
		all = all.without(exclusive)
	}
	err = FirstOf(errors.Join(decode(at+"."+plain, all.get(plain), &included), decode(at+"."+exclusive, all.get(exclusive), &excluded)))
	if only {
		return nil, included, err
	}
	return included, excluded, err
}

// checkNumber is Check for a number with its own limits.
func (f Field) checkNumber(a Answer, other string) (Answer, string) {
	a, problem := f.Question.Check(a, other)
	switch {
	case problem == "Enter "+f.Question.bounds()+".", problem == "" && !a.Empty() && !f.numbers.take(a.String()):
		return Answer{}, "Enter " + f.bounds() + "."
	}
	return a, problem
}

// take reports whether a number is within the limits. The number must be valid
// JSON.
func (n numbers) take(s string) bool {
	var v float64
	if json.Unmarshal([]byte(s), &v) != nil || n.above != nil && v <= *n.above || n.below != nil && v >= *n.below {
		return false
	}
	if n.step == nil || v == 0 { // the exponent of any other number is small
		return true
	}
	value, ok := new(big.Rat).SetString(s)
	step, known := new(big.Rat).SetString(formatNumber(*n.step))
	return ok && known && new(big.Rat).Quo(value, step).IsInt()
}

// Example is [Question.Example] with the limits of a number.
func (f Field) Example() string {
	if f.numbers != nil {
		return f.bounds()
	}
	return f.Question.Example()
}

// bounds describes the accepted numbers.
func (f Field) bounds() string {
	s := f.Question.bounds()
	for _, end := range []struct {
		words string
		value *float64
	}{{"more than ", f.numbers.above}, {"less than ", f.numbers.below}, {"a multiple of ", f.numbers.step}} {
		if end.value != nil {
			s += ", " + end.words + formatNumber(*end.value)
		}
	}
	return s
}
