package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/terminal"
	"github.com/nodbridge/nod/render"
)

// confirmNewest asks the user to confirm the request that the word last stands
// for, because a newer request may have arrived unseen. It prints the text of
// the card first. A denial needs no confirmation.
func confirmNewest(cmd *cobra.Command, rec bridge.Record, denial bool) error {
	i, tell := rec.Interaction, cmd.ErrOrStderr()
	if denial {
		fmt.Fprintf(tell, "nod: %s from %s: %s\n", i.ID, render.Line(i.Agent), asks(i))
		return nil
	}
	stdin, ok := cmd.InOrStdin().(*os.File)
	if !ok || !terminal.Is(stdin) || !terminal.Is(tell) {
		return bridge.Errorf(bridge.CodeInvalid, "%s: not allowed without a terminal, because the newest request may not be the one that you know",
			bridge.Newest).
			WithHint("enter the ID or its first characters; the newest request is %s", i.ID)
	}
	var text strings.Builder
	printRecord(&text, rec)
	return confirmRead(bufio.NewReader(stdin), tell, text.String(), terminal.Lines(tell), terminal.Width(tell))
}

// confirmRead prints a text screen by screen, and asks for confirmation after
// the end. Zero lines mean that the size of the screen is unknown.
func confirmRead(in *bufio.Reader, tell io.Writer, text string, lines, columns int) error {
	const question = "Answer this request? [y/N] "
	room := lines - 1
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		high := 1
		if columns > 0 {
			high = rows(line, columns)
		}
		if lines > 0 && high > room && room < lines-1 {
			fmt.Fprint(tell, "-- Enter shows more, q stops -- ")
			if word, err := readWord(in); err != nil || strings.HasPrefix(word, "q") {
				return bridge.Errorf(bridge.CodeInvalid, "not answered")
			}
			room = lines - 1
		}
		room -= high
		fmt.Fprintln(tell, line)
	}
	fmt.Fprint(tell, question)
	if word, err := readWord(in); err != nil || !slices.Contains([]string{"y", "yes"}, word) {
		return bridge.Errorf(bridge.CodeInvalid, "not answered")
	}
	return nil
}

// rows returns the number of rows that a line takes at most on a screen: a tab takes
// eight columns, and a terminal that does not join emoji shows each of them.
func rows(line string, columns int) int {
	n, used := 1, 0
	for g := uniseg.NewGraphemes(line); g.Next(); {
		wide := 0
		for _, r := range g.Runes() {
			if r == '\t' {
				wide += 8
			}
			wide += uniseg.StringWidth(string(r))
		}
		wide = max(wide, g.Width())
		if used += wide; used > columns {
			n, used = n+1+(wide-1)/columns, (wide-1)%columns+1
		}
	}
	return n
}

// readWord reads a line in lower case.
func readWord(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	return strings.ToLower(strings.TrimSpace(line)), err
}
