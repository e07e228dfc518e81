package setup

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/render"
)

// InitAll adds nod to the settings of every installed agent, or removes it.
type InitAll struct {
	Agents  []string // names of agents; empty means all installed ones
	Hooks   HookOptions
	Undo    bool
	Yes     bool   // do not prompt
	Print   bool   // print the changes and write nothing
	Program string // program that agents run; if empty, the path of this program

	Stdin     io.Reader
	Out, Talk io.Writer // the changes, and messages to the user

	state  string // file with the original contents
	before map[string]original
}

// original is the content of a file before nod init all changed it.
type original struct {
	Missing bool     `json:"missing,omitempty"`
	Content []byte   `json:"content,omitempty"`
	Folders []string `json:"folders,omitempty"` // folders that nod created, innermost first
	Written string   `json:"written"`           // hash of the content that nod wrote
}

// edit is the change of one file.
type edit struct {
	agent    agent
	path     string
	was, now []byte
	missing  bool     // the file did not exist before
	remove   bool     // the file does not exist afterward
	keep     original // original content, for a later restore
}

// Run shows the changes, applies them after a confirmation, and lists the
// remaining steps.
func (s *InitAll) Run(ctx context.Context) error {
	agents, err := chosen(s.Agents)
	if err != nil {
		return err
	}
	m, err := thisMachine()
	if err != nil {
		return err
	}
	if err := s.open(); err != nil {
		return err
	}
	var edits []edit
	var skipped []error
	found := 0
	for _, a := range agents {
		if !a.installed(m) {
			continue
		}
		found++
		for _, f := range a.edits {
			e, changes, err := s.plan(a, f, f.file(m))
			switch {
			case err != nil:
				skipped = append(skipped, s.skip(a, err))
			case changes:
				edits = append(edits, e)
				fmt.Fprintf(s.Out, "%s: %s\n%s\n", a.title, e.path, e.diff())
			default:
				fmt.Fprintf(s.Talk, "nod: %s: %s is up to date\n", a.title, e.path)
			}
		}
	}
	switch {
	case found == 0:
		fmt.Fprintf(s.Talk, "nod: found no agent that nod knows (%s)\n", strings.Join(AgentNames(), ", "))
		return nil
	case len(edits) == 0 || s.Print:
		return errors.Join(skipped...)
	}
	if yes, err := s.confirm(len(edits)); err != nil || !yes {
		return err
	}
	return errors.Join(append(skipped, s.apply(edits))...)
}

// skip reports an agent whose settings cannot be changed. nod continues with
// the others.
func (s *InitAll) skip(a agent, err error) error {
	fmt.Fprintf(s.Talk, "nod: %s: skipped: %s\n", a.title, render.Line(bridge.PublicText(err)))
	return bridge.Wrap(bridge.CodeInvalid, err, "%s was skipped", a.title).WithHint("fix the problem and run the command again")
}

// plan returns the change of a file of an agent, and reports whether the file
// changes.
func (s *InitAll) plan(a agent, f fileEdit, path string) (edit, bool, error) {
	path = linkTarget(path)
	e := edit{agent: a, path: path}
	without, err := s.planned(f, path, true)
	if err != nil {
		return e, false, err
	}
	e.missing = without.missing
	if !e.missing {
		e.was = without.raw
	}
	kept, known := s.before[path]
	known = known && kept.Written == sum(e.was) // otherwise, someone has changed the file since
	if s.Undo {
		e.now, e.remove = without.now, known && kept.Missing
		switch {
		case known && !kept.Missing:
			e.now = kept.Content
		case !known && !without.changes(), e.missing:
			return e, false, nil
		}
		e.keep = kept
		return e, true, nil
	}
	with, err := s.planned(f, path, false)
	if err != nil {
		return e, false, err
	}
	e.now = with.now
	if e.keep = kept; !known {
		e.keep = original{Missing: e.missing}
		if !e.missing {
			e.keep.Content = without.now
		}
		if !without.changes() && !e.missing {
			e.keep.Content = e.was
		}
	}
	if e.missing {
		e.keep.Folders = missingFolders(path)
	}
	return e, with.changes(), nil
}

// planned returns the effect of adding or removing nod, without writing.
func (s *InitAll) planned(f fileEdit, path string, undo bool) (fileChange, error) {
	var c fileChange
	set := Settings{Path: path, Undo: undo, Program: s.Program, Out: io.Discard, Talk: s.Talk, planned: &c}
	err := f.connect(&set, s.Hooks)
	return c, err
}

// diff returns the change as a unified diff.
func (e edit) diff() string {
	from, to := e.path, e.path
	now := string(e.now)
	if e.missing {
		from = os.DevNull
	}
	if e.remove {
		to, now = os.DevNull, ""
	}
	return render.Clean(udiff.Unified(from, to, string(e.was), now))
}

// confirm asks whether to apply the changes.
func (s *InitAll) confirm(files int) (bool, error) {
	if s.Yes {
		return true, nil
	}
	what := "1 file"
	if files != 1 {
		what = fmt.Sprintf("%d files", files)
	}
	fmt.Fprintf(s.Talk, "Change %s? [y/N]: ", what)
	line, err := bufio.NewReader(s.Stdin).ReadString('\n')
	if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
		fmt.Fprintln(s.Talk)
		return false, bridge.Errorf(bridge.CodeInvalid, "unexpected end of input; nothing was changed").WithHint("in scripts, use --yes")
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	if answer == "y" || answer == "yes" {
		return true, nil
	}
	fmt.Fprintln(s.Talk, "nod: nothing was changed")
	return false, nil
}

// apply writes the files. It first stores how to restore them, so that an
// interruption loses nothing.
func (s *InitAll) apply(edits []edit) error {
	earlier := maps.Clone(s.before)
	if !s.Undo {
		for _, e := range edits {
			e.keep.Written = sum(e.now)
			s.before[e.path] = e.keep
		}
		if err := s.save(); err != nil {
			return err
		}
	}
	var failed []error
	for _, e := range edits {
		if err := e.write(); err != nil {
			failed = append(failed, s.skip(e.agent, bridge.Errorf(bridge.CodeInvalid, "%s: %v", e.path, err)))
			if kept, known := earlier[e.path]; known {
				s.before[e.path] = kept
			} else {
				delete(s.before, e.path)
			}
			continue
		}
		done := "added nod to %s in %s"
		if s.Undo {
			done = "removed nod from %s in %s"
			delete(s.before, e.path)
		}
		fmt.Fprintf(s.Talk, "nod: "+done+"\n", e.agent.title, e.path)
	}
	none := len(failed) == len(edits)
	if s.Undo || len(failed) > 0 {
		failed = append(failed, s.save())
	}
	if s.Undo || none {
		return errors.Join(failed...)
	}
	fmt.Fprintln(s.Talk, "nod: next steps: set NOD_TOKEN, and NOD_URL if the daemon is elsewhere, in the environment of the agents;")
	fmt.Fprintln(s.Talk, "nod: restart agents that are running; check with: nod doctor --agents. To restore the files: nod init all --undo")
	return errors.Join(failed...)
}

// write writes the file, unless someone has changed it since the user saw the
// changes.
func (e edit) write() error {
	now, err := ReadFile(e.path)
	if missing := errors.Is(err, fs.ErrNotExist); missing != e.missing || !missing && err == nil && !bytes.Equal(now, e.was) {
		return errors.New("has changed in the meantime, and stays unchanged")
	} else if err != nil && !missing {
		return err
	}
	if !e.remove {
		return writeWhole(e.path, e.now)
	}
	if err := os.Remove(e.path); err != nil {
		return err
	}
	for _, dir := range e.keep.Folders {
		if os.Remove(dir) != nil {
			break // the folder contains other files
		}
	}
	return nil
}

// missingFolders returns the folders of a file that do not exist, innermost
// first.
func missingFolders(path string) []string {
	var out []string
	for dir := filepath.Dir(path); !exists(dir) && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		out = append(out, dir)
	}
	return out
}

// open reads the originals of earlier runs.
func (s *InitAll) open() error {
	dir, err := os.UserConfigDir()
	if err != nil {
		return err
	}
	s.state, s.before = filepath.Join(dir, "nod", "init-all.json"), map[string]original{}
	raw, err := ReadFile(s.state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &s.before)
	}
	if err == nil && s.before == nil {
		err = errors.New("not a JSON object")
	}
	if err != nil {
		return bridge.Wrap(bridge.CodeInvalid, err, "%s", s.state).WithHint("move the file away; --undo then removes only nod's entries")
	}
	return nil
}

// save stores the originals, or removes the file if there are none.
func (s *InitAll) save() error {
	if len(s.before) == 0 {
		if err := os.Remove(s.state); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		_ = os.Remove(filepath.Dir(s.state)) // the folder stays if it contains other files
		return nil
	}
	raw, err := json.MarshalIndent(s.before, "", "  ")
	if err != nil {
		return err
	}
	return writeWhole(s.state, append(raw, '\n'))
}

func sum(content []byte) string {
	h := sha256.Sum256(content)
	return hex.EncodeToString(h[:])
}
