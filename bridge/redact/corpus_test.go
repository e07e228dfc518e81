package redact_test

import (
	"regexp"
	"strings"
	"testing"
)

// spellings are texts with a credential between « and ». The rest of each text
// stays unchanged.
var spellings = strings.Split(strings.TrimSpace(`
PASSWORD=«hunter22»
export DB_PASSWORD=«hunter22» && make
export DB_PASSWORD='«hunter two three»' && make
export DB_PASSWORD="«hunter two three»"; make
export DB_PASSWORD='«p@ss;w0rd&x»'
DB_PASS=«hunter22» ./run
MY_SECRET_KEY="«abcd 1234»"
env TOKEN=«abcd1234» make deploy
$env:GITHUB_TOKEN = "«abcd 1234»"
$env:GITHUB_TOKEN='«abcd1234efgh»'
set -gx API_KEY «abcd1234efgh»
set -x API_KEY "«abcd1234efgh»"
setx DB_PASSWORD «hunter22»
setenv API_TOKEN «hunter22»
set PASSWORD=«hunter22»
deploy --password «hunter22» --env prod
deploy --password=«hunter22»
deploy --password='«hunter22»'
deploy --password="«hunter two»" --env prod
deploy --password '«hunter two»' --env prod
deploy --token «abcd1234» --env prod
deploy -password «hunter22»
deploy --db-password «hunter22»
deploy --api-key=«abcd1234»
deploy --client-secret «abcd1234»
["deploy","--password","«hunter22»","--now"]
{"api_key": "«abcd1234»", "n": 1}
{"password":"«hunter22»"}
{"password":"«hunter two three»","n":1}
{"clientSecret" : "«abcd1234»"}
{\"password\":\"«hunter22»\",\"n\":1}
{\"password\": \"«hunter two»\"}
{\\\"password\\\": \\\"«hunter22»\\\"}
{\u0022password\u0022:\u0022«hunter22»\u0022}
{\\u0022password\\u0022:\\u0022«hunter22»\\u0022}
%7B%22password%22%3A%22«hunter22»%22%7D
curl -d '{"password": "«hunter two»"}' https://x
curl -d "{\"password\":\"«hunter22»\"}" https://x
curl --data 'user=ana&password=«hunter22»&x=1' https://x
{"auths":{"ghcr.io":{"auth":"«dXNlcjpoUDNhc3N3b3Jk»"}}}
//npm.example.org/:_authToken=«abcd1234-efgh»
//registry.example.com/:_auth="«dXNlcjpoUDNhc3N3b3Jk»"
//registry.example.com/:_password=«aHVudGVyMjI=»
password: «hunter22»
  password: "«hunter two»"
  password: '«hunter two»'
db_password: «hunter22» # production
- name: TOKEN\n  token: «abcd1234»
password = "«hunter22»"
password = «hunter22»
api_key = '«abcd1234»'
secret_key_base = «abcdef0123456789abcdef»
requirepass «hunter22»
Authorization: Bearer «abc.def-ghi_jkl»
authorization: bearer «abc.def-ghi_jkl»
AUTHORIZATION: BEARER «abc.def-ghi_jkl»
-H 'Authorization: Bearer «abc.def-ghi_jkl»'
-H "authorization:Bearer «abc.def-ghi_jkl»"
-H "Authorization: token «abcd1234»"
Authorization: Basic «dXNlcjpwYXNz»
-H 'Authorization: ApiKey «abcd1234»'
-H 'Proxy-Authorization: Basic «dXNlcjpwYXNz»'
Authorization: «abcdef0123456789»
"Authorization": "Bearer «abc.def-ghi_jkl»"
{\"Authorization\":\"Bearer «abcdef123456»\"}
{"headers":{"authorization":["Bearer «abcdef123456»"]}}
-H 'X-Api-Key: «abcd1234»'
-H "x-api-key:«abcd1234»"
-H 'X-Auth-Token: «abcd1234»'
-H 'PRIVATE-TOKEN: «abcd1234efgh»'
-H 'X-Vault-Token: «abcd1234»'
-H 'DD-API-KEY: «0123456789abcdef»'
Cookie: sid=«abc123def456»
cookie: sid=«abc123def456»
COOKIE: sid=«abc123def456»
-H 'Cookie: session=«abc123def456»'
-H 'Cookie: theme=«dark»; sid=«0123456789abcdef»'
Set-Cookie: sid=«abc123def456»; Path=/; HttpOnly
set-cookie: __Host-sid=«abc123def456»; Secure
{"Cookie": "sid=«abc123def456»"}
curl -b sid=«abc123def456» https://x
curl -b 'sid=«abc123def456»' https://x
curl --cookie "sid=«abc123def456»" https://x
curl -u admin:«hunter22» https://x
curl -u 'admin:«hunter22»' https://x
curl -uadmin:«hunter22» https://x
curl --user admin:«hunter22» https://x
curl --proxy-user admin:«hunter22» https://x
curl -s -X POST -u "admin:«hunter22»" https://x
http -a admin:«hunter22» https://x
wget --password=«hunter22» https://x
wget --http-password «hunter22» https://x
psql postgres://app:«s3cretpw»@db:5432/x
postgresql://app:«s3cr%40tpw»@db/x
mysql://root:«hunter22»@127.0.0.1/x
mongodb+srv://app:«hunter22»@c.example.net/x
redis://:«p4ssword»@host:6379/0
amqp://guest:«hunter22»@mq/
git clone https://x-access-token:«abcd1234efgh»@github.com/x/y
git push https://ana:«pa55w0rd»@github.com/x/y
git clone https://«abcdef0123456789abcdef»@github.com/x/y
https://ana:«p@ss»@example.com/
PGPASSWORD=«hunter22» psql -h db
PGPASSWORD="«hunter two»" psql -h db
db.example.com:5432:app:ana:«hunter22»
machine api.example.com login ana password «hunter22»
machine x\n  login ana\n  password «hunter22»
Server=db;Database=x;User Id=sa;Password=«hunter22»;Encrypt=yes
Server=db;UID=sa;PWD=«hunter22»;
jdbc:postgresql://db/x?user=ana&password=«hunter22»
DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«abcdEFGH0123+/==»;EndpointSuffix=core.windows.net
Endpoint=sb://x.net/;SharedAccessKeyName=root;SharedAccessKey=«abcdEFGH0123=»
https://x.blob.core.windows.net/c/b?sv=2022-11-02&se=2026-01-01&sr=b&sp=r&sig=«abcd%2Befgh%3D»
https://x.blob.core.windows.net/c?sig=«abcdEFGH0123%2B»&se=2026
https://b.s3.amazonaws.com/k?X-Amz-Algorithm=A&X-Amz-Date=2026&X-Amz-Signature=«0123456789abcdef0123»
https://storage.googleapis.com/b/k?X-Goog-Signature=«0123456789abcdef»&X-Goog-Date=2026
https://d.cloudfront.net/k?Expires=1&Signature=«abcdEFGH0123~_»&x=1
https://example.com/cb?code=«abcdef0123456789abcd»&x=1
https://maps.example.com/api?key=«abcdef0123456789abcd»
https://example.com/a?access_token=«abcd1234»&n=1
https://example.com/a?token=«abcd1234»#top
https://example.com/a?api_key=«abcd1234»
{"url":"https://x.example/a?x=1\u0026sig=«abcdEFGH0123%2B»"}
sshpass -p «hunter22» ssh x
sshpass -p '«hunter22»' ssh x
mysql -u root -p«hunter22» db
mysqldump -uroot -p'«hunter22»' db
docker login -u ana -p «hunter22» ghcr.io
docker login --username ana --password «hunter22»
podman login -p «hunter22» quay.io
helm registry login -u ana -p «hunter22» x
az login --service-principal -u id -p «hunter22» --tenant t
redis-cli -h x -a «hunter22» ping
redis-cli --pass «hunter22» ping
mongosh -u ana -p «hunter22» x
7z x -p«hunter22» a.7z
zip -P «hunter22» a.zip b
sqlcmd -S db -U sa -P «hunter22» -Q x
ldapsearch -x -D cn=admin -w «hunter22» -b dc=x
smbclient -U ana%«hunter22» //x/y
htpasswd -bc f ana «hunter22»
openssl rsa -in k -passin pass:«hunter22»
gpg --batch --passphrase «hunter22» -d x
gpg --passphrase '«hunter two»' -d x
keytool -storepass «hunter22» -list
skopeo copy --src-creds ana:«hunter22» docker://x
kubectl create secret generic x --from-literal=db=«hunter22»
kubectl create secret generic x --from-literal=password=«hunter22»
kubectl --token=«abcd1234» get pods
    client-key-data: «LS0tLS1CRUdJTiBSU0E=»
    token: «abcd1234efgh»
  password: «aHVudGVyMjI=»
CREATE USER ana IDENTIFIED BY '«hunter22»'
ALTER ROLE ana WITH PASSWORD '«hunter22»'
ConvertTo-SecureString "«hunter22»" -AsPlainText -Force
echo ana:«hunter22» | chpasswd
echo «hunter22» | sudo -S ls
echo "«hunter22»" | docker login -u ana --password-stdin ghcr.io
aws configure set aws_secret_access_key «abcdEFGH0123abcdEFGH0123abcdEFGH0123abcd»
aws_secret_access_key = «abcdEFGH0123abcdEFGH0123abcdEFGH0123abcd»
AWS_SECRET_ACCESS_KEY=«abcdEFGH0123abcdEFGH0123abcdEFGH0123/+cd»
AWS_SESSION_TOKEN=«IQoJb3JpZ2luX2VjEAAaCXVzLWVhc3QtMSJHMEUC»
TF_VAR_db_password=«hunter22» terraform apply
terraform apply -var password=«hunter22»
terraform apply -var 'db_password=«hunter22»'
docker run -e POSTGRES_PASSWORD=«hunter22» postgres
docker run -e "API_TOKEN=«abcd1234»" x
ENV API_TOKEN «abcd1234efgh»
os.environ["API_TOKEN"] = "«abcd1234»"
os.environ['API_TOKEN'] = '«abcd1234»'
$config['password'] = '«hunter22»';
const apiKey = "«abcd1234»";
apiKey: '«abcd1234»',
password := "«hunter22»"
:password => "«hunter22»"
<password>«hunter22»</password>
<add name="x" connectionString="«hunter22hunter»" />
Use password: «hunter22» to log in
the token is in TOKEN=«abcd1234», then go on
npm config set //r.example/:_authToken «abcdef0123456789»
curl -fsSLu admin:«hunter22» https://x
curl -su admin:«hunter22» https://x
curl -u «abcdef0123456789abcdef»: https://x
curl --oauth2-bearer «abcdef0123456789» https://x
echo 'db:5432:*:ana:«hunter22»' >> ~/.pgpass
echo "*:*:*:postgres:«hunter22»" > ~/.pgpass
ana:«$apr1$abcdefgh$0123456789abcdefghijk.»
ana:«{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=»
ana:«{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9gxyz12=»
htpasswd -nb ana «hunter22»
htpasswd -nbB ana «hunter22»
htpasswd -b -c /etc/x ana «hunter22»
htpasswd -bBC 10 /etc/x ana «hunter22»
{"private_key_id": "«0123456789abcdef0123456789abcdef01234567»"}
{"keyName":"key1","permissions":"FULL","value":"«abcdEFGH0123abcdEFGH0123abcdEFGH0123abcdEFGH0123ab==»"}
{"clientId":"x","clientSecret":"«a~B8Q~abcdEFGH0123»","subscriptionId":"z"}
{"SecretAccessKey": "«abcdEFGH0123abcdEFGH0123abcdEFGH0123abcd»"}
git clone https://«abcd1234efgh5678»:@github.com/x/y
nats://«abcdef0123456789abcdef»@h:4222
https://api.telegram.org/bot«110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1»/getMe
https://x.example/a?subscription-key=«0123456789abcdef»
Ocp-Apim-Subscription-Key: «0123456789abcdef»
mysqladmin -u root password «hunter22»
sqlplus ana/«hunter22»@db
imapsync --password1 «hunter22» --password2 «hunter23»
lftp -u ana,«hunter22» sftp://h
rdesktop -u ana -p «hunter22» h
xfreerdp /u:ana /p:«hunter22» /v:h
useradd -p «hunter22abc» ana
openssl enc -aes-256-cbc -k «hunter22» -in x
ssh-keygen -N «hunter22» -f k
ssh-keygen -t rsa -P '«hunter22»' -f k
gh secret set X --body «abcd1234efgh»
SSHPASS=«hunter22» ssh-copy-id x
<Password Value="«hunter22»"/>
default login ana password «hunter22»
ACL SETUSER nod on >«hunter22» ~nod:* +@all
wpa_passphrase ssid «hunter22»
nmcli dev wifi connect ssid password «hunter22»
redirect?to=%22x%3Fpassword=«hunter22abc»%22&y=1
<a title="password=«Sup3rSecret»&quot; and more">
say \"a\" \"password\": \"«two words»\", \"b\": 1
`), "\n")

var between = regexp.MustCompile(`«[^»]*»`)

// TestInPlace checks that exactly the credential in each spelling is redacted.
func TestInPlace(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	n := 0
	for _, line := range spellings {
		for _, text := range []string{line, strings.ReplaceAll(line, `\n`, "\n")} {
			n++
			in := strings.NewReplacer("«", "", "»", "").Replace(text)
			parts := between.Split(text, -1)
			for i := range parts {
				parts[i] = regexp.QuoteMeta(parts[i])
			}
			want := regexp.MustCompile(`^` + strings.Join(parts, `\[redacted [A-Za-z0-9 ]+, \d+ (?:characters?|lines)\]`) + `$`)
			out := r.Redact(in)
			if !want.MatchString(out) {
				t.Errorf("%s\n  became %s", text, out)
			}
			if again := r.Redact(out); again != out {
				t.Errorf("%s\n  became %s\n  then %s", text, out, again)
			}
			if strings.ReplaceAll(line, `\n`, "\n") == line {
				break
			}
		}
	}
	t.Logf("%d spellings", n)
}

// harmless are texts without a credential.
var harmless = strings.Split(strings.TrimSpace(`
ls
the password was changed; tokens: 3; max_tokens=100
git commit -m 'rotate the token' sha 0123456789abcdef0123456789abcdef01234567
kubectl get secret db -o yaml
https://example.com/a:b@c
PASSWORD=$SECRET ./run
PASSWORD="$SECRET" ./run
PASSWORD=${SECRET} ./run
PASSWORD=$(cat /run/secret) ./run
curl -H "Authorization: Bearer $TOKEN" https://x
curl -H "Authorization: Bearer ${TOKEN}" https://x
curl -u "$USER:$PASS" https://x
mysql -u root -p db
mysql -u root -p -h x
docker run -p 8080:80 nginx
docker login --password-stdin
ssh -p 2222 host
mkdir -p /srv/app
cp -p a b
psql --no-password mydb1
mycli --no-token deploy1
token: string
token: required
password: null
password: "" 
password=true
api_key=none
"password": {"type": "string"}
secretary: Ana Lima
author: Ana Lima
compass=north5
bypass=1
keyboard: qwerty12
the passage: chapter12
tokenizer: bert2
token_count=5000
max_tokens: 4096
password-file: /run/secrets/x
--password-file /run/secrets/db1
--token-file=/run/token1
passwordless sudo
Bearer authentication is required
basic authentication
Basic understanding of authentication
Authorization: required
the cookie: banner
Set a cookie banner
cookies: 12
echo '-----BEGIN PRIVATE KEY-----'; curl evil|sh
echo '-----BEGIN PRIVATE KEY-----'; curl evil|sh; echo '-----END PRIVATE KEY-----'
-----BEGIN CERTIFICATE-----
cat key.pem # -----BEGIN RSA PRIVATE KEY-----
echo "-----BEGIN PRIVATE KEY-----" && reboot && echo "-----END PRIVATE KEY-----"
for key in a b; do echo key=$key; done
SELECT token, password FROM users WHERE id = 12345
grep -r password= .
grep 'token: ' config.yaml
sed -i 's/password=.*/password=/' x
test "$password" = "$other"
if [ "$TOKEN" == "" ]; then exit 1; fi
sig: 12
signature of the contract
sort --key=2 file
apt-key list
ssh-keygen -t ed25519 -C ana@example.com
htpasswd -c .htpasswd ana
openssl req -x509 -keyout k.pem -nodes
nmcli dev wifi list
user ana ran this > out.txt
useradd -m ana
openssl genrsa -out key.pem 4096
export PATH=/usr/bin:$PATH
https://example.com/reset?state=open
https://example.com/search?q=password
let token = await getToken();
const { password } = req.body;
password = input("Password: ")
key=value
a:b:c:d
12:30:45
2026-01-01T00:00:00Z
127.0.0.1:8787
user@example.com
4111-2222
sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
0193b3c4-7d5e-7a10-8f00-2b6d0c9e4f03
`), "\n")

// TestHarmless checks that text without a credential stays unchanged.
func TestHarmless(t *testing.T) {
	t.Parallel()
	r := redactor(t)
	for _, s := range harmless {
		if out := r.Redact(s); out != s {
			t.Errorf("%s\n  became %s", s, out)
		}
	}
}
