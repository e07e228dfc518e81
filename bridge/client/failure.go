package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nodbridge/nod/bridge"
)

// ErrUnexpected is wrapped by the error for a response that no nod daemon
// sends, or that belongs to another request. It never means an approval.
var ErrUnexpected = errors.New("unexpected response")

// foreign returns the error for a response that does not come from a nod
// daemon. Such calls are not retried.
func foreign() error {
	return unexpected{bridge.Errorf(bridge.CodeInternal, "the response does not come from a nod daemon").WithHint("check NOD_URL and any proxies in between")}
}

// unexpected is an error with its own text that matches ErrUnexpected.
type unexpected struct{ public *bridge.Error }

// Error implements error.
func (u unexpected) Error() string { return u.public.Error() }

// Is reports whether the error is ErrUnexpected.
func (unexpected) Is(target error) bool { return target == ErrUnexpected }

// Unwrap returns the error with its code.
func (u unexpected) Unwrap() error { return u.public }

// away returns the error of a call without a response. If the caller has given
// up, the error contains the caller's reason, because nothing may be wrong with
// the daemon.
func (c *Client) away(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return context.Cause(ctx)
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	if refused, ok := errors.AsType[proxyRefusal](err); ok {
		return c.refusedBy(refused)
	}
	who, hint := "", "start it with: nod serve, or set NOD_URL"
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		who, hint = "the proxy in front of ", checkProxy
	}
	return bridge.Wrap(bridge.CodeUnavailable, inWords(err), "%sthe nod daemon at %s is unreachable", who, c.base).WithHint("%s", hint)
}

// checkProxy is the hint for a proxy that does not connect to the daemon.
const checkProxy = "check HTTPS_PROXY and HTTP_PROXY, or add the host of NOD_URL to NO_PROXY"

// proxyRefusal is the error response of a proxy that does not connect to the
// daemon.
type proxyRefusal struct {
	proxy  string // URL of the proxy, without a password
	status int
}

func (p proxyRefusal) Error() string { return http.StatusText(p.status) }

// refusedBy returns the error for a proxy that does not connect to the daemon.
// Like any other network failure, it may not occur at the next attempt.
func (c *Client) refusedBy(p proxyRefusal) error {
	return bridge.Wrap(bridge.CodeUnavailable, p, "the proxy %s does not connect to the nod daemon at %s: it answers with status %d", p.proxy, c.base, p.status).
		WithHint(checkProxy)
}

// worded is a network error in plain language.
type worded struct {
	error
	words string
}

func (w worded) Error() string { return w.words }
func (w worded) Unwrap() error { return w.error }

// inWords replaces the text of common network errors with plain language.
func inWords(err error) error {
	words := ""
	dns, isDNS := errors.AsType[*net.DNSError](err)
	timeout, isNet := errors.AsType[net.Error](err)
	number, isNumber := errors.AsType[syscall.Errno](err)
	certificate, isTLS := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		words = "connection refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		words = "the connection was closed"
	case isDNS && dns.IsNotFound:
		words = "unknown host " + dns.Name
	case isDNS:
		words = "the name " + dns.Name + " cannot be looked up"
	case errors.Is(err, context.DeadlineExceeded), isNet && timeout.Timeout():
		words = "no response in time"
	case isNumber:
		words = number.Error()
	case isTLS:
		words = "its certificate is not valid: " + strings.TrimPrefix(certificate.Err.Error(), "x509: ")
	case isPlain(err):
		words = "it does not speak TLS; use http:// in NOD_URL"
	case isOther(err):
		words = "it does not speak HTTP; check NOD_URL"
	default:
		return err
	}
	return worded{err, words}
}

// isPlain reports whether a server answered without TLS.
func isPlain(err error) bool {
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	return plain || strings.HasSuffix(err.Error(), "server gave HTTP response to HTTPS client")
}

// isOther reports whether a server answered in another protocol.
func isOther(err error) bool { return strings.Contains(err.Error(), "malformed HTTP") }

// misdirected reports whether the error of a first call suggests that the
// daemon is not running, or that the address is wrong.
func misdirected(err error) bool {
	if known, ok := errors.AsType[worded](err); ok {
		err = known.error
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	_, isTLS := errors.AsType[*tls.CertificateVerificationError](err)
	_, refused := errors.AsType[proxyRefusal](err)
	return refused || errors.Is(err, syscall.ECONNREFUSED) || isDNS && dns.IsNotFound || isTLS || isPlain(err) || isOther(err)
}

// expected returns an error unless a response has one of the statuses, and can
// come from a nod daemon. Once a daemon has answered, a response without its
// header comes from a proxy.
func (c *Client) expected(resp *http.Response, statuses ...int) error {
	ours := resp.Header.Get(bridge.HeaderDaemon) != ""
	if ours {
		c.reached.Store(true)
	}
	if ours || !c.reached.Load() {
		if slices.Contains(statuses, resp.StatusCode) {
			return nil
		}
		if resp.StatusCode < http.StatusBadRequest {
			return foreign()
		}
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxError))
	if err != nil {
		return c.away(resp.Request.Context(), err)
	}
	return c.failure(resp.StatusCode, resp.Header, raw)
}

// maxError limits the response of a call that fails, in bytes.
const maxError = 1 << 20

// failure returns the error in a response. Only an error from nod itself is
// final. An error from a proxy may not occur at the next attempt, regardless of
// its form.
func (c *Client) failure(status int, header http.Header, raw []byte) error {
	if status == http.StatusProxyAuthRequired {
		return c.refusedBy(proxyRefusal{"that HTTP_PROXY names", status})
	}
	var body struct {
		Error *bridge.Error `json:"error"`
	}
	err := json.Unmarshal(raw, &body)
	if err != nil || body.Error == nil || !body.Error.Code.Known() || header.Get(bridge.HeaderDaemon) == "" {
		body.Error = bridge.Wrap(bridge.CodeUnavailable, frontStatus(status), "the nod daemon at %s is unreachable", c.base).
			WithHint("check that nod serve is running, and the proxies in between")
	}
	body.Error.RetryAfter = min(bridge.RetryAfter(header), maxPause)
	return body.Error
}

// frontStatus is the status of a server in front of the daemon.
type frontStatus int

func (s frontStatus) Error() string {
	return fmt.Sprintf("the server in front of it reports status %d", int(s))
}

// Outage reports whether an error means that no daemon can be reached. A server
// or proxy in front of it that refuses a call may refuse its content, so only
// some of their statuses are an outage.
func Outage(err error) bool {
	status := http.StatusServiceUnavailable // without any answer
	if front, ok := errors.AsType[frontStatus](err); ok {
		status = int(front)
	}
	if refused, ok := errors.AsType[proxyRefusal](err); ok {
		status = refused.status
	}
	return bridge.ErrorCode(err) == bridge.CodeUnavailable && (status == http.StatusNotFound || status >= http.StatusInternalServerError)
}

// maxPause limits the pause that a response can request.
const maxPause = 5 * time.Minute
