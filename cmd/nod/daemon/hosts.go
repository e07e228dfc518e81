package daemon

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/nodbridge/nod/config"
)

// Hosts holds the host names under which browsers may reach a server. In a DNS
// rebinding attack, another site points its own name at nod. Browsers then send
// that name, so nod rejects the request. nod always accepts IP addresses, which
// such an attack cannot use and which Kubernetes probes and Prometheus need.
type Hosts []string

// HostsOf returns the host names of a config: localhost, the names in its URLs,
// and hosts.
func HostsOf(c config.Config) Hosts {
	out := Hosts{"localhost"}
	for _, address := range append(c.Addresses(), c.Console.URL) {
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			out = append(out, strings.ToLower(u.Hostname()))
		}
	}
	if name, _, err := net.SplitHostPort(c.Listen); err == nil && name != "" {
		out = append(out, strings.ToLower(name))
	}
	for _, name := range c.Hosts {
		out = append(out, hostName(name))
	}
	return out
}

// hostName returns the name in a Host header or in the config, without a port.
func hostName(host string) string {
	if n, _, err := net.SplitHostPort(host); err == nil {
		host = n
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// allow reports whether a Host header names this server.
func (h Hosts) allow(host string) bool {
	if host == "" {
		return true // HTTP/1.0; every browser sends the header
	}
	name := hostName(host)
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	for _, known := range h {
		if name == known {
			return true
		}
		if suffix, ok := strings.CutPrefix(known, "*."); ok && strings.HasSuffix(name, "."+suffix) {
			return true
		}
	}
	return false
}

// Guard rejects requests for other host names. The response includes hint.
func (h Hosts) Guard(hint string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.allow(r.Host) {
			w.Header().Set("Connection", "close")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			http.Error(w, fmt.Sprintf("unknown host %q; %s", r.Host, hint), http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}
