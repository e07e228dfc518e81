package main

import (
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/caller"
	"github.com/nodbridge/nod/config/files"
)

// typedWidgets maps the flags for typed answers to their widgets. The flag for
// a URL is --link, because --url is the URL of the daemon.
var typedWidgets = map[string]struct {
	widget bridge.Widget
	help   string
}{
	"text": {bridge.WidgetText, "one line of text"}, "textarea": {bridge.WidgetTextarea, "several lines of text"},
	"number": {bridge.WidgetNumber, "number"}, "date": {bridge.WidgetDate, "date"}, "time": {bridge.WidgetTime, "time of day"},
	"datetime": {bridge.WidgetDateTime, "date, time and UTC offset"}, "email": {bridge.WidgetEmail, "email address"},
	"link": {bridge.WidgetURL, "URL"},
}

func question(cmd *cobra.Command, choices map[bridge.Widget]*[]string, q bridge.Question) (bridge.Question, error) {
	q.Widget = bridge.WidgetConfirm
	chosen := 0
	for w, options := range choices {
		if !cmd.Flags().Changed(string(w)) {
			continue
		}
		chosen++
		q.Widget = w
		for _, o := range *options {
			value, label, _ := strings.Cut(o, "=")
			q.Options = append(q.Options, bridge.Option{Value: value, Label: label})
		}
	}
	for flag, w := range typedWidgets {
		if on, err := cmd.Flags().GetBool(flag); err == nil && on {
			chosen++
			q.Widget = w.widget
		}
	}
	if chosen > 1 {
		return q, bridge.Errorf(bridge.CodeInvalid, "more than one widget").WithHint("to ask several questions, use --request questions.json")
	}
	return q, nil
}

// besideFile are the flags that do not describe the request, and can be used
// with a file that does.
var besideFile = []string{"request", "key", "keep", "json", "url", "patience"}

// readRequest reads a request from a file. A prompt on the command line
// overrides the prompt of the file, and a flag that the file would override is
// an error.
func readRequest(cmd *cobra.Command, file string, r *bridge.Request) error {
	var more []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(besideFile, f.Name) {
			more = append(more, "--"+f.Name)
		}
	})
	if len(more) > 0 {
		return bridge.Errorf(bridge.CodeInvalid, "%s cannot be used with --request", strings.Join(more, ", ")).
			WithHint("set the values in %s", file)
	}
	raw, err := readInput(cmd.InOrStdin(), file)
	if err != nil {
		return err
	}
	flags := *r
	if err := bridge.DecodeBody(raw, r); err != nil {
		e := bridge.PublicError(err)
		e.Message = "request: " + file + ": " + e.Message
		return e
	}
	if flags.Prompt != "" {
		r.Prompt = flags.Prompt
	}
	return nil
}

// fromFiles turns the question into a plan review or a form if a file is given.
func fromFiles(cmd *cobra.Command, q *bridge.Question, plan, schema string) error {
	switch {
	case plan == "" && schema == "":
		return nil
	case plan != "" && schema != "" || q.Widget != bridge.WidgetConfirm:
		return bridge.Errorf(bridge.CodeInvalid, "more than one widget").WithHint("to ask several questions, use --request questions.json")
	}
	raw, err := readInput(cmd.InOrStdin(), plan+schema)
	if err != nil {
		return err
	}
	if plan != "" {
		q.Widget, q.Plan = bridge.WidgetPlanReview, string(raw)
		return nil
	}
	if !json.Valid(raw) {
		return bridge.Errorf(bridge.CodeInvalid, "%s: invalid JSON", schema)
	}
	q.Widget, q.Schema = bridge.WidgetForm, raw
	return nil
}

// readInput reads a file, or standard input if the name is "-".
func readInput(stdin io.Reader, file string) ([]byte, error) {
	var raw []byte
	var err error
	if file == "-" {
		raw, err = io.ReadAll(stdin)
	} else {
		raw, err = files.Read(file, caller.MaxInput)
	}
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "cannot read the file")
	}
	return raw, nil
}
