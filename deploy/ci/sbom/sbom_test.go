package main

import (
	"os"
	"strings"
	"testing"
)

// TestModules checks that the list of this test has its modules with their
// versions and checksums.
func TestModules(t *testing.T) {
	t.Parallel()
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := write(&out, own, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"bomFormat": "CycloneDX"`, `"version": "1.2.3"`, `"name": "github.com/CycloneDX/cyclonedx-go"`, `"value": "h1:`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the list does not contain %s:\n%s", want, out.String())
		}
	}
}
