package main

import (
	"context"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/bridge/client"
	"github.com/nodbridge/nod/cmd/nod/cli"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/kinds"
	"github.com/nodbridge/nod/render"
)

// completionTime limits how long the shell waits for suggestions.
const completionTime = 2 * time.Second

// suggester returns suggestions for an argument or a flag. It returns none on
// failure, because a completion cannot report an error.
type suggester func(ctx context.Context, s suggesting) []string

// suggesting is a request for suggestions.
type suggesting struct {
	cmd  *cobra.Command
	args []string // arguments before the one to complete
}

// read returns the values that f reads from the daemon, or nothing after any failure.
func read[T any](s suggesting, f func(cl *client.Client) (T, error)) (out T) {
	if cl := s.client(); cl != nil {
		if got, err := f(cl); err == nil {
			return got
		}
	}
	return out
}

// client returns a client that fails fast, or nil.
func (s suggesting) client() *client.Client {
	c := connection{patience: time.Millisecond}
	if f := s.cmd.Flags().Lookup("url"); f != nil {
		c.url = f.Value.String()
	}
	cl, err := c.client()
	if err != nil {
		return nil
	}
	return cl
}

// config returns the config of this user, or an empty one.
func (s suggesting) config() config.Config {
	path := configPath()
	if f := s.cmd.Flags().Lookup("config"); f != nil {
		path = f.Value.String()
	}
	c, _ := config.Read(path, os.Environ()) // even an invalid config has names to suggest
	return c
}

// complete adds suggestions for arguments and flags to all commands.
func complete(root *cobra.Command) {
	flags := map[string]suggester{
		"route": routeNames, "session": sessionNames, "requester": personNames, "person": personNames, "agent": agentNames,
		"scopes":    fixed(texts(bridge.ScopeOnce, bridge.ScopeSession, bridge.ScopeAlways)...),
		"platforms": fixed(kinds.Names()...),
	}
	arguments := map[string][]suggester{
		"show": {requestIDs}, "cancel": {pendingIDs}, "answer": {pendingIDs, answerWords},
		"sessions stop": {sessionNames}, "sessions resume": {sessionNames}, "sessions steer": {sessionNames, nothing}, "sessions messages": {sessionNames},
		"grants revoke": {grantIDs, grantIDs, grantIDs, grantIDs},
		"ask":           {nothing}, "approve": {nothing}, "notify": {nothing}, "link": {nothing}, "config token": {nothing}, "list": {nothing},
	}
	var walk func(c *cobra.Command, path string)
	walk = func(c *cobra.Command, path string) {
		if all := arguments[path]; all != nil {
			c.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
				if len(args) >= len(all) {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				return suggest(all[len(args)], cmd, args)
			}
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if s := flagSuggester(f, flags); s != nil {
				_ = c.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, args []string, _ string) ([]string,
					cobra.ShellCompDirective) {
					return suggest(s, cmd, args)
				}) // fails only for an unknown flag
			}
		})
		for _, sub := range c.Commands() {
			walk(sub, strings.TrimSpace(path+" "+sub.Name()))
		}
	}
	walk(root, "")
}

// flagSuggester returns the suggestions for a flag, or nil for file names.
func flagSuggester(f *pflag.Flag, byName map[string]suggester) suggester {
	if words, ok := cli.Choices(f); ok {
		return fixed(words...)
	}
	if s, ok := byName[f.Name]; ok {
		return s
	}
	switch f.Value.Type() {
	case "duration":
		return fixed("30s", "5m", "1h", "1d")
	case "int":
		return nothing
	}
	return nil
}

func suggest(s suggester, cmd *cobra.Command, args []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	return s(ctx, suggesting{cmd, args}), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

func fixed(words ...string) suggester {
	return func(context.Context, suggesting) []string { return words }
}

func nothing(context.Context, suggesting) []string { return nil }

// recent returns the newest requests that the caller may see.
func (s suggesting) recent(ctx context.Context, state bridge.State) []bridge.Record {
	return read(s, func(cl *client.Client) (bridge.List, error) {
		return cl.List(ctx, bridge.ListFilter{State: state, Limit: listMost})
	}).Items
}

func requestIDs(ctx context.Context, s suggesting) []string { return described(s.recent(ctx, "")) }

func pendingIDs(ctx context.Context, s suggesting) []string {
	return described(s.recent(ctx, bridge.StatePending))
}

// described returns the IDs of requests with their prompts.
func described(records []bridge.Record) []string {
	var out []string
	for _, r := range records {
		note := stateWords(r) + ", " + render.Line(r.Interaction.Agent) + ": " + asks(r.Interaction)
		out = append(out, cobra.CompletionWithDesc(string(r.Interaction.ID), render.Cut(note, 70, render.Runes)))
	}
	return out
}

// answerWords suggests the decisions of an approval or the options of a
// question.
func answerWords(ctx context.Context, s suggesting) []string {
	i := read(s, func(cl *client.Client) (bridge.Record, error) {
		id, err := requestID(ctx, cl, s.args[0], bridge.StatePending)
		if err != nil {
			return bridge.Record{}, err
		}
		return cl.Get(ctx, id)
	}).Interaction
	out := texts(i.Decisions()...)
	for _, q := range i.Questions {
		name := ""
		if len(i.Questions) > 1 {
			name = q.ID + "="
		}
		for _, o := range q.Options {
			out = append(out, cobra.CompletionWithDesc(name+o.Value, render.Line(o.Label)))
		}
	}
	return out
}

func sessionNames(ctx context.Context, s suggesting) []string {
	var out []string
	for _, x := range read(s, func(cl *client.Client) (bridge.Page[bridge.Session], error) { return cl.Sessions(ctx) }).Items {
		out = append(out, cobra.CompletionWithDesc(x.ID, render.Line(x.Agent)+": "+render.Line(x.Words(time.Now()))))
	}
	return out
}

func grantIDs(ctx context.Context, s suggesting) []string {
	var out []string
	for _, g := range read(s, func(cl *client.Client) (bridge.Page[client.Grant], error) { return cl.Grants(ctx, "") }).Items {
		out = append(out, cobra.CompletionWithDesc(g.ID, render.Cut(render.Line(g.Words), 70, render.Runes)))
	}
	return out
}

// known suggests the names of the config and of recent requests.
func known(configured func(config.Config) iter.Seq[string], used func(bridge.Interaction) []string) suggester {
	return func(ctx context.Context, s suggesting) []string {
		out := slices.Collect(configured(s.config()))
		for _, r := range s.recent(ctx, "") {
			out = append(out, used(r.Interaction)...)
		}
		return distinct(out)
	}
}

var (
	routeNames = known(
		func(c config.Config) iter.Seq[string] { return maps.Keys(c.Routes) },
		func(i bridge.Interaction) []string { return []string{i.Route} })
	agentNames = known(
		func(c config.Config) iter.Seq[string] { return maps.Keys(c.Agents) },
		func(i bridge.Interaction) []string { return []string{i.Agent} })
	personNames = known(
		func(c config.Config) iter.Seq[string] { return maps.Keys(c.People) },
		func(i bridge.Interaction) []string {
			var out []string
			for _, r := range i.Responders {
				out = append(out, r.Person)
			}
			return out
		})
)

// distinct sorts names and removes duplicates and empty names.
func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(slices.DeleteFunc(names, func(s string) bool { return s == "" }))
}
