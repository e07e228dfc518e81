package policy

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/level"
	"github.com/nodbridge/nod/platforms/platformtest/programs"
	"github.com/nodbridge/nod/platforms/platformtest/seed"
)

// shell is a shell in one of its modes.
type shell struct {
	name    string
	argv    []string
	prelude string
	// If stdin is set, the shell reads the script from stdin, as an interactive
	// shell does.
	stdin bool
}

const zshOptions = "setopt extended_glob rc_quotes magic_equal_subst path_dirs ksh_glob glob_subst brace_ccl bang_hist glob_dots " +
	"glob_assign interactive_comments rc_expand_param sh_word_split multios numeric_glob_sort auto_pushd null_glob hist_subst_pattern cdable_vars mark_dirs\n"

// shells are the modes in which plain lines are run. Shells that are not
// installed are skipped.
var shells = []shell{
	{name: "bash", argv: []string{"bash", "--norc"}},
	{name: "dash", argv: []string{"dash"}},
	{name: "sh", argv: []string{"sh"}},
	{name: "bash --posix", argv: []string{"bash", "--norc", "--posix"}},
	{name: "bash -i", argv: []string{"bash", "--norc", "--noediting", "-i"}, prelude: "set -o history -H\nshopt -s extglob failglob\n", stdin: true},
	{name: "zsh", argv: []string{"zsh", "-f"}},
	{name: "zsh with options", argv: []string{"zsh", "-f"}, prelude: zshOptions},
	{name: "zsh -i with options", argv: []string{"zsh", "-f", "-i"}, prelude: zshOptions, stdin: true},
	{name: "zsh as sh", argv: []string{"zsh", "--emulate", "sh", "-f"}},
	{name: "zsh as ksh", argv: []string{"zsh", "--emulate", "ksh", "-f"}},
	{name: "ksh93", argv: []string{"ksh93"}},
	{name: "mksh", argv: []string{"mksh"}},
	{name: "yash", argv: []string{"yash", "--noprofile", "--norcfile"}},
	{name: "busybox ash", argv: []string{"busybox", "ash"}},
	{name: "fish", argv: []string{"fish", "--no-config"}},
}

// lab is a directory in which lines are run. PATH contains only programs that
// record how they are called.
type lab struct {
	t         testing.TB
	root, dir string
	runs      int
}

const marker = `#!/bin/sh
case $0 in "$LAB"/bin/*) n=${0##*/};; *) n=$0;; esac
s="$LINE` + "\x01" + `$n` + "\x01" + `"
for a; do s="$s$a` + "\x01" + `"; done
printf '%s\002' "$s" >>"$LOG"
exit "$RET"
`

func newLab(t testing.TB) *lab {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{t: t, root: root, dir: filepath.Join(root, "d")}
	for _, dir := range []string{"bin", "home", "d", "d/src"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range append([]string{"m"}, decoys...) {
		programs.Write(t, filepath.Join(l.dir, name), marker)
	}
	return l
}

// decoys are files that a glob would match.
var decoys = []string{"a", "b", "ab", "-x", "z1", "a=b", "x.go", "src/a.ts"}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// runnable reports whether the programs of a line can be replaced with
// recorders.
func (l *lab) runnable(calls []call) bool {
	return !slices.ContainsFunc(calls, func(c call) bool {
		name := c.words[0]
		if strings.Contains(name, "/") {
			return !slices.Contains([]string{"./m", "../d/m", l.dir + "/m"}, name)
		}
		return name == "type" || name == "rec" // an alias in mksh, and a function in the script
	})
}

// script returns the input of a shell: functions for all names, and the lines.
func (l *lab) script(sh shell, lines []string, calls [][]call) string {
	fish := strings.HasPrefix(sh.name, "fish")
	var b strings.Builder
	b.WriteString(sh.prelude)
	show := "printf %s" // a single write, because the commands of a pipeline write concurrently
	if sh.name == "mksh" {
		show = "print -rn --"
	}
	if fish {
		fmt.Fprintf(&b, "function rec; set -l s (string join \x01 -- $LINE $argv)\x01; printf '%%s\\002' \"$s\" >>\"$LOG\"; end\n")
	} else {
		fmt.Fprintf(&b, "rec() { s=\"$LINE\x01\"; for a in \"$@\"; do s=\"$s$a\x01\"; done; %s \"$s\x02\" >>\"$LOG\"; }\n", show)
	}
	names := map[string]bool{}
	for _, cs := range calls {
		for _, c := range cs {
			names[c.words[0]] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch {
		case strings.Contains(name, "/"):
		case !identifier.MatchString(name):
			programs.Write(l.t, filepath.Join(l.root, "bin", name), marker)
		case fish:
			fmt.Fprintf(&b, "function %s; rec %s $argv; return $RET; end\n", name, name)
		default:
			fmt.Fprintf(&b, "%s() { rec %s \"$@\"; return $RET; }\n", name, name)
		}
	}
	for n, line := range lines {
		if fish {
			fmt.Fprintf(&b, "set -gx LINE %d\n%s\n", n, line)
		} else {
			fmt.Fprintf(&b, "LINE=%d\n%s\n", n, line)
		}
	}
	return b.String()
}

// run runs lines in a shell. It returns a function that returns the commands
// that ran, by line, because ksh does not wait for the first commands of a
// pipeline.
func (l *lab) run(sh shell, lines []string, calls [][]call, succeed bool) func() map[string][]string {
	l.t.Helper()
	l.runs++
	log, file := filepath.Join(l.root, fmt.Sprint("log", l.runs)), filepath.Join(l.root, "script")
	text := l.script(sh, lines, calls)
	for path, text := range map[string]string{log: "", file: text} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			l.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	path, err := exec.LookPath(sh.argv[0])
	if err != nil {
		l.t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, sh.argv[1:]...)
	if sh.stdin {
		cmd.Stdin = strings.NewReader(text)
	} else {
		cmd.Args = append(cmd.Args, file)
	}
	ret := "1"
	if succeed {
		ret = "0"
	}
	cmd.Dir = l.dir
	cmd.Env = []string{"PATH=" + filepath.Join(l.root, "bin"), "HOME=" + filepath.Join(l.root, "home"), "LC_ALL=C", "LOG=" + log, "RET=" + ret, "LINE=none", "LAB=" + l.root, "PS1=", "TERM=dumb"}
	_ = cmd.Run() // only the status of the last line
	if ctx.Err() != nil {
		l.t.Errorf("%s did not exit", sh.name)
	}
	return func() map[string][]string { return l.read(log) }
}

// read returns the commands in a log, by line.
func (l *lab) read(log string) map[string][]string {
	l.t.Helper()
	raw, err := os.ReadFile(log)
	if err != nil {
		l.t.Fatal(err)
	}
	ran := map[string][]string{}
	for record := range bytes.SplitSeq(raw, []byte("\x02")) { // bash would split a write at a newline
		if n, rest, ok := strings.Cut(string(record), "\x01"); ok {
			ran[n] = append(ran[n], rest)
		}
	}
	for n := range ran {
		slices.Sort(ran[n]) // the commands of a pipeline run concurrently
	}
	return ran
}

// expected returns the commands that run if every command succeeds, or if every
// command fails.
func expected(calls []call, succeed bool) []string {
	var out []string
	status, run := true, true
	for _, c := range calls {
		switch c.after {
		case "&&":
			run = status
		case "||":
			run = !status
		case ";":
			run = true
		}
		if run {
			out = append(out, strings.Join(c.words, "\x01")+"\x01")
			status = succeed
		}
	}
	slices.Sort(out)
	return out
}

// differences runs lines until they ran the commands that calls lists, and
// returns what else happened.
func (l *lab) differences(sh shell, lines []string, calls [][]call, succeed bool) []string {
	l.t.Helper()
	read := l.run(sh, lines, calls, succeed)
	var ran map[string][]string
	await.Clear(l.t, func() string {
		ran = read()
		for n, line := range lines {
			want := expected(calls[n], succeed)
			if got := ran[fmt.Sprint(n)]; !slices.Equal(got, want) {
				return fmt.Sprintf("%s: %q ran %q, want %q", sh.name, line, got, want)
			}
		}
		return ""
	})
	var out []string
	if len(ran["none"]) > 0 {
		out = append(out, fmt.Sprintf("%s: commands ran before the first line: %q", sh.name, ran["none"]))
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil {
		l.t.Fatal(err)
	}
	if len(entries) != len(decoys)+1 { // src/a.ts is in src
		out = append(out, fmt.Sprintf("%s: files were made or removed: %v", sh.name, entries))
	}
	return out
}

// batch generates lines and runs the plain ones in all shells. It returns the
// number of lines, and how many of them were plain.
func (l *lab) batch(r *rand.Rand, count int, extra ...string) (made, ran int) {
	l.t.Helper()
	var lines []string
	var all [][]call
	g := generator{r, l.dir}
	for n := range count + len(extra) {
		line := ""
		if n < len(extra) {
			line = extra[n]
		} else {
			line = g.line()
		}
		if calls, err := plain(line); err == nil && l.runnable(calls) {
			lines, all = append(lines, line), append(all, calls)
		}
	}
	succeed := r.IntN(2) == 0
	for _, sh := range shells {
		if _, err := exec.LookPath(sh.argv[0]); err != nil {
			continue
		}
		for _, d := range l.differences(sh, lines, all, succeed) {
			l.t.Error(d)
		}
	}
	return count + len(extra), len(lines)
}

// TestShellsAgree checks that every shell runs exactly the commands that plain
// returns, with the same words. It runs the hostile lines and 10,000 generated
// ones, or as many as fit in the duration NOD_SHELLS, which make fuzz sets. It
// does not use Go's fuzzing, which abandons inputs that take as long as a batch
// can.
func TestShellsAgree(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bash", "sh"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Fatal(err)
		}
	}
	end := time.Now()
	if s := os.Getenv("NOD_SHELLS"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil {
			t.Fatal(err)
		}
		end = end.Add(d)
	}
	l := newLab(t)
	r := seed.Rand(t)
	made, ran := l.batch(r, 0, knownHostile...)
	batches, least, lines := 0, level.Often(10, 1), level.Often(1000, 400)
	for ; batches < least || time.Now().Before(end); batches++ {
		m, n := l.batch(r, lines)
		made, ran = made+m, ran+n
	}
	t.Logf("%d lines generated, %d of them plain and run in %d shells", made, ran, l.runs/(batches+1))
	if ran < made/10 {
		t.Errorf("only %d of %d lines were plain", ran, made)
	}
}

// TestShellsDiffer checks that the comparison detects differences: each line is
// listed with commands that it does not run.
func TestShellsDiffer(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, c := range []struct{ shell, line string }{
		{"bash", "aa {a,b}"}, {"bash", "aa *"}, {"bash", "aa ~"}, {"bash", "aa $HOME"}, {"bash", "aa 'a''b' #c"}, {"dash", "aa z?"}, {"bash", "aa x=~"}, {"bash -i", `aa "a!!"`},
		{"zsh", "aa =m"}, {"zsh with options", "aa 'a''b'"}, {"zsh with options", "aa x==m"}, {"zsh with options", "aa {ab}"}, {"fish", "aa %self"}, {"fish", `aa 'a\\b'`},
		{"bash", "aa; aa b"}, {"dash", "aa `aa`"}, {"bash", "aa >f"},
	} {
		n := slices.IndexFunc(shells, func(sh shell) bool { return sh.name == c.shell })
		if _, err := exec.LookPath(shells[n].argv[0]); err != nil {
			continue
		}
		says := [][]call{{{words: []string{"aa", strings.Trim(strings.TrimPrefix(c.line, "aa "), "'")}}}}
		ran := l.run(shells[n], []string{c.line}, says, true)()
		entries, err := os.ReadDir(l.dir)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(ran["0"], expected(says[0], true)) && len(entries) == len(decoys)+1 {
			t.Errorf("%s: no difference detected for %q", c.shell, c.line)
		}
		if err := os.RemoveAll(filepath.Join(l.dir, "f")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRefusedNames checks that every builtin, reserved word and alias that a
// shell lists is refused as a command name, except those that do not evaluate
// their arguments.
func TestRefusedNames(t *testing.T) {
	t.Parallel()
	stay := set("cd cat echo false kill pwd realpath sleep true type which")
	for _, argv := range [][]string{
		{"bash", "--norc", "-c", "compgen -bk"}, {"zsh", "-fc", "print -l ${(k)builtins} ${(k)reswords} ${(k)aliases} ${(k)galiases}"}, {"fish", "--no-config", "-c", "builtin --names"},
		{"ksh93", "-c", "builtin; alias | cut -d= -f1"}, {"mksh", "-c", "alias | cut -d= -f1"}, {"busybox", "ash", "-c", "help"},
	} {
		if _, err := exec.LookPath(argv[0]); err != nil {
			continue
		}
		out, err := exec.Command(argv[0], argv[1:]...).Output()
		if err != nil {
			t.Fatal(argv, err)
		}
		names := strings.Fields(string(out))
		if argv[0] == "busybox" {
			names = slices.DeleteFunc(names, func(s string) bool { return s == "Built-in" || s == "commands:" })
		}
		for _, name := range names {
			if _, err := plain(name); err == nil && !stay[name] && !strings.HasPrefix(name, "/opt/ast/") {
				t.Errorf("%s lists %q, which is not refused", argv[0], name)
			}
		}
	}
}
