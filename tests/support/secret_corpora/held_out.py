"""The second corpus: other secrets in other surroundings, written after the rules.

Its first measurement is the one in docs/export.md. What it showed was corrected since, so that it is
no longer unseen: the next measurement needs a third one.

Same notation as ``templates``. Each line is put into one of several surroundings by the tests.
"""

from __future__ import annotations

SECRETS = r"""
MYSQL_PWD=«{word}» mysqldump shop | gzip > shop.sql.gz
REDIS_PASSWORD=«{letters14}»
      POSTGRES_PASSWORD: «{letters11}»
      - MYSQL_PASSWORD=«{word}»
  root_password: «{word}»
admin.password=«{sign}»
keystore.password = «{letters9}»
mail.smtp.password: "«{sign}»"
DATABASE_URL="postgresql://svc_app:«{alnum16}»@10.0.3.4:5432/ledger?sslmode=require"
CELERY_BROKER_URL=amqp://celery:«{word}»@rabbit:5672//
SQLALCHEMY_DATABASE_URI = "mysql+pymysql://web:«{sign}»@localhost/web"
ftp://backup:«{pw}»@files.host.test/nightly
ldap://cn=admin,dc=x:«{pw}»@ldap.host.test
git clone https://oauth2:«{url26}»@gitlab.host.test/team/app.git
git remote add origin https://ada:«{hex40}»@git.host.test/a.git
mongodb://root:«{letters12}»@mongo:27017/admin?authSource=admin
sftp://deploy:«{word}»@10.1.1.9:22/var/www
https://api.host.test/v2/items?apikey=«{alnum32}»&limit=10
https://maps.host.test/js?key=«AI|za{url35}»&libraries=places
https://host.test/reset?token=«{url43}»
wss://stream.host.test/ws?access_token=«{jwt}»
curl 'https://host.test/login?user=x&passwd=«{word}»'
curl -X POST -d 'username=ada&password=«{word}»' https://host.test/login
curl -s -H 'X-Api-Key: «{alnum40}»' https://host.test
curl -H "PRIVATE-TOKEN: «gl|pat-{url20}»" https://gitlab.host.test/api/v4/projects
curl -sSu deploy:«{word}» -T a.tgz https://files.host.test/
wget --user=ada --password='«{sign}»' https://host.test/f
http --auth ada:«{letters10}» GET host.test
GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic «{login}»\r\n
< set-cookie: JSESSIONID=«{HEX32}»; Path=/; Secure
> Cookie: _ga=GA1.2.3; session=«{url60}»
Proxy-Authorization: Basic «{login}»
Authorization: ApiKey «{base30}»
{{"Authorization": "Bearer «{alnum40}»", "Accept": "*/*"}}
headers = {{"Authorization": f"Bearer «{url48}»"}}
requests.get(url, auth=("ada", "x"), headers={{"X-Auth-Token": "«{hex64}»"}})
machine gitlab.host.test\n  login ci\n  password «{letters13}»
machine example-host login bot password «gh|p_{alnum36}»
10.0.0.7:5432:ledger:ledger_rw:«{alnum12}»
pg.internal:6432:*:ro_user:«{letters12}»
{{"auths":{{"ghcr.io":{{"auth":"«{login}»"}}}},"credsStore":""}}
deploy:«$5${alnum16}${alnum43}»:18990:0:99999:7:::
nginx:«$2b$12${alnum53}»
ci:«{{SSHA}}{base28}»
hash = «$argon2id$v=19$m=65536,t=3,p=4${base16}${base32}»
password = «pbkdf2_sha256$600000${alnum22}${base32}»
Administrator:500:«{hex32}:{hex32}»:::
-----BEGIN OPENSSH PRIVATE KEY-----\n«{base60}»\n{base60}\n-----END OPENSSH PRIVATE KEY-----
-----BEGIN EC PRIVATE KEY-----\n«{base45}»\n-----END EC PRIVATE KEY-----
-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n«{base60}»\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----
"private_key_id": "x", "private_key": "-----BEGIN PRIVATE KEY-----\\n«{base60}»\\n-----END PRIVATE KEY-----\\n"
id_token: «{jwt}»
[default]\naws_access_key_id = «AK|IA{upper16}»
aws_session_token = «{base100}»
export AWS_SECRET_ACCESS_KEY='«{base30}»'
"SecretAccessKey": "«{alnum40}»", "SessionToken": "x"
AZURE_STORAGE_CONNECTION_STRING="DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=«{base64}»"
azcopy copy 'https://acc.blob.core.windows.net/c?sv=2021&se=2026&sig=«{alnum43}%3D»' /tmp
GITHUB_TOKEN: «gh|s_{alnum36}»
- run: echo «github|_pat_{alnum22}_{alnum59}» | gh auth login --with-token
gitlab-runner register --token «gl|rt-{url20}» --url https://x
feed «gl|ft-{url20}»
SLACK_BOT_TOKEN="«xo|xb-{digits11}-{digits13}-{alnum24}»"
slack_app = «xa|pp-1-A{upper10}-{digits13}-{hex64}»
curl -X POST https://hooks.sla|ck.com/services/«T{upper9}/B{upper10}/{alnum24}» -d '{{}}'
STRIPE_SECRET_KEY=«sk|_test_{alnum99}»
endpointSecret = "«wh|sec_{alnum32}»";
//npm.host.test/:_authToken=«np|m_{alnum36}»
TWINE_PASSWORD=«py|pi-AgEIcHlwaS5vcmc{url80}»
docker login -u bob -p «dck|r_pat_{url27}»
HF_TOKEN=«hf|_{alnum34}» python train.py
openai.api_key = "«sk|-{alnum48}»"
OPENAI_API_KEY=«sk|-proj-{url120}»
ANTHROPIC_API_KEY: «sk|-ant-api03-{url93}AA»
client = Groq(api_key="«gs|k_{alnum52}»")
XAI_API_KEY=«xa|i-{alnum80}»
vault token «hv|s.CAES{url90}»
export VAULT_TOKEN=«s.{alnum24}»
ATLASSIAN_TOKEN=«ATA|TT3xFfGF0{url180}»
mailgun: api:«ke|y-{hex32}»
client = Client("AC{hex32}", auth_token="«{hex32}»")
SENDGRID_API_KEY='«S|G.{url22}.{url43}»'
TELEGRAM_BOT_TOKEN=«{digits10}:AA{url33}»
DISCORD_TOKEN=«Nz{alnum22}.{alnum6}.{url27}»
webhook_url: https://discordapp.com/api/web|hooks/{digits18}/«{url68}»
doctl auth init -t «do|p_v1_{hex64}»
X-Shopify-Access-Token: «shp|at_{hex32}»
heroku: HEROKU_API_KEY="«{uuid}»"
databricks configure --token «da|pi{hex32}»
LINEAR_API_KEY=«lin|_api_{alnum40}»
notion = Client(auth="«secret|_{alnum43}»")
X-Figma-Token: «fi|gd_{url40}»
SENTRY_AUTH_TOKEN=«snt|rys_{base60}»
SENTRY_DSN=https://«{hex32}»@o4504.ingest.us.sentry.io/45041
NEW_RELIC_LICENSE_KEY=«{hex36}NRAL»
DATADOG_APP_KEY=«{hex40}»
dd-application-key: «{hex40}»
DOPPLER_TOKEN=«dp|.st.prd.{alnum43}»
FLY_API_TOKEN="FlyV1 «fm|2_{base80}»"
SUPABASE_SERVICE_ROLE_KEY=«{jwt}»
CF_API_TOKEN=«{alnum40}»
age identity: «AGE-SECRET|-KEY-1{upper58}»
[Interface]\nPrivateKey = «{base32}»\nAddress = 10.0.0.2/32
mysql -h 10.0.0.1 -u root -p«{sign}» shop
mysqldump -uroot -p«{letters11}» --all-databases
mongosh --host m -u admin -p «{word}» --authenticationDatabase admin
psql "host=pg user=rw password=«{word}» dbname=x sslmode=require"
sshpass -p"«{sign}»" ssh root@10.0.0.2
ldapmodify -x -D cn=admin,dc=x -w «{letters10}» -f a.ldif
svn co --username ada --password «{letters10}» https://svn.host.test/x
openssl pkcs12 -export -passout pass:«{word}» -in a.pem
keytool -importkeystore -deststorepass «{letters9}»
ansible-playbook x.yml -e "db_password=«{word}»"
helm upgrade app ./c --set db.password=«{word}» --set replicas=2
terraform apply -var="db_password=«{sign}»"
kubectl create secret docker-registry r --docker-username=a --docker-password=«{word}»
gh secret set DEPLOY_KEY --body "«{alnum40}»"
vault kv put secret/app password=«{word}» user=x
az login --service-principal -u app-id -p «{alnum34}» --tenant t
plink -ssh -pw «{word}» ada@host
sqlcmd -S db -U sa -P «{sign}» -Q "select 1"
export DJANGO_SECRET_KEY='«{sign}{sign}{sign}{sign}{sign}»'
RAILS_MASTER_KEY=«{hex32}»
SESSION_SECRET="«{word}»"
NEXTAUTH_SECRET=«{base32}»
APP_KEY=base64:«{base32}»
jwt.secret=«{alnum32}»
"client_secret":"«GOC|SPX-{url28}»"
oauth_token_secret = "«{alnum45}»"
"refreshToken" : "«1//0{url60}»"
private String dbPassword = "«{word}»";
static final String API_KEY = "«{hex32}»";
let password = "«{sign}»".to_string();
const char *password = "«{word}»";
passwd := os.Getenv("X") // was "x"\npasswd = "«{pw}»"
$db_password = '«{sign}»';
'database' => ['password' => '«{word}»'],
define( 'DB_PASSWORD', "«{sign}»" );
define('SECURE_AUTH_SALT', '«{alnum30}{sign}{alnum24}»');
new Sequelize("db", "user", {{ password: "«{word}»" }})
password: 'p{letters4}"«{alnum8}»'
System.setProperty("javax.net.ssl.keyStorePassword", "«{word}»");
process.env.API_SECRET = '«{alnum32}»'
cfg["secret_key"] = "«{alnum40}»"
db:\n  user: x\n  pass: «{sign}»
secrets:\n  slack_token: "«{alnum32}»"
apiVersion: v1\nkind: Secret\ndata:\n  db-password: «{base14}»\n  x: y
env:\n- name: SMTP_PASSWORD\n  value: "«{word}»"
[mysqld]\nuser=x\npassword=«{word}»
<Setting name="DbPassword">«{pw}»</Setting>
<connectionStrings><add connectionString="Server=x;User ID=sa;Password=«{sign}»;"/>
<server><username>ci</username><password>«{word}»</password></server>
GRANT ALL ON *.* TO 'x'@'%' IDENTIFIED BY '«{sign}»';
CREATE USER rw WITH ENCRYPTED PASSWORD '«{letters12}»';
ALTER LOGIN sa WITH PASSWORD = '«{sign}»';
SET PASSWORD FOR 'x'@'%' = PASSWORD('«{word}»');
Temporary password: «{sign}»
Your new password is: «{pw}»
wifi password is "«{word}»"
login: ada / password: «{pw}»
| DB_PASSWORD | «{pw}» |
ansible_become_pass: «{word}»
bindpw «{pw}»
rootpw: «{word}»
snowflake.password = '«{word}»'
pass = «{alnum20}»
htpasswd -nb ada «{word}»
echo "«{sign}»" | sudo -S systemctl restart x
"pwd": "«{word}»"
--secret-access-key «{alnum40}»
--client-secret=«{url32}»
x-goog-api-key: «AI|za{url35}»
refresh «ya|29.{url80}»
"""

LOOK_ALIKES = r"""
Merge: {hex7} {hex7}
HEAD is now at {hex7} Fix token refresh
[main {hex7}] Rotate password reset tokens
Author: Ada <ada@host.test>
thread-id={uuid}
"session_id":"{uuid}","turn_id":"{uuid}"
 sha1: {hex40}
{hex32} *image.iso
Digest: sha256:{hex64}
pull sha256:{hex12}: done
        "sha512": "{base64}"
"integrity": "sha384-{base48}",
flask==2.0.0 --hash=sha256:{hex64} --hash=sha256:{hex64}
ETag: W/"{hex16}-{hex8}"
img src=data:image/gif;base64,{base90}
{base90}{base90}
password: "${{DB_PASSWORD}}"
DB_PASSWORD=${{DB_PASSWORD:?must be set}}
password: "{{{{ vault_db_password }}}}"
password: {{{{ .Values.db.password | quote }}}}
--password "$PASSWORD"
--password=$(cat /run/secrets/db)
-p $MYSQL_PASSWORD
curl -u "$USER:$PASS" https://host.test
curl -u user:password https://host.test
curl -H "Authorization: Bearer YOUR_TOKEN" https://host.test
Authorization: Bearer {{{{token}}}}
token: ***
GITHUB_TOKEN: ${{{{ secrets.GITHUB_TOKEN }}}}
API_KEY=your_api_key_here
api_key = "YOUR-API-KEY"
OPENAI_API_KEY=sk|-your-key-here
secret_key: change-me-in-production
password=CHANGE_ME
password: example
password: [REDACTED]
password = None
password=""
password: null
password: String,
  password: z.string().min(8),
  token?: string | null;
password: &str,
pub password: Option<String>,
func Login(user, password string) error {{
private final String password;
String token = response.getToken();
val password: CharArray
password = forms.CharField(widget=forms.PasswordInput)
password = Column(String(128), nullable=False)
password=hash_password(plain)
token = tokens[i]
token = self.tokens.pop(0)
let token = lexer.next_token();
const {{ password, token }} = req.body;
password: body.password,
token: localStorage.getItem('token'),
user.password = await bcrypt.hash(password, 10);
if password == "":
if (token.type === TokenType.EOF) {{
expect(password).toBeVisible()
await page.fill('#password', password)
<input id="password" type="password" placeholder="Password">
<PasswordInput value={{password}} onChange={{setPassword}} />
.form-password:focus {{ outline: none }}
a[href="#secret-management"]
/home/ada/projects/api/src/auth/tokens/refresh_token_handler.py
node_modules/@scope/package-name-with-long-name/dist/index.{hex8}.js
max_new_tokens=512, temperature=0.7
"usage":{{"input_tokens":12345,"output_tokens":678}}
tokens used: 12,345
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{alnum43}
ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAI{base60}
SHA256:{alnum43} ada@laptop (ED25519)
-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n{base60}\n-----END PGP PUBLIC KEY BLOCK-----
PublicKey = {base32}
Peer public key: {base32}
Passwords are hashed with bcrypt before they are stored.
Please enter your password to continue.
The API key is read from the environment.
password is incorrect
password was changed successfully
Invalid password: too short
The secret is kept in Vault.
token expired
password: The password of the user.
Secret: a value that only the owner knows
https://host.test/docs/authentication#api-keys
https://host.test/users/{uuid}/edit?tab=password
https://host.test:8443/path/to@thing
redis://localhost:6379/0
postgres://localhost:5432/app
http://127.0.0.1:{digits4}/callback?state=open
1.21.0-beta.{digits2}
go1.22.{digits1} linux/amd64
#{hex3}{hex3}
rgba(0, 0, 0, 0.5) #{hex6}
boundary="===============" {digits16}
--{hex32}--
RAILS_ENV=production NODE_ENV=test
LANG=en_US.UTF-8 TERM=xterm-256color
"nextToken": "{base40}"
page_token={alnum30}
eos_token: "</s>"
token_count: {digits6}
secretName: tls-cert-prod
imagePullSecrets:\n- name: regcred-{digits3}
key: database_url
key = "{hex32}"
PASSWORD_RESET_TIMEOUT = 259200
password_changed_at: 2024-05-01T10:00:00Z
passwordStrength: strong
password_digest: string
CREATE TABLE users (id int, password varchar(255));
GRANT SELECT ON users TO app;
docker run --user 1000:1000 img
scp file ada@10.0.0.1:/tmp/
rsync -p -u src/ dst/
mkdir -p build/output/dir
ssh -p 2222 ada@host
docker run -p 8080:80 nginx
cp -p a.txt b.txt
python -m pytest -p no:cacheprovider
mysql -u root -p
tar -czpf a.tgz dir
app.ts:1203:17:TS2322:error
10:1234:5678:90ab
pass rate: 98.5%
PASS src/app.test.ts
--- PASS: TestLogin ({digits1}.01s)
pass through
keyword: something{digits4}
turkey = "bird{digits6}"
author_token_name: csrf
compile-secret-scanner: v{digits1}.2.3
AutoTokenizer, tokenizer_config.json
sk-SK,sk;q=0.9
pk: {digits5}
rk3588-evaluation-board-v{digits2}
npm_package_version=1.0.{digits2}
hf_hub_download(repo_id="x/y")
Basic usage of the command line
basic auth is disabled
bearer format: JWT
Accept cookies: yes
Set-Cookie is not allowed here
credentials: "omit"
credentials: same-origin
secret: false
secret = Secret.from_name(stack, "x")
secrets: inherit
with: {{ token: ${{{{ github.token }}}} }}
arn:aws:iam::{digits12}:role/deploy
"call_id":"call_{alnum24}"
"id": "resp_{hex48}"
"id":"msg_{hex48}"
item_id: rs_{hex48}
request-id: req_{alnum24}
x-amz-request-id: {upper16}
trace_id={hex32} span_id={hex16}
build-{digits8}-{hex8}
session file rollout-2026-11-18T10-00-00-{uuid}.jsonl
h1:{base32}
"_resolved": "https://r.test/a/-/a-1.0.0.tgz"
0x{hex64}
+1 (555) {digits3}-{digits4}
2026-11-18T13:08:00.123456Z
2001:db8:1234:5678:9abc::1
08:00:2b:01:02:03
import secrets; secrets.token_hex(16)
TOKEN_PATTERN = re.compile(r"[A-Za-z0-9]+")
assert response.json()["token"]
password_validators = [MinLength(8)]
keys: [ "password", "token", "secret" ]
fields = ("username", "password", "email")
["user", "password"]
password, err := term.ReadPassword(0)
"""
