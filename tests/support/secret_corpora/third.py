"""The third corpus: written without looking at the rules, by kind of file and by provider.

Its first measurement is in docs/export.md; what it showed was corrected since. Same notation as ``templates``.
"""

from __future__ import annotations

SECRETS = r"""
PGPASSWORD=«{letters9}» psql -h db -U app
export PGPASSWORD=«{word}»
PGPASSWORD='«{sign}»' pg_dump shop
DB_PASS=«{letters8}»
DB_PASSWORD=«{sign}»
DB_PWD=«{word}»
MYSQL_ROOT_PASSWORD=«{letters12}»
SMTP_PASSWORD="«{phrase}»"
RABBITMQ_DEFAULT_PASS=«{word}»
ADMIN_PASSWORD=«S3cret!{letters6}»
JWT_SECRET=«{letters24}»
SESSION_SECRET="«{word}»"
SECRET_KEY='«django-insecure-{url40}»'
APP_KEY=base64:«{base32}»
ENCRYPTION_KEY=«{hex64}»
export API_KEY=«{alnum32}»
set DB_PASSWORD=«{word}»
$env:DB_PASSWORD = "«{sign}»"
setx DB_PASSWORD «{pw}»
password: «{letters10}»
  password: "«{word}»"
password: '«{sign}»'
passwd: «{letters8}»
user: ada\npassword: «{word}»
db:\n  user: app\n  pass: «{letters9}»
spring.datasource.password=«{word}»
spring.redis.password: «{letters11}»
quarkus.datasource.password=«{sign}»
hibernate.connection.password=«{word}»
<property name="password" value="«{word}»"/>
<password>«{sign}»</password>
<add key="SmtpPassword" value="«{word}»" />
<connectionStrings><add connectionString="Server=db;User Id=sa;Password=«{sign}»;" /></connectionStrings>
"ConnectionStrings": {{"Default": "Server=tcp:x.database.windows.net;User ID=app;Password=«{pw}»;Encrypt=True"}}
Data Source=db;Initial Catalog=x;User ID=sa;Pwd=«{word}»;
Driver={{ODBC Driver 18}};Server=x;UID=sa;PWD=«{sign}»
jdbc:postgresql://db/x?user=app&password=«{letters10}»
jdbc:mysql://db:3306/x?user=root&password=«{word}»&useSSL=false
jdbc:oracle:thin:scott/«{letters9}»@//db:1521/orcl
https://host.test/?user=a&password=«{word}»
https://host.test/cb?client_secret=«{alnum32}»&grant_type=x
https://host.test/cb#access_token=«{alnum40}»&token_type=bearer
https://host.test/?api_key=«{hex32}»
https://ada:«{sign}»@host.test/
redis://:«{letters16}»@cache:6379/0
rediss://default:«{alnum32}»@eu1.upstash.io:6379
postgres://u:«{word}»@db/x
mongodb+srv://ada:«{letters12}»@cluster0.ab1cd.mongodb.net/test
amqps://u:«{pw}»@mq/vh
smtp://u%40x:«{pw}»@mail:587
"password": "«{letters9}»"
{{"user": "ada", "pass": "«{word}»"}}
{{"db": {{"password": "«{sign}»"}}}}
{{\"password\":\"«{word}»\"}}
{{'password': '«{letters10}»'}}
password = "«{word}»"
password = '«{letters9}»'
db_password = "«{sign}»"
conn = psycopg2.connect(host="db", user="x", password="«{word}»")
mysql.connector.connect(user='x', passwd='«{letters8}»')
const password = '«{word}»';
let apiKey = "«{alnum32}»";
private static final String PASSWORD = "«{word}»";
var password = "«{sign}»"
String apiToken = "«{alnum40}»";
DriverManager.getConnection(url, "app", "«{pw}»")
os.environ["DB_PASSWORD"] = "«{word}»"
process.env.SECRET = '«{alnum24}»'
ENV['API_TOKEN'] = '«{alnum30}»'
ENV DB_PASSWORD=«{word}»
ARG NPM_TOKEN=«{uuid}»
ALTER USER app WITH PASSWORD '«{word}»';
CREATE USER 'app'@'%' IDENTIFIED BY '«{sign}»';
CREATE ROLE x LOGIN PASSWORD '«{letters9}»';
GRANT ALL ON *.* TO 'x'@'%' IDENTIFIED BY '«{word}»';
SET PASSWORD FOR 'root'@'localhost' = '«{word}»';
ALTER LOGIN sa WITH PASSWORD = '«{sign}»'
CREATE LOGIN x WITH PASSWORD = N'«{sign}»';
curl -u ada:«{word}» https://host.test
curl -u 'ada:«{sign}»' https://host.test
curl --user ada:«{letters9}» host.test
curl -H "Authorization: Bearer «{alnum40}»" host.test
curl -H 'Authorization: token «{hex40}»' host.test
curl -H "X-Api-Key: «{alnum24}»" host.test
curl -H "x-auth-token: «{uuid}»" host.test
curl --header 'X-Vault-Token: «hv|s.{alnum24}»' host.test
curl -b 'session=«{alnum32}»' host.test
curl -d '{{"password":"«{word}»"}}' host.test
curl --proxy-user ada:«{pw}» host.test
Authorization: Bearer «{jwt}»
Authorization: Basic «{login}»
authorization: Bearer «{hex64}»
X-API-KEY: «{alnum32}»
Api-Key: «{hex32}»
Ocp-Apim-Subscription-Key: «{hex32}»
X-Amz-Security-Token: «{base100}»
Set-Cookie: session=«{alnum32}»; HttpOnly
Set-Cookie: sid=«s%3A{url32}.{base20}»; Path=/
Set-Cookie: auth_token=«{jwt}»; Secure
Cookie: sessionid=«{lower32}»; csrftoken=x
set-cookie: connect.sid=«s%3A{url32}»
machine host.test login ada password «{letters9}»
machine api.host.test\nlogin ada\npassword «{word}»
default login anonymous password «{pw}»
db.host.test:5432:shop:app:«{letters10}»
localhost:5432:*:postgres:«{sign}»
*:*:*:app:«{word}»
{{"auths":{{"https://index.docker.io/v1/":{{"auth":"«{login}»"}}}}}}
"auth": "«{login}»"
root:«$6${alnum8}${alnum86}»:19000:0:99999:7:::
ada:«$y$j9T${alnum22}${alnum43}»:19000::::::
ada:«$apr1${alnum8}${alnum22}»
ada:«$2y$05${alnum53}»
ada:«{{SHA}}{base20}»
//registry.test/:_authToken=«np|m_{alnum36}»
//registry.test/:_password=«{base12}»
_auth=«{login}»
[pypi]\nusername = __token__\npassword = «py|pi-AgEIcHlwaS5vcmc{url70}»
[default]\naws_secret_access_key = «{alnum40}»
aws_access_key_id=«AK|IA{upper16}»
AWS_SECRET_ACCESS_KEY=«{alnum20}/{alnum19}»
aws configure set aws_secret_access_key «{alnum40}»
"AccessKeyId": "«AS|IA{upper16}»"
    client-key-data: «LS0t|LS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo{base90}»
    token: «{jwt}»
    token: «{alnum40}»
  name: admin\n  user:\n    password: «{word}»
apiVersion: v1\nkind: Secret\ndata:\n  password: «{base12}»
apiVersion: v1\nkind: Secret\nstringData:\n  db-pass: «{word}»
kubectl create secret generic x --from-literal=password=«{word}»
helm install x --set auth.password=«{letters10}»
-----BEGIN RSA PRIVATE KEY-----\n«{base60}»\n-----END RSA PRIVATE KEY-----
-----BEGIN ENCRYPTED PRIVATE KEY-----\n«{base60}»\n-----END ENCRYPTED PRIVATE KEY-----
-----BEGIN DSA PRIVATE KEY-----\n«{base60}»\n-----END DSA PRIVATE KEY-----
"private_key": "-----BEGIN PRIVATE KEY-----\n«{base60}»\n-----END PRIVATE KEY-----\n"
«gh|p_{alnum36}»
«gh|o_{alnum36}»
«github|_pat_{alnum22}_{alnum59}»
«gl|pat-{url20}»
«gl|rt-{url20}»
«gl|dt-{url20}»
«gl|ptt-{hex40}»
«gs|k_{alnum52}»
«xa|i-{alnum80}»
«hv|s.{alnum24}»
«hv|s.CAESI{url90}»
«hv|b.AAAAAQ{url140}»
«ATA|TT3xFfGF0{url180}={HEX8}»
«ATC|TT3xFfGN0{url170}={HEX8}»
«ATB|B{alnum32}»
«{hex32}-{hex8}-{hex8}»
«ke|y-{hex32}»
TWILIO_AUTH_TOKEN=«{hex32}»
«S|K{hex32}»
twilio: AC{hex32}:«{hex32}»
«{digits10}:AA{url33}»
https://api.telegram.org/bot«{digits9}:AA{url33}»/getMe
«MT{alnum22}.{alnum6}.{url38}»
Authorization: Bot «MT{alnum22}.G{alnum5}.{url38}»
«S|G.{url22}.{url43}»
DD_API_KEY=«{hex32}»
DD_APP_KEY=«{hex40}»
https://«{hex32}»@o123456.ingest.sentry.io/1234567
https://«{hex32}»:{hex32}@sentry.io/12345
«snt|ryu_{hex64}»
«NR|AK-{upper27}»
NEW_RELIC_API_KEY=«NR|AK-{upper27}»
«do|p_v1_{hex64}»
«HRK|U-AA{url58}»
HEROKU_API_KEY=«{uuid}»
«shp|at_{hex32}»
«shp|ss_{hex32}»
«sq0|csp-{url43}»
«EA|AA{url60}»
«lin|_api_{alnum40}»
«nt|n_{digits11}{alnum35}»
«secret|_{alnum43}»
«fi|gd_{url43}»
«da|pi{hex32}»
«da|pi{hex32}-2»
«sk|_live_{alnum24}»
«rk|_live_{alnum24}»
«sk|_test_{alnum99}»
«wh|sec_{alnum32}»
«sk|-ant-api03-{url93}AA»
«sk|-ant-oat01-{url93}AA»
«sk|-proj-{url74}T3BlbkFJ{url74}»
«sk|-svcacct-{url60}»
«sk|-{alnum20}T3BlbkFJ{alnum20}»
«sk|-or-v1-{hex64}»
«AI|za{url35}»
«GO|CSPX-{url28}»
«ya|29.a0{url120}»
1//0«{url60}»
"refresh_token": "«1//0{url60}»"
«xo|xb-{digits12}-{digits13}-{alnum24}»
«xo|xp-{digits12}-{digits12}-{digits13}-{hex32}»
«xo|xe.xoxp-1-{alnum140}»
«xa|pp-1-A{upper10}-{digits13}-{hex64}»
https://hooks.sla|ck.com/services/«T{upper8}/B{upper10}/{alnum24}»
https://discord.com/api/web|hooks/{digits18}/«{url68}»
«np|m_{alnum36}»
«py|pi-AgEIcHlwaS5vcmc{url150}»
«hf|_{alnum34}»
«r8|_{alnum37}»
«pplx|-{alnum48}»
«dck|r_pat_{url27}»
«pat{alnum14}.{hex64}»
«PM|AK-{hex24}-{hex34}»
«dp|.pt.{alnum43}»
«ts|key-auth-{alnum12}-{alnum32}»
«sb|p_{hex40}»
«pul-{hex40}»
«glsa|_{alnum32}_{hex8}»
«rubygems|_{hex48}»
«cio{alnum32}»
AZURE_CLIENT_SECRET=«{alnum3}8Q~{url34}»
client_secret: «{alnum3}8Q~{url34}»
AccountKey=«{base64}»;EndpointSuffix=core.windows.net
SharedAccessKey=«{base32}»
?sv=2022-11-02&ss=b&srt=sco&sp=r&sig=«{alnum40}%3D»
CLOUDFLARE_API_TOKEN=«{url40}»
CLOUDFLARE_API_KEY=«{hex37}»
X-Auth-Key: «{hex37}»
MAILCHIMP_API_KEY=«{hex32}-us12»
ALGOLIA_ADMIN_KEY=«{hex32}»
PINECONE_API_KEY=«{uuid}»
COHERE_API_KEY=«{alnum40}»
MISTRAL_API_KEY=«{alnum32}»
ELEVENLABS_API_KEY=«{hex32}»
GEMINI_API_KEY=«AI|za{url35}»
OKTA_API_TOKEN=«00{url40}»
PAGERDUTY_TOKEN=«u+{url18}»
BITBUCKET_APP_PASSWORD=«ATB|B{alnum32}»
JENKINS_TOKEN=«11{hex32}»
SNYK_TOKEN=«{uuid}»
CODECOV_TOKEN=«{uuid}»
ANSIBLE_VAULT_PASSWORD=«{word}»
ansible_become_pass: «{word}»
ansible_ssh_pass=«{letters9}»
vault_password: «{letters12}»
mysql -uroot -p«{word}»
mysql -u root --password=«{letters10}» shop
psql postgresql://app:«{word}»@db/x
mongo -u root -p «{letters9}»
redis-cli -a «{letters14}» ping
sshpass -p «{word}» ssh ada@host
echo '«{word}»' | sudo -S ls
docker login -u ada -p «{letters10}»
docker run -e POSTGRES_PASSWORD=«{word}» postgres
docker run --env MYSQL_PASSWORD=«{letters9}» mysql
htpasswd -b .htpasswd ada «{word}»
openssl enc -k «{word}»
openssl rsa -passin pass:«{letters9}» -in x
gpg --passphrase «{word}» -d x
7z x -p«{word}» x.7z
unzip -P «{letters9}» x.zip
net use Z: \\\\srv\\x /user:ada «{sign}»
az login -u ada -p «{sign}»
az login --service-principal -u x -p «{alnum3}8Q~{url34}» --tenant y
aws --profile x iam create-login-profile --password «{sign}»
gh secret set X --body «{alnum30}»
vault login «hv|s.{alnum24}»
vault kv put secret/x password=«{word}»
vercel --token «{alnum24}»
npm config set //registry.test/:_authToken «np|m_{alnum36}»
git clone https://«gh|p_{alnum36}»@github.com/x/y
git clone https://x-access-token:«gh|s_{alnum36}»@github.com/x/y
git remote set-url origin https://ada:«{word}»@host.test/x.git
wifi: WPA passphrase=«{letters12}»
wpa_passphrase=«{word}»
psk="«{word}»"
PrivateKey = «{base32}»
PresharedKey = «{base32}»
enable secret 5 «$1${alnum4}${alnum22}»
username ada password 7 «{HEX16}»
snmp-server community «{letters9}» RO
bindpw «{word}»
olcRootPW: «{{SSHA}}{base24}»
userPassword: «{word}»
requirepass «{letters16}»
masterauth «{letters16}»
the password is «{pw}»
Password: «{sign}»
login with ada, password «{sign}»
TOKEN="«{alnum40}»"
token = «{hex40}»
auth_token: "«{alnum32}»"
secret: «{alnum32}»
"secret": "«{alnum40}»"
"client_secret": "«{url40}»"
"api_key": "«{alnum32}»"
"token": "«{hex64}»"
"apiKey": "«{url39}»"
"refreshToken": "«{url60}»"
"sessionToken": "«{base60}»"
credentials: «{alnum32}»
bearer_token = '«{alnum50}»'
spring.mail.password=«{letters9}»
datasource.url=jdbc:sqlserver://db;user=sa;password=«{sign}»;encrypt=true
mqtt.password: «{word}»
snowflake_password = "«{word}»"
REACT_APP_API_SECRET=«{alnum30}»
NEXTAUTH_SECRET=«{base32}»
RAILS_MASTER_KEY=«{hex32}»
secret_key_base: «{hex128}»
DJANGO_SECRET_KEY='«{url50}»'
JWT_SIGNING_KEY=«{alnum40}»
COOKIE_SECRET: «{word}»
HASURA_GRAPHQL_ADMIN_SECRET=«{word}»
MINIO_ROOT_PASSWORD: «{letters10}»
GF_SECURITY_ADMIN_PASSWORD=«{word}»
ELASTIC_PASSWORD=«{alnum20}»
NEO4J_AUTH=neo4j/«{word}»
KEYCLOAK_ADMIN_PASSWORD=«{word}»
WORDPRESS_DB_PASSWORD: «{letters8}»
define('DB_PASSWORD', '«{word}»');
define( 'AUTH_KEY', '«{sign}{alnum50}» ');
$db_pass = '«{word}»';
$password = "«{sign}»";
'password' => '«{word}»',
'password' => env('DB_PASSWORD', '«{word}»'),
:password => "«{word}»"
password: process.env.PW || "«{word}»"
password := "«{word}»"
var dbPassword string = "«{word}»"
let password: &str = "«{word}»";
const PASSWORD: &str = "«{word}»";
static NSString *kPassword = @"«{word}»";
#define WIFI_PASS "«{word}»"
char* password = "«{word}»";
val password = "«{word}»"
(def password "«{word}»")
password <- "«{word}»"
(setq smtp-password "«{word}»")
New-Object PSCredential("ada", (ConvertTo-SecureString "«{sign}»" -AsPlainText -Force))
ConvertTo-SecureString '«{sign}»' -AsPlainText -Force
Invoke-Sqlcmd -Username sa -Password "«{sign}»"
sqlcmd -S db -U sa -P «{sign}»
sqlplus scott/«{letters8}»@db
mssql-cli -U sa -P «{pw}»
cqlsh -u cassandra -p «{word}»
influx -username ada -password «{word}»
clickhouse-client --password «{word}»
pg_dump "postgresql://u:«{pw}»@h/d"
mongodump --uri="mongodb://u:«{pw}»@h/d"
mysqladmin -u root password «{word}»
rclone config create x s3 secret_access_key «{alnum40}»
restic: RESTIC_PASSWORD=«{word}»
BORG_PASSPHRASE='«{phrase}»'
borg init; export BORG_PASSPHRASE=«{word}»
cryptsetup: echo -n "«{word}»" | cryptsetup luksFormat x -
useradd -p '«$6${alnum8}${alnum86}»' ada
echo "ada:«{word}»" | chpasswd
usermod --password «{sign}» ada
smbclient //srv/x -U ada%«{word}»
mount -t cifs //s/x /m -o username=ada,password=«{word}»
xfreerdp /u:ada /p:«{sign}» /v:h
rdesktop -u ada -p «{word}» h
ftp -u ftp://ada:«{pw}»@h/x
lftp -u ada,«{word}» h
wget --http-password=«{word}» h
wget --password «{word}» h
http -a ada:«{word}» h
ldapsearch -D cn=x -w «{word}»
kinit: echo «{word}» | kinit ada
svn co --username ada --password «{word}» x
hg clone https://ada:«{pw}»@h/x
jarsigner -storepass «{word}» -keypass x y
keytool -import -storepass «{word}»
openssl pkcs12 -export -passout pass:«{word}»
ssh-keygen -t rsa -N "«{phrase}»" -f x
ansible-playbook -e "db_password=«{word}»" x.yml
ansible-playbook x.yml --extra-vars 'ansible_become_pass=«{word}»'
terraform apply -var="db_password=«{word}»"
terraform apply -var 'api_token=«{alnum30}»'
password = "«{word}»" # tfvars
aws ssm put-parameter --name /x/password --value «{word}» --type SecureString
aws secretsmanager create-secret --name x --secret-string '{{"password":"«{word}»"}}'
gcloud sql users set-password root --password=«{word}»
az keyvault secret set --name x --value «{word}»
kubectl create secret docker-registry r --docker-password=«{word}»
kubectl config set-credentials x --token=«{alnum40}»
oc login --token=«sha256~{url43}»
oc login -u ada -p «{word}»
helm repo add x https://h --username ada --password «{word}»
docker buildx build --build-arg NPM_TOKEN=«{alnum36}» .
docker secret: printf «{word}» | docker secret create db_password -
podman login -u ada -p «{word}» quay.io
heroku config:set SECRET_KEY=«{alnum40}»
flyctl secrets set DATABASE_PASSWORD=«{word}»
wrangler secret: echo «{alnum40}» | wrangler secret put API_KEY
netlify deploy --auth «nf|p_{alnum36}»
vercel env: VERCEL_TOKEN=«{alnum24}»
twine upload -u __token__ -p «py|pi-AgEIcHlwaS5vcmc{url70}»
poetry config pypi-token.pypi «py|pi-AgEIcHlwaS5vcmc{url70}»
poetry config http-basic.x ada «{word}»
cargo login «cio{alnum32}»
gem: :rubygems_api_key: «rubygems|_{hex48}»
nuget push x.nupkg -ApiKey «oy2{lower43}»
dotnet nuget push x -k «oy2{lower43}»
composer config http-basic.x ada «{word}»
mvn <server><username>x</username><password>«{word}»</password></server>
gradle: signing.password=«{word}»
storePassword=«{word}»
keyPassword «{word}»
storePassword "«{word}»"
fastlane: MATCH_PASSWORD="«{word}»"
APPLE_APP_SPECIFIC_PASSWORD=«{letters4}-{letters4}-{letters4}-{letters4}»
app password: «{letters4} {letters4} {letters4} {letters4}»
SLACK_SIGNING_SECRET=«{hex32}»
SLACK_WEBHOOK=https://hooks.sla|ck.com/services/«T{upper8}/B{upper8}/{alnum24}»
TEAMS: https://x.webhook.office.com/webhookb2/«{uuid}@{uuid}/IncomingWebhook/{hex32}/{uuid}»
FIREBASE_TOKEN=«1//0{url60}»
FCM_SERVER_KEY=«AAAA{alnum7}:APA91b{url134}»
key=«AAAA{alnum7}:APA91b{url134}»
"private_key_id": "«{hex40}»"
GOOGLE_CLIENT_SECRET=«GO|CSPX-{url28}»
LINKEDIN_CLIENT_SECRET=«{alnum16}»
TWITTER_API_SECRET=«{alnum50}»
TWITTER_BEARER_TOKEN=«AAAAAAAAAAAAAAAAAAAAA{alnum60}%3D{alnum30}»
FACEBOOK_APP_SECRET=«{hex32}»
INSTAGRAM_ACCESS_TOKEN=«IGQV{url120}»
SPOTIFY_CLIENT_SECRET=«{hex32}»
DROPBOX: «sl.{url130}»
BOX_CLIENT_SECRET=«{alnum32}»
ASANA_TOKEN=«1/{digits16}:{hex32}»
TRELLO_KEY=x&token=«{hex64}»
JIRA_API_TOKEN=«{alnum24}»
ZENDESK_API_TOKEN=«{alnum40}»
INTERCOM_ACCESS_TOKEN=«{base40}»
CONTENTFUL_TOKEN=«CF|PAT-{url43}»
MAPBOX=«sk|.eyJ1{alnum80}.{url22}»
OPENWEATHER_API_KEY=«{hex32}»
PAYPAL_CLIENT_SECRET=«E{url79}»
BRAINTREE_PRIVATE_KEY=«{hex32}»
RAZORPAY_KEY_SECRET=«{alnum24}»
ADYEN_API_KEY=«AQE{base90}»
COINBASE_API_SECRET=«{alnum32}»
BINANCE_SECRET=«{alnum64}»
INFURA_SECRET=«{hex32}»
ALCHEMY_API_KEY=«{url32}»
ETH_PRIVATE_KEY=0x«{hex64}»
private_key: "0x«{hex64}»"
mnemonic: «legal winner thank year wave sausage worth useful legal winner thank yellow»
MNEMONIC="«test walk nut penalty hip pave soap entry language right filter choice»"
WIREGUARD_PRIVATE_KEY=«{base32}»
[peer]\nPresharedKey = «{base32}»
<secret>«{alnum32}»</secret>
<apiKey>«{alnum32}»</apiKey>
Token: «{alnum40}»
X-Gitlab-Token: «{alnum20}»
X-Hub-Signature-256: sha256=x\nX-Secret: «{alnum24}»
Proxy-Authorization: Bearer «{alnum40}»
authorization: token «gh|p_{alnum36}»
Authorization: AWS4-HMAC-SHA256 Credential=AKIA/20240101/x, Signature=«{hex64}»
Authorization: Digest username="x", response="«{hex32}»"
"Cookie": "session=«{alnum40}»"
cookie: __Secure-next-auth.session-token=«{jwt}»
cookies = {{"sessionid": "«{lower32}»"}}
document.cookie = "token=«{jwt}»"
localStorage.setItem('token', '«{jwt}»')
sessionStorage.setItem("access_token", "«{alnum40}»")
I set the password to «{sign}» for now
the admin password was «{pw}»
my API key is «{alnum32}»
use this token: «{hex40}»
login: ada\npassword: «{word}»
Username: ada Password: «{sign}»
user=ada password=«{letters9}»
user ada pass «{pw}»
ada:«{sign}»@ftp.host.test
Temporary password: «{pw}»
Generated password: «{alnum16}»
New root password: «{sign}»
A temporary password is generated for root@localhost: «{sign}»
Initial admin password: «{hex32}»
Unseal Key 1: «{base33}»
Initial Root Token: «hv|s.{alnum24}»
Your API key: «{alnum32}»
access token: «{alnum40}»
Recovery code: «{lower5}-{lower5}»
otpauth://totp/x?secret=«{upper32}»&issuer=x
totp_secret = "«{upper32}»"
"""

LOOK_ALIKES = r"""
commit {hex40}
Merge {hex7} into {hex7}
{hex64}  dragoman-1.0.tar.gz
sha256:{hex64}
SHA256 ({hex64}) = x
"integrity": "sha512-{base64}"
integrity sha512-{base64}
resolved "https://registry.test/left-pad/-/left-pad-1.3.0.tgz#{hex40}"
    --hash=sha256:{hex64}
etag: "{hex32}"
ETag: W/"{hex16}-{hex8}"
md5: {hex32}
id: {uuid}
request_id={uuid}
trace_id: {hex32}
session id: {uuid}
"uuid": "{uuid}"
"sessionId": "{uuid}"
"threadId": "{uuid}"
data:image/png;base64,{base90}
<img src="data:image/gif;base64,{base60}">
background: url(data:image/svg+xml;base64,{base60})
ssh-rsa AAAAB3NzaC1yc2E{base90} ada@host
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{base32} ada
-----BEGIN CERTIFICATE-----\n{base60}\n-----END CERTIFICATE-----
-----BEGIN PUBLIC KEY-----\n{base60}\n-----END PUBLIC KEY-----
SHA256:{alnum43} ada@host (ED25519)
password: ********
password: <your password>
password: ${{DB_PASSWORD}}
password: $DB_PASSWORD
password: "{{{{ db_password }}}}"
password: {{{{ .Values.db.password }}}}
password: !vault |
password: changeme
password=changeit
password: xxxxxxxx
PASSWORD=
PASSWORD=""
DB_PASSWORD=your_password_here
API_KEY=your-api-key
API_KEY=<API_KEY>
API_KEY=REPLACE_ME
API_KEY=${{{{ secrets.API_KEY }}}}
GITHUB_TOKEN: ${{{{ secrets.GITHUB_TOKEN }}}}
token: ${{{{ github.token }}}}
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx
ANTHROPIC_API_KEY=sk-ant-xxxxx
export TOKEN=$(cat token.txt)
export TOKEN=`pass show x`
export PATH=$PATH:/usr/local/bin
TOKEN=$1
password = os.environ["DB_PASSWORD"]
password = os.getenv("DB_PASSWORD")
password = getpass.getpass()
password = config.get("db", "password")
password = settings.DB_PASSWORD
password = request.form["password"]
password = input("Password: ")
password: str
password: str | None = None
password: string;
password?: string
password: String,
password: Optional[str] = None
password VARCHAR(255) NOT NULL
password TEXT
def login(user: str, password: str) -> bool:
function login(username, password) {{
fn login(user: &str, password: &str)
login(username=username, password=password)
connect(host, user, password=password)
self.password = password
this.password = password;
user.password = hashPassword(password)
if password == confirm_password:
if (!password) return
const token = await getToken();
const {{ token }} = useAuth()
let token = tokens.next()
token = self._next_token()
token: Token
tokens: 1234
"total_tokens": 18234
"max_tokens": 4096
input_tokens=1200 output_tokens=300
nextPageToken: CAUQAA
pad_token = "<pad>"
eos_token_id: 50256
cancellationToken: CancellationToken
<input type="password" name="password" id="password">
<label for="password">Password</label>
placeholder="Enter your password"
.password-field {{ color: red; }}
class="password-input form-control"
#password-toggle:hover
name: password
type: password
label: Password
"type": "password"
"name": "password"
"required": ["username", "password"]
"password": {{"type": "string"}}
"password": null
"password": true
"password": "string"
"description": "The password of the user"
Forgot your password?
The password must be at least 12 characters long.
Enter the password for ada:
Password for user postgres:
error: password authentication failed for user "app"
fatal: Authentication failed for 'https://host.test/x.git/'
Permission denied (publickey,password).
invalid token at line 3
unexpected token '}}' in JSON at position 12
SyntaxError: Unexpected token 'export'
test_password_reset_token_expires_after_one_hour
PasswordResetTokenGeneratorFactoryBean
com.example.security.TokenAuthenticationProvider
AbstractUserDetailsAuthenticationProvider
src/auth/password_reset_controller.py
from app.auth import create_access_token
import {{ verifyPassword }} from './password'
key: value
keys: [a, b, c]
primary_key=True
foreign_key: user_id
"key": "ArrowDown"
cache_key = f"user:{{user_id}}"
sort_key=lambda x: x.name
key={{item.id}}
public_key: {base32}
monkey = "banana"
keyboard: qwertz
author: Ada Lovelace
"author": "Grace Hopper"
authors = ["Ada"]
auth: required
auth = HTTPBasicAuth(user, password)
Authorization: Bearer <token>
Authorization: Bearer $TOKEN
Authorization: Bearer ${{TOKEN}}
Authorization: Basic <base64>
headers: {{ Authorization: `Bearer ${{token}}` }}
curl -H "Authorization: Bearer $GITHUB_TOKEN" host.test
curl -u "$USER:$PASS" host.test
curl -u user:password host.test
curl -u <user>:<password> host.test
postgres://user:password@localhost/db
postgres://user:pass@localhost/db
postgres://$USER:$PASS@db/x
https://user:${{TOKEN}}@host.test
redis://localhost:6379/0
http://localhost:8080/path
https://example.com/a?b=c
git@github.com:x/y.git
ssh://git@host.test:22/x
mysql -u root -p
mysql -uroot -p shop
mkdir -p src/components/password
docker run -p 8080:80 nginx
python -m pytest -p no:cacheprovider
grep -rn password src
rg -i 'api[_-]?key' .
secret: my-secret
secretName: tls-cert
secretKeyRef: {{name: db, key: password}}
imagePullSecrets: regcred
existingSecret: "db-credentials"
credentials: include
credentials: "same-origin"
withCredentials: true
passed: 12
passes: 3
pass: true
12 passed, 3 failed in 4.21s
--- PASS: TestLogin (0.00s)
compass: north
bypass = false
passthrough: yes
version: 1.2.3-beta.4+build.5
python-3.12.1-macos11.pkg
v1.0.0-0.20240101120000-{hex12}
github.com/x/y v0.0.0-20231010123456-{hex12} h1:{base32}=
arn:aws:iam::123456789012:role/deploy
arn:aws:secretsmanager:eu-central-1:123456789012:secret:db-AbCdEf
projects/x/secrets/db-password/versions/latest
op://vault/item/password
vault:secret/data/db#password
/run/secrets/db_password
DB_PASSWORD_FILE=/run/secrets/db_password
POSTGRES_PASSWORD_FILE: /run/secrets/pg
SSH_AUTH_SOCK=/tmp/ssh-XXXX/agent.123
tokenizer = AutoTokenizer.from_pretrained("bert-base")
sk-learn is not installed
task-1234567890-abcdefghij
risk-assessment-2024-final-version
desk-lamp-black-metal-adjustable
pk_id = 12345
hf_hub_download(repo_id="x")
npm_config_cache=/tmp/npm
npm_lifecycle_event=test
key-value-store-implementation-notes
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
xoxb-your-token-here
wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY
eyJhbGciOiJIUzI1NiJ9
2024-01-01T00:00:00.000Z
MTIzNDU2Nzg5MA==
0x{hex40}
bc1q{lower38}
chunk-{hex20}.js
main.{hex8}.css
_next/static/{url21}/_buildManifest.js
docker.io/library/nginx@sha256:{hex64}
sha1-{base20}=
build/{hex32}/output.log
/nix/store/{lower32}-bash-5.2
Set-Cookie: theme=dark; Path=/
Cookie: lang=en
X-Request-Id: {uuid}
cf-ray: {hex16}-FRA
x-amz-request-id: {upper16}
traceparent: 00-{hex32}-{hex16}-01
index {hex7}..{hex7} 100644
machine learning login flow password reset
root:x:0:0:root:/root:/bin/bash
daemon:*:18000:0:99999:7:::
nobody:!:18000::::::
127.0.0.1:5432:open
host:port:database:user:password
password_hash = bcrypt.hashpw(password, salt)
hashed_password: Mapped[str] = mapped_column()
PASSWORD_MIN_LENGTH = 12
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = []
password_confirmation: params[:password_confirmation]
validates :password, presence: true
t.string :password_digest
has_secure_password
$request->validate(['password' => 'required|min:8'])
'password' => Hash::make($data['password']),
'password' => env('DB_PASSWORD'),
password: process.env.DB_PASSWORD
password: process.env.DB_PASSWORD!
password: z.string().min(8)
password: Joi.string().required()
password: yup.string()
password: {{ type: String, required: true }}
password = models.CharField(max_length=128)
password = forms.CharField(widget=forms.PasswordInput)
password := os.Getenv("DB_PASSWORD")
password := r.FormValue("password")
Password string `json:"password"`
password: Secret<String>
password: SecretStr
pub password: String,
@Value("${{db.password}}") private String password;
private String password;
String password = System.getenv("PW");
System.getProperty("javax.net.ssl.keyStorePassword")
char password[64];
read -s -p "Password: " password
read -rsp 'Token: ' token
token=$(gcloud auth print-access-token)
TOKEN=$(curl -s -X POST host.test/login)
if [ -z "$API_KEY" ]; then echo "API_KEY is not set"; fi
: "${{API_KEY:?must be set}}"
echo "$PASSWORD" | docker login --password-stdin
docker login -u "$USER" -p "$PASS"
mysql -u"$U" -p"$P" db
--password-file /run/secrets/x
--token-ttl 3600
--key-type ed25519
ssh-keygen -t ed25519 -N "" -f key
secrets.token_urlsafe(32)
secrets.compare_digest(token, expected)
jwt.decode(token, key, algorithms=["HS256"])
jwt.encode(payload, SECRET_KEY)
csrf_token()
{{% csrf_token %}}
<meta name="csrf-token" content="{{{{ csrf_token() }}}}">
access_token_expire_minutes: 30
refresh_token_rotation = true
token_endpoint: https://host.test/oauth/token
tokenUrl: https://host.test/token
"token_type": "bearer"
"grant_type": "refresh_token"
scope: read:user repo
client_id=my-app
client_id: {digits12}.apps.googleusercontent.com
publishableKey: pk
"publicKey": "{base32}"
kid: {alnum20}
"kid": "{hex40}"
nonce: {hex32}
"etag": "\"{hex32}\""
checksum = "{hex64}"
digest: sha256:{hex64}
revision: {hex40}
rev = "{hex40}"
ref: {hex40}
"sha": "{hex40}"
"gitHead": "{hex40}"
"_resolved": "https://registry.test/x/-/x-1.0.0.tgz"
"_id": "{hex24}"
ObjectId("{hex24}")
"accountId": "{digits12}"
vpc-{hex17}
i-{hex17}
ami-{hex17}
subnet-{hex8}
sg-{hex17}
arn:aws:kms:eu-central-1:{digits12}:key/{uuid}
kms_key_id = "{uuid}"
KeyId: {uuid}
key_name = "deployer"
key_pair: my-laptop
ssh_key_path = "~/.ssh/id_ed25519"
private_key_path: /etc/ssl/private/server.key
ssl_certificate_key /etc/nginx/ssl/key.pem;
key_file: certs/server.key
IdentityFile ~/.ssh/id_rsa
keyring: gnome
keymap: de-latin1
"keywords": ["password", "auth", "token"]
"keyCode": 13
onKeyDown={{handleKeyDown}}
KEY `idx_user_password` (`password`)
PRIMARY KEY (id)
partition_key: tenant
idempotency_key: {uuid}
Idempotency-Key: {uuid}
cache-key: linux-node-{hex64}
key: ${{{{ runner.os }}}}-pip-${{{{ hashFiles('**/x') }}}}
restore-keys: linux-
API key not found
Invalid API key provided: sk-****abcd
Incorrect API key provided
401 Unauthorized: token expired
WARNING: password supplied on command line is insecure
Usage: x [--password PASSWORD] [--token TOKEN]
  --password TEXT  The password.
  -p, --password <password>   password to use
passwords do not match
Password strength: weak
[ ] Add password reset
- **Password**: at least 8 characters
| password | string | yes | The password |
| token | string | The token to use |
## Authentication with tokens
See the token documentation at https://host.test/docs/tokens
password.length < 8
password.trim()
passwordRef.current.value
setPassword(e.target.value)
setToken(null)
getPassword()
useState<string>('password')
case "password":
expect(password).toBe(hashed)
assert user.check_password("wrong")
it('rejects a wrong password', async () => {{
describe('PasswordResetService', () => {{
def test_token_is_required(): ...
class TokenStream(Iterator[Token]):
enum TokenKind {{ Identifier, Number }}
Token::Identifier(name)
token.kind == TokenKind::Comma
lexer.next_token()
tokens[i].text
num_tokens = len(tokens)
special_tokens = {{"bos_token": "<s>"}}
secretary: Ms Smith
The secret of good code
secret sauce: simplicity
Secretariat:
authority: https://login.host.test/
authored-by: Ada
auth_provider: github
auth-type: ldap
authMethod: "password"
preferred_auth = "publickey"
PasswordAuthentication no
PermitRootLogin prohibit-password
UsePAM yes
passwd: files systemd
pam_unix.so sha512 shadow nullok
passwd: password updated successfully
Changing password for ada.
new password:
"""
