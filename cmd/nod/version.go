package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
)

// stamped is the version that the linker sets in release builds.
var stamped string

// version is the version of the program: that of the release, or that of the
// module if go install built the program. Other builds are "dev".
var version = builtVersion()

func builtVersion() string {
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
// program from it.
func moduleVersion(info *debug.BuildInfo) string {
	if v, ok := strings.CutPrefix(info.Main.Version, "v"); ok && revision(info) == "" {
		return v
	}
	return unreleased
}

// revision returns the commit from which the program was built in a work tree,
// or "".
func revision(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

func versionCommand() *cobra.Command {
	var sbom bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version. With --sbom, print the modules in the binary.",
		Example: "  nod version\n  nod version --sbom > nod.cdx.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, ok := debug.ReadBuildInfo()
			if sbom {
				if !ok {
					return bridge.Errorf(bridge.CodeUnavailable, "--sbom: the binary has no build information")
				}
				return writeSBOM(cmd.OutOrStdout(), info)
			}
			return printVersion(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&sbom, "sbom", false, "list the modules in the binary, as CycloneDX JSON")
	return cmd
}

// printVersion prints the version, the commit and the platform.
func printVersion(w io.Writer) error {
	words := []string{"nod", version}
	if info, ok := debug.ReadBuildInfo(); ok && revision(info) != "" {
		words = append(words, revision(info))
	}
	words = append(words, runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH)
	_, err := fmt.Fprintln(w, strings.Join(words, " "))
	return err
}

// writeSBOM writes the modules in the binary with their checksums.
func writeSBOM(w io.Writer, info *debug.BuildInfo) error {
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{
		BOMRef: info.Main.Path, Type: cyclonedx.ComponentTypeApplication, Name: "nod", Version: version,
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
	}}
	components := []cyclonedx.Component{{BOMRef: "go", Type: cyclonedx.ComponentTypePlatform, Name: "go", Version: info.GoVersion}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		purl := "pkg:golang/" + m.Path + "@" + m.Version
		components = append(components, cyclonedx.Component{
			BOMRef: purl, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: purl,
			Properties: &[]cyclonedx.Property{{Name: "go:sum", Value: m.Sum}},
		})
	}
	bom.Components = &components
	return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
}
