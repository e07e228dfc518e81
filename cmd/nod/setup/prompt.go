package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/nodbridge/nod/bridge"
)

// skipWord is the word that skips a platform.
const skipWord = "skip"

var errSkipped = errors.New("skipped")

// ask prompts for a line. With --yes, it returns the default.
func (s *Init) ask(ctx context.Context, label, standard string) (string, error) {
	if s.Yes {
		return standard, nil
	}
	fmt.Fprintf(s.Talk, "%s", label)
	if standard != "" {
		fmt.Fprintf(s.Talk, " [%s]", standard)
	}
	fmt.Fprint(s.Talk, ": ")
	line, err := within(ctx, s.line)
	if errors.Is(err, io.EOF) {
		return "", bridge.Errorf(bridge.CodeInvalid, "unexpected end of input").WithHint("in scripts, use --yes and flags; see nod init --help")
	}
	if err != nil {
		fmt.Fprintln(s.Talk)
		return "", err
	}
	line, err = s.skippable(line)
	return cmp.Or(line, standard), err
}

// askSecret prompts for a line and does not echo it on a terminal.
func (s *Init) askSecret(ctx context.Context, label, variable string) (string, error) {
	if s.Yes {
		return "", bridge.Errorf(bridge.CodeInvalid, "%s is not set", variable).WithHint("with --yes, nod reads tokens from the environment")
	}
	fmt.Fprintf(s.Talk, "%s (hidden): ", label)
	line, err := s.secret(ctx)
	fmt.Fprintln(s.Talk)
	if errors.Is(err, io.EOF) {
		return "", bridge.Errorf(bridge.CodeInvalid, "unexpected end of input").WithHint("set %s, or enter the token", variable)
	}
	if err != nil {
		return "", err
	}
	return s.skippable(line)
}

// secret reads a line that a terminal does not echo.
func (s *Init) secret(ctx context.Context) (string, error) {
	f, ok := s.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return within(ctx, s.line)
	}
	before, err := term.GetState(int(f.Fd()))
	if err != nil {
		return "", err
	}
	raw, err := within(ctx, func() ([]byte, error) { return term.ReadPassword(int(f.Fd())) })
	if ctx.Err() != nil {
		_ = term.Restore(int(f.Fd()), before) // otherwise, the echo would stay off
	}
	return string(raw), err
}

// line reads a line. It returns io.EOF only if there is no text before the end.
func (s *Init) line() (string, error) {
	line, err := s.in.ReadString('\n')
	if line != "" && errors.Is(err, io.EOF) {
		return line, nil
	}
	return line, err
}

// within returns the result of read, or the error of ctx if ctx ends first. In
// that case, read continues until its input ends, because nothing can interrupt
// it. No further prompt may follow.
func within[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	got := make(chan result, 1)
	go func() {
		v, err := read()
		got <- result{v, err}
	}()
	select {
	case r := <-got:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// skippable returns the text that the user entered, or errSkipped for the word
// skip.
func (s *Init) skippable(line string) (string, error) {
	line = strings.TrimSpace(line)
	if s.skips && line == skipWord {
		return "", errSkipped
	}
	return line, nil
}
