package main

import (
	"io"
	"runtime/debug"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/spf13/cobra"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/cmd/nod/cli"
)

// stamped is the version that the linker sets in release builds.
var stamped string

// version is the version of the program.
var version = cli.BuiltVersion(stamped)

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
			return itself().PrintVersion(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&sbom, "sbom", false, "list the modules in the binary, as CycloneDX JSON")
	return cmd
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
