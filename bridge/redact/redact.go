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

// shapes of credentials. A group named keep is left as it is. The figures are
// those that the services publish or their tokens show, with room.
var shapes = []string{
	`-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z0-9 ]*-----|$)`,
	`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`,                                // AWS access key ids
	`\bgh[pousr]_[A-Za-z0-9]{30,255}\b`, `\bgithub_pat_[A-Za-z0-9_]{50,255}`, // GitHub
	`\bglpat-[A-Za-z0-9_-]{20,}`, `\bgl(?:dt|rt|ptt|soat)-[A-Za-z0-9_-]{20,}`, // GitLab
	`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`, `\bxapp-[0-9]-[A-Za-z0-9-]{10,}`, `hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]+`, // Slack
	`\b[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6,7}\.[A-Za-z\d_-]{27,45}`, `discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/[A-Za-z0-9_-]+`, // Discord
	`\b\d{8,12}:[A-Za-z0-9_-]{35}\b`,                                                       // Telegram
	`\b[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,}`,                                          // Stripe
	`\bsk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,}`,                                  // OpenAI, Anthropic and their like
	`\bAIza[A-Za-z0-9_-]{35}`, `\bya29\.[A-Za-z0-9_-]{20,}`, `\bGOCSPX-[A-Za-z0-9_-]{20,}`, // Google
	`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`,                                                       // JSON Web Tokens
	`\bnpm_[A-Za-z0-9]{36}\b`, `\bpypi-[A-Za-z0-9_-]{40,}`, `\brubygems_[a-f0-9]{48}\b`, `\bdckr_pat_[A-Za-z0-9_-]{20,}`, // registries
	`\bdop_v1_[a-f0-9]{64}\b`, `\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, `\bhf_[A-Za-z0-9]{30,}`, `\bhv[sbr]\.[A-Za-z0-9_-]{20,}`,
	`\bnod_[A-Za-z0-9_-]{40,}`, // nod's own
	`\bAGE-SECRET-KEY-1[0-9A-Z]{50,}`, `\bwhsec_[A-Za-z0-9+/=_-]{24,}`, `\blin_api_[A-Za-z0-9]{30,}`, `\bntn_[A-Za-z0-9]{40,}`, `\bdapi[a-f0-9]{32}\b`, `\bshp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}\b`,
	`(?P<keep>\b[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/:@'"]*:)[^\s/@'"]+@`,                                             // passwords in addresses
	`(?P<keep>(?i:\bauthorization["']?\s*[:=]\s*["']?(?:basic|bearer|token|digest)?\s*))[A-Za-z0-9._~+/=-]{6,}`, // headers
	`(?P<keep>(?i:\b(?:bearer|basic)\s+))[A-Za-z0-9._~+/=-]{12,}`,                                               // headers without a name
	`(?P<keep>(?i:[a-z0-9_.-]*(?:` + names + `)["']?\s*(?:=|:)\s*["']?))[^\s"',;&|<>(){}\[\]]{4,}`,              // NAME=value, "name": "value"
	`(?P<keep>(?i:--?[a-z0-9-]*(?:` + names + `)[ =]["']?))[^\s"',;&|<>-][^\s"',;&|<>]{3,}`,                     // --name value
	`(?P<keep>\bcurl\b[^\n|;&]*\s(?:-u|--user)[ =]?["']?[^\s:"']+:)[^\s"']+`,                                    // curl -u name:value
	`(?P<keep>(?i:\bsshpass\s+-p\s*["']?))[^\s"']+`, `(?P<keep>\b(?:mysql|mysqldump|mariadb)\b[^\n|;&]*\s-p)[^\s"']+`,
}

// names of what is secret.
const names = `password|passwd|passphrase|pwd|secret|api[_-]?key|apikey|access[_-]?key|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|client[_-]?secret|session[_-]?token|token|credentials?`

var secretName = regexp.MustCompile(`(?i)(?:^|[_.-]|[a-z](?-i:[A-Z]))?(?:` + names + `|authorization|cookie)$`)

// minValue is the shortest exact value that is hidden: shorter ones are
// ordinary words.
const minValue = 6

// Redactor hides credentials. It is safe for concurrent use.
type Redactor struct {
	patterns []*regexp.Regexp
	values   *strings.Replacer
}

var _ bridge.Redactor = (*Redactor)(nil)

// New returns a redactor for the known shapes, for more patterns (RE2), of
// which all that matches is hidden, and for exact values.
func New(patterns, values []string) (*Redactor, error) {
	r := &Redactor{}
	for _, s := range shapes {
		r.patterns = append(r.patterns, regexp.MustCompile(s))
	}
	for n, s := range patterns {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", n, err)
		}
		if re.MatchString("") {
			return nil, fmt.Errorf("[%d]: %q matches the empty text", n, s)
		}
		r.patterns = append(r.patterns, re)
	}
	var pairs []string
	values = slices.Clone(values)
	slices.SortFunc(values, func(a, b string) int { return len(b) - len(a) }) // the longest first
	for _, v := range values {
		if len(v) >= minValue {
			pairs = append(pairs, v, Mask)
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
	s = r.values.Replace(s)
	for _, re := range r.patterns {
		s = mask(re, s)
	}
	return s
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
