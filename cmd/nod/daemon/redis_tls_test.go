package daemon_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/bridge"
	"github.com/nodbridge/nod/broker"
	store "github.com/nodbridge/nod/broker/redis"
	"github.com/nodbridge/nod/cmd/nod/daemon"
	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/platforms/platformtest/await"
	"github.com/nodbridge/nod/platforms/platformtest/redistest"
)

// certificates are the files of a CA, and of a certificate for this machine.
type certificates struct{ ca, cert, key string }

func newCertificates(t *testing.T) certificates {
	t.Helper()
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "nod tests"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	ca, err := x509.CreateCertificate(rand.Reader, authority, authority, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	own := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "redis"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: authority.NotBefore, NotAfter: authority.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	cert, err := x509.CreateCertificate(rand.Reader, own, authority, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return certificates{write("ca.pem", "CERTIFICATE", ca), write("cert.pem", "CERTIFICATE", cert), write("key.pem", "EC PRIVATE KEY", raw)}
}

// options are the arguments of a server that requires TLS with a client
// certificate on a port.
func (c certificates) options(port int) []string {
	return []string{
		"--tls-port", fmt.Sprint(port), "--tls-cert-file", c.cert, "--tls-key-file", c.key, "--tls-ca-cert-file", c.ca, "--tls-replication", "yes",
	}
}

// connects returns the error of a daemon that starts on a Redis.
func connects(t *testing.T, c config.Redis) error {
	t.Helper()
	client, err := daemon.NewRedis(c)
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), await.Limit)
	defer cancel()
	b, err := store.New(ctx, store.Options{Client: client, Seals: broker.NewSeals()})
	if err != nil {
		return err
	}
	return errorOf(b.Ready(ctx), b.Close())
}

func errorOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestManagedRedis checks how a daemon connects to a Redis with TLS and client
// certificates, and that the error says what is wrong.
func TestManagedRedis(t *testing.T) {
	t.Parallel()
	c, others := newCertificates(t), newCertificates(t)
	port := redistest.FreePort(t)
	server := redistest.Start(t, c.options(port)...)
	secure := config.NewSecret(fmt.Sprintf("rediss://127.0.0.1:%d", port))
	for name, x := range map[string]struct {
		redis config.Redis
		want  string // "" if it connects
	}{
		"a client certificate": {config.Redis{URL: secure, TLS: config.RedisTLS{CA: c.ca, Cert: c.cert, Key: c.key}}, ""},
		"no verification":      {config.Redis{URL: config.NewSecret(secure.Value() + "?skip_verify=true"), TLS: config.RedisTLS{Cert: c.cert, Key: c.key}}, ""},
		"no certificate":       {config.Redis{URL: secure, TLS: config.RedisTLS{CA: c.ca}}, "redis"},
		"another CA":           {config.Redis{URL: secure, TLS: config.RedisTLS{CA: others.ca, Cert: c.cert, Key: c.key}}, "no TLS connection"},
		"a server without TLS": {config.Redis{URL: config.NewSecret("rediss://" + server.Addr), TLS: config.RedisTLS{CA: c.ca}}, "the server does not speak TLS; set the server's TLS port"},
		"half a certificate":   {config.Redis{URL: secure, TLS: config.RedisTLS{CA: c.ca, Cert: c.cert}}, "cert and key belong together"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := connects(t, x.redis)
			public := bridge.PublicError(err)
			if x.want == "" && err != nil || !strings.Contains(public.Message+"; "+public.Hint, x.want) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestClusterWithOneAddress checks that a daemon uses a Cluster with one address,
// and says what to do if it takes it for a server.
func TestClusterWithOneAddress(t *testing.T) {
	if testing.Short() {
		t.Skip("a Cluster takes long to start")
	}
	t.Parallel()
	url := config.NewSecret("redis://" + redistest.StartCluster(t, redistest.Patience).Masters[0].Addr)
	if err := connects(t, config.Redis{URL: url, Cluster: true}); err != nil {
		t.Error(err)
	}
	if public := bridge.PublicError(connects(t, config.Redis{URL: url})); !strings.Contains(public.Message, "MOVED") || !strings.Contains(public.Hint, "redis.cluster") {
		t.Errorf("without redis.cluster: %+v", public)
	}
}

// TestSentinelWithTLS checks that connections to Sentinels and to the master that
// they name use TLS.
func TestSentinelWithTLS(t *testing.T) {
	if testing.Short() {
		t.Skip("a Sentinel takes long to start")
	}
	t.Parallel()
	c := newCertificates(t)
	port, own := redistest.FreePort(t), redistest.FreePort(t)
	redistest.Start(t, c.options(port)...)
	dir := t.TempDir()
	conf := filepath.Join(dir, "sentinel.conf")
	if err := os.WriteFile(conf, []byte(fmt.Sprintf("sentinel monitor mymaster 127.0.0.1 %d 1\n", port)), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel := exec.CommandContext(t.Context(), redistest.Binary(t), append([]string{conf, "--sentinel", "--port", "0", "--dir", dir, "--loglevel", "warning"}, c.options(own)...)...)
	if err := sentinel.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sentinel.Process.Kill(); _ = sentinel.Wait() }) // the context may have ended it
	redis := config.Redis{
		URL: config.NewSecret(fmt.Sprintf("rediss://127.0.0.1:%d?master_name=mymaster", own)), TLS: config.RedisTLS{CA: c.ca, Cert: c.cert, Key: c.key},
	}
	var err error
	await.Until(t, "the daemon finds the master", func() bool { err = connects(t, redis); return err == nil })
}
