"""The first corpus: one line for each kind of secret and of look-alike.

``«…»`` in a line is the secret; ``{…}`` is a random value (see ``values``). Beginnings of keys are cut
by ``|``, which is left out, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

SECRETS = r"""
PGPASSWORD=«{word}» psql -h db.internal -U app
PGPASSWORD=«{letters}» pg_dump prod > dump.sql
export PGPASSWORD="«{sign}»"
password: «{word}»
password: «{letters12}»
  password: «{sign}»
password: "«{sign}»"
password: '«{pw}»'
db_password = «{word}»
db.password=«{pw}»
spring.datasource.password=«{sign}»
spring.datasource.password=«{word}»
https://shop.test/login?user=ada&password=«{word}»
https://shop.test/login?password=«{letters}»&next=/
GET /api?access_token=«{alnum32}»&page=2 HTTP/1.1
GET /v1/things?api_key=«{hex32}»
machine api.host.test login ada password «{word}»
machine git.host.test login ada password «{sign}»
default login ada password «{pw}»
db.host.test:5432:prod:app:«{word}»
localhost:5432:*:postgres:«{pw}»
*:*:*:app:«{sign}»
{{"auths": {{"https://index.docker.io/v1/": {{"auth": "«{login}»"}}}}}}
"auth": "«{login}»"
root:«$6${alnum8}${alnum43}{alnum43}»:19700:0:99999:7:::
ada:«$y$j9T${alnum22}${alnum43}»:19700::::::
ada:«$apr1${alnum8}${alnum22}»
ada:«$2y$05${alnum53}»
ada:«{{SHA}}{base20}»
Set-Cookie: session=«{alnum32}»; Path=/; HttpOnly
Set-Cookie: sid=«{url24}»; Secure
Cookie: sessionid=«{lower32}»; theme=dark
Cookie: theme=dark1234; auth_token=«{alnum32}»
Authorization: Basic «{login}»
Authorization: Bearer «{alnum40}»
authorization: bearer «{url32}»
Authorization: token «{hex40}»
curl -H "Authorization: Bearer «{alnum32}»" https://api.host.test
Authorization: Digest username="ada", realm="x", nonce="abc", uri="/", response="«{hex32}»"
postgres://app:«{word}»@db.host.test:5432/prod
postgresql+asyncpg://app:«{sign}»@db/prod
mongodb+srv://app:«{pw}»@cluster0.host.test/prod
redis://:«{word}»@cache:6379/0
amqp://guest1:«{alnum12}»@mq:5672/
https://ada:«{pw}»@git.host.test/x.git
mysql://root:«{letters}»@127.0.0.1/app
smtp://mailer:«{sign}»@smtp.host.test:587
https://«{alnum40}»@git.host.test/x.git
jdbc:postgresql://db/prod?user=app&password=«{word}»
Server=db;Database=prod;User Id=app;Password=«{pw}»;
Server=db;User=sa;Pwd=«{word}»;Encrypt=true
host=db user=app password=«{word}» dbname=prod
-----BEGIN RSA PRIVATE KEY-----\n«{base40}»\n-----END RSA PRIVATE KEY-----
«{jwt}»
AWS_ACCESS_KEY_ID=«AK|IA{upper16}»
ASIA token «AS|IA{upper16}»
aws_secret_access_key = «{alnum40}»
AWS_SECRET_ACCESS_KEY=«{alnum20}/{alnum19}»
aws configure set aws_secret_access_key «{alnum40}»
"private_key": "-----BEGIN PRIVATE KEY-----\n«{base60}»\n-----END PRIVATE KEY-----\n"
key «AI|za{url35}»
DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«{base64}»;EndpointSuffix=core.windows.net
https://x.blob.core.windows.net/c/f?sv=2022-11-02&sp=r&sig=«{alnum40}%3D»
Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=«{base32}»
AZURE_CLIENT_SECRET=«{alnum3}8|Q~{alnum34}»
«gh|p_{alnum36}»
«gh|o_{alnum36}»
«gh|s_{alnum36}»
«github|_pat_{alnum22}_{alnum59}»
«gl|pat-{url20}»
«gl|rt-{url20}»
«gl|dt-{url20}»
«glc|bt-{url20}»
«xo|xb-{digits12}-{digits12}-{alnum24}»
«xo|xp-{digits12}-{digits12}-{digits12}-{hex32}»
https://hooks.sla|ck.com/services/«T{upper8}/B{upper8}/{alnum24}»
«sk|_live_{alnum24}»
«rk|_live_{alnum24}»
«wh|sec_{alnum32}»
«np|m_{alnum36}»
//registry.host.test/:_authToken=«{uuid}»
//registry.host.test/:_password="«{base12}»"
«py|pi-AgEIcHlwaS5vcmc{url60}»
«dck|r_pat_{url27}»
«hf|_{alnum34}»
«sk|-{alnum48}»
«sk|-proj-{url48}»
«sk|-ant-api03-{url80}»
«gs|k_{alnum52}»
«xa|i-{alnum80}»
«hv|s.{alnum24}»
«hv|b.{url100}»
VAULT_TOKEN=«s.{alnum24}»
«ATA|TT3xFfGF0{url100}={HEX8}»
«ke|y-{hex32}»
«{hex32}-{hex8}-{hex8}» is the Mailgun one
«{hex32}-us12»
TWILIO_AUTH_TOKEN=«{hex32}»
«SK|{hex32}»
«S|G.{url22}.{url43}»
bot «{digits9}:AA{url33}» started
https://api.telegram.org/bot«{digits9}:{url35}»/getMe
«MT{alnum22}.{alnum6}.{url38}»
https://discord.com/api/web|hooks/{digits18}/«{url68}»
«do|p_v1_{hex64}»
«shp|at_{hex32}»
HEROKU_API_KEY=«{uuid}»
«HRK|U-{uuid}»
«da|pi{hex32}»
«lin|_api_{alnum40}»
«nt|n_{alnum46}»
NOTION_TOKEN=«secret|_{alnum43}»
«fi|gd_{url40}»
«snt|rys_{url60}»
https://«{hex32}»@o123.ingest.sentry.io/456
«NR|AK-{upper27}»
DD_API_KEY=«{hex32}»
DD-API-KEY: «{hex32}»
«dp|.pt.{alnum43}»
«fo|1_{url43}»
FlyV1 «fm|2_{base64}»
«sb|p_{hex40}»
CLOUDFLARE_API_TOKEN=«{url40}»
X-Auth-Key: «{hex37}»
«AGE-SECRET|-KEY-1{upper58}»
PrivateKey = «{base32}»
PresharedKey = «{base32}»
mysqldump --password=«{word}» app
tool --password «{word}» --verbose
tool --api-key «{alnum32}»
mysql -u root -p«{word}» app
mysql -uroot -p'«{sign}»' -e 'select 1'
sshpass -p «{word}» ssh ada@host
sshpass -p '«{sign}»' scp a b:
docker login -u ada -p «{word}» registry.host.test
echo «{pw}» | docker login -u ada --password-stdin
curl -u ada:«{word}» https://host.test
curl --user 'ada:«{sign}»' https://host.test
wget --http-password=«{word}» https://host.test
http -a ada:«{pw}» https://host.test
redis-cli -h cache -a «{word}» ping
ldapsearch -x -D cn=admin -w «{word}» -b dc=x
openssl rsa -in k.pem -passin pass:«{word}»
keytool -list -keystore k.jks -storepass «{word}»
gpg --batch --passphrase «{word}» -d x.gpg
echo 'ada:«{word}»' | chpasswd
echo «{word}» | sudo -S apt update
htpasswd -bc /etc/nginx/.htpasswd ada «{word}»
smbclient //srv/share -U ada%«{pw}»
7z x -p«{word}» a.7z
unzip -P «{word}» a.zip
export SECRET_KEY=«{alnum40}»
export SECRET_KEY_BASE=«{hex64}»
SECRET_KEY = '«{sign}{sign}{sign}{sign}»'
JWT_SECRET=«{word}»
client_secret: "«{alnum32}»"
"clientSecret": "«{url40}»"
{{"password": "«{word}»"}}
{{\"password\": \"«{sign}»\"}}
{{\\\"api_key\\\": \\\"«{alnum32}»\\\"}}
password = "«{word}»"
password: "«{phrase}»"
passphrase = "«{phrase}»"
String password = "«{pw}»";
const apiKey = '«{alnum32}»';
const password: string = "«{word}»";
password: str = "«{pw}»"
var dbPassword = "«{sign}»"
dbPassword := "«{word}»"
'password' => '«{pw}»',
define('DB_PASSWORD', '«{word}»');
define( "AUTH_KEY", "«{alnum64}»" );
os.environ["API_TOKEN"] = "«{alnum32}»"
conn.setPassword("«{word}»");
config.set("password", "«{pw}»")
#define WIFI_PASSWORD "«{word}»"
CREATE USER 'app'@'%' IDENTIFIED BY '«{word}»';
ALTER USER app WITH PASSWORD '«{word}»';
CREATE ROLE app LOGIN PASSWORD '«{pw}»';
ALTER USER 'root'@'localhost' IDENTIFIED WITH mysql_native_password BY '«{sign}»';
<password>«{word}»</password>
<add key="Password" value="«{pw}»"/>
<property name="hibernate.connection.password">«{word}»</property>
- name: DB_PASSWORD\n  value: «{word}»
{{"name": "API_TOKEN", "value": "«{alnum32}»"}}
data:\n  password: «{base12}»
  tls.key: «LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t{base60}»
stringData:\n  api-token: «{alnum32}»
requirepass «{word}»
ansible_ssh_pass=«{word}»
ansible_become_password: «{word}»
wpa_passphrase=«{word}»
psk="«{word}»"
-e MYSQL_ROOT_PASSWORD=«{word}» mysql:8
ENV DB_PASSWORD «{word}»
kubectl create secret generic db --from-literal=password=«{word}»
+password: «{word}»
-DB_PASSWORD=«{pw}»
+    "api_key": "«{alnum32}»",
The password is «{pw}»
Password: «{pw}»
**Password:** `«{pw}»`
user=ada\npassword=«{word}»\nhost=db
x-api-key: «{alnum32}»
X-Vault-Token: «{url28}»
Private-Token: «{url20}»
["mysql", "--password", "«{word}»"]
["sshpass", "-p", "«{word}»"]
MAILGUN_KEY=«{hex32}-{hex8}-{hex8}»
SMTP_PASS=«{word}»
DB_PWD=«{word}»
admin_pass: «{pw}»
refresh_token=«{url64}»
"accessToken":"«{alnum48}»"
--token=«{alnum32}»
TOKEN='«{alnum24}»'
mnemonic: "«copper lantern meadow thunder velvet orchard pebble saffron walrus glacier bramble quartz»"
connect.sid=s%3A«{alnum32}.{alnum43}»
net use Z: \\srv\share /user:ada «{pw}»
"""

LOOK_ALIKES = r"""
commit {hex40}
{hex40}
git checkout {hex7}
index {hex7}..{hex7} 100644
{uuid}
session_id: {uuid}
"id": "{uuid}"
sha256:{hex64}
{hex64}  dist/app.tar.gz
digest: sha512-{base64}
"integrity": "sha512-{base64}=="
integrity = "sha256-{base32}"
checksum = "{hex64}"
resolved "https://registry.test/left-pad/-/left-pad-1.3.0.tgz#{hex40}"
etag: "{hex32}"
MD5 (a.iso) = {hex32}
data:image/png;base64,{base60}
src="data:image/svg+xml;base64,{base60}"
password: <password>
password=$PASSWORD
password: ${{TOKEN}}
PASSWORD=${{DB_PASSWORD:-}}
PGPASSWORD=$PGPASSWORD psql
token: {{{{ secrets.TOKEN }}}}
password: ********
api_key: your-api-key-here
API_KEY=<your-api-key>
API_KEY=xxx
token: xxxxxxxxxxxxxxxx
password: changeme
password = "your_password"
OPENAI_API_KEY=sk|-...
export OPENAI_API_KEY="sk|-xxxxxxxxxxxxxxxxxxxxxxxx"
ghp_|xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
password: str
password: string;
password: Optional[str] = None
def login(user: str, password: str) -> None:
token: Token
secret: SecretStr
password: bytes,
password = get_password()
password = getpass.getpass("Password: ")
password = os.environ["DB_PASSWORD"]
password = os.getenv("DB_PASSWORD", "")
token = request.headers.get("X-Token")
const token = await getToken();
password: process.env.DB_PASSWORD,
password=settings.DB_PASSWORD,
self.password = password
password=password
login(user, password=pw)
this.token = token;
if (password !== confirmPassword) {{
passwordField.setText("")
<input type="password" name="password" id="password">
.password-input {{ color: red; }}
.token-list, .secret-panel {{ margin: 0 }}
<label for="password">Password</label>
/usr/share/doc/very/long/path/to/some/file_with_{hex8}/readme.md
src/components/auth/password_reset_token_form_{digits4}.tsx
max_tokens: 4096
max_tokens=128000
tokens=123456
input_tokens: 8817263
total_tokens = 99812312
"prompt_tokens": 12345, "completion_tokens": 6789
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{alnum43} ada@laptop
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ{base80} ada
-----BEGIN PUBLIC KEY-----\n{base60}\n-----END PUBLIC KEY-----
-----BEGIN CERTIFICATE-----\n{base60}\n-----END CERTIFICATE-----
The password is required.
the password is too short
Password: must be at least 8 characters
Enter your password:
password must not be empty
A token is a string of characters.
Forgot password? Reset it here.
"password": "Password is required"
https://docs.host.test/guide#password-reset
https://host.test/a/b?page=2&sort=token#section-{digits3}
v1.2.3-rc.4+build.{digits5}
1.2.3.dev{digits8}+g{hex7}
color: #{hex6};
background: #{hex8}
boundary=----WebKitFormBoundary{alnum16}
Content-Type: multipart/form-data; boundary={hex32}
NODE_ENV=production
ENVIRONMENT=staging-{digits4}
next_token: {base30}
nextPageToken: "{alnum24}"
pad_token = "[PAD]"
token_type: bearer
token_url: https://host.test/oauth/token
secretName: my-db-secret
secret_name = "prod/db/credentials-{digits4}"
secretKeyRef:\n  name: db-credentials\n  key: password
existingSecret: "db-secret-{digits4}"
password_file: /run/secrets/db_password
private_key_path = "/etc/ssl/private/server.key"
PASSWORD_MIN_LENGTH = 12
password_hash VARCHAR(255) NOT NULL
password VARCHAR(255)
ALTER TABLE users ADD COLUMN password text;
SELECT password FROM users WHERE id = 1
primary_key = "user_{digits6}"
cache_key: v2-{hex16}
sort_key = "2024-01-01T00:00:00Z#{digits6}"
public_key: {base32}
docker run -u 1000:1000 img
http://localhost:8080/path
https://user:password@host.test/
postgres://user:pass@localhost/db
postgres://${{USER}}:${{PASS}}@localhost/db
git@host.test:org/repo.git
ada@host.test:/srv/data
file.py:1234:56: E501 line too long
app.go:1234:12:5: undefined: x
12:34:56.789 INFO token refreshed
pass: 12, fail: 0
tests pass: true
compass: north-{digits4}
bypass = "rule-{digits6}"
keyboard: qwerty{digits4}
monkey = "banana{digits6}"
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
author: Ada{digits4}
authority = "host.test:{digits4}"
sk-learn-is-a-library-for-everyone-{digits4}a
task-runner-configuration-{digits4}
npm_config_registry=https://registry.test
npm_lifecycle_event_name_is_long_here_ok
hf_transfer_is_enabled_by_default_now_ok
eyJust-a-word.that-looks.like-one
basic understanding of things
the bearer of this letter
bearer token authentication is required
cookie: consent required
secret = random.choice(words)
secrets = load_secrets(path)
credentials: include
credentials: "same-origin"
authorization: required
Authorization: Bearer $TOKEN
Authorization: Bearer <token>
-H "Authorization: Bearer ${{API_TOKEN}}"
aws s3 cp s3://bucket/{hex32}/file.bin .
arn:aws:secretsmanager:us-east-1:{digits12}:secret:prod/db-{alnum6}
password: arn:aws:secretsmanager:us-east-1:{digits12}:secret:prod
AC{hex32} is the account sid
"request_id": "req_{alnum24}"
"call_id": "call_{alnum24}"
msg_{alnum24}
chatcmpl-{alnum29}
traceparent: 00-{hex32}-{hex16}-01
X-Request-Id: {uuid}
base64 -d <<< {base30}
cargo:rustc-env=GIT_HASH={hex40}
go.sum h1:{base32}
image: repo/app@sha256:{hex64}
pip install foo==1.2.3 --hash=sha256:{hex64}
0x{hex40}
{digits10}
+{digits11}
2024-01-01T00:00:00.000Z
fe80::{hex4}:{hex4}
00:1A:2B:3C:4D:5E
import {{ TokenProvider }} from './tokens'
from django.contrib.auth import password_validation
assert token == expected_token
token: str = Field(..., description="the token")
if not secrets.compare_digest(token, expected):
"scripts": {{"token": "node token.js"}}
passwordless: true
one_time_password_enabled: true
password_policy: strong
key: value
api_key_id: {digits6}
|password|string|required|
"""
