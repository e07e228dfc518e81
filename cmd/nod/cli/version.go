package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

// BuiltVersion returns the version of the program: the version that the linker
// stamped for a release, or the version of the module if go install built the
// program. Other builds are "dev".
func BuiltVersion(stamped string) string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return moduleVersion(info)
	}
	return unreleased
}

// unreleased is the version of builds from a work tree.
const unreleased = "dev"

// moduleVersion returns the version of the module if go install built the
// program.
func moduleVersion(info *debug.BuildInfo) string {
	if v, ok := strings.CutPrefix(info.Main.Version, "v"); ok && revision(info) == "" {
		return v
	}
	return unreleased
}

// revision returns the commit of a work tree from which the program was built,
// or "".
func revision(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// PrintVersion prints the version of the program, its commit and its platform.
func (p Program) PrintVersion(w io.Writer) error {
	words := []string{p.Name, p.Version}
	if info, ok := debug.ReadBuildInfo(); ok && revision(info) != "" {
		words = append(words, revision(info))
	}
	words = append(words, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	_, err := fmt.Fprintln(w, strings.Join(words, " "))
	return err
}
