package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge"
)

// TestChoices checks which options a text stands for, including those with commas.
func TestChoices(t *testing.T) {
	t.Parallel()
	options := func(values ...string) []bridge.Option {
		out := make([]bridge.Option, len(values))
		for n, v := range values {
			out[n].Value = v
		}
		return out
	}
	for _, c := range []struct {
		options []bridge.Option
		text    string
		want    []string // nil if it is an error
	}{
		{options("eu", "us"), "eu", []string{"eu"}},
		{options("eu", "us"), "eu,us", []string{"eu", "us"}},
		{options("eu", "us"), "eu, us", []string{"eu", "us"}},
		{options("Yes, always", "Yes", "No"), "Yes, always", []string{"Yes, always"}},
		{options("Yes, always", "Yes", "No"), "No,Yes, always", []string{"No", "Yes, always"}},
		{options("Yes, always", "Yes", "No"), "Yes, always, Yes", []string{"Yes, always", "Yes"}},
		{options("eu,us", "eu", "us"), "eu,us", nil},
		{options("eu,us", "eu", "us"), `["eu,us"]`, []string{"eu,us"}},
		{options("eu,us", "eu", "us"), `["eu","us"]`, []string{"eu", "us"}},
		{options(`["a"]`, "a"), `["a"]`, []string{`["a"]`}},
		{options("eu", "us"), "eu,asia", []string{"eu", "asia"}}, // the daemon says what is wrong
		{options("a, b", "a", "b", "b, a"), strings.Repeat("a, b, ", 200) + "a", nil},
		{options("a", "a,a"), strings.Repeat("a,", 90) + "x", strings.Split(strings.Repeat("a,", 90)+"x", ",")},
		{nil, "x", []string{"x"}},
		{options("eu"), "", []string{""}},
	} {
		got, err := choices(bridge.Question{ID: "q", Options: c.options}, c.text)
		if !slices.Equal(got.List, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%q: %q, %v; want %q", c.text, got.List, err, c.want)
		}
	}
}
