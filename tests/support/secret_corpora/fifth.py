"""The fifth corpus: kinds of the issue in new contexts, and newer token formats. Same notation as ``templates``."""

from __future__ import annotations

SECRETS = r"""
PGPASSWORD=«{letters9}» psql -h db -U app -c 'select 1'
export PGPASSWORD='«{letters10}»'
env PGPASSWORD=«{word}» pg_dump app > x.sql
$env:PGPASSWORD = "«{letters9}»"
set PGPASSWORD=«{word}»
password: «{letters8}»
  password: "«{letters9}»"
db_password: '«{letters10}»'
Password: «{word}»
https://h.test/login?user=ada&password=«{letters9}»
GET /reset?password=«{letters8}»&next=/ HTTP/1.1
curl 'http://h/login?user=a&pass=«{word}»'
password=«$ecret{digits3}Pa$s»
DB_PASS='«pa$${word}»'
MYSQL_PWD=«{letters9}» mysqldump app
machine api.h.test login ada password «{letters10}»
db.h.test:5432:app:ada:«{letters9}»
*:*:*:ada:«{word}»
{{"auths":{{"h.test":{{"auth":"«{login}»"}}}}}}
{{"auths":{{"ghcr.io":{{"username":"ada","password":"«{pw}»"}}}}}}
root:«$6${alnum16}${alnum40}{alnum40}»:19000:0:99999:7:::
ada:«$y$j9T${alnum20}${alnum40}»:19700:0:99999:7:::
ada:«$2y$05${alnum40}{alnum10}»
Set-Cookie: session=«{alnum40}»; Path=/; HttpOnly
< set-cookie: sid=«s%3A{alnum32}.{alnum40}»; Path=/
Cookie: _gh_sess=«{alnum40}»; theme=dark
glrt|-«{alnum20}» is the runner
runner token: «glrt|-t1_{alnum20}»
GITLAB=«glpat|-{alnum20}»
«glpat|-{alnum20}.01.{alnum7}»
CI_JOB_TOKEN=«glcbt|-64_{alnum20}»
«gsk|_{alnum40}{alnum10}»
«xai|-{alnum40}{alnum40}»
VAULT_TOKEN=«hvs|.{alnum40}{alnum40}»
token   «hvb|.{alnum40}{alnum40}»
ATLASSIAN=«ATATT3x|FfGF0{alnum40}{alnum40}»
mailgun: «key|-{hex32}»
MAILGUN_API_KEY=«{hex32}-{hex8}-{hex8}»
TWILIO_AUTH_TOKEN=«{hex32}»
client = Client("ACaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", auth_token="«{hex32}»")
https://api.telegram.org/bot«{digits10}:AA|{alnum33}»/getMe
TELEGRAM_BOT_TOKEN=«{digits10}:AA|{alnum33}»
bot = Bot(token="«{digits10}:AA|{alnum33}»")
DISCORD_TOKEN=«M|{alnum24}.{alnum6}.{alnum30}»
client.login('«M|{alnum24}.{alnum6}.{alnum30}»')
https://discord.com/api/webhooks/{digits18}/«{alnum40}{alnum20}»
OPENAI_API_KEY=«sk|-proj-{alnum40}{alnum40}»
«sk|-svcacct-{alnum40}{alnum40}»
«sk|-ant-api03-{alnum40}{alnum40}»
«sk|-ant-oat01-{alnum40}{alnum40}»
«sk|-or-v1-{hex40}{hex20}»
GEMINI_API_KEY=«AIza|{alnum35}»
GOOGLE_API_KEY: «AQ.Ab8R{alnum40}»
HF_TOKEN=«hf|_{alnum34}»
«github|_pat_{alnum22}_{alnum40}»
git remote set-url origin https://x-access-token:«ghs|_{alnum36}»@github.com/a/b
https://oauth2:«glpat|-{alnum20}»@gitlab.com/a/b.git
npm config set //registry.npmjs.org/:_authToken=«npm|_{alnum36}»
//registry.h.test/:_authToken=«{hex32}»
//registry.h.test/:_password=«{login}»
[pypi]\nusername = __token__\npassword = «pypi|-AgEIcHlwaS5vcmc{alnum40}»
AWS_SECRET_ACCESS_KEY=«{alnum40}»
aws_access_key_id = «AKIA|{upper16}»
aws_session_token = «{alnum40}{alnum40}{alnum40}»
AccountKey=«{alnum40}{alnum40}==»;EndpointSuffix=core.windows.net
AZURE_CLIENT_SECRET=«{alnum3}8Q~{alnum33}»
SharedAccessSignature=sv=2021&sig=«{alnum40}%3D»
DefaultEndpointsProtocol=https;AccountName=x;AccountKey=«{alnum40}{alnum40}==»
"private_key_id": "x", "private_key": "«-----BEGIN PRIVATE KEY-----\n{alnum64}\n{alnum64}\n-----END PRIVATE KEY-----»\n"
SLACK=«xoxb|-{digits10}-{digits10}-{alnum24}»
«xapp|-1-A{upper10}-{digits10}-{hex40}»
https://hooks.slack.com/services/«T{upper8}/B{upper8}/{alnum24}»
STRIPE=«sk|_live_{alnum24}»
«rk|_live_{alnum40}»
«whsec|_{alnum32}»
SENDGRID=«SG|.{alnum22}.{alnum43}»
DATADOG: DD_API_KEY=«{hex32}»
dd-api-key: «{hex32}»
SENTRY_AUTH_TOKEN=«sntrys|_eyJ{alnum40}_{alnum40}»
DOPPLER_TOKEN=«dp.st.|prd.{alnum40}»
PULUMI_ACCESS_TOKEN=«pul|-{hex40}»
FLY_API_TOKEN="FlyV1 «fm2|_{alnum40}{alnum40}»"
NETLIFY_AUTH_TOKEN=«nfp|_{alnum36}»
VERCEL_TOKEN=«{alnum24}»
CLOUDFLARE_API_TOKEN=«{alnum40}»
CF_API_KEY=«{hex37}»
SUPABASE_SERVICE_ROLE_KEY=«eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoic2VydmljZSJ9.{alnum43}»
SUPABASE=«sb|_secret_{alnum22}_{alnum8}»
LINEAR=«lin|_api_{alnum40}»
NOTION_TOKEN=«ntn|_{alnum40}»
FIGMA=«figd|_{alnum40}»
DATABRICKS_TOKEN=«dapi|{hex32}»
SHOPIFY=«shpat|_{hex32}»
SQUARE=«EAAA|{alnum40}{alnum20}»
NEW_RELIC=«NRAK|-{upper27}»
SONAR_TOKEN=«sqp|_{hex40}»
TAILSCALE=«tskey|-auth-{alnum17}-{alnum32}»
RAILWAY_TOKEN=«{uuid}»
POSTMAN=«PMAK|-{hex24}-{hex34}»
LANGFUSE_SECRET_KEY=«sk|-lf-{uuid}»
LANGSMITH=«lsv2|_pt_{hex32}_{hex10}»
PINECONE_API_KEY=«pcsk|_{alnum6}_{alnum40}{alnum20}»
«r8|_{alnum37}»
«nvapi|-{alnum40}{alnum24}»
E2B_API_KEY=«e2b|_{hex40}»
ELEVENLABS_API_KEY=«sk|_{hex48}»
EXA_API_KEY=«{uuid}»
FIRECRAWL=«fc|-{hex32}»
BRAVE_API_KEY=«BSA{alnum28}»
PERPLEXITY=«pplx|-{alnum48}»
PLANETSCALE=«pscale|_pw_{alnum43}»
NEON=postgresql://ada:«npg|_{alnum12}»@ep-x.h.test/neondb
TURSO_AUTH_TOKEN=«eyJhbGciOiJFZERTQSJ9.eyJhIjoicnciLCJpYXQiOjE3MH0.{alnum43}»
CLERK_SECRET_KEY=«sk|_test_{alnum40}»
RESEND_API_KEY=«re|_{alnum8}_{alnum24}»
UPSTASH_REDIS_REST_TOKEN=«{alnum40}{alnum20}==»
POSTHOG=«phx|_{alnum43}»
PADDLE=«pdl|_live_apikey_{alnum26}_{alnum22}_{alnum3}»
LEMON=«eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.eyJhdWQiOiI5NGQ1OWNlZiJ9.{alnum64}»
OP_SERVICE_ACCOUNT_TOKEN=«ops|_eyJ{alnum40}{alnum40}{alnum40}»
CURSOR_API_KEY=«key_{hex64}»
Authorization: Bearer «{alnum40}»
-H 'authorization: bearer «{hex40}»'
x-api-key: «{alnum40}»
X-Auth-Token: «{hex32}»
"refresh_token": "«1//0{alnum40}{alnum20}»"
"access_token":"«ya29|.a0{alnum40}{alnum40}»"
client_secret=«GOCSPX|-{alnum28}»&grant_type=x
BUILDKITE_AGENT_TOKEN=«bkct|_{alnum40}»
CIRCLE_TOKEN=«CCIPAT|_{alnum22}_{hex40}»
CODECOV_TOKEN=«{uuid}»
TF_TOKEN_app_terraform_io=«{alnum14}.atlasv1.{alnum64}»
ansible_become_pass: «{word}»
ansible_ssh_pass=«{letters9}»
kubectl create secret generic x --from-literal=password=«{word}»
kubectl create secret docker-registry r --docker-password=«{letters9}»
helm install x y --set auth.postgresPassword=«{word}»
docker login -u ada -p «{word}» h.test
echo «{word}» | docker login -u ada --password-stdin
sshpass -p «{letters9}» ssh h
echo '«{letters9}»' | sudo -S ls
snowsql -a x -u ada --password «{word}»
got «pcsk|_{alnum6}_{alnum40}{alnum20}» from the console
got «e2b|_{hex40}» from the console
got «bkct|_{alnum40}» from the console
got «crsr|_{hex64}» from the console
got «ctx7sk|-{uuid}» from the console
got «jina|_{hex32}{alnum30}» from the console
got «tgp|_v1_{alnum43}» from the console
got «AQ|.Ab8R{alnum40}» from the console
got «fc|-{hex32}» from the console
got «phx|_{alnum43}» from the console
got «phs|_{alnum43}» from the console
got «pdl|_live_apikey_{alnum26}_{alnum22}_{alnum3}» from the console
got «pdl|_sdbx_apikey_{alnum26}_{alnum22}_{alnum3}» from the console
got «apify|_api_{alnum36}» from the console
got «rpa|_{upper40}» from the console
got «mlsn|.{hex64}» from the console
got «PMAT|-{upper26}» from the console
got «A3|-{upper6}-{upper6}-{upper5}-{upper5}-{upper5}-{upper5}» from the console
got «xau|_{alnum32}» from the console
got «dbtc|_{alnum40}» from the console
got «dbtu|_{alnum40}» from the console
got «aivenv1|_{alnum60}» from the console
got «zpka|_{hex32}_{hex8}» from the console
got «kpat|_{alnum50}» from the console
got «depot|_{alnum40}» from the console
got «chpt|_{alnum20}» from the console
got «sktsec|_{alnum40}_api» from the console
got «hcaik|_{lower60}» from the console
got «hcxik|_{lower60}» from the console
got «xaat|-{uuid}» from the console
got «xapt|-{uuid}» from the console
got «os|_v2_app_{lower103}» from the console
got «ck|_{hex40}» from the console
got «cs|_{hex40}» from the console
got «rzp|_live_{alnum14}» from the console
got «bxt|_{alnum40}» from the console
got «FLWSECK|-{hex32}-X» from the console
got «signkey|-prod-{hex64}» from the console
got «tr|_prod_{alnum24}» from the console
got «tr|_dev_{alnum24}» from the console
got «bb|_live_{alnum27}» from the console
got «lin|_wh_{alnum40}» from the console
got «sntrys|_eyJ{alnum60}=_{alnum43}» from the console
got «vck|_{alnum56}» from the console
got «api|-{uuid}» from the console
got «{alnum52}JQQJ9|9ABACAAAAAAAAAAAAASAZDO{alnum4}» from the console
got «{alnum44}JQQJ9|9BACAC3AAAAAAAAAAOG{alnum4}» from the console
got «secret|-token:mercury_production_rma_{alnum40}_yrucrem» from the console
got «sk|-helicone-{alnum7}-{alnum7}-{alnum7}-{alnum7}» from the console
got «pa|-{alnum43}» from the console
got «wandb|_v1_{alnum60}» from the console
got «lsv2|_sk_{hex32}_{hex10}» from the console
got «ghu|_{alnum36}» from the console
got «sk|-ant-admin01-{alnum80}» from the console
got «sess|-{alnum40}» from the console
got «nyk|_v0_{alnum60}» from the console
got «sgp|_{hex16}_{hex40}» from the console
got «glptt|-{hex40}» from the console
got «GR1348941|{alnum20}» from the console
got «dp.pt.|{alnum43}» from the console
got «dop|_v1_{hex64}» from the console
got «shppa|_{hex32}» from the console
got «sbp|_{hex40}» from the console
got «sq0csp|-{alnum43}» from the console
got «ATCTT3x|FfGN0{alnum60}{alnum60}={hex8}» from the console
got «hvr|.{alnum90}» from the console
got «p|.eyJ{alnum60}.{alnum43}» from the console
got «pat|{alnum14}.{hex64}» from the console
got «NRII|-{alnum32}» from the console
got «sgamp|_user_{alnum40}» from the console
"""

LOOK_ALIKES = r"""
PGPASSWORD=$DB_PASSWORD psql
PGPASSWORD="${{PGPASSWORD:?set it}}" psql
PGPASSWORD=$(cat /run/secrets/pg) psql
password: string
password: str = Field(min_length=8)
password: {{ type: "string" }}
password: "********"
password: ''
password: null
password: ${{DB_PASSWORD}}
password: !vault |
"password": "string"
password=<your password>
?password=%s
?password={{password}}
Enter password:
Password for user ada:
The password must contain at least one digit.
Wrong password, try again
error: password authentication failed for user "ada"
password_reset_token_expires_in: 3600
password_hash = hash_password(password)
const password = req.body.password
let password = process.env.DB_PASSWORD
if password == confirm_password:
passwords match
def check_password(password: str) -> bool:
machine h.test login ada
default login anonymous password
token: Token
token = tokens[0]
token_count=1234
max_tokens: 4096
"total_tokens": 18342
input_tokens=12000, output_tokens=340
next_page_token: CAUQAA
tokenizer = AutoTokenizer.from_pretrained("gpt2")
pad_token_id=50256
secret: {{ secretName: my-secret }}
secretKeyRef:
secretName: app-secrets
secrets: inherit
${{{{ secrets.GITHUB_TOKEN }}}}
api_key = os.environ["OPENAI_API_KEY"]
api_key=settings.api_key
api_key: your-api-key-here
OPENAI_API_KEY=sk-...
OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx
ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
GITHUB_TOKEN=ghp_your_token_here
AKIAIOSFODNN7EXAMPLE
commit {hex40}
sha256:{hex64}
sha512-{alnum40}{alnum40}==
"integrity": "sha512-{alnum40}{alnum40}=="
{uuid}
request_id={uuid}
trace_id: {hex32}
etag: "{hex32}"
md5 {hex32}  file.zip
image: app@sha256:{hex64}
key: value
primary_key=True
foreign_key: user_id
sort_key="created_at"
cache-key: deps-{{{{ hashFiles('uv.lock') }}}}
public_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{alnum40} ada@h
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB{alnum40} ada@h
-----BEGIN PUBLIC KEY-----
-----BEGIN CERTIFICATE-----
keyboard: us
monkey: banana
author: Ada Lovelace
Author: Grace Hopper <grace@h.test>
authorization: required
Authorization: Bearer $TOKEN
Authorization: Bearer <token>
Bearer authentication is required for this endpoint
-H "Authorization: Bearer ${{TOKEN}}"
Basic usage of the command
basic auth is not supported
Cookie: theme=dark
Set-Cookie: lang=en; Path=/
cookie consent banner
session_id = uuid4()
https://user@h.test/repo.git
https://h.test:8443/path
git@github.com:a/b.git
postgres://localhost:5432/app
redis://h:6379/0
--password-stdin
--password-file /run/secrets/pw
docker login -u ada
mysql -u root -p
root:x:0:0:root:/root:/bin/bash
ada:!:19000:0:99999:7:::
nobody:*:18000:0:99999:7:::
at 12:30:45:123 the job ended
src/app.py:10:5:F401 unused import
[::1]:8080
task-1234567890abcdef
risk-assessment-2024-final-version
disk-usage-report-20240101
sk-learn-contrib-package-v1
desk_live_monitor_display
xai-grok-model-comparison-notes
key-value-store-implementation-notes
hvs.example.com
hf_hub_download(repo_id="a/b")
re_compile_pattern_and_match
data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{alnum40}
eyJ is the start of a base64 encoded JSON object
H4sIAAAAAAAAA{alnum40}
snap-0a1b2c3d4e5f67890
arn:aws:secretsmanager:eu-west-1:123456789012:secret:app/db-AbCdEf
op://vault/item/password
vault kv get secret/app
projects/x/secrets/y/versions/latest
credential.helper=osxkeychain
credentials: include
pass: 12, fail: 0
tests passed: 120
passthrough: true
bypass=1
compass=north
sudo -S true
pw = getpass.getpass()
salt = os.urandom(16)
nonce="{{nonce}}"
csrf_token = get_token(request)
"token_type": "bearer"
access_token_url=https://h.test/oauth/token
secret_key_base: <%= ENV["SECRET_KEY_BASE"] %>
call_{alnum24}
toolu_01{alnum22}
msg_01{alnum22}
resp_{hex48}
chatcmpl-{alnum29}
req_{alnum24}
file-{alnum24}
rollout-2026-11-18T10-00-00-{uuid}.jsonl
index-{alnum8}.js
chunk.{hex20}.css
api-server-7d9f8b6c5d-x2x7k
pa-system-announcement-script
fc-cache -f -v
fc-list : family
ck_editor_config_default_toolbar
key_press_handler_for_the_search_field
sess-cookie-name
os_v2_app_id
signkey-rotation
p.example.com
AQ.get_value(x)
AQ.AbstractQueue.Builder
depot_tools/gclient.py
tr_dev_tools
bb_live_reload
npg_dump --help
A3-ABSTRACT-NOTICE
jina_embeddings_v3_model_name
xau_usd_price_history
"""
