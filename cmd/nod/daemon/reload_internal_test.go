package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/kinds"
)

const whole = `slack: {bot_token: xoxb-secret-1, app_token: xapp-secret-2}
groups: {ops: {people: [ana]}}
people:
  ana: {slack: U1}
  bo: {slack: U2}
routes:
  default:
    to: ["slack:C1"]
    responders: [ana, bo]
policy:
  - {name: never, command: ["rm -rf *"], then: deny}
  - {name: look, command: ["ls *"], then: allow}
agents:
  ci: {token: secret-0123456789abcdef}
redact: {patterns: ["INT-[0-9]+"]}
metrics: {token: secret-0123456789metrics}
`

// TestCutFile checks that a config that was cut at the end of a line is not applied if
// it lacks a section, and that a partial loss of a section is reported.
func TestCutFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "nod.yaml")
	load := func(text string) (config.Config, error) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := Load(path, nil)
		return c, err
	}
	full, err := load(whole)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(whole, "\n")
	for n := range len(lines) - 1 {
		c, err := load(strings.Join(lines[:n], ""))
		if err == nil {
			err = enough(full, c)
		}
		if err == nil {
			t.Errorf("the first %d lines are applied", n)
		}
	}
	if _, err := load(strings.Replace(whole, lines[8], "", 1)); err == nil {
		t.Fatal("a route without responders is accepted")
	}
	fewer, err := load(strings.Replace(whole, lines[10], "", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := enough(full, fewer); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(compare(full, fewer)); got != "{[] [rule never (deny)] [] []}" {
		t.Errorf("the change is %s", got)
	}
}

// TestReloadIsTold checks that a reload reports each setting that it adds,
// changes or removes, and applies nothing if a section is missing.
func TestReloadIsTold(t *testing.T) {
	t.Parallel()
	fill := func(v reflect.Value, text string) {
		switch {
		case v.Type() == reflect.TypeFor[config.Secret]():
			v.Set(reflect.ValueOf(config.NewSecret(text)))
		case v.Kind() == reflect.String:
			v.SetString(text)
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.Kind() == reflect.Int, v.Kind() == reflect.Int64:
			v.SetInt(int64(len(text)))
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), len(text), len(text)))
		case v.Kind() == reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
			entry := reflect.New(v.Type().Elem()).Elem()
			entry.Field(0).Set(reflect.New(entry.Field(0).Type()).Elem())
			v.SetMapIndex(reflect.ValueOf(text), entry)
		}
	}
	var leaves func(v reflect.Value, visit func(reflect.Value))
	leaves = func(v reflect.Value, visit func(reflect.Value)) {
		if v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[config.Secret]() {
			visit(v)
			return
		}
		for n := range v.NumField() {
			if v.Type().Field(n).IsExported() {
				leaves(v.Field(n), visit)
			}
		}
	}
	var none config.Config
	seen := map[string]bool{}
	check := func(one, two config.Config, silent bool) {
		t.Helper()
		changed := compare(one, two)
		told := append(compare(none, one).Added, needRestart(none, one)...)
		if len(told) != 1 || seen[told[0]] && told[0] != "redis" || len(compare(one, none).Removed)+len(needRestart(one, none)) != 1 {
			t.Errorf("%+v: told %q", one, told)
			return
		}
		seen[told[0]] = true
		if told[0] != "risk level " && !silent && len(changed.Changed)+len(changed.Added)+len(changed.Removed) == 0 && len(needRestart(none, one)) == 0 {
			t.Errorf("a change of %s is not told", told[0])
		}
		if enough(one, none) == nil {
			t.Errorf("%s may go", told[0])
		}
	}
	filled := none
	leaves(reflect.ValueOf(&filled).Elem(), func(v reflect.Value) {
		if v.Kind() == reflect.Map && v.Type().Elem().Kind() == reflect.Interface {
			return // the platforms follow
		}
		fill(v, "a")
		one := filled
		fill(v, "bb")
		two := filled
		v.SetZero()
		check(one, two, v.Kind() == reflect.Bool)
	})
	for _, k := range kinds.All {
		for n := range reflect.ValueOf(k.Settings()).Elem().NumField() {
			with := func(text string) (c config.Config) {
				fill(reflect.ValueOf(c.Connection(k)).Elem().Field(n), text)
				return c
			}
			check(with("a"), with("bb"), false)
		}
	}
	if !seen["metrics.token"] || !seen["slack.bot_token"] || !seen["agent a"] || !seen["redis"] {
		t.Errorf("told %v", seen)
	}
}

// TestReloadProofs checks who may reload: whoever has the key of the daemon, now.
func TestReloadProofs(t *testing.T) {
	t.Parallel()
	key := strings.Repeat("ab", 32)
	_, proof, err := ReloadProof(config.Config{TokenKey: config.NewSecret(key)})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hexKeys("token_key", config.NewSecret(key))
	if err != nil {
		t.Fatal(err)
	}
	mine, others := keys{token: raw}, keys{token: [][]byte{[]byte("another key of 32 bytes, at least")}}
	old := strconv.FormatInt(time.Now().Add(-2*reloadWindow).Unix(), 10)
	for what, ok := range map[string]bool{
		"valid": mine.mayReload(proof), "old": !mine.mayReload(old + "." + reloadCode(raw[0], old)), "of another key": !others.mayReload(proof),
		"empty": !mine.mayReload(""), "changed": !mine.mayReload("1" + proof),
	} {
		if !ok {
			t.Errorf("a proof that is %s", what)
		}
	}
	if _, _, err := ReloadProof(config.Config{}); err == nil {
		t.Error("a config without a key gives a proof")
	}
}

// TestReloadWhileStopping checks that calls of a generation that is built while
// the daemon stops do not wait, so that the daemon does not wait for them.
func TestReloadWhileStopping(t *testing.T) {
	t.Parallel()
	d, err := New(t.Context(), Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := d.Serve(ctx, l); err != nil {
		t.Fatal(err)
	}
	g, err := d.build(t.Context(), d.config)
	if err != nil {
		t.Fatal(err)
	}
	if g.closing.Err() == nil {
		t.Error("the calls of the new generation wait")
	}
}
