package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nodbridge/nod/bridge/removed"
)

// TestRemovedSettings checks that a removed key is an error with its line and
// with what replaces it, in the file and in the environment.
func TestRemovedSettings(t *testing.T) {
	t.Parallel()
	for _, row := range removed.All(removed.Setting) {
		_, err := Load(written(t, "listen: :1\n"+yamlOf(row.Name, "{}")), nil)
		if err == nil || !strings.Contains(err.Error(), "nod.yaml:2: ") || !strings.Contains(err.Error(), "removed key ") || !strings.HasSuffix(err.Error(), "; "+row.Instead) {
			t.Errorf("%s: %v", row.Name, err)
		}
		if strings.Contains(row.Name, "[]") {
			continue
		}
		name := Variable(strings.Split(row.Name, ".")...)
		_, err = Load(written(t, "listen: :1\n"), []string{name + "=1"})
		if want := name + ": removed variable; " + row.Instead; err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		if _, err := Load(written(t, "metrics: {token: {env: "+name+"}}\n"), []string{name + "=1"}); err == nil || strings.Contains(err.Error(), "removed") {
			t.Errorf("%s is the name that the config gives a variable: %v", name, err)
		}
	}
}

// TestRemovedValues checks that a removed value is one error, with the path of
// its key and what replaces it.
func TestRemovedValues(t *testing.T) {
	t.Parallel()
	for _, row := range removed.All(removed.Value) {
		key, value, _ := strings.Cut(row.Name, ": ")
		path := strings.NewReplacer("NAME", "x", "[]", "[0]").Replace(key)
		_, err := Load(written(t, yamlOf(key, value)), nil)
		if err == nil || !strings.Contains(err.Error(), path+": removed value \""+value+"\"; "+row.Instead) || strings.Count(err.Error(), path+": ") != 1 {
			t.Errorf("%s: %v", row.Name, err)
		}
	}
}

// yamlOf returns a document in which a setting has a value.
func yamlOf(path, value string) string {
	keys := strings.Split(path, ".")
	for n := len(keys) - 1; n >= 0; n-- {
		key, list := strings.CutSuffix(keys[n], "[]")
		if list {
			value = "[" + value + "]"
		}
		if value = key + ": " + value; n > 0 {
			value = "{" + value + "}"
		}
	}
	return strings.ReplaceAll(value, "NAME", "x") + "\n"
}

func written(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nod.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
