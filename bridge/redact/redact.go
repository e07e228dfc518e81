// Package redact hides credentials in text: the known shapes, configured
// patterns, and exact values such as the daemon's own tokens.
package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge"
)

// Mask stands where something was hidden.
const Mask = "[redacted]"

// shape is one kind of credential. A group named keep is left as it is.
type shape struct {
	pattern string
	// need are lower-case texts of which one has to be there; run is how many
	// token characters have to stand in a row. They tell cheaply that a text
	// has none.
	need []string
	run  int
}

// shapes of credentials. The figures are those that the services publish or
// their tokens show, with room.
var shapes = []shape{
	{`-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----|$)`, []string{"private key"}, 0},
	{`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`, []string{"akia", "asia", "abia", "acca"}, 20}, // AWS access key ids
	{`\bgh[pousr]_[A-Za-z0-9]{30,255}\b`, []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, 30}, {`\bgithub_pat_[A-Za-z0-9_]{50,255}`, []string{"github_pat_"}, 50},
	{`\bgl(?:pat|dt|rt|ptt|soat)-[A-Za-z0-9_-]{20,}`, []string{"glpat-", "gldt-", "glrt-", "glptt-", "glsoat-"}, 20},
	{`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, []string{"xox"}, 0}, {`\bxapp-[0-9]-[A-Za-z0-9-]{10,}`, []string{"xapp-"}, 0}, // Slack
	{`hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]+`, []string{"hooks.slack.com/"}, 0},
	{`\b[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6,7}\.[A-Za-z\d_-]{27,45}`, []string{"."}, 27}, // Discord
	{`discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/[A-Za-z0-9_-]+`, []string{"/webhooks/"}, 0},
	{`\b\d{8,12}:[A-Za-z0-9_-]{35}\b`, []string{":"}, 35},                                                                                                              // Telegram
	{`\b[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,}`, []string{"k_live_", "k_test_", "k_prod_"}, 0},                                                                      // Stripe
	{`\bsk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,}`, []string{"sk-"}, 20},                                                                                       // OpenAI, Anthropic and their like
	{`\bAIza[A-Za-z0-9_-]{35}`, []string{"aiza"}, 35}, {`\bya29\.[A-Za-z0-9_-]{20,}`, []string{"ya29."}, 20}, {`\bGOCSPX-[A-Za-z0-9_-]{20,}`, []string{"gocspx-"}, 20}, // Google
	{`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, []string{".eyj"}, 0},                                                                                                                                           // JSON Web Tokens
	{`\bnpm_[A-Za-z0-9]{36}\b`, []string{"npm_"}, 36}, {`\bpypi-[A-Za-z0-9_-]{40,}`, []string{"pypi-"}, 40}, {`\brubygems_[a-f0-9]{48}\b`, []string{"rubygems_"}, 48}, {`\bdckr_pat_[A-Za-z0-9_-]{20,}`, []string{"dckr_pat_"}, 20}, // registries
	{`\bdop_v1_[a-f0-9]{64}\b`, []string{"dop_v1_"}, 64}, {`\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, []string{"sg."}, 16}, {`\bhf_[A-Za-z0-9]{30,}`, []string{"hf_"}, 30}, {`\bhv[sbr]\.[A-Za-z0-9_-]{20,}`, []string{"hvs.", "hvb.", "hvr."}, 20},
	{`\bnod_[A-Za-z0-9_-]{40,}`, []string{"nod_"}, 40}, // nod's own
	{`\bAGE-SECRET-KEY-1[0-9A-Z]{50,}`, []string{"age-secret-key-1"}, 50}, {`\bwhsec_[A-Za-z0-9+/=_-]{24,}`, []string{"whsec_"}, 0}, {`\blin_api_[A-Za-z0-9]{30,}`, []string{"lin_api_"}, 30},
	{`\bntn_[A-Za-z0-9]{40,}`, []string{"ntn_"}, 40}, {`\bdapi[a-f0-9]{32}\b`, []string{"dapi"}, 36}, {`\bshp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}\b`, []string{"shpat_", "shpss_", "shpca_", "shppa_"}, 32},
	{`(?P<keep>\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@'"]*:)[^\s/@'"]+@`, []string{"://"}, 0},                                                       // passwords in addresses
	{`(?P<keep>(?i:\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer|token|digest)?\s*))[A-Za-z0-9._~+/=-]{6,}`, []string{"authorization"}, 0}, // headers
	{`(?P<keep>(?i:\b(?:bearer|basic)\s+))[A-Za-z0-9._~+/=-]{12,}`, []string{"bearer", "basic"}, 0},                                             // headers without a name
	{`(?P<keep>(?i:(?:` + names + `)["']?\s*(?:=|:)\s*["']?))[^\s"',;&|<>(){}\[\]]{4,}`, nameParts, 0},                                          // NAME=value, "name": "value"
	{`(?P<keep>(?i:--?[a-z0-9-]*(?:` + names + `)[ =]["']?))[^\s"',;&|<>-][^\s"',;&|<>]{3,}`, nameParts, 0},                                     // --name value
	{`(?P<keep>\bcurl\b[^\n|;&]*\s(?:-u|--user)[ =]?["']?[^\s:"']+:)[^\s"']+`, []string{"curl"}, 0},                                             // curl -u name:value
	{`(?P<keep>(?i:\bsshpass\s+-p\s*["']?))[^\s"']+`, []string{"sshpass"}, 0}, {`(?P<keep>\b(?:mysql|mysqldump|mariadb)\b[^\n|;&]*\s-p)[^\s"']+`, []string{"mysql", "mariadb"}, 0},
}

// nameParts are texts of which every one of names has one.
var nameParts = []string{"pass", "pwd", "secret", "key", "token", "credential"}

// names of what is secret.
const names = `password|passwd|passphrase|pwd|secret|api[_-]?key|apikey|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|client[_-]?secret|session[_-]?token|token|credentials?`

var secretName = regexp.MustCompile(`(?i)(?:^|[_.-]|[a-z](?-i:[A-Z]))?(?:` + names + `|authorization|cookie)$`)

// minValue is the shortest exact value that is hidden: shorter ones are
// ordinary words.
const minValue = 6

// Redactor hides credentials. It is safe for concurrent use.
type Redactor struct {
	known  []compiled
	more   []*regexp.Regexp
	exact  []string
	values *strings.Replacer
}

type compiled struct {
	*regexp.Regexp
	shape
}

var _ bridge.Redactor = (*Redactor)(nil)

// New returns a redactor for the known shapes, for more patterns (RE2), of
// which all that matches is hidden, and for exact values.
func New(patterns, values []string) (*Redactor, error) {
	r := &Redactor{}
	for _, s := range shapes {
		r.known = append(r.known, compiled{regexp.MustCompile(s.pattern), s})
	}
	for n, s := range patterns {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", n, err)
		}
		if re.MatchString("") {
			return nil, fmt.Errorf("[%d]: %q matches the empty text", n, s)
		}
		r.more = append(r.more, re)
	}
	var pairs []string
	values = slices.Clone(values)
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) }) // the longest first
	for _, v := range values {
		if len(v) >= minValue {
			r.exact, pairs = append(r.exact, v), append(pairs, v, Mask)
		}
	}
	r.values = strings.NewReplacer(pairs...)
	return r, nil
}

// Redact returns the text with what is secret masked.
func (r *Redactor) Redact(s string) string {
	if len(s) < minValue {
		return s
	}
	if slices.ContainsFunc(r.exact, func(v string) bool { return strings.Contains(s, v) }) {
		s = r.values.Replace(s)
	}
	lower, run := strings.ToLower(s), longestRun(s)
	for _, c := range r.known {
		if run >= c.run && slices.ContainsFunc(c.need, func(n string) bool { return strings.Contains(lower, n) }) {
			s = mask(c.Regexp, s)
		}
	}
	for _, re := range r.more {
		s = mask(re, s)
	}
	return s
}

// longestRun is how many token characters stand in a row at most.
func longestRun(s string) int {
	longest, run := 0, 0
	for n := range len(s) {
		c := s[n]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			run++
			longest = max(longest, run)
			continue
		}
		run = 0
	}
	return longest
}

// mask replaces what matches, but for its group keep and for what is masked
// already.
func mask(re *regexp.Regexp, s string) string {
	found := re.FindAllStringSubmatchIndex(s, -1)
	if found == nil {
		return s
	}
	keep := re.SubexpIndex("keep")
	var b strings.Builder
	end := 0
	for _, m := range found {
		from := m[0]
		if keep > 0 {
			from = m[2*keep+1]
		}
		secret := s[from:m[1]]
		if keep > 0 && (strings.HasPrefix(secret, Mask) || strings.HasPrefix(secret, "$") || strings.HasPrefix(secret, "[redacted")) {
			continue // a variable, or done already
		}
		b.WriteString(s[end:from])
		b.WriteString(Mask)
		if strings.HasSuffix(secret, "@") {
			b.WriteString("@")
		}
		end = m[1]
	}
	b.WriteString(s[end:])
	return b.String()
}

// Secret reports whether a field of that name holds what is secret.
func (r *Redactor) Secret(name string) bool { return secretName.MatchString(name) }
