"""Tokens that carry the name of their provider: a fixed prefix and a body of known shape."""

import re

from cloxy_core.services.redaction.rule import Rule
from cloxy_core.services.redaction.shape import looks_random

# A token may follow a line break, a percent code or a colour code written out as an escape;
# the last character of the escape is then no part of a longer word.
_LEFT = (
    r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f]{2})|(?<=u00[0-9a-f]{2})"
    r"|(?<=\[[0-9]m)|(?<=[0-9;][0-9]m))"
)
_RIGHT = r"(?![A-Za-z0-9])"

# kind, prefixes, body. A body ends where its characters end, so that a whole run is taken.
_PREFIXED: tuple[tuple[str, str, str], ...] = (
    ("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9_]{30,}+"),
    ("github_token", "github_pat_", r"[A-Za-z0-9_]{22,}+"),
    (
        "gitlab_token",
        "glpat- glptt- gldt- glrt- glcbt- glsoat- glft- gloas- glagent- glimt- glffct- glwt-",
        r"[A-Za-z0-9_-]{20,}+(?:\.[A-Za-z0-9_-]++){0,3}+",
    ),
    ("anthropic_key", "sk-ant-", r"[A-Za-z0-9_-]{20,}+"),
    (
        "openai_key",
        "sk-proj- sk-svcacct- sk-service- sk-admin- sk-None-",
        r"[A-Za-z0-9_-]{20,}+",
    ),
    ("openrouter_key", "sk-or-", r"[A-Za-z0-9_-]{20,}+"),
    ("langfuse_key", "sk-lf-", r"[0-9a-f-]{36}"),
    ("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", r"[A-Za-z0-9]{12,}+"),
    (
        "slack_token",
        "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe. xapp-",
        r"[A-Za-z0-9%/+=-]{10,}+(?:\.[A-Za-z0-9%/+=-]++){0,3}+",
    ),
    ("google_oauth", "ya29. GOCSPX-", r"[A-Za-z0-9_-]{20,}+"),
    ("npm_token", "npm_", r"[A-Za-z0-9]{30,}+"),
    ("pypi_token", "pypi-AgE", r"[A-Za-z0-9_-]{40,}+"),
    ("huggingface_token", "hf_ api_org_", r"[A-Za-z]{30,}+"),
    ("sendgrid_key", "SG.", r"[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,}+"),
    ("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{40,}+"),
    ("vault_token", "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{20,}+"),
    ("linear_key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{30,}+"),
    ("notion_token", "ntn_", r"[A-Za-z0-9]{40,}+"),
    ("shopify_token", "shpat_ shpca_ shppa_ shpss_ shpua_", r"[0-9A-Fa-f]{30,}+"),
    ("square_token", "sq0atp- sq0csp- sq0idp-", r"[A-Za-z0-9_-]{20,}+"),
    (
        "doppler_token",
        "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.",
        r"(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{38,}+",
    ),
    ("tailscale_key", "tskey-", r"[a-z]{2,12}-[A-Za-z0-9-]{16,}+"),
    ("groq_key", "gsk_", r"[A-Za-z0-9]{40,}+"),
    ("xai_key", "xai-", r"[A-Za-z0-9]{60,}+"),
    ("replicate_token", "r8_", r"[A-Za-z0-9]{30,}+"),
    ("supabase_key", "sbp_ sb_secret_", r"[A-Za-z0-9_-]{30,}+"),
    ("planetscale_token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_=-]{30,}+"),
    ("cloxy_key", "clxy_", r"[A-Za-z0-9_-]{30,}+"),
    ("docker_token", "dckr_pat_ dckr_oat_", r"[A-Za-z0-9_-]{24,}+"),
    ("grafana_token", "glsa_ glc_", r"[A-Za-z0-9_+/=]{30,}+"),
    ("newrelic_key", "NRAK- NRII- NRJS- NRAL-", r"[A-Za-z0-9_-]{20,}+"),
    ("sentry_token", "sntrys_ sntryu_", r"[A-Za-z0-9_+/=]{40,}+"),
    ("postman_key", "PMAK-", r"[0-9a-f]{20,}+-[0-9a-f]{30,}+"),
    ("rubygems_key", "rubygems_", r"[0-9a-f]{40,}+"),
    ("terraform_token", ".atlasv1.", r"[A-Za-z0-9_=-]{50,}+"),
    ("contentful_token", "CFPAT-", r"[A-Za-z0-9_-]{40,}+"),
    ("pulumi_token", "pul-", r"[0-9a-f]{40}"),
    ("brevo_key", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-[A-Za-z0-9]{16}"),
    ("figma_token", "figd_", r"[A-Za-z0-9_-]{36,}+"),
    ("netlify_token", "nfp_", r"[A-Za-z0-9]{36,}+"),
    ("nvidia_key", "nvapi-", r"[A-Za-z0-9_-]{50,}+"),
    ("pinecone_key", "pcsk_", r"[A-Za-z0-9_]{50,}+"),
    ("perplexity_key", "pplx-", r"[A-Za-z0-9]{40,}+"),
    ("tavily_key", "tvly-", r"[A-Za-z0-9-]{28,}+"),
    ("cerebras_key", "csk-", r"[a-z0-9]{40,}+"),
    ("langsmith_key", "lsv2_pt_ lsv2_sk_", r"[0-9a-f]{32}_[0-9a-f]{10}"),
    ("posthog_key", "phx_", r"[A-Za-z0-9]{40,}+"),
    ("onepassword_token", "ops_eyJ", r"[A-Za-z0-9_=-]{80,}+"),
    ("dynatrace_token", "dt0c01. dt0s16.", r"[A-Z0-9]{20,}+\.[A-Z0-9]{60,}+"),
    ("mapbox_token", "sk.eyJ", r"[A-Za-z0-9_-]{20,}+\.[A-Za-z0-9_-]{20,}+"),
    ("hubspot_token", "pat-na1- pat-na2- pat-eu1-", r"[0-9a-f-]{36}"),
    ("sonar_token", "sqp_ squ_ sqa_", r"[0-9a-f]{40}"),
    ("circleci_token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9_]{40,}+"),
    ("runpod_key", "rpa_", r"[A-Z0-9]{30,}+[A-Za-z0-9]*+"),
    ("airtable_token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("atlassian_token", "ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{50,}+"),
    ("bitbucket_token", "ATBB", r"[A-Za-z0-9]{28,}+"),
    ("databricks_token", "dapi", r"[0-9a-f]{32}(?:-[0-9])?"),
    ("twilio_key", "SK", r"[0-9a-f]{32}"),
    ("mailgun_key", "key-", r"[0-9a-f]{32}"),
    ("gcp_api_key", "AIza", r"[A-Za-z0-9_-]{35}"),
    ("square_token", "EAAA", r"[A-Za-z0-9_-]{56,}+"),
    ("age_key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", r"[A-Z0-9-]{40,}+"),
    ("alibaba_key_id", "LTAI", r"[A-Za-z0-9]{16,26}"),
    ("cloudflare_key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,}+"),
    ("resend_key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{24}"),
    ("typeform_token", "tfp_", r"[A-Za-z0-9_-]{40,}+"),
    ("buildkite_token", "bkua_", r"[0-9a-f]{40}"),
)


# Bodies in plain base64 or with slashes: their runs may be short.
_PREFIXED_BROKEN: tuple[tuple[str, str, str], ...] = (
    ("webhook_secret", "whsec_", r"[A-Za-z0-9+/=_-]{20,}+"),
    ("slack_token", "xoxd-", r"[A-Za-z0-9%/+=-]{16,}+"),
    ("fly_token", "fm2_ fo1_", r"[A-Za-z0-9_+/=,-]{40,}+"),
    ("google_oauth", "1//0", r"[A-Za-z0-9_-]{40,}+"),
)


def provider_rules() -> tuple[Rule, ...]:
    """Return the rules for tokens that are known by their prefix or their shape alone."""
    return (
        *(_prefixed(*row, in_run=True) for row in _PREFIXED),
        *(_prefixed(*row, in_run=False) for row in _PREFIXED_BROKEN),
        *_SHAPED,
    )


def _prefixed(kind: str, prefixes: str, body: str, *, in_run: bool) -> Rule:
    literals = tuple(prefixes.split())
    either = "|".join(map(re.escape, literals))
    # A body that ends in a possessive repeat has no right edge to check; a fixed one has.
    right = "" if body.endswith("+") else _RIGHT
    return Rule(kind, literals, re.compile(f"{_LEFT}(?:{either}){body}{right}"), in_run=in_run)


def _is_no_documented_example(match: re.Match[str]) -> bool:
    return "EXAMPLE" not in match.group()


def _has_random_body(match: re.Match[str]) -> bool:
    return looks_random(match.group("body"))


_SHAPED: tuple[Rule, ...] = (
    Rule(
        "openai_key",
        ("sk-",),
        re.compile(_LEFT + r"sk-(?P<body>[A-Za-z0-9_-]{20,}+)"),
        in_run=True,
        accept=_has_random_body,
    ),
    Rule(
        "notion_token",
        ("secret_",),
        re.compile(_LEFT + r"secret_(?P<body>[A-Za-z0-9]{40,}+)"),
        in_run=True,
        accept=_has_random_body,
    ),
    Rule(
        "aws_access_key_id",
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        re.compile(_LEFT + r"A(?:KI|SI|BI|CC)A[A-Z0-9]{16}" + _RIGHT),
        in_run=True,
        accept=_is_no_documented_example,
    ),
    Rule(
        # A secret that follows its id without a name of its own, as in a CSV export.
        "aws_secret_key",
        ("AKIA", "ASIA"),
        re.compile(
            r"A[KS]IA[A-Z0-9]{16}[\s,:;|\"'/]{1,6}"
            r"(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
        group="secret",
        in_run=True,
        accept=_is_no_documented_example,
    ),
    Rule(
        "jwt",
        ("eyJ",),
        re.compile(
            _LEFT + r"eyJ[A-Za-z0-9_-]{8,2000}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+"
            r"(?:\.[A-Za-z0-9_-]{8,}+){0,2}"
        ),
        in_run=True,
    ),
    Rule(
        "telegram_bot_token",
        (":AA",),
        re.compile(r"[0-9](?<![0-9][0-9])[0-9]{7,9}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"),
        anchored=False,
    ),
    Rule(
        "discord_bot_token",
        (),
        re.compile(
            r"[MNO](?:(?<![A-Za-z0-9_.-][MNO])|(?<=\\[nrt][MNO])|(?<=[0-9]m[MNO]))[A-Za-z0-9_-]{23,27}"
            r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+"
        ),
        anchored=False,
        in_run=True,
        accept=lambda match: looks_random(match.group()),
    ),
    Rule(
        "azure_client_secret",
        ("Q~",),
        re.compile(r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,40}"),
        anchored=False,
    ),
    Rule(
        "webhook_url",
        ("://",),
        re.compile(
            r"://(?:hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/"
            r"|(?:[a-z]{2,8}\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/(?=[0-9])"
            r"|[a-z0-9.]{1,80}\.office\.com/webhook[a-z0-9]{0,4}/(?=[0-9a-f])"
            r"|chat\.googleapis\.com/v1/spaces/)"
            r"(?P<secret>[A-Za-z0-9_@/?&=%.-]{24,}+)"
        ),
        group="secret",
    ),
)
