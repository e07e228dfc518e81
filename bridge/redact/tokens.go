package redact

import (
	"slices"
	"strings"

	"github.com/nodbridge/nod/bridge/lazyregexp"
)

// shape is a kind of credential with a specific format. No format contains
// white space, quotes or characters with a special meaning in a shell.
type shape struct {
	kind, pattern string
	// need lists texts in lower case. A text without any of them, or without a
	// run of token characters of this length, cannot match.
	need []string
	run  int
}

type compiled struct {
	*lazyregexp.Regexp
	shape
}

// shapes are the formats of credentials. The lengths are those that services
// publish or that their tokens have, with a margin.
var shapes = compile([]shape{
	{"AWS access key", `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b`, []string{"akia", "asia", "abia", "acca"}, 20},
	{"AWS session token", `\b(?:IQoJb3JpZ2luX2Vj|FwoGZXIvYXdzE|FQoGZXIvYXdzE)[A-Za-z0-9+/=]{40,}`, []string{"ixyvyxdz", "iqojb3jpz2lux2vj", "fwogzxivyxdze", "fqogzxivyxdze"}, 0},
	{"GitHub token", `\bgh[pousr]_[A-Za-z0-9]{30,255}\b`, []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, 30},
	{"GitHub token", `\bgithub_pat_[A-Za-z0-9_]{50,255}`, []string{"github_pat_"}, 50},
	{"GitLab token", `\bgl(?:pat|dt|rt|rtr|ptt|soat|cbt|ft|imt|agent|oas)-[A-Za-z0-9_.-]{20,}`, []string{"gl"}, 20},
	{"Slack token", `\bxox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}`, []string{"xox"}, 0},
	{"Slack token", `\bxapp-[0-9]-[A-Za-z0-9-]{10,}`, []string{"xapp-"}, 0},
	{"Slack webhook", `hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?P<v>[A-Za-z0-9/_-]+)`, []string{"hooks.slack"}, 0},
	{"Discord token", `\b[MNO][A-Za-z\d_-]{23,27}\.[A-Za-z\d_-]{6,7}\.[A-Za-z\d_-]{27,45}`, []string{"."}, 27},
	{"Discord webhook", `discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(?P<v>\d+/[A-Za-z0-9_-]+)`, []string{"/webhooks/"}, 0},
	{"Teams webhook", `\.webhook\.office\.com/webhookb2/(?P<v>[A-Za-z0-9@/_-]{20,})`, []string{"webhook.office.com"}, 0},
	{"Telegram token", `\b(?:bot)?(?P<v>\d{8,12}:[A-Za-z0-9_-]{35})\b`, []string{":"}, 35},
	{"Stripe key", `\b[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,}`, []string{"k_live_", "k_test_", "k_prod_"}, 0},
	{"API key", `\bsk-(?:ant-|proj-|svcacct-|admin-|or-v1-|or-)?[A-Za-z0-9_-]{20,}`, []string{"sk-"}, 20},
	{"API key", `\b(?:xai|gsk|pplx|r8|fw|nvapi|tvly|csk|jina|key)[-_][A-Za-z0-9_-]{30,}`, []string{"xai-", "gsk_", "pplx-", "r8_", "fw_", "nvapi-", "tvly-", "csk-", "jina_", "key-"}, 30},
	{"Google key", `\bAIza[A-Za-z0-9_-]{35}`, []string{"aiza"}, 35},
	{"Google token", `\bya29\.[A-Za-z0-9_-]{20,}`, []string{"ya29."}, 20},
	{"Google token", `\b1//0[A-Za-z0-9_-]{30,}`, []string{"1//0"}, 30},
	{"Google secret", `\bGOCSPX-[A-Za-z0-9_-]{20,}`, []string{"gocspx-"}, 20},
	{"web token", `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, []string{".eyj"}, 0},
	{"web token", `\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){4}`, []string{"eyj"}, 0},
	{"npm token", `\bnpm_[A-Za-z0-9]{36}\b`, []string{"npm_"}, 36},
	{"PyPI token", `\bpypi-[A-Za-z0-9_-]{40,}`, []string{"pypi-"}, 40},
	{"RubyGems key", `\brubygems_[a-f0-9]{48}\b`, []string{"rubygems_"}, 48},
	{"crates token", `\bcio[A-Za-z0-9]{32}\b`, []string{"cio"}, 35},
	{"Docker token", `\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}`, []string{"dckr_"}, 20},
	{"DigitalOcean token", `\bdo[opr]_v1_[a-f0-9]{64}\b`, []string{"_v1_"}, 64},
	{"SendGrid key", `\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`, []string{"sg."}, 16},
	{"Mailgun key", `\bkey-[a-f0-9]{32}\b`, []string{"key-"}, 32},
	{"Mailchimp key", `\b[a-f0-9]{32}-us\d{1,2}\b`, []string{"-us"}, 32},
	{"Twilio key", `\b(?:SK|AC)[a-f0-9]{32}\b`, []string{"sk", "ac"}, 34},
	{"Hugging Face token", `\bhf_[A-Za-z0-9]{30,}`, []string{"hf_"}, 30},
	{"Vault token", `\bhv[sbr]\.[A-Za-z0-9_-]{20,}`, []string{"hvs.", "hvb.", "hvr."}, 20},
	{"Terraform token", `\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}`, []string{".atlasv1."}, 40},
	{"nod token", `\bnod_[A-Za-z0-9_-]{40,}`, []string{"nod_"}, 40},
	{"age key", `\bAGE-SECRET-KEY-1[0-9A-Z]{50,}`, []string{"age-secret-key-1"}, 50},
	{"webhook secret", `\bwhsec_[A-Za-z0-9+/=_-]{24,}`, []string{"whsec_"}, 0},
	{"Linear key", `\blin_(?:api|oauth)_[A-Za-z0-9]{30,}`, []string{"lin_api_", "lin_oauth_"}, 30},
	{"Notion token", `\b(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{40,})`, []string{"ntn_", "secret_"}, 40},
	{"Databricks token", `\bdapi[a-f0-9]{32}\b`, []string{"dapi"}, 36},
	{"Shopify token", `\bshp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}\b`, []string{"shpat_", "shpss_", "shpca_", "shppa_"}, 32},
	{"Grafana token", `\bgl(?:c|sa)_[A-Za-z0-9+/=_]{32,}`, []string{"glc_", "glsa_"}, 0},
	{"New Relic key", `\bNRAK-[A-Z0-9]{27}\b`, []string{"nrak-"}, 27},
	{"Atlassian token", `\bATATT3[A-Za-z0-9_=-]{50,}`, []string{"atatt3"}, 50},
	{"PlanetScale token", `\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,}`, []string{"pscale_"}, 30},
	{"Supabase key", `\bsb[ps]_(?:secret_)?[A-Za-z0-9_]{30,}`, []string{"sbp_", "sbs_"}, 30},
	{"Doppler token", `\bdp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}`, []string{"dp."}, 40},
	{"Fly token", `\bFlyV1 (?P<v>fm2_[A-Za-z0-9+/=_,-]{40,})`, []string{"flyv1"}, 0},
	{"1Password token", `\bops_eyJ[A-Za-z0-9+/=_-]{60,}`, []string{"ops_eyj"}, 0},
	{"Square token", `\b(?:EAAA[A-Za-z0-9_-]{60}|sq0[a-z]{3}-[A-Za-z0-9_-]{22,43})\b`, []string{"eaaa", "sq0"}, 22},
	{"Airtable token", `\bpat[A-Za-z0-9]{14}\.[a-f0-9]{64}\b`, []string{"pat"}, 64},
	{"Figma token", `\bfig[dopr]_[A-Za-z0-9_-]{40,}`, []string{"fig"}, 40},
	{"PostHog key", `\bph[cx]_[A-Za-z0-9]{40,}`, []string{"phc_", "phx_"}, 40},
	{"Sentry token", `\bsntry[su]_[A-Za-z0-9_=+/-]{40,}`, []string{"sntry"}, 40},
	{"password hash", `\$apr1\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}`, []string{"$apr1$"}, 0},
	{"bcrypt hash", `\$2[aby]\$\d\d\$[./A-Za-z0-9]{53}`, []string{"$2"}, 0},
	{"password hash", `\$(?:1|5|6|7|y|gy)\$[./A-Za-z0-9$=,]{20,}`, []string{"$1$", "$5$", "$6$", "$7$", "$y$", "$gy$"}, 0},
})

func compile(all []shape) []compiled {
	out := make([]compiled, len(all))
	for n, s := range all {
		out[n] = compiled{lazyregexp.New(s.pattern), s}
	}
	return out
}

// spans returns the matches of a shape: the group v of each match if it exists,
// and otherwise the complete match.
func (c compiled) spans(s string) []span {
	var out []span
	v := max(0, c.SubexpIndex("v"))
	for _, m := range c.FindAllStringSubmatchIndex(s, -1) {
		if m[2*v] >= 0 {
			out = append(out, span{m[2*v], m[2*v+1], c.kind})
		}
	}
	return out
}

// tokens finds credentials by their format.
func tokens(s string) []span {
	var out []span
	lower, run := strings.ToLower(s), longestRun(s)
	for _, c := range shapes {
		if run >= c.run && slices.ContainsFunc(c.need, func(n string) bool { return strings.Contains(lower, n) }) {
			out = append(out, c.spans(s)...)
		}
	}
	return out
}

// longestRun returns the length of the longest run of token characters.
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
