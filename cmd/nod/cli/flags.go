package cli

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/nodbridge/nod/bridge/timespan"
)

// duration is the value of a flag that takes a duration, such as 30d.
type duration struct{ to *time.Duration }

func DurationVar(f *pflag.FlagSet, to *time.Duration, name string, standard time.Duration, usage string) {
	*to = standard
	f.Var(duration{to}, name, usage)
}

// String implements pflag.Value. The help leaves out the default "0".
func (d duration) String() string {
	if d.to == nil || *d.to == 0 {
		return "0"
	}
	return timespan.Format(*d.to)
}

// Set implements pflag.Value.
func (d duration) Set(s string) error {
	v, err := timespan.Parse(s)
	if err != nil {
		return errors.New("use a duration such as " + timespan.Examples)
	}
	*d.to = v
	return nil
}

// Type implements pflag.Value.
func (d duration) Type() string { return "duration" }

// choice is the value of a flag that accepts one of a few words.
type choice struct {
	to     *string
	values []string
}

func ChoiceVar(f *pflag.FlagSet, to *string, name, standard, usage string, values ...string) {
	*to = standard
	f.Var(choice{to, values}, name, usage)
}

// String implements pflag.Value.
func (c choice) String() string {
	if c.to == nil {
		return ""
	}
	return *c.to
}

// Set implements pflag.Value.
func (c choice) Set(s string) error {
	if !slices.Contains(c.values, s) {
		return errors.New("use " + orList(c.values))
	}
	*c.to = s
	return nil
}

// Type implements pflag.Value.
func (c choice) Type() string { return "string" }

// orList joins words in the form "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Choices returns the words that a flag accepts, if it accepts only a few.
func Choices(f *pflag.Flag) ([]string, bool) {
	c, ok := f.Value.(choice)
	return c.values, ok
}
