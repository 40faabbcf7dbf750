"""The table of keys and tokens that have a known prefix.

Each row of :data:`TOKENS` is one kind: its name, its prefixes, and what must follow. A prefix counts only at
the start of a word, so ``task-…`` is not ``sk-…``. To add a kind, add a row.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Final

_DIGIT: Final = re.compile("[0-9]")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Compiling all of them takes longer than most exports; few are needed for one text.
    return re.compile(pattern, re.ASCII)


@dataclass(frozen=True, slots=True)
class Token:
    """One row of the table."""

    kind: str
    prefix: str
    rest: str
    """What follows the prefix, as a pattern."""
    has_digit: bool
    """Whether a match without a digit is just a word."""

    def end(self, text: str, at: int) -> int:
        """The end of the token that starts here; -1 if there is none."""
        if not text.startswith(self.prefix, at):
            return -1
        found = _compiled(self.rest).match(text, at + len(self.prefix))
        if not found or (self.has_digit and not _DIGIT.search(found[0])):
            return -1
        return found.end()


_A: Final = r"[A-Za-z0-9]"
_W: Final = r"[A-Za-z0-9_-]"
_H: Final = r"[0-9a-f]"
_U: Final = r"[0-9A-Z]"
_UUID: Final = rf"{_H}{{8}}-{_H}{{4}}-{_H}{{4}}-{_H}{{4}}-{_H}{{12}}"
_END: Final = r"(?![A-Za-z0-9_-])"

_ROWS: Final[tuple[tuple[str, str, str], ...]] = (
    # kind, beginnings, what follows; "digit " before what follows: one digit at least
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", rf"{_A}{{20,}}"),
    ("GitHub token", "github_pat_", r"\w{20,}"),
    (
        "GitLab token",
        "glpat- glrt- glrtr- gldt- glptt- glft- glimt- glagent- glcbt- glsoat- gloas- glffct- glwt-",
        r"[\w-]{16,}(?:\.[\w-]{2,20}){0,2}",
    ),
    ("GitLab token", "GR1348941", rf"{_W}{{20}}"),
    ("JSON web token", "eyJ", r"[\w-]{10,}+\.eyJ[\w-]{10,}+(?:\.[\w-]+)?"),
    ("JSON web token", "eyJ", r"[\w-]{16,}+\.[\w-]*\.[\w-]{8,}+\.[\w-]{8,}+\.[\w-]{8,}"),
    ("Anthropic key", "sk-ant-", rf"{_W}{{16,}}"),
    ("API key", "sk- pk- rk-", rf"digit (?!ecdsa-|ssh-)(?!(?:[a-z]+-){{3}}){_W}{{16,}}"),
    ("API key", "sk_ pk_ rk_", rf"digit {_W}{{16,}}"),
    ("Stripe key", "whsec_", r"[A-Za-z0-9+/]{24,}=*"),
    ("AWS key", "AKIA ASIA ABIA ACCA", rf"{_U}{{16}}(?![0-9A-Za-z])"),
    ("AWS key", "bedrock-api-key- ABSK", r"[A-Za-z0-9+/]{60,}=*"),
    ("Google key", "AIza", rf"{_W}{{35}}{_END}"),
    ("Google token", "ya29.", rf"{_W}{{20,}}"),
    ("Google token", "GOCSPX-", rf"{_W}{{20,}}"),
    (
        "Slack token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- xoxe.xoxp- xoxe.xoxb-",
        r"digit [A-Za-z0-9%-]{10,}",
    ),
    ("npm token", "npm_", rf"digit {_A}{{30,}}"),
    ("PyPI token", "pypi-AgE pypi-AgEN", rf"{_W}{{30,}}"),
    ("Docker token", "dckr_pat_ dckr_oat_", rf"{_W}{{20,}}"),
    ("Hugging Face token", "hf_ api_org_", rf"{_A}{{30,}}"),
    ("Groq key", "gsk_", rf"{_A}{{30,}}"),
    ("xAI key", "xai-", rf"{_A}{{30,}}"),
    ("Perplexity key", "pplx-", rf"{_A}{{30,}}"),
    ("Replicate token", "r8_", rf"{_A}{{30,}}"),
    ("LangSmith key", "lsv2_pt_ lsv2_sk_", rf"{_W}{{30,}}"),
    ("Tavily key", "tvly-", rf"digit {_W}{{20,}}"),
    ("Cerebras key", "csk-", rf"digit {_A}{{30,}}"),
    ("Fireworks key", "fw_", rf"digit {_A}{{20,}}{_END}"),
    ("NVIDIA key", "nvapi-", rf"{_W}{{40,}}"),
    ("Vault token", "hvs. hvb. hvr.", rf"{_W}{{20,}}"),
    (
        "Vault token",
        "s. b. r.",
        rf"digit (?=[0-9]{{0,24}}[A-Za-z])(?=[a-z0-9]{{0,24}}[A-Z])(?=[A-Z0-9]{{0,24}}[a-z]){_A}{{24}}(?![\w.(-])",
    ),
    ("Atlassian token", "ATATT3 ATCTT3 ATSTT3", r"[\w=+/-]{30,}"),
    ("Atlassian token", "ATBB", rf"digit {_A}{{24,}}"),
    ("Mailgun key", "key-", rf"{_H}{{32}}{_END}"),
    ("Mailgun key", "pubkey-", rf"{_H}{{32}}{_END}"),
    ("Twilio key", "SK", rf"{_H}{{32}}{_END}"),
    ("SendGrid key", "SG.", rf"{_W}{{16,}}\.{_W}{{30,}}"),
    ("Brevo key", "xkeysib- xsmtpsib-", rf"{_W}{{40,}}"),
    ("Resend key", "re_", rf"digit {_A}{{6,12}}_{_A}{{16,}}{_END}"),
    ("Postman key", "PMAK-", rf"{_W}{{40,}}"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", rf"{_H}{{40,}}"),
    ("Shopify token", "shpat_ shpss_ shpca_ shppa_ shptka_", r"[0-9A-Fa-f]{30,}"),
    ("Grafana token", "glsa_ glc_", r"[\w+/=]{30,}"),
    ("Heroku key", "HRKU-", rf"{_W}{{30,}}"),
    ("Databricks token", "dapi dkea dose", rf"{_H}{{32}}(?:-\d)?{_END}"),
    ("Linear key", "lin_api_ lin_oauth_", rf"{_A}{{20,}}"),
    ("Notion token", "ntn_", rf"{_A}{{30,}}"),
    ("Notion token", "secret_", rf"digit {_A}{{40,}}"),
    ("Figma token", "figd_ figu_ figo_", rf"{_W}{{20,}}"),
    ("Sentry token", "sntrys_ sntryu_ sntrya_", r"[\w+/=-]{30,}"),
    ("New Relic key", "NRAK- NRJS- NRIQ- NRSP- NRII- NRAA-", rf"{_W}{{16,}}"),
    ("New Relic key", "eu01xx us01xx", rf"{_H}{{30,}}(?:NRAL)?"),
    ("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.-]{30,}"),
    ("Fly token", "fo1_", rf"{_W}{{30,}}"),
    (
        "Fly token",
        "fm1a_ fm1r_ fm2_",
        r"[A-Za-z0-9+/=_-]{40,}(?:,fm[0-9a-z]{1,2}_[A-Za-z0-9+/=_-]{40,})*",
    ),
    ("Supabase key", "sbp_ sb_secret_", rf"digit {_W}{{20,}}"),
    ("Cloudflare key", "v1.0-", rf"{_H}{{24}}-{_H}{{100,}}"),
    ("Cloudflare token", "cfut_ cfat_ cfk_", rf"digit {_W}{{30,}}"),
    ("LaunchDarkly key", "sdk- mob-", rf"{_UUID}{_END}"),
    ("Pulumi token", "pul-", rf"{_H}{{40}}{_END}"),
    ("Airtable token", "pat", rf"{_A}{{14}}\.{_H}{{64}}"),
    ("HubSpot token", "pat-na1- pat-eu1- pat-na2- pat-ap1-", rf"{_UUID}"),
    ("Square token", "EAAA sq0atp- sq0csp- sq0idp-", rf"digit {_W}{{22,}}"),
    ("Facebook token", "EAAC EAAB EAAG EAAD EAAE", rf"digit {_A}{{60,}}"),
    ("Dropbox token", "sl.", rf"digit {_W}{{60,}}"),
    ("SonarQube token", "squ_ sqp_ sqa_", rf"{_H}{{40}}{_END}"),
    ("CircleCI token", "CCIPAT_ CCIPRJ_", r"\w{20,}"),
    ("Buildkite token", "bkua_ bkat_", rf"{_H}{{30,}}"),
    ("JFrog token", "AKCp", rf"{_A}{{40,}}"),
    ("NuGet key", "oy2", rf"[a-z0-9]{{43}}{_END}"),
    ("RubyGems key", "rubygems_", rf"{_H}{{40,}}"),
    ("crates.io token", "cio", rf"digit {_A}{{32}}{_END}"),
    ("Clojars token", "CLOJARS_", rf"{_H}{{50,}}"),
    ("Tailscale key", "tskey-", r"[a-z]+-[\w-]{10,}"),
    ("Netlify token", "nfp_ nfc_ nfo_", rf"{_W}{{30,}}"),
    ("Vercel token", "vcp_ vci_ vca_ vcr_ vck_", rf"digit {_W}{{20,}}"),
    ("Render key", "rnd_", rf"digit {_A}{{20,}}"),
    ("PlanetScale key", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.=-]{20,}"),
    ("Neon key", "napi_", rf"digit {_A}{{30,}}"),
    ("Prefect key", "pnu_ pnb_", rf"digit {_A}{{30,}}"),
    ("Readme key", "rdme_", r"[a-z0-9]{60,}"),
    ("Typeform token", "tfp_", r"[\w.=-]{40,}"),
    ("EasyPost key", "EZAK EZTK", rf"digit {_A}{{54}}{_END}"),
    ("Dynatrace token", "dt0c01. dt0s01.", rf"{_U}{{24}}\.{_U}{{64}}"),
    ("Contentful token", "CFPAT-", rf"{_W}{{40,}}"),
    ("Sourcegraph token", "sgp_", r"\w{40,}"),
    ("Snyk token", "snyk_uat. snyk_sat.", r"[\w.-]{20,}"),
    ("OpenShift token", "sha256~", rf"{_W}{{40,}}"),
    ("1Password token", "ops_eyJ", rf"{_W}{{60,}}"),
    ("Mapbox token", "sk.eyJ", r"[\w-]{20,}\.[\w-]{16,}"),
    ("Plaid token", "access-sandbox- access-development- access-production-", rf"{_UUID}"),
    ("Scalingo token", "tk-us-", rf"digit {_W}{{40,}}"),
    ("Yandex token", "AQVN y0_ t1.", r"digit [\w.=-]{38,}"),
    ("Alibaba key", "LTAI", rf"digit {_A}{{16,24}}{_END}"),
    ("Tencent key", "AKID", rf"digit {_A}{{28,40}}{_END}"),
    ("Postmark, Lob, Shippo key", "shippo_live_ shippo_test_ live_pub_ test_pub_", rf"{_A}{{30,}}"),
    ("Duffel token", "duffel_live_ duffel_test_", rf"{_W}{{30,}}"),
    ("Google key", "AQ.", rf"digit {_W}{{40,}}{_END}"),
    ("Pinecone key", "pcsk_", rf"{_A}{{5,8}}_{_A}{{40,}}"),
    ("E2B key", "e2b_", rf"{_H}{{40}}{_END}"),
    ("Cursor key", "crsr_ key_", rf"{_H}{{64}}{_END}"),
    ("Context7 key", "ctx7sk-", rf"{_UUID}"),
    ("Jina key", "jina_", rf"digit {_W}{{40,}}"),
    ("Together key", "tgp_v1_", rf"{_W}{{30,}}"),
    ("Voyage key", "pa-", rf"digit {_W}{{43}}{_END}"),
    ("Firecrawl key", "fc-", rf"{_H}{{32}}{_END}"),
    ("Helicone key", "sk-helicone-", rf"{_W}{{20,}}"),
    ("Apify token", "apify_api_", rf"{_A}{{30,}}"),
    ("RunPod key", "rpa_", rf"digit {_U}{{40,}}"),
    ("Weights & Biases key", "wandb_v1_", rf"digit {_W}{{40,}}"),
    ("Browserbase key", "bb_live_ bb_test_", rf"digit {_W}{{24,}}"),
    ("Amp key", "sgamp_user_", r"\w{30,}"),
    ("OpenAI session", "sess-", rf"digit {_A}{{40,}}{_END}"),
    ("PostHog key", "phx_ phs_", rf"digit {_A}{{40,}}"),
    ("Paddle key", "pdl_live_apikey_ pdl_sdbx_apikey_ pdl_ntfset_", rf"digit {_W}{{40,}}"),
    ("Razorpay key", "rzp_live_ rzp_test_", rf"digit {_A}{{14}}{_END}"),
    ("WooCommerce key", "ck_ cs_", rf"{_H}{{40}}{_END}"),
    ("Flutterwave key", "FLWSECK- FLWSECK_TEST-", rf"{_A}{{12,32}}-X"),
    ("Bank token", "bxt_ secret-token:mercury_production_", r"digit \w{30,}"),
    ("MailerSend key", "mlsn.", rf"{_H}{{60,}}"),
    ("OneSignal key", "os_v2_app_ os_v2_org_", r"[a-z0-9]{80,}"),
    ("Nylas key", "nyk_v0_", rf"{_A}{{40,}}"),
    ("Postman key", "PMAT-", rf"digit {_U}{{26}}{_END}"),
    ("1Password key", "A3-", rf"{_U}{{6}}-(?:{_U}{{6}}|{_U}{{11}})(?:-{_U}{{5}}){{3,5}}{_END}"),
    ("dbt token", "dbtc_ dbtu_ dbts_", rf"digit {_W}{{30,}}"),
    ("Database token", "xau_ aivenv1_", rf"digit {_A}{{30,}}"),
    ("Tinybird token", "p.eyJ", r"[\w-]{20,}\.[\w-]{16,}"),
    ("Gateway key", "zpka_ kpat_ spat_", rf"digit {_W}{{32,}}"),
    ("Build token", "depot_ bkct_ chpt_", rf"digit {_A}{{20,}}{_END}"),
    ("Socket token", "sktsec_", rf"digit {_W}{{40,}}_api"),
    ("Honeycomb key", "hcaik_ hcxik_ hcalk_ hcxlk_", r"[a-z0-9]{50,}"),
    ("Axiom token", "xaat- xapt-", rf"{_UUID}"),
    ("Trigger.dev key", "tr_prod_ tr_dev_ tr_stg_", rf"digit {_A}{{20,}}{_END}"),
    ("Inngest key", "signkey-", rf"[a-z]+-{_H}{{32,}}"),
    ("Linear secret", "lin_wh_", rf"{_A}{{20,}}"),
    ("LaunchDarkly key", "api-", rf"{_UUID}{_END}"),
    ("age key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{40,}"),
    ("wallet key", "xprv yprv zprv", rf"{_A}{{100,}}"),
    # A private key in PEM form, in base64: "-----BEGIN … PRIVATE KEY".
    (
        "private key",
        "LS0tLS1CRUdJTi",
        r"(?:BQUklWQVRF|BSU0EgUFJJVkFURSBLRVk|BPUEVOU1NIIFBSSVZBVEU|BFQyBQUklWQVRF|BFTkNSWVBURUQ|BEU0EgUFJJVkFUR|BQR1AgUFJJVkFURS)[A-Za-z0-9+/=]{20,}",
    ),
    ("Discord token", "M N O", rf"digit {_W}{{23,28}}\.{_W}{{6,7}}\.{_W}{{27,40}}{_END}"),
    # Recognized by their end.
    ("Mailchimp or Mailgun key", "", rf"{_H}{{32}}-(?:us[0-9]{{1,2}}|{_H}{{8}}-{_H}{{8}}){_END}"),
    # Preceded by an id of its own.
    ("Twilio token", "AC", rf"{_H}{{32}}:{_H}{{32}}{_END}"),
    ("Telegram token", "AA", rf"(?<=[0-9]{{8}}:AA){_W}{{32,34}}{_END}"),
)


def _tokens() -> tuple[Token, ...]:
    made: list[Token] = []
    for kind, prefixes, row in _ROWS:
        has_digit = row.startswith("digit ")
        rest = row.removeprefix("digit ")
        made += [Token(kind, prefix, rest, has_digit) for prefix in prefixes.split() or [""]]
    return tuple(made)


TOKENS: Final = _tokens()

SHORTEST: Final = 20
"""Every token has at least this many word characters, dots included, in a row."""
