package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
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

// ErrUnexpected is wrapped by the error for a response that no nod daemon sends, or
// that belongs to another request. It is never a yes.
var ErrUnexpected = errors.New("unexpected response")

// foreign returns the error for a response that does not come from a nod
// daemon. Such calls are not retried.
func foreign() error {
	return unexpected{bridge.Errorf(bridge.CodeInternal, "the response does not come from a nod daemon").WithHint("check NOD_URL and any proxies in between")}
}

// unexpected is an error that is ErrUnexpected, and says more than that.
type unexpected struct{ public *bridge.Error }

// Error implements error.
func (u unexpected) Error() string { return u.public.Error() }

// Is reports whether the error is ErrUnexpected.
func (unexpected) Is(target error) bool { return target == ErrUnexpected }

// Unwrap returns the error with its code.
func (u unexpected) Unwrap() error { return u.public }

func (c *Client) invalidURL() error {
	return bridge.Errorf(bridge.CodeInvalid, "invalid daemon URL %q", c.base).WithHint("set NOD_URL to a URL such as http://127.0.0.1:8787")
}

// address returns the URL of the daemon for messages, without a password.
func (c *Client) address() string {
	u, err := url.Parse(c.base)
	if err != nil {
		return "an invalid address"
	}
	return u.Redacted()
}

func (c *Client) away(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err
	}
	if refused, ok := errors.AsType[proxyRefusal](err); ok {
		return refused.public(c.address())
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "proxyconnect" {
		return bridge.Wrap(bridge.CodeUnavailable, inWords(err), "the proxy in front of the nod daemon at %s is unreachable", c.address()).
			WithHint(checkProxy)
	}
	err = inWords(err)
	return bridge.Wrap(bridge.CodeUnavailable, err, "the nod daemon at %s is unreachable", c.address()).
		WithHint("start it with: nod serve, or set NOD_URL")
}

// checkProxy is what to do about a proxy that does not connect to the daemon.
const checkProxy = "check HTTPS_PROXY and HTTP_PROXY, or add the host of NOD_URL to NO_PROXY"

// proxyRefusal is the answer of a proxy that does not connect to the daemon.
type proxyRefusal struct {
	proxy  string // its URL, without a password
	status int
}

func (p proxyRefusal) Error() string { return http.StatusText(p.status) }

// public returns the error for a daemon at an address. A proxy that refuses does
// so again, so calls are retried only if it reports a failure of its own.
func (p proxyRefusal) public(address string) *bridge.Error {
	code := bridge.CodeForbidden
	if p.status >= http.StatusInternalServerError {
		code = bridge.CodeUnavailable
	}
	return bridge.Errorf(code, "the proxy %s does not connect to the nod daemon at %s: it answers with status %d", p.proxy, address, p.status).
		WithHint(checkProxy)
}

// worded is an error of the network in plain words.
type worded struct {
	error
	words string
}

func (w worded) Error() string { return w.words }
func (w worded) Unwrap() error { return w.error }

// inWords puts the usual errors of a network into plain words.
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

// misdirected reports whether an error of a first call suggests that the daemon does
// not run, or that the address is wrong.
func misdirected(err error) bool {
	if known, ok := errors.AsType[worded](err); ok {
		err = known.error
	}
	dns, isDNS := errors.AsType[*net.DNSError](err)
	_, isTLS := errors.AsType[*tls.CertificateVerificationError](err)
	return errors.Is(err, syscall.ECONNREFUSED) || isDNS && dns.IsNotFound || isTLS || isPlain(err) || isOther(err)
}

// expected returns an error unless a response has one of the statuses, and can
// come from a nod daemon: once one has answered, a response without its header is
// that of a proxy.
func (c *Client) expected(resp *http.Response, statuses ...int) error {
	if resp.Header.Get(bridge.HeaderDaemon) != "" {
		c.reached.Store(true)
	} else if c.reached.Load() {
		return c.failure(resp)
	}
	switch {
	case slices.Contains(statuses, resp.StatusCode):
		return nil
	case resp.StatusCode < http.StatusBadRequest:
		return foreign()
	}
	return c.failure(resp)
}

// failure returns the error in a response. Only an error of nod itself is final:
// a proxy in between that fails may be gone at the next try, whatever form its
// error has.
func (c *Client) failure(resp *http.Response) error {
	if resp.StatusCode == http.StatusProxyAuthRequired {
		return proxyRefusal{"that HTTP_PROXY names", resp.StatusCode}.public(c.address())
	}
	var body struct {
		Error *bridge.Error `json:"error"`
	}
	err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&body)
	if err != nil || body.Error == nil || !body.Error.Code.Known() || resp.Header.Get(bridge.HeaderDaemon) == "" {
		body.Error = bridge.Errorf(bridge.CodeUnavailable, "the nod daemon at %s is unreachable: the server in front of it reports status %d",
			c.address(), resp.StatusCode).
			WithHint("check that nod serve is running, and the proxies in between")
	}
	body.Error.RetryAfter = min(bridge.RetryAfter(resp.Header), maxPause)
	return body.Error
}

// maxPause limits the pause that a response can ask for.
const maxPause = 5 * time.Minute
