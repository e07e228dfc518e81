package redact

import (
	"slices"
	"strings"
)

// safe is a character class of characters that have a special meaning in a
// shell and therefore end a word.
const safe = "\\s\"'`$;&|<>(){}\\[\\]\\\\"

// loginCommands are commands that take a password with -p.
const loginCommands = `(?:(?:docker|podman|nerdctl|buildah|oras|helm|crane|az|ibmcloud|cf|oc)\b[^\n|;&]*?\slogin|mongosh?|mongodump|mongorestore|ncftp(?:put|get|ls)?|rdesktop|useradd|usermod|twine|rabbitmqadmin|cqlsh|influx|mosquitto_(?:pub|sub))`

// places finds credentials that only their position reveals: the group v of
// each pattern.
var places = func() func(string) []span {
	all := compile([]shape{
		{"password", `\b[a-zA-Z][a-zA-Z0-9+.-]*://[^` + safe + `/:@]*:(?P<v>[^` + safe + `/]+)@`, []string{"://"}, 0},
		{"token", `\b[a-z][a-z0-9+.-]*://(?P<v>[A-Za-z0-9_-]{20,})@`, []string{"://"}, 0},
		{"token", `\bhttps?://(?P<v>[A-Za-z0-9_-]{16,}):(?:x-oauth-basic)?@`, []string{"://"}, 0},
		{"token", `\bcurl\b[^\n|;&]*?\s(?:-[a-zA-Z]*u|--user)[ =]?[\"']?(?P<v>[A-Za-z0-9_.-]{16,}):(?:[\s\"']|$)`, []string{"curl"}, 0},
		{"token", `--oauth2-bearer[ =][\"']?(?P<v>[^` + safe + `]{8,})`, []string{"--oauth2-bearer"}, 0},
		{"password hash", `(?m)(?:^|[\"'\s])[\w.@-]+:(?P<v>\{(?:SHA|SSHA|SHA256|SSHA256|SHA512|SSHA512|MD5|SMD5|CRYPT)\}[A-Za-z0-9+/=.$]{8,})`, []string{"sha}", "sha256}", "sha512}", "md5}", "crypt}"}, 0},
		{"key", `\"private_key_id\"\s*:\s*\"(?P<v>[0-9a-f]{32,})\"`, []string{"private_key_id"}, 0},
		{"key", `\"keyName\"[^{}]{0,200}?\"value\"\s*:\s*\"(?P<v>[A-Za-z0-9+/]{40,}={0,2})\"`, []string{"keyname"}, 0},
		{"password", `\bmysqladmin\b[^\n|;&]*?\spassword[ \t]+[\"']?(?P<v>[^` + safe + `]{3,})`, []string{"mysqladmin"}, 0},
		{"password", `\bsqlplus[ \t]+(?:-\S+[ \t]+)*[\"']?\w+/(?P<v>[^` + safe + `@]{3,})`, []string{"sqlplus"}, 0},
		{"password", `\blftp\b[^\n|;&]*?\s-u[ \t]*[\"']?[^` + safe + `,]+,(?P<v>[^` + safe + `]{3,})`, []string{"lftp"}, 0},
		{"password", `\bx?freerdp3?\b[^\n|;&]*?\s/p:[\"']?(?P<v>[^` + safe + `]{3,})`, []string{"freerdp"}, 0},
		{"password", `(?i)\bnet[ \t]+use[ \t]+\S+[ \t]+\\\S+[ \t]+(?P<v>[^` + safe + `/*-][^` + safe + `]{2,})`, []string{"net"}, 0},
		{"password", `\bopenssl\b[^\n|;&]*?\s-k[ \t]+[\"']?(?P<v>[^` + safe + `]{3,})`, []string{"openssl"}, 0},
		{"passphrase", `\bssh-keygen\b[^\n|;&]*?\s-[NP][ \t]*[\"']?(?P<v>[^` + safe + `]{3,})`, []string{"ssh-keygen"}, 0},
		{"secret", `\bgh[ \t]+secret[ \t]+set\b[^\n|;&]*?\s(?:-b|--body)[ =][\"']?(?P<v>[^` + safe + `]{3,})`, []string{"secret"}, 0},
		{"credential", `(?i)<[\w:.-]*(?:` + names + `)\s+value\s*=\s*[\"'](?P<v>[^` + safe + `]{3,})`, []string{"value"}, 0},
		{"password", `(?i)\b(?:acl[ \t]+setuser|user)[ \t]+\S+[^\n]*?[ \t]>(?P<v>[^` + safe + `]{3,})`, []string{"setuser", "user "}, 0},
		{"password", `\b(?:wpa_passphrase[ \t]+\S+|nmcli\b[^\n|;&]*?\spassword)[ \t]+[\"']?(?P<v>[^` + safe + `]{3,})`, []string{"wpa_passphrase", "nmcli"}, 0},
		{"authorization", `(?i)\bauthorization(?:\\*["']|\\+u0022|%22)?\]?\s*(?:=>|[:=]|,)\s*(?:\\*["']|\\+u0022|%22)?(?:basic|bearer|token|digest|api-?key|negotiate|splunk|geniekey|hmac|oauth|key|bot|jwt|client-id)(?:\s+|%20|\+)(?:token=|key=)?(?:\\*["'])?(?P<v>[^` + safe + `,]{4,})`, []string{"authorization"}, 0},
		{"credential", `(?i)\bauthorization(?:\\*["']|\\+u0022|%22)?\]?\s*(?:=>|[:=])\s*(?:\\*["']|\\+u0022|%22)?(?P<v>[^` + safe + `,]{6,})`, []string{"authorization"}, 0},
		{"credential", `(?i)(?:^|[\s"':=+,\[(])(?:bearer|basic)(?:\s+|%20)(?P<v>[A-Za-z0-9._~+/=-]{12,})`, []string{"bearer", "basic"}, 0},
		{"signature", `(?i)(?:[?&;,\s"']|%26|\\u0026|^)(?:sig|signature|x-(?:amz|goog|oss)-signature|x-amz-security-token|x-goog-credential|x-amz-credential|awsaccesskeyid|hmac|policy|key-pair-id)(?:=|%3d)(?P<v>[^` + safe + `#,]{8,})`, []string{"sig", "x-", "hmac", "policy", "awsaccess", "key-pair"}, 0},
		{"credential", `(?i)[?&](?:key|code|auth|sas|t|state|ticket|assertion)=(?P<v>[A-Za-z0-9%_.~+/=-]{16,})`, []string{"key=", "code=", "auth=", "sas=", "t=", "state=", "ticket=", "assertion="}, 0},
		{"cookie", `(?i)\b(?:set-)?cookie2?(?:\\*["']|\\+u0022|%22)?\]?\s*(?:=>|[:=]|,)\s*(?:\\*["']|\\+u0022|%22)?[^` + safe + `=,]+=(?P<v>[^` + safe + `,]{3,})`, []string{"cookie"}, 0},
		{"cookie", `(?i)\bcookie2?(?:\\*["'])?\s*[:=][^\n"']*?;\s*[\w.-]+=(?P<v>[A-Za-z0-9_%.~+=-]{12,})`, []string{"cookie"}, 0},
		{"cookie", `(?i)\bcookie2?\s*:[^\n"']*?;\s*[\w.-]+=[^;\n]*;\s*[\w.-]+=(?P<v>[A-Za-z0-9_%.~+=-]{12,})`, []string{"cookie"}, 0},
		{"password", `(?i)\b(?:curl|wget|http|https|xh|httpie)\b[^\n|;&]*?\s(?:-[a-zA-Z]*[uU]|--user|--proxy-user|-a|--auth)[ =]?["']?[^` + safe + `:]+:(?P<v>[^` + safe + `]+)`, []string{"curl", "wget", "http", "xh"}, 0},
		{"cookie", `\bcurl\b[^\n|;&]*?\s(?:-b|--cookie)[ =]?["']?[^` + safe + `=]+=(?P<v>[^` + safe + `]+)`, []string{"curl"}, 0},
		{"password", `\bsshpass\s+-p\s*["']?(?P<v>[^` + safe + `]+)`, []string{"sshpass"}, 0},
		{"password", `\b` + loginCommands + `\b[^\n|;&]*?\s(?:-p|-P|--pass)[ =]["']?(?P<v>[^` + safe + `-][^` + safe + `]{2,})`, []string{" -p", "--pass"}, 0},
		{"password", `\b(?:mysql|mysqldump|mysqladmin|mariadb|mysqlimport|mysqlsh)\b[^\n|;&]*?\s-p["']?(?P<v>[^` + safe + `-][^` + safe + `]*)`, []string{"mysql", "mariadb"}, 0},
		{"password", `\b(?:redis-cli|valkey-cli|keydb-cli)\b[^\n|;&]*?\s(?:-a|--pass)[ =]["']?(?P<v>[^` + safe + `]{3,})`, []string{"-cli"}, 0},
		{"password", `\b(?:7z|7za|zip|unzip|unrar|rar)\b[^\n|;&]*?\s(?:-P\s+|-p|-hp)["']?(?P<v>[^` + safe + `-][^` + safe + `]{3,})`, []string{"zip", "7z", "rar"}, 0},
		{"password", `\b(?:sqlcmd|bcp|isql|tsql)\b[^\n|;&]*?\s-P\s*["']?(?P<v>[^` + safe + `]{3,})`, []string{"sqlcmd", "bcp", "sql"}, 0},
		{"password", `\b(?:ldapsearch|ldapadd|ldapmodify|ldapdelete|ldapwhoami|snmpwalk|snmpget|ipmitool)\b[^\n|;&]*?\s-(?:w|A|X|P)\s*["']?(?P<v>[^` + safe + `]{3,})`, []string{"ldap", "snmp", "ipmi"}, 0},
		{"password", `\b(?:smbclient|rpcclient|net|winexe|evil-winrm|mount\.cifs)\b[^\n|;&]*?\s-U\s*["']?[^` + safe + `%]+%(?P<v>[^` + safe + `]+)`, []string{"%"}, 0},
		{"password", `\bhtpasswd[ \t]+(?:-[a-mo-zA-Z]+[ \t]+(?:\d+[ \t]+)?)+[^-\s\d]\S*[ \t]+\S+[ \t]+[\"']?(?P<v>[^` + safe + `]{3,})`, []string{"htpasswd"}, 0},
		{"password", `\bhtpasswd[ \t]+(?:-[a-zA-Z]+[ \t]+(?:\d+[ \t]+)?)*-[a-zA-Z]*n[a-zA-Z]*[ \t]+(?:-[a-zA-Z]+[ \t]+(?:\d+[ \t]+)?)*[^-\s]\S*[ \t]+[\"']?(?P<v>[^` + safe + `]{3,})`, []string{"htpasswd"}, 0},
		{"password", `-pass(?:in|out|word)?\s+["']?pass:(?P<v>[^` + safe + `]{3,})`, []string{"pass:"}, 0},
		{"password", `(?i)--(?:creds|src-creds|dest-creds|basic-auth|http-user)[ =]["']?[^` + safe + `:]+:(?P<v>[^` + safe + `]+)`, []string{"creds", "basic-auth", "http-user"}, 0},
		{"secret", `--from-literal[ =]["']?[\w.-]+=(?P<v>[^` + safe + `]{3,})`, []string{"--from-literal"}, 0},
		{"credential", `(?i)\b(?:setx|setenv|set\s+-[a-z]+|config(?:ure)?\s+set)\s+[\w/:.-]*?(?:` + names + `)\s+["']?(?P<v>[^` + safe + `]{4,})`, nameParts, 0},
		{"credential", `(?m)^[ \t]*(?:ENV|ARG|requirepass|masterauth)[ \t]+(?:[A-Za-z0-9_]*(?i:` + names + `)[ \t]+)?["']?(?P<v>[^` + safe + `=]{4,})["']?[ \t]*$`, nameParts, 0},
		{"credential", `(?i)<[\w:.-]*(?:` + names + `)>(?P<v>[^` + safe + `]{3,})</`, []string{"</"}, 0},
		{"password", `(?i)\b(?:machine\s+\S+|default)\s+login\s+\S+\s+password\s+(?P<v>[^` + safe + `]+)`, []string{"login"}, 0},
		{"password", `(?im)^\s*password[ \t]+(?P<v>[^` + safe + `]{4,})\s*$`, []string{"password"}, 0},
		{"password", `(?m)(?:^|["'])[\w.*-]+:(?:\d{2,5}|\*):[\w.*-]+:[\w.*-]+:(?P<v>[^` + safe + `]{3,})(?:[ \t]*$|["'\\])`, []string{":"}, 0},
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
				if v := s[x.from:x.to]; v[0] != '-' && !ordinary.MatchString(v) && !placeholderText(v) && !strings.Contains(v, ".*") && (c.kind != "credential" || random(v)) && (c.kind != "authorization" || random(v) || len(v) >= 10) {
					out = append(out, x)
				}
			}
		}
		return out
	}
}()
