package config_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nodbridge/nod/config"
	"github.com/nodbridge/nod/config/files"
)

// TestInstalled checks that the default config file is never one of the current
// directory.
func TestInstalled(t *testing.T) {
	home := t.TempDir()
	for name, x := range map[string]struct{ xdg, home, want string }{
		"its own directory":  {"/etc/xdg", home, "/etc/xdg/nod/nod.yaml"},
		"the home directory": {"", home, filepath.Join(home, ".config/nod/nod.yaml")},
		"a relative path":    {"here", home, filepath.Join(home, ".config/nod/nod.yaml")},
		"no home directory":  {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_CONFIG_HOME", x.xdg)
			t.Setenv("HOME", x.home)
			if got := config.Installed(); got != x.want {
				t.Errorf("it is %q, want %q", got, x.want)
			}
		})
	}
}

// TestNewToken checks that generated tokens and keys are long enough, and never the
// same.
func TestNewToken(t *testing.T) {
	t.Parallel()
	if a, b := config.NewToken(), config.NewToken(); a == b || len(a) < 40 || !strings.HasPrefix(a, "nod_") {
		t.Errorf("the tokens are %q and %q", a, b)
	}
	if a, b := config.NewKey(32), config.NewKey(32); a == b || len(a) != 64 {
		t.Errorf("the keys are %q and %q", a, b)
	}
}

// certified writes a certificate and its key, and returns their paths.
func certified(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
	signed, err := x509.CreateCertificate(rand.Reader, c, c, public, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for path, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestRedisTLS checks which files connections to Redis need, and that an error
// names the setting.
func TestRedisTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := certified(t, dir, "a")
	_, foreign := certified(t, dir, "b")
	gone := filepath.Join(dir, "gone.pem")
	for name, x := range map[string]struct {
		tls       config.RedisTLS
		ca, owned bool
		wrong     string
	}{
		"nothing":           {config.RedisTLS{}, false, false, ""},
		"a CA":              {config.RedisTLS{CA: cert}, true, false, ""},
		"all":               {config.RedisTLS{CA: cert, Cert: cert, Key: key}, true, true, ""},
		"no file of the CA": {config.RedisTLS{CA: gone}, false, false, "redis.tls.ca: "},
		"a key as the CA":   {config.RedisTLS{CA: key}, false, false, "redis.tls.ca: "},
		"no key":            {config.RedisTLS{Cert: cert}, false, false, "redis.tls: "},
		"no certificate":    {config.RedisTLS{Key: key}, false, false, "redis.tls: "},
		"no file of it":     {config.RedisTLS{Cert: gone, Key: key}, false, false, "redis.tls.cert: "},
		"no file of a key":  {config.RedisTLS{Cert: cert, Key: gone}, false, false, "redis.tls.key: "},
		"a key of another":  {config.RedisTLS{Cert: cert, Key: foreign}, false, false, "redis.tls.cert: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := x.tls.Config()
			if x.wrong != "" {
				if err == nil || !strings.HasPrefix(err.Error(), x.wrong) {
					t.Errorf("%v, want %q", err, x.wrong)
				}
				return
			}
			if err != nil || (c.RootCAs != nil) != x.ca || (c.GetClientCertificate != nil) != x.owned {
				t.Fatalf("%+v, %v; own CA is %t, own certificate is %t", c, err, x.ca, x.owned)
			}
			if !x.owned {
				return
			}
			if got, err := c.GetClientCertificate(nil); err != nil || len(got.Certificate) != 1 {
				t.Errorf("the certificate of a connection is %+v, %v", got, err)
			}
		})
	}
}

// TestPipe checks that a pipe is read like a file, and that one from which nothing
// comes is an error.
func TestPipe(t *testing.T) {
	t.Parallel()
	for written, wrong := range map[string]string{"text": "", "": "the pipe is empty", "too much": "too long"} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.WriteString(written); err != nil {
			t.Fatal(err)
		}
		w.Close()
		got, err := files.Read(fmt.Sprintf("/dev/fd/%d", r.Fd()), 4)
		r.Close()
		if wrong == "" && (err != nil || string(got) != written) || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%q is read as %q, %v, want %q", written, got, err, wrong)
		}
	}
}

// TestRemindAfter checks the values of remind.
func TestRemindAfter(t *testing.T) {
	t.Parallel()
	steps := []config.Step{{}}
	for name, x := range map[string]struct {
		r       config.Route
		percent int
		after   time.Duration
		fails   bool
	}{
		"the default":          {config.Route{}, 75, 0, false},
		"with steps":           {config.Route{Escalation: steps}, 0, 0, false},
		"off":                  {config.Route{Remind: "off"}, 0, 0, false},
		"a share":              {config.Route{Remind: "50%", Escalation: steps}, 50, 0, false},
		"a duration":           {config.Route{Remind: "10m"}, 0, 10 * time.Minute, false},
		"all of the time":      {config.Route{Remind: "100%"}, 0, 0, true},
		"no time":              {config.Route{Remind: "0s"}, 0, 0, true},
		"a word":               {config.Route{Remind: "soon"}, 0, 0, true},
		"a share of something": {config.Route{Remind: "half%"}, 0, 0, true},
	} {
		percent, after, err := x.r.RemindAfter()
		if percent != x.percent || after != x.after || (err != nil) != x.fails {
			t.Errorf("%s: %d%%, %s, %v; want %d%%, %s, fails is %t", name, percent, after, err, x.percent, x.after, x.fails)
		}
	}
}
