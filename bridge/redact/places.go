package redact

import (
	"slices"
	"strings"
)

// safe is a character class of characters that have a special meaning in a
// shell and therefore end a word.
const safe = "\\s\"'`$;&|<>(){}\\[\\]\\\\"

// loginCommands are commands that take a password with -p.
const loginCommands = `(?:(?:docker|podman|nerdctl|buildah|oras|helm|crane|az|ibmcloud|cf|oc)\b[^\n|;&]*?\slogin|mongosh?|mongodump|mongorestore|twine|rabbitmqadmin|cqlsh|influx|mosquitto_(?:pub|sub))`

// places finds credentials that only their position reveals: the group v of
// each pattern.
var places = func() func(string) []span {
	all := compile([]shape{
		{"password", `\b[a-zA-Z][a-zA-Z0-9+.-]*://[^` + safe + `/:@]*:(?P<v>[^` + safe + `/]+)@`, []string{"://"}, 0},
		{"token", `\b(?:https?|ssh|git|ftps?)://(?P<v>[A-Za-z0-9_-]{20,})@`, []string{"://"}, 0},
		{"authorization", `(?i)\bauthorization(?:\\*["']|\\+u0022|%22)?\]?\s*(?:=>|[:=]|,)\s*(?:\\*["']|\\+u0022|%22)?(?:basic|bearer|token|digest|api-?key|negotiate|splunk|geniekey|hmac|oauth|key|bot|jwt|client-id)(?:\s+|%20|\+)(?:token=|key=)?(?:\\*["'])?(?P<v>[^` + safe + `,]{4,})`, []string{"authorization"}, 0},
		{"credential", `(?i)\bauthorization(?:\\*["']|\\+u0022|%22)?\]?\s*(?:=>|[:=])\s*(?:\\*["']|\\+u0022|%22)?(?P<v>[^` + safe + `,]{6,})`, []string{"authorization"}, 0},
		{"credential", `(?i)(?:^|[\s"':=+,\[(])(?:bearer|basic)(?:\s+|%20)(?P<v>[A-Za-z0-9._~+/=-]{12,})`, []string{"bearer", "basic"}, 0},
		{"signature", `(?i)(?:[?&;,\s"']|%26|\\u0026|^)(?:sig|signature|x-(?:amz|goog|oss)-signature|x-amz-security-token|x-goog-credential|x-amz-credential|awsaccesskeyid|hmac|policy|key-pair-id)(?:=|%3d)(?P<v>[^` + safe + `#,]{8,})`, []string{"sig", "x-", "hmac", "policy", "awsaccess", "key-pair"}, 0},
		{"credential", `(?i)[?&](?:key|code|auth|sas|t|state|ticket|assertion)=(?P<v>[A-Za-z0-9%_.~+/=-]{16,})`, []string{"key=", "code=", "auth=", "sas=", "t=", "state=", "ticket=", "assertion="}, 0},
		{"cookie", `(?i)\b(?:set-)?cookie2?(?:\\*["']|\\+u0022|%22)?\]?\s*(?:=>|[:=]|,)\s*(?:\\*["']|\\+u0022|%22)?[^` + safe + `=,]+=(?P<v>[^` + safe + `,]{3,})`, []string{"cookie"}, 0},
		{"cookie", `(?i)\bcookie2?(?:\\*["'])?\s*[:=][^\n"']*?;\s*[\w.-]+=(?P<v>[A-Za-z0-9_%.~+=-]{12,})`, []string{"cookie"}, 0},
		{"cookie", `(?i)\bcookie2?\s*:[^\n"']*?;\s*[\w.-]+=[^;\n]*;\s*[\w.-]+=(?P<v>[A-Za-z0-9_%.~+=-]{12,})`, []string{"cookie"}, 0},
		{"password", `(?i)\b(?:curl|wget|http|https|xh|httpie)\b[^\n|;&]*?\s(?:-u|-U|--user|--proxy-user|-a|--auth)[ =]?["']?[^` + safe + `:]+:(?P<v>[^` + safe + `]+)`, []string{"curl", "wget", "http", "xh"}, 0},
		{"cookie", `\bcurl\b[^\n|;&]*?\s(?:-b|--cookie)[ =]?["']?[^` + safe + `=]+=(?P<v>[^` + safe + `]+)`, []string{"curl"}, 0},
		{"password", `\bsshpass\s+-p\s*["']?(?P<v>[^` + safe + `]+)`, []string{"sshpass"}, 0},
		{"password", `\b` + loginCommands + `\b[^\n|;&]*?\s(?:-p|-P|--pass)[ =]["']?(?P<v>[^` + safe + `-][^` + safe + `]{2,})`, []string{" -p", "--pass"}, 0},
		{"password", `\b(?:mysql|mysqldump|mysqladmin|mariadb|mysqlimport|mysqlsh)\b[^\n|;&]*?\s-p["']?(?P<v>[^` + safe + `-][^` + safe + `]*)`, []string{"mysql", "mariadb"}, 0},
		{"password", `\b(?:redis-cli|valkey-cli|keydb-cli)\b[^\n|;&]*?\s(?:-a|--pass)[ =]["']?(?P<v>[^` + safe + `]{3,})`, []string{"-cli"}, 0},
		{"password", `\b(?:7z|7za|zip|unzip|unrar|rar)\b[^\n|;&]*?\s(?:-P\s+|-p|-hp)["']?(?P<v>[^` + safe + `-][^` + safe + `]{3,})`, []string{"zip", "7z", "rar"}, 0},
		{"password", `\b(?:sqlcmd|bcp|isql|tsql)\b[^\n|;&]*?\s-P\s*["']?(?P<v>[^` + safe + `]{3,})`, []string{"sqlcmd", "bcp", "sql"}, 0},
		{"password", `\b(?:ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|snmpwalk|snmpget|ipmitool)\b[^\n|;&]*?\s-(?:w|A|X|P)\s*["']?(?P<v>[^` + safe + `]{3,})`, []string{"ldap", "snmp", "ipmi"}, 0},
		{"password", `\b(?:smbclient|rpcclient|net|winexe|evil-winrm|mount\.cifs)\b[^\n|;&]*?\s-U\s*["']?[^` + safe + `%]+%(?P<v>[^` + safe + `]+)`, []string{"%"}, 0},
		{"password", `(?i)\bhtpasswd\s+-[a-z]*b[a-z]*\s+\S+\s+\S+\s+["']?(?P<v>[^` + safe + `]{3,})`, []string{"htpasswd"}, 0},
		{"password", `-pass(?:in|out|word)?\s+["']?pass:(?P<v>[^` + safe + `]{3,})`, []string{"pass:"}, 0},
		{"password", `(?i)--(?:creds|src-creds|dest-creds|basic-auth|http-user)[ =]["']?[^` + safe + `:]+:(?P<v>[^` + safe + `]+)`, []string{"creds", "basic-auth", "http-user"}, 0},
		{"secret", `--from-literal[ =]["']?[\w.-]+=(?P<v>[^` + safe + `]{3,})`, []string{"--from-literal"}, 0},
		{"credential", `(?i)\b(?:setx|setenv|set\s+-[a-z]+|config(?:ure)?\s+set)\s+[\w/:.-]*?(?:` + names + `)\s+["']?(?P<v>[^` + safe + `]{4,})`, nameParts, 0},
		{"credential", `(?m)^[ \t]*(?:ENV|ARG|requirepass|masterauth)[ \t]+(?:[A-Za-z0-9_]*(?i:` + names + `)[ \t]+)?["']?(?P<v>[^` + safe + `=]{4,})["']?[ \t]*$`, nameParts, 0},
		{"credential", `(?i)<[\w:.-]*(?:` + names + `)>(?P<v>[^` + safe + `]{3,})</`, []string{"</"}, 0},
		{"password", `(?i)\bmachine\s+\S+\s+login\s+\S+\s+password\s+(?P<v>[^` + safe + `]+)`, []string{"machine"}, 0},
		{"password", `(?im)^\s*password[ \t]+(?P<v>[^` + safe + `]{4,})\s*$`, []string{"password"}, 0},
		{"password", `(?m)^[\w.*-]+:(?:\d{2,5}|\*):[\w.*-]+:[\w.*-]+:(?P<v>[^` + safe + `]{3,})[ \t]*$`, []string{":"}, 0},
		{"password", `(?i)\bidentified\s+(?:with\s+\w+\s+)?by\s+["'](?P<v>[^` + safe + `]+)["']`, []string{"identified"}, 0},
		{"password", `(?i)\bwith\s+(?:encrypted\s+)?password\s+["'](?P<v>[^` + safe + `]+)["']`, []string{"password"}, 0},
		{"password", `(?i)\bConvertTo-SecureString\s+(?:-String\s+)?["'](?P<v>[^` + safe + `]+)["']`, []string{"convertto-securestring"}, 0},
		{"password", `(?i)\bchpasswd\b[^\n]*?<<<\s*["']?\w+:(?P<v>[^` + safe + `]+)`, []string{"chpasswd"}, 0},
		{"password", `\becho\s+["']?\w+:(?P<v>[^` + safe + `]+)["']?\s*\|\s*(?:sudo\s+)?chpasswd\b`, []string{"chpasswd"}, 0},
		{"password", `\becho\s+(?:-n\s+)?["']?(?P<v>[^` + safe + `]{3,})["']?\s*\|\s*(?:sudo\s+-S|docker\s+login|podman\s+login|helm\s+registry\s+login|passwd\s+--stdin|gh\s+auth\s+login)`, []string{"echo"}, 0},
	})
	return func(s string) []span {
		lower := strings.ToLower(s)
		var out []span
		for _, c := range all {
			if !slices.ContainsFunc(c.need, func(n string) bool { return strings.Contains(lower, n) }) {
				continue
			}
			for _, x := range c.spans(s) {
				if v := s[x.from:x.to]; v[0] != '-' && !ordinary.MatchString(v) && !placeholderText(v) && (c.kind != "credential" || random(v)) && (c.kind != "authorization" || random(v) || len(v) >= 10) {
					out = append(out, x)
				}
			}
		}
		return out
	}
}()
