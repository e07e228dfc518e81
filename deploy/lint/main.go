// Command lint checks the deployment files with the libraries of the tools that
// read them: the chart with Helm, its manifests with the types of Kubernetes,
// and the compose files with Compose. It is a separate module, so that nod does
// not depend on these libraries.
//
// With -write, it renders the chart into deploy/kubernetes.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/kubernetes/scheme"
)

const header = "# The manifests that the chart in deploy/helm/nod renders by default, for\n# kubectl apply.\n# Set the image, create the Secret that they name, and complete the config.\n"

func main() {
	write := flag.Bool("write", false, "write deploy/kubernetes from the chart")
	root := flag.String("deploy", "deploy", "directory of the deployment files")
	flag.Parse()
	if err := errors.Join(lintChart(*root, *write), lintCompose(*root)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("lint: chart, manifests and compose files are valid")
}

// everything enables every part of the chart.
var everything = map[string]any{
	"ingress":       map[string]any{"enabled": true, "className": "nginx", "tlsSecret": "tls", "annotations": map[string]any{"a": "b"}},
	"networkPolicy": map[string]any{"enabled": true, "from": []any{map[string]any{"namespaceSelector": map[string]any{}}}},
	"metrics":       map[string]any{"annotations": false, "serviceMonitor": true},
	"podLabels":     map[string]any{"team": "ops"}, "podAnnotations": map[string]any{"x": "y"}, "nodeSelector": map[string]any{"k": "v"},
	"tolerations": []any{map[string]any{"key": "k", "operator": "Exists"}}, "imagePullSecrets": []any{map[string]any{"name": "pull"}},
}

func lintChart(root string, write bool) error {
	dir := filepath.Join(root, "helm", "nod")
	l := action.NewLint()
	l.Strict = true
	l.KubeVersion = &chartutil.KubeVersion{Version: "v1.34.0", Major: "1", Minor: "34"}
	if r := l.Run([]string{dir}, nil); len(r.Errors) > 0 {
		return errors.Join(r.Errors...)
	}
	if r := l.Run([]string{dir}, map[string]any{"replicas": 3}); len(r.Errors) == 0 {
		return errors.New("the schema of the values accepts an unknown key")
	}
	if _, err := render(dir, everything); err != nil {
		return fmt.Errorf("with all parts enabled: %w", err)
	}
	plain, err := render(dir, nil)
	if err != nil {
		return err
	}
	path := filepath.Join(root, "kubernetes", "nod.yaml")
	want := []byte(header + plain)
	if write {
		return os.WriteFile(path, want, 0o644)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		return fmt.Errorf("%s does not match the chart; run make manifests (%v)", path, err)
	}
	return nil
}

// render renders the chart and strictly decodes all resources that Kubernetes
// itself defines.
func render(dir string, values map[string]any) (string, error) {
	c, err := loader.Load(dir)
	if err != nil {
		return "", err
	}
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "nod", Namespace: "default"}, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return "", err
	}
	names := make([]string, 0, len(files))
	for name := range files {
		if strings.HasSuffix(name, ".yaml") && strings.TrimSpace(files[name]) != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	strict := json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{Yaml: true, Strict: true})
	var out strings.Builder
	for _, name := range names {
		for doc := range strings.SplitSeq(files[name], "\n---\n") {
			if !strings.Contains(doc, "monitoring.coreos.com") { // a resource of an operator
				if _, _, err := strict.Decode([]byte(doc), nil, nil); err != nil {
					return "", fmt.Errorf("%s: %w\n%s", name, err, doc)
				}
			}
			out.WriteString("---\n" + strings.TrimSpace(doc) + "\n")
		}
	}
	return out.String(), nil
}

func lintCompose(root string) error {
	for _, name := range []string{"compose.yaml", "compose.ha.yaml"} {
		load := func(env ...string) error {
			o, err := cli.NewProjectOptions([]string{filepath.Join(root, name)}, cli.WithName("nod"), cli.WithEnv(env))
			if err == nil {
				_, err = o.LoadProject(context.Background())
			}
			return err
		}
		if err := load("NOD_REDIS_PASSWORD=lint"); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if load() == nil {
			return fmt.Errorf("%s: starts Redis without a password", name)
		}
	}
	return nil
}
