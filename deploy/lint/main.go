// Command lint checks the deployment files with the libraries of the tools that
// read them: the chart with Helm, the rendered manifests with the types of
// Kubernetes, and the compose files with Compose. It is a separate module, so
// that nod does not depend on these libraries.
//
// With -queries, it prints the queries of the dashboard for promtool.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

func main() {
	root := flag.String("deploy", "deploy", "directory of the deployment files")
	queries := flag.Bool("queries", false, "print the queries of the dashboard as a rules file, and do nothing else")
	flag.Parse()
	if *queries {
		if err := printQueries(os.Stdout, filepath.Join(*root, "grafana", "nod.json")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := errors.Join(lintChart(*root), lintCompose(*root)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("lint: chart and compose files are valid")
}

// everything uses every value of the chart.
const everything = `
ingress: {enabled: true, className: nginx, tlsSecret: tls, annotations: {a: b}}
networkPolicy: {enabled: true, from: [{namespaceSelector: {}}]}
metrics: {annotations: false, serviceMonitor: true, labels: {release: prometheus}, interval: 30s, token: true}
fullnameOverride: approvals
nameOverride: approver
serviceAccount: {create: true, name: robot, annotations: {a: b}}
secretVersion: "2"
extraEnv: [{name: SSL_CERT_DIR, value: /etc/redis-ca}]
extraEnvFrom: [{secretRef: {name: more}}]
extraVolumes: [{name: redis-ca, secret: {secretName: redis-ca}}]
extraVolumeMounts: [{name: redis-ca, mountPath: /etc/redis-ca, readOnly: true}]
podSecurityContext: {runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000}
securityContext: {readOnlyRootFilesystem: true}
priorityClassName: high
terminationGracePeriodSeconds: 60
annotations: {reloader.stakater.com/auto: "true"}
podLabels: {team: ops}
podAnnotations: {x: z}
nodeSelector: {k: v}
tolerations: [{key: k, operator: Exists}]
affinity: {nodeAffinity: {}}
imagePullSecrets: [{name: pull}]
`

// shown lists parts of the chart's manifests with everything enabled.
var shown = []string{
	"serviceAccountName: robot", "kind: ServiceAccount\nmetadata:\n  name: robot", "name: approvals-config", "app.kubernetes.io/name: approver",
	"key: NOD_METRICS_TOKEN}\n", "credentials: {name: nod, key: NOD_METRICS_TOKEN}", "release: prometheus", "interval: 30s",
	"mountPath: /etc/redis-ca", "secretName: redis-ca", "name: SSL_CERT_DIR", "name: more", "runAsUser: 1000", "priorityClassName: high",
	"reloader.stakater.com/auto", "approvals.default.svc.cluster.local",
}

func lintChart(root string) error {
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
	_, plain := render(dir, nil, nil)
	return errors.Join(plain, lintParts(dir), lintRestarts(dir))
}

// lintParts renders the chart with everything enabled, and without a service
// account.
func lintParts(dir string) error {
	var all map[string]any
	if err := yaml.Unmarshal([]byte(everything), &all); err != nil {
		return err
	}
	text, err := render(dir, all, nil)
	if err != nil {
		return fmt.Errorf("with all parts enabled: %w", err)
	}
	for _, part := range shown {
		if !strings.Contains(text, part) {
			err = errors.Join(err, fmt.Errorf("with all parts enabled, the manifests have no %q", part))
		}
	}
	text, failed := render(dir, map[string]any{"serviceAccount": map[string]any{"create": false}}, nil)
	if strings.Contains(text, "kind: ServiceAccount") || !strings.Contains(text, "serviceAccountName: default") {
		err = errors.Join(err, errors.New("without an account, the pods do not use the default one"))
	}
	return errors.Join(err, failed)
}

// lintRestarts checks that the pods restart if and only if the config or the
// Secret changes.
func lintRestarts(dir string) error {
	podAt := func(version string, values map[string]any) (string, error) {
		text, err := render(dir, values, cluster{version})
		_, pod, _ := strings.Cut(text, "  template:\n")
		return pod, err
	}
	first, err := podAt("1", nil)
	again, err2 := podAt("1", nil)
	secret, err3 := podAt("2", nil)
	text, err4 := podAt("1", map[string]any{"secretVersion": "b"})
	config, err5 := podAt("1", map[string]any{"config": map[string]any{"log_level": "debug"}})
	if err := errors.Join(err, err2, err3, err4, err5); err != nil {
		return err
	}
	if first != again || first == secret || first == text || first == config {
		return errors.New("the pods do not restart exactly when the config or the Secret changes")
	}
	return nil
}

// cluster is a cluster whose Secret has a version. It implements
// engine.ClientProvider.
type cluster struct{ version string }

// GetClientFor returns a client for a kind of resource.
func (c cluster) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": apiVersion, "kind": kind,
		"metadata": map[string]any{"name": "nod", "namespace": "default", "resourceVersion": c.version},
	}}
	client := fake.NewSimpleDynamicClient(scheme.Scheme, secret)
	return client.Resource(schema.GroupVersionResource{Version: apiVersion, Resource: "secrets"}), true, nil
}

// render renders the chart and strictly decodes all resources that Kubernetes
// itself defines. Without a cluster, the chart finds no resources.
func render(dir string, values map[string]any, in engine.ClientProvider) (string, error) {
	c, err := loader.Load(dir)
	if err != nil {
		return "", err
	}
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "nod", Namespace: "default"}, chartutil.DefaultCapabilities)
	if err != nil {
		return "", err
	}
	var files map[string]string
	if in == nil {
		files, err = engine.Render(c, all)
	} else {
		files, err = engine.RenderWithClientProvider(c, all, in)
	}
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

// variables replaces the variables of the dashboard as Grafana does.
var variables = strings.NewReplacer("$job", ".*", "$instance", ".*", "$platform", ".*", "$place", ".*", "$__rate_interval", "5m")

// printQueries writes the queries of a dashboard as recording rules, which
// promtool can check.
func printQueries(w io.Writer, path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var dashboard struct {
		Panels []struct {
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := yaml.Unmarshal(raw, &dashboard); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	type rule struct {
		Record string `json:"record"`
		Expr   string `json:"expr"`
	}
	var rules []rule
	for _, p := range dashboard.Panels {
		for _, t := range p.Targets {
			rules = append(rules, rule{fmt.Sprintf("dashboard:%d", len(rules)), variables.Replace(t.Expr)})
		}
	}
	out, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil {
		return err
	}
	_, err = w.Write(out)
	return err
}
