"""Drawn secrets in realistic contexts. Tokens are put together here, never written out."""

import base64
import random
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloxy_core.services.redaction import Redactor, Rule, clean, default_rules, redact

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
BASE64 = ALNUM + "+/"
URLSAFE = ALNUM + "-_"
SEEDS = range(8)

# prefix, alphabet, length, kind
PROVIDERS = [
    ("gh" + "p_", ALNUM, 36, "github_token"),
    ("gh" + "u_", ALNUM, 36, "github_token"),
    ("github" + "_pat_", ALNUM, 82, "github_token"),
    ("gl" + "pat-", URLSAFE, 20, "gitlab_token"),
    ("sk-" + "ant-api03-", URLSAFE, 95, "anthropic_key"),
    ("sk-" + "svcacct-", URLSAFE, 120, "openai_key"),
    ("sk-" + "admin-", URLSAFE, 120, "openai_key"),
    ("sk-", ALNUM, 48, "openai_key"),
    ("AK" + "IA", string.ascii_uppercase + "234567", 16, "aws_access_key_id"),
    ("AI" + "za", URLSAFE, 35, "gcp_api_key"),
    ("xo" + "xb-", string.digits + ALNUM, 50, "slack_token"),
    ("sk_" + "live_", ALNUM, 24, "stripe_key"),
    ("S" + "K", HEX, 32, "twilio_key"),
    ("key" + "-", HEX, 32, "mailgun_key"),
    ("np" + "m_", ALNUM, 36, "npm_token"),
    ("py" + "pi-AgE", URLSAFE, 150, "pypi_token"),
    ("h" + "f_", string.ascii_letters, 34, "huggingface_token"),
    ("dop" + "_v1_", HEX, 64, "digitalocean_token"),
    ("hv" + "s.", URLSAFE, 90, "vault_token"),
    ("da" + "pi", HEX, 32, "databricks_token"),
    ("lin" + "_api_", ALNUM, 40, "linear_key"),
    ("nt" + "n_", ALNUM, 46, "notion_token"),
    ("sh" + "pat_", HEX, 32, "shopify_token"),
    ("dp" + ".pt.", ALNUM, 43, "doppler_token"),
    ("1234567890" + ":AA", URLSAFE, 33, "telegram_bot_token"),
    ("AGE-" + "SECRET-KEY-1", string.ascii_uppercase + string.digits, 58, "age_key"),
]
PLACES = [
    "{}",
    "it is {}.",
    '"{}"',
    "a\\n{}\\nb",
    "`{}`",
    "({})",
    "\x1b[32m{}\x1b[0m",
    "é{} ü",
    "x={}&y=1",
]

ASSIGNMENTS = [
    "DB_PASSWORD={}",
    'password: "{}"',
    "password = '{}'",
    '{{"password": "{}"}}',
    '{{\\"password\\": \\"{}\\"}}',
    "login --password {} --verbose",
    "login --password={}",
    "mysql -u root -p'{}' app",
    "sshpass -p {} ssh host",
    "curl -u bob:{} https://api.test",
    "Server=db;User Id=sa;Password={};Encrypt=true",
    'config["password"] = "{}"',
    "const dbPassword = '{}';",
    'password: str = "{}"',
    "<password>{}</password>",
    '<add key="password" value="{}"/>',
    '- name: DB_PASSWORD\n  value: "{}"',
    "machine api.test login bob password {}",
    "ALTER USER bob WITH PASSWORD '{}'",
    "CREATE USER bob IDENTIFIED BY '{}'",
    "the admin password is {} but change it",
    "password is `{}`",
    "redis://:{}@10.0.0.4:6379/0",
    "redis-cli -h cache -a {} ping",
    "docker login -u bob -p {} registry.test",
    "ldapsearch -x -D cn=bob -w '{}' -b dc=test",
    "sqlcmd -S host -U sa -P {}",
    "7z x -p{} archive.7z",
    'echo "{}" | docker login --password-stdin',
    'echo "root:{}" | chpasswd',
    "db.test:5432:app:bob:{}",
    "set -x DB_PASSWORD {}",
    "ENV DB_PASSWORD {}",
    '$env:DB_PASSWORD = "{}"',
    'variable "db_password" {{\n  default = "{}"\n}}',
    "password for bob: {}",
    "helm upgrade --set auth.password={}",
    "user=bob&password={}&x=1",
    "密码：{}",
    "数据库密码是{}",
    "пароль: {}",
    "WIFI_PSK={}",
    "kind: Secret\nmetadata:\n  name: a\nstringData:\n  config: {}",
    "data:\n  config: {}\nkind: Secret",
]
TOKEN_CONTEXTS = [
    "X-Api-Key: {}",
    'apiKey: "{}"',
    '"client_secret":"{}"',
    "Authorization: Bearer {}",
    '"Authorization": "token {}"',
    "Cookie: theme=dark; sid={}; x=y",
    "Set-Cookie: session={}; Path=/; HttpOnly",
    "https://x.test/?access_token={}&page=2",
    "JWT_SECRET={}",
    'request.setRequestHeader("X-Api-Key", "{}")',
    "//registry.test/:_authToken={}",
    "https://acme.blob.test/c?sv=2020&sig={}&se=1",
    'curl -b "session={}" https://x.test',
    'requests.get(url, cookies={{"session": "{}"}})',
    '{{"name": "API_KEY", "value": "{}"}}',
    'gh secret set API_KEY --body "{}"',
    "token：{}",
    "令牌是：{}",
    "Error: invalid token {}",
    "acme_live_{}",
    "acmepat-{}",
    "acme-secret-{}",
]


def draw(seed, alphabet, length):
    return "".join(random.Random(seed).choices(alphabet, k=length))


def assert_gone(value, context):
    text = context.format(value)
    redacted = redact(text).text
    before, after = context.format("\0").split("\0")
    assert value not in redacted
    assert redacted.startswith(before)
    assert redacted.endswith(after)
    assert "[REDACTED:" in redacted
    assert redact(redacted).text is redacted


@pytest.mark.parametrize(("prefix", "alphabet", "length", "kind"), PROVIDERS)
def test_provider_tokens_go_whatever_stands_around(prefix, alphabet, length, kind):
    for seed in SEEDS:
        token = prefix + draw(seed, alphabet, length)
        for place in PLACES:
            assert_gone(token, place)
        assert redact(f"say {token} now").counts == {kind: 1}


@pytest.mark.parametrize("context", ASSIGNMENTS)
def test_passwords_go_by_their_name(context):
    for seed in SEEDS:
        assert_gone(draw(seed, ALNUM, 14) + "!x9", context)


@pytest.mark.parametrize("context", TOKEN_CONTEXTS)
def test_opaque_tokens_go_by_their_name(context):
    for seed in SEEDS:
        assert_gone(draw(seed, ALNUM, 40), context)


@pytest.mark.parametrize(
    "password", ["p@ss/w0rd", "a:b@c", "x#y&z$1", "Tr0ub4dor&3-abcdef", "FAKEpw"]
)
def test_url_passwords_may_hold_odd_characters_and_the_rest_stays(password):
    redaction = redact(f"at postgres://pat:{password}@db.invalid:5432/x?sslmode=on now")
    assert redaction.text == (
        "at postgres://pat:[REDACTED:url_password]@db.invalid:5432/x?sslmode=on now"
    )


def test_aws_secret_goes_by_name_and_next_to_its_id():
    for seed in SEEDS:
        secret = draw(seed, BASE64, 40)
        assert_gone(secret, "aws_secret_access_key = {}")
        key_id = "AK" + "IA" + draw(seed, string.ascii_uppercase, 16)
        assert secret not in redact(f"{key_id},{secret}").text
    assert_gone("FAKEfake" * 5, "AWS_SECRET_ACCESS_KEY={}\nnext")


def test_basic_credentials_go_only_when_they_decode():
    encoded = base64.b64encode(b"user:pass word").decode()
    assert redact(f"Basic {encoded}").counts == {"basic_auth": 1}
    assert redact("Basic dGVzdGluZyBvbmx5").counts == {}


LINES = [draw(seed, BASE64, 64) for seed in range(3)]
HEAD, TAIL = "-----BEGIN {} PRI" + "VATE KEY-----", "-----END {} PRI" + "VATE KEY-----"


@pytest.mark.parametrize("kind", ["RSA", "EC", "OPENSSH", "ENCRYPTED"])
@pytest.mark.parametrize(
    "end_of_line", ["\n", "\r\n", "\\n", "\\\\n", '\\n" +\n    "', "\n> ", "\n+"]
)
def test_private_key_blocks_go_whole(kind, end_of_line):
    block = end_of_line.join([HEAD.format(kind), *LINES, "abc=", TAIL.format(kind)])
    assert redact(f"key:\n{block}\nplease fix").text == "key:\n[REDACTED:private_key]\nplease fix"


def test_a_truncated_private_key_goes_as_far_as_it_looks_like_one():
    text = "\n".join([HEAD.format("RSA"), LINES[0], LINES[1][:20], "", "and so we go on"])
    assert redact(text).text == "[REDACTED:private_key]\n\nand so we go on"


def test_numbered_lines_of_a_file_view_are_a_private_key_too():
    lines = [HEAD.format("EC"), *LINES, TAIL.format("EC")]
    text = "\n".join(f"  {number}→{line}" for number, line in enumerate(lines, 1))
    assert not any(line in redact(text).text for line in LINES)


def test_hexadecimal_tokens_go_where_they_are_named():
    for seed in SEEDS:
        for length in (32, 40, 64):
            value = "a1" + draw(seed, HEX, length - 2)
            for context in ("the token is {}", "--api_key {}", "setx API_KEY {}", "my api key {}"):
                assert_gone(value, context)


def test_opaque_tokens_without_digits_are_known_by_their_pairs_of_letters():
    tokens = [draw(seed, string.ascii_letters, 24) for seed in range(200)]
    found = [token for token in tokens if token not in redact(f'api_key = "{token}"').text]
    # Now and then drawn letters do read like a word.
    assert len(found) >= 190


def test_counts_tell_each_kind():
    token = "gh" + "p_" + draw(1, ALNUM, 36)
    counts = redact(f"{token} {token} postgres://a:{draw(2, ALNUM, 9)}@h/d").counts
    assert counts == {"github_token": 2, "url_password": 1}


def test_further_rules_extend_the_list():
    rule = Rule("acme_token", ("acme-",), re.compile(r"acme-[a-z]{8}"))
    redactor = Redactor([*default_rules(), rule])
    assert redactor.redact("see acme-abcdefgh").text == "see [REDACTED:acme_token]"
    assert redact("see acme-abcdefgh").counts == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "Bad Kind", "triggers": ("a",)},
        {"kind": "ok", "triggers": ("",)},
        {"kind": "ok", "triggers": ("Aa",), "ignore_case": True},
        {"kind": "ok", "triggers": ()},
    ],
)
def test_a_rule_that_cannot_work_is_refused(fields):
    with pytest.raises(ValueError, match="rule"):
        Rule(pattern=re.compile("a"), **fields)


FRAGMENTS = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(
            [
                "password",
                "token",
                "key",
                "api_key",
                "=",
                ": ",
                '"',
                "'",
                "\\",
                "\\n",
                "://",
                "@",
                ":",
                " is ",
                "[REDACTED:",
                "]",
                "[REDACTED:password]",
                "[REDACTED:url_password]",
                "Bearer ",
                "Cookie: a=",
                "https://u:",
                "gh" + "p_",
                "a1B2c3D4e5F6g7H8i9J0k1L2",
                "eyJ",
                ".",
                "-----BEGIN PRIVATE KEY-----\n",
                "--password ",
                "hunter2!A",
                ";",
                ",",
                "&",
                "\n",
                "<private>",
                "</private>",
                "\ud800",
                "\0",
                "İ",
            ]
        ),
    ),
    max_size=14,
).map("".join)


@given(FRAGMENTS)
def test_redacting_twice_changes_nothing(text):
    once = redact(text).text
    again = redact(once)
    assert again.text is once
    assert again.counts == {}


@given(FRAGMENTS)
def test_cleaned_text_can_be_stored(text):
    cleaned = clean(text).text
    cleaned.encode()
    assert "\0" not in cleaned
