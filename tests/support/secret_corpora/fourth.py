"""The fourth corpus: kinds of files, programs and providers that the other three do not have. Same notation as ``templates``."""

from __future__ import annotations

SECRETS = r"""
hibernate.connection.password=«{word}»
  <add name="db" connectionString="Server=x;User Id=sa;Password=«{sign}»;" />
<property name="javax.persistence.jdbc.password" value="«{word}»"/>
<password>«{letters9}»</password>
<servers><server><id>x</id><username>ada</username><password>«{pw}»</password></server></servers>
systemProp.https.proxyPassword=«{word}»
ossrhPassword=«{pw}»
signing.password=«{letters10}»
signingKeyPassword = "«{word}»"
storePassword=«{letters8}»
keyPassword=«{letters8}»
server.ssl.key-store-password: «{word}»
spring.datasource.password: «{sign}»
spring.mail.password=«{letters9}»
eureka.client.serviceUrl.defaultZone=http://ada:«{word}»@h:8761/eureka
jdbc:mysql://h:3306/x?user=ada&password=«{pw}»
jdbc:sqlserver://h;user=sa;password=«{word}»;
jdbc:oracle:thin:scott/«{word}»@//h:1521/x
mongodb+srv://ada:«{pw}»@c0.ab1cd.mongodb.net/x
amqps://ada:«{word}»@h/x
redis://:«{pw}»@h:6379/0
rediss://default:«{alnum32}»@h:6380
smtp://ada%40h.test:«{word}»@smtp.h.test:587
ldap_bind_pw: «{word}»
bindpw «{letters9}»
rootpw «{word}»
olcRootPW: «{letters10}»
requirepass «{word}»
masterauth «{letters10}»
redis-cli -a «{word}» ping
redis-cli --pass «{word}» ping
mysql -uroot -p«{letters9}» x
mysqldump --user=root --password=«{word}» x
mongosh -u ada -p «{word}» x
mongo --username ada --password «{sign}» x
PGPASSFILE=x psql "host=h user=ada password=«{word}»"
h:5432:x:ada:«{letters9}»
clickhouse-client --user x --password «{pw}»
cqlsh h -u ada -p «{pw}»
influx -username ada -password «{word}»
sqlcmd -S h -U sa -P «{sign}»
bcp x out y -U sa -P «{word}»
rabbitmqctl add_user ada «{word}»
rabbitmqctl change_password ada «{word}»
htpasswd -b f ada «{word}»
htpasswd -nb ada «{word}»
openssl enc -aes-256-cbc -k «{word}» -in x
openssl rsa -in k.key -passin pass:«{word}»
openssl pkcs12 -export -out x.p12 -passout pass:«{letters9}»
keytool -genkey -storepass «{letters8}» -keypass x
keytool -list -keystore x.jks -storepass «{word}»
jarsigner -storepass «{word}» x.jar y
gpg --batch --passphrase «{word}» -c x
zip -P «{word}» x.zip y
unzip -P «{word}» x.zip
7z a -p«{word}» x.7z y
rar a -hp«{letters9}» x.rar y
sshpass -p «{word}» ssh h
sshpass -p'«{sign}»' scp a h:
curl -u ada:«{word}» h
curl --user ada:«{sign}» h
curl -H 'X-Api-Key: «{alnum32}»' h
curl -H "PRIVATE-TOKEN: «{alnum20}»" h
curl -H "Authorization: Token «{hex40}»" h
curl -H "Authorization: Basic «{login}»" h
curl -H "api-key: «{hex32}»" h
curl -b "session=«{alnum40}»" h
curl "https://h/x?api_key=«{hex32}»"
curl "https://h/x?access_token=«{alnum40}»&y=1"
wget --http-user=ada --http-password=«{word}» h
wget --password=«{word}» ftp://h/x
http -a ada:«{word}» GET h
lftp -u ada,«{word}» h
smbclient //h/x -U ada%«{word}»
mount -t cifs //h/x /y -o username=ada,password=«{word}»
net use z: \\h\x «{pw}» /user:ada
xfreerdp /u:ada /p:«{word}» /v:h
rdesktop -u ada -p «{word}» h
vncpasswd -f <<< «{letters8}»
echo «{word}» | sudo -S ls
echo '«{sign}»' | docker login -u ada --password-stdin
docker login -u ada -p «{word}» h
podman login --password «{pw}» h
helm registry login h -u ada -p «{pw}»
az login --service-principal -u x -p «{url40}» --tenant y
aws configure set aws_secret_access_key «{base30}»
aws_session_token = «{base150}»
aws_secret_access_key=«{base30}»
"SecretAccessKey": "«{base30}»"
"SessionToken": "«{base150}»"
AccountKey=«{base64}»;EndpointSuffix=core.windows.net
SharedAccessSignature=sv=2020&sig=«{base32}»
?sv=2022-11-02&ss=b&sig=«{alnum43}%3D»
DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«{base64}»
gh auth login --with-token <<< «gh|o_{alnum36}»
git remote set-url origin https://ada:«{alnum40}»@h/x.git
git config --global user.password «{word}»
machine h login ada password «{letters9}»
machine api.h.test\n  login ada\n  password «{pw}»
//registry.npmjs.org/:_authToken=«{uuid}»
//h/:_password="«{base12}»"
_auth = «{login}»
npmAuthToken: "«{uuid}»"
pip install --extra-index-url https://ada:«{word}»@h/simple x
repository: https://h\n  username: ada\n  password: «{word}»
poetry config http-basic.x ada «{word}»
gem push --key x; :rubygems_api_key: «rubyg|ems_{hex48}»
composer config http-basic.h ada «{word}»
"http-basic": {{"h": {{"username": "ada", "password": "«{word}»"}}}}
twine upload -u ada -p «{word}» dist/*
cargo login «ci|o{alnum32}»
dotnet user-secrets set "Db:Password" "«{word}»"
dotnet nuget add source h -u ada -p «{word}» --store-password-in-clear-text
kubectl create secret generic x --from-literal=password=«{word}»
kubectl create secret docker-registry x --docker-password=«{sign}»
kubectl config set-credentials ada --token=«{alnum40}»
ansible_password: «{word}»
ansible_become_pass=«{letters9}»
h1 ansible_host=10.0.0.1 ansible_user=ada ansible_ssh_pass=«{word}»
vault kv put secret/x password=«{word}»
vault login «hv|s.{alnum24}»
export VAULT_TOKEN=«hv|s.{url90}»
consul_token = "«{uuid}»"
TF_VAR_db_password=«{word}»
db_password = "«{sign}»"
pulumi config set --secret dbPassword «{word}»
heroku config:set SECRET_KEY_BASE=«{hex64}»
fly secrets set DB_PASSWORD=«{word}»
vercel --token «{alnum24}»
netlify deploy --auth «{url43}»
wrangler secret: CLOUDFLARE_API_TOKEN=«{url40}»
SENTRY_AUTH_TOKEN=«snt|rys_{alnum60}»
DD_API_KEY=«{hex32}»
DATADOG_APP_KEY=«{hex40}»
NEW_RELIC_LICENSE_KEY=«{hex36}NRAL»
PAGERDUTY_TOKEN=«{url20}»
OPSGENIE_API_KEY=«{uuid}»
LAUNCHDARKLY_SDK_KEY=«sd|k-{uuid}»
SEGMENT_WRITE_KEY=«{alnum32}»
AMPLITUDE_API_KEY=«{hex32}»
ALGOLIA_ADMIN_KEY=«{hex32}»
PUSHER_APP_SECRET=«{hex20}»
TWITTER_CONSUMER_SECRET=«{alnum50}»
FACEBOOK_APP_SECRET=«{hex32}»
GOOGLE_CLIENT_SECRET=«GOC|SPX-{url28}»
DISCORD_BOT_TOKEN=«M{alnum25}.{alnum6}.{url38}»
https://discord.com/api/webhooks/123456789012345678/«{url68}»
https://hooks.sla|ck.com/services/«T{upper8}/B{upper10}/{alnum24}»
https://api.telegram.org/bot«{digits10}:AA{url33}»/sendMessage
https://outlook.office.com/webhook/«{uuid}@{uuid}/IncomingWebhook/{hex32}/{uuid}»
OPENAI_API_KEY=«sk|-proj-{url48}»
ANTHROPIC_API_KEY=«sk|-ant-api03-{url93}»
GEMINI_API_KEY=«AI|za{url35}»
MISTRAL_API_KEY=«{alnum32}»
COHERE_API_KEY=«{alnum40}»
ELEVENLABS_API_KEY=«{hex32}»
DEEPGRAM_API_KEY=«{hex40}»
ASSEMBLYAI_API_KEY=«{hex32}»
STABILITY_KEY=«sk|-{alnum48}»
OPENROUTER_API_KEY=«sk|-or-v1-{hex64}»
HUGGINGFACE_TOKEN=«h|f_{alnum34}»
WANDB_API_KEY=«{hex40}»
KAGGLE_KEY=«{hex32}»
{{"username":"ada","key":"«{hex32}»"}}
COMET_API_KEY=«{alnum25}»
wifi: ssid="x"\n psk="«{word}»"
network={{\n ssid="x"\n psk=«{hex64}»\n}}
wpa_passphrase=«{word}»
snmp-server community «{word}» RW
enable secret 5 «$1${alnum4}${alnum22}»
username ada privilege 15 secret «{pw}»
ada:«$6${alnum8}${alnum86}»:19000:0:99999:7:::
root:«$y$j9T${alnum22}${alnum43}»:19000::::::
$ANSIBLE_VAULT_PASSWORD=«{word}»
Set-Cookie: SESSION=«{alnum40}»; Path=/
Cookie: PHPSESSID=«{lower26}»
Cookie: JSESSIONID=«{HEX32}»
X-Auth-Token: «{alnum32}»
X-Vault-Token: «hv|s.{alnum24}»
Authorization: ApiKey «{base40}»
Authorization: Bearer «{jwt}»
Sec-WebSocket-Protocol: token, «{jwt}»
passwd: «{word}»
Passwort: «{word}»
Password for ada: «{word}»
the new password is «{pw}»
password is: «{word}»
pwd = '«{sign}»'
const apiSecret = '«{alnum32}»';
String password = "«{word}»";
conn = psycopg2.connect(host="h", password="«{word}»")
smtp.login("ada", "«{word}»")
client = Client(auth=("ada", "«{pw}»"))
auth=HTTPBasicAuth('ada', '«{word}»')
requests.get(u, auth=('ada', '«{sign}»'))
paramiko.connect('h', username='ada', password='«{word}»')
boto3.client('s3', aws_secret_access_key='«{base30}»')
ConvertTo-SecureString '«{sign}»' -AsPlainText -Force
New-Object PSCredential('ada', (ConvertTo-SecureString «{pw}» -AsPlainText -Force))
IDENTIFIED BY '«{word}»'
ALTER USER ada WITH PASSWORD '«{sign}»';
CREATE LOGIN ada WITH PASSWORD = '«{sign}»';
"privateKey": "«-----BEGIN PRIVATE KEY-----\nMII{base60}\n-----END PRIVATE KEY-----\n»"
Seed phrase: «{phrase} {phrase} {phrase}»
"""

LOOK_ALIKES = r"""
hibernate.connection.password=${{DB_PASSWORD}}
<property name="password" value="${{db.password}}"/>
<password>${{env.MAVEN_PASSWORD}}</password>
signing.password=
storePassword=System.getenv("STORE_PASS")
storePassword keystoreProperties['storePassword']
jdbc:mysql://localhost:3306/x?useSSL=false&user=ada
jdbc:postgresql://h/x
redis://localhost:6379/0
amqp://h:5672
mongodb://localhost:27017/x
requirepass ""
# requirepass foobared
bindpw {{{{ ldap_password }}}}
mysql -uroot -p x
mysqldump -p --databases x
psql -W -U ada x
mongosh -u ada -p
openssl rand -base64 32
openssl rsa -in k.key -passin file:pass.txt
openssl req -passout env:PASS -new
keytool -list -keystore x.jks
keytool -storepass:env PASS -list
gpg --passphrase-file x -c y
gpg --keyserver keys.openpgp.org --recv-keys {HEX40}
zip -r x.zip src
7z a x.7z src
curl -u ada h
curl -H "Authorization: Bearer $TOKEN" h
curl -H "X-Api-Key: ${{API_KEY}}" h
curl -H 'PRIVATE-TOKEN: <your_token>' h
curl "https://h/x?api_key=$KEY"
curl "https://h/x?page_token=2&key=name"
http -a $USER:$PASS h
docker login -u ada --password-stdin
echo $PASSWORD | docker login -u ada --password-stdin
docker run -p 8080:80 x
docker run -e DB_PASSWORD x
az login --use-device-code
aws configure get aws_secret_access_key
aws secretsmanager get-secret-value --secret-id prod/db
aws sts get-session-token --duration-seconds 900
gcloud auth print-access-token
gh auth token
gh secret set DB_PASSWORD
git config credential.helper store
git log --format=%H {hex40}
machine h login ada
npm config set //h/:_authToken ${{NPM_TOKEN}}
//registry.npmjs.org/:_authToken=${{NPM_TOKEN}}
npm token list
poetry config pypi-token.pypi $TOKEN
kubectl create secret generic x --from-file=ssh=id_rsa
kubectl get secret db-password -o yaml
kubectl -n kube-system get secrets
ansible-vault encrypt --vault-password-file x y
ansible_password: "{{{{ vault_password }}}}"
vault kv get secret/x
vault_addr = "https://h:8200"
db_password = var.db_password
password = data.aws_secretsmanager_secret.x.arn
sensitive = true
pulumi config get dbPassword
heroku config:get SECRET_KEY_BASE
secrets.DB_PASSWORD
password: ${{{{ secrets.DB_PASSWORD }}}}
with:\n  token: ${{{{ github.token }}}}
SECRET_KEY = os.environ["SECRET_KEY"]
SECRET_KEY = env("SECRET_KEY", default=None)
password = getpass.getpass("Password: ")
password = input("Password: ")
const password = req.body.password;
const token = await getToken();
let secret: Option<String> = None;
password: string;
password?: string | null;
String password = null;
private final String apiKey;
if (password == null) return;
if token != expected_token:
assert user.password == "password"
self.token = token
token_type = "bearer"
"token_type": "Bearer", "expires_in": 3600
"tokens": {{"input": 1200, "output": 300}}
max_tokens: 4096
total_tokens=123456
tokenizer = AutoTokenizer.from_pretrained("x/y")
key = "user:{digits8}:profile"
"key": "ctrl+shift+p"
keyboard_key: enter
primary_key: id
sort_key = lambda x: x.name
"publicKey": "{base32}"
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{base30} ada@h
SHA256:{alnum43} ada@h (ED25519)
fingerprint: {hex64}
integrity: sha512-{base64}
"integrity": "sha512-{base64}",
resolved "https://h/x.tgz#{hex40}"
checksum = "{hex64}"
etag: "{hex32}"
x-request-id: {uuid}
trace_id={hex32} span_id={hex16}
traceparent: 00-{hex32}-{hex16}-01
"id": "{uuid}"
session_id: {uuid}
request {uuid} took 12 ms
docker pull h/x@sha256:{hex64}
Successfully built {hex12}
[main {hex7}] Fix password reset
index {hex7}..{hex7} 100644
password reset email sent
The password must have at least 12 characters.
Forgot your password?
Wrong password, try again
error: invalid token at line 12
SyntaxError: Unexpected token '<'
Enter passphrase (empty for no passphrase):
Permission denied (publickey,password).
sudo: a password is required
debug1: Next authentication method: password
PasswordAuthentication no
PermitRootLogin prohibit-password
auth required pam_unix.so
class TokenBucket:
test_password_is_hashed PASSED
src/auth/password.py:12
/etc/ssl/private/server.key
--token-file /run/token
--password-file=/run/pw
password_file: /run/secrets/db
secretName: tls-cert
secretKeyRef:\n  name: db\n  key: password
imagePullSecrets:\n- name: regcred
serviceAccountToken:\n  path: token
wpa_passphrase ssid
snmp-server enable traps
service password-encryption
no enable secret
Set-Cookie: theme=dark; Path=/
Cookie: lang=en; consent=yes
csrf_token()
<input type="password" name="password">
placeholder="Password"
password=********
password: [redacted]
token: <redacted>
api_key: YOUR_API_KEY
API_KEY=changeme-please
password: "<password>"
0x{hex40}
bitcoin:1{alnum33}
data:image/png;base64,{base90}
v1.2.3-{hex7}
"""
