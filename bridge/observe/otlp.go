package observe

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/config/files"
)

// Limits of an upload, and the delay before the first retry. The delay doubles
// with each retry.
const (
	uploadTimeout = 10 * time.Second
	retryFor      = time.Minute
	retryPause    = time.Second
	maxReply      = 1 << 10 // bytes of an error response to keep
)

// otlp sends spans by OTLP over HTTP. The OpenTelemetry exporter does the same,
// but it links gRPC, whose HTML templates keep the linker from removing unused
// methods: nod is 10 MB smaller without it. The environment variables are
// defined in the OpenTelemetry specification:
// opentelemetry.io/docs/specs/otel/protocol/exporter.
type otlp struct {
	endpoint string
	header   http.Header
	timeout  time.Duration
	gzip     bool
	client   *http.Client
}

// newOTLP returns a client for an endpoint.
func newOTLP(endpoint string, env func(string) string) (*otlp, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("invalid URL %q", endpoint)
	}
	option := func(name string) string {
		if v := env("OTEL_EXPORTER_OTLP_TRACES_" + name); v != "" {
			return v
		}
		return env("OTEL_EXPORTER_OTLP_" + name)
	}
	o := &otlp{endpoint: endpoint, header: http.Header{}, timeout: uploadTimeout, gzip: option("COMPRESSION") == "gzip"}
	for pair := range strings.SplitSeq(option("HEADERS"), ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if plain, err := url.PathUnescape(value); ok && err == nil {
			o.header.Set(strings.TrimSpace(name), strings.TrimSpace(plain))
		}
	}
	o.header.Set("Content-Type", "application/x-protobuf")
	if o.gzip {
		o.header.Set("Content-Encoding", "gzip")
	}
	if ms, err := strconv.Atoi(option("TIMEOUT")); err == nil && ms > 0 {
		o.timeout = time.Duration(ms) * time.Millisecond
	}
	secure, err := tlsConfig(option("CERTIFICATE"), option("CLIENT_CERTIFICATE"), option("CLIENT_KEY"))
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: secure, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	o.client = &http.Client{Transport: transport}
	return o, nil
}

// maxCertificates limits the size of a file with certificates, in bytes.
const maxCertificates = 4 << 20

// tlsConfig returns a TLS configuration with the certificates in the given
// files, if any.
func tlsConfig(ca, certificate, key string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		raw, err := files.Read(ca, maxCertificates)
		if err != nil {
			return nil, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(raw) {
			return nil, fmt.Errorf("%s: no certificate found", ca)
		}
	}
	if certificate != "" {
		chain, err := files.Read(certificate, maxCertificates)
		if err != nil {
			return nil, err
		}
		private, err := files.Read(key, maxCertificates)
		if err != nil {
			return nil, err
		}
		own, err := tls.X509KeyPair(chain, private)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{own}
	}
	return c, nil
}

// Start implements otlptrace.Client.
func (o *otlp) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (o *otlp) Stop(context.Context) error {
	o.client.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It retries if the collector is
// busy.
func (o *otlp) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// ExportTraceServiceRequest has the same fields, but its package links
	// gRPC.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err == nil && o.gzip {
		body, err = zipped(body)
	}
	if err != nil {
		return err
	}
	until := time.Now().Add(retryFor)
	for pause := retryPause; ; pause *= 2 {
		wait, err := o.send(ctx, body)
		if wait = max(wait, pause); err == nil || !errors.Is(err, errBusy) || time.Now().Add(wait).After(until) {
			return err
		}
		if !bridge.Pause(ctx, wait) {
			return errors.Join(err, ctx.Err())
		}
	}
}

// errBusy is the error for an upload that may succeed later.
var errBusy = errors.New("the collector is busy or unreachable")

// send sends a body once. If the collector is busy, it returns how long to wait
// before the next attempt.
func (o *otlp) send(ctx context.Context, body []byte) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.endpoint, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header = o.header.Clone()
	resp, err := o.client.Do(r)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errBusy, err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxReply)) // only the status matters
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After")) // zero if the header is a date
		return time.Duration(seconds) * time.Second, fmt.Errorf("%w: %s", errBusy, resp.Status)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return 0, fmt.Errorf("the collector rejected the traces: %s: %q", resp.Status, said)
	}
	return 0, nil
}

func zipped(raw []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}
