package observe

import (
	"compress/gzip"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collected is a request that a collector received.
type collected struct {
	header http.Header
	spans  *tracepb.TracesData
}

// collector responds with the statuses in order, repeats the last one, and
// reports each request.
func collector(t *testing.T, statuses ...int) (*httptest.Server, chan collected) {
	t.Helper()
	got := make(chan collected, 10)
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		raw, err := io.ReadAll(body)
		data := &tracepb.TracesData{}
		if err != nil || proto.Unmarshal(raw, data) != nil {
			t.Errorf("not protobuf: %v", err)
		}
		got <- collected{r.Header, data}
		w.WriteHeader(statuses[0])
		if len(statuses) > 1 {
			statuses = statuses[1:]
		}
	}))
	t.Cleanup(s.Close)
	return s, got
}

// environment returns variables that make nod trust a server, with additional
// ones.
func environment(t *testing.T, s *httptest.Server, more map[string]string) func(string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.pem")
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	return func(name string) string {
		if name == "OTEL_EXPORTER_OTLP_CERTIFICATE" {
			return path
		}
		return more[name]
	}
}

var spans = []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{Name: "open"}}}}}}

// TestUpload checks that spans arrive with the headers and the compression that
// the environment sets, and that uploads to a busy collector are retried.
func TestUpload(t *testing.T) {
	t.Parallel()
	s, got := collector(t, http.StatusServiceUnavailable, http.StatusOK)
	o, err := newOTLP(s.URL+"/v1/traces", environment(t, s, map[string]string{
		"OTEL_EXPORTER_OTLP_HEADERS": "wrong=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "Api-Key=a%20b, other=c", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
		"OTEL_EXPORTER_OTLP_TIMEOUT": "5000",
	}))
	if err != nil || o.timeout != 5*time.Second {
		t.Fatal(err)
	}
	if err := o.UploadTraces(t.Context(), spans); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := <-got
		if !proto.Equal(r.spans, &tracepb.TracesData{ResourceSpans: spans}) {
			t.Errorf("%v", r.spans)
		}
		if r.header.Get("Api-Key") != "a b" || r.header.Get("Other") != "c" || r.header.Get("Wrong") != "" || r.header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%v", r.header)
		}
	}
	if err := o.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestUploadRefused checks that a rejected upload is not retried.
func TestUploadRefused(t *testing.T) {
	t.Parallel()
	s, got := collector(t, http.StatusBadRequest)
	o, err := newOTLP(s.URL, environment(t, s, nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.UploadTraces(t.Context(), spans); err == nil || !strings.Contains(err.Error(), "400") || len(got) != 1 {
		t.Errorf("%v after %d requests", err, len(got))
	}
}

// TestInvalidEndpoint checks that an invalid endpoint is rejected immediately.
func TestInvalidEndpoint(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"", "127.0.0.1:4318", "grpc://127.0.0.1:4317", "http://"} {
		if _, err := newOTLP(endpoint, func(string) string { return "" }); err == nil {
			t.Errorf("%q is accepted", endpoint)
		}
	}
	missing := func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": "/nowhere.pem"}[name]
	}
	if _, err := newOTLP("https://127.0.0.1", missing); err == nil {
		t.Error("a missing certificate file is accepted")
	}
}

// TestCertificates checks which files a collector with its own CA needs, and that a
// file that cannot be used is an error at once.
func TestCertificates(t *testing.T) {
	t.Parallel()
	s, _ := collector(t, http.StatusOK)
	encoded, err := x509.MarshalPKCS8PrivateKey(s.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key, gone := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), filepath.Join(dir, "gone.pem")
	for path, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: s.Certificate().Raw}, key: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, x := range map[string]struct {
		ca, cert, key string
		valid         bool
	}{
		"all":             {cert, cert, key, true},
		"no certificate":  {cert, "", "", true},
		"a key as the CA": {key, "", "", false},
		"no key":          {cert, cert, "", false},
		"no such key":     {cert, cert, gone, false},
		"no such file":    {cert, gone, key, false},
		"not a key":       {cert, cert, cert, false},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := newOTLP(s.URL, func(name string) string {
				return map[string]string{
					"OTEL_EXPORTER_OTLP_CERTIFICATE": x.ca, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": x.cert, "OTEL_EXPORTER_OTLP_CLIENT_KEY": x.key,
				}[name]
			})
			if (err == nil) != x.valid {
				t.Fatalf("%v, valid is %t", err, x.valid)
			}
			if err != nil {
				return
			}
			if err := o.UploadTraces(t.Context(), spans); err != nil {
				t.Errorf("the collector does not get the traces: %v", err)
			}
		})
	}
}
