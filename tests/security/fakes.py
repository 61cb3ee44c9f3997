"""Fake secrets of every known shape, put together at run time so that no scanner flags this repository."""

import random
import string
from typing import Protocol

ALNUM = string.ascii_letters + string.digits


def word(length: int, alphabet: str = ALNUM, *, seed: int = 7) -> str:
    """A repeatable random word that holds a digit and letters."""
    chosen = random.Random(f"{seed} {length} {alphabet}")
    return "".join(chosen.choice(alphabet) for _ in range(length - 2)) + alphabet[0] + alphabet[-1]


HEX = "a0123456789bcdef9"
LOWER = "a" + string.ascii_lowercase + string.digits + "7"
UPPER = "A" + string.ascii_uppercase + string.digits + "7"
PEM = "-" * 5


class Words(Protocol):
    """How made-up words are chosen."""

    def __call__(self, length: int, alphabet: str = ALNUM, *, seed: int = 7) -> str: ...


def uuid(word: Words) -> str:
    return "-".join(word(length, HEX) for length in (8, 4, 4, 4, 12))


def issued(word: Words) -> dict[str, tuple[str, ...]]:
    """Rule to secrets that must vanish wherever they stand alone as a word."""
    return {
        "age-key": ("AGE-SECRET" + "-KEY-1" + word(58, UPPER),),
        "aws-key-id": ("AK" + "IA" + word(16, UPPER), "AS" + "IA" + word(16, UPPER)),
        "github": ("gh" + "p_" + word(36), "gh" + "s_" + word(36), "github" + "_pat_" + word(22) + "_" + word(59)),
        "gitlab": (
            "glp" + "at-" + word(20),
            "gl" + "rt-" + word(24),
            "gl" + "agent-" + word(50),
            "GR13" + "48941" + word(20),
        ),
        "google": ("AI" + "za" + word(35), "ya" + "29." + word(60), "GOC" + "SPX-" + word(28), "1/" + "/0" + word(60)),
        "digitalocean": ("dop" + "_v1_" + word(64, HEX),),
        "alibaba": ("LT" + "AI" + word(20),),
        "databricks": ("da" + "pi" + word(32, HEX),),
        "docker": ("dckr" + "_pat_" + word(27),),
        "vault": ("hv" + "s." + word(90),),
        "pulumi": ("pu" + "l-" + word(40, HEX),),
        "heroku": ("HR" + "KU-" + word(36),),
        "anthropic": ("sk-" + "ant-" + "api03-" + word(80),),
        "openai": ("sk-" + word(48), "sk-" + "proj-" + word(60), "sk-" + "or-v1-" + word(64, HEX)),
        "huggingface": ("h" + "f_" + word(34),),
        "groq": ("gs" + "k_" + word(52),),
        "xai": ("xa" + "i-" + word(80),),
        "replicate": ("r" + "8_" + word(37),),
        "perplexity": ("pp" + "lx-" + word(48),),
        "npm": ("np" + "m_" + word(36),),
        "pypi": ("py" + "pi-" + word(120),),
        "rubygems": ("ruby" + "gems_" + word(48, HEX),),
        "slack": (
            "xo" + "xb-" + "123456789012-" + word(24),
            "xo" + "xp-" + word(40),
            "xo" + "xc-" + word(60),
            "xo" + "xd-" + word(60),
            "xa" + "pp-1-" + word(30),
        ),
        "stripe": ("sk" + "_live_" + word(24), "rk" + "_test_" + word(24), "wh" + "sec_" + word(32)),
        "sendgrid": ("S" + "G." + word(22) + "." + word(43),),
        "twilio": ("S" + "K" + word(32, HEX),),
        "mailgun": ("ke" + "y-" + word(32, HEX),),
        "shopify": ("shp" + "at_" + word(32, HEX),),
        "square": ("sq0" + "csp-" + word(43), "EA" + "AA" + word(60)),
        "atlassian": ("ATA" + "TT3" + word(180),),
        "linear": ("lin" + "_api_" + word(40), "lin" + "_oauth_" + word(64, HEX)),
        "notion": ("nt" + "n_" + word(46), "sec" + "ret_" + word(43)),
        "figma": ("fi" + "gd_" + word(40),),
        "grafana": ("gl" + "sa_" + word(32) + "_" + word(8, HEX),),
        "sentry": ("snt" + "rys_" + word(60),),
        "newrelic": ("NR" + "AK-" + word(27, UPPER), "NR" + "JS-" + word(19, HEX)),
        "postman": ("PM" + "AK-" + word(24, HEX) + "-" + word(34, HEX),),
        "planetscale": ("pscale" + "_tkn_" + word(43),),
        "supabase": ("sb" + "p_" + word(40, HEX),),
        "circleci": ("CCI" + "PAT_" + word(22) + "_" + word(40, HEX),),
        "jwt": ("ey" + "J" + word(34) + "." + "ey" + "J" + word(60) + "." + word(43),),
        "aws-session": ("IQo" + "Jb3JpZ2lu" + word(300, ALNUM + "+/"),),
        "aws-bedrock": ("ABSK" + "QmVkcm9ja0FQSUtleS" + word(100),),
        "amazon-mws": ("amzn" + ".mws." + uuid(word),),
        "discord": ("MT" + "E" + word(23) + "." + word(6) + "." + word(38),),
        "airtable": ("pa" + "t" + word(14) + "." + word(64, HEX),),
        "crates": ("ci" + "o" + word(32),),
        "tencent": ("AK" + "ID" + word(32),),
        "yandex": ("AQ" + "VN" + word(36),),
        "nuget": ("oy" + "2" + word(43, LOWER),),
        "jfrog": ("AK" + "Cp" + word(69),),
        "easypost": ("EZ" + "AK" + word(54),),
        "cloudflare": ("v1" + ".0-" + word(24, HEX) + "-" + word(146, HEX), "cf" + "ut_" + word(40)),
        "doppler": ("dp" + ".pt." + word(43),),
        "dropbox": ("sl" + ".u." + word(130),),
        "dynatrace": ("dt0" + "c01." + word(24, UPPER) + "." + word(64, UPPER),),
        "netlify": ("nf" + "p_" + word(36),),
        "vercel": ("vc" + "p_" + word(56),),
        "fly": ("fm" + "2_" + word(120),),
        "render": ("rn" + "d_" + word(32),),
        "sonarqube": ("sq" + "u_" + word(40, HEX),),
        "sourcegraph": ("sg" + "p_" + word(16, HEX) + "_" + word(40, HEX),),
        "tailscale": ("ts" + "key-" + "auth-" + word(17) + "-" + word(32),),
        "resend": ("r" + "e_" + word(8) + "_" + word(24),),
        "pinecone": ("pc" + "sk_" + word(6) + "_" + word(60),),
        "langsmith": ("lsv2" + "_pt_" + word(32, HEX) + "_" + word(10, HEX),),
        "nvidia": ("nv" + "api-" + word(64),),
        "cerebras": ("cs" + "k-" + word(48, LOWER),),
        "neon": ("na" + "pi_" + word(64, LOWER),),
        "deno": ("dd" + "p_" + word(36),),
        "buildkite": ("bk" + "ua_" + word(40, HEX),),
        "contentful": ("CF" + "PAT-" + word(43),),
        "typeform": ("tf" + "p_" + word(44),),
        "prefect": ("pn" + "u_" + word(36),),
        "readme": ("rd" + "me_" + word(70, LOWER),),
        "brevo": ("xkey" + "sib-" + word(64, HEX) + "-" + word(16),),
        "hubspot": ("pat" + "-na1-" + uuid(word),),
        "plaid": ("access" + "-sandbox-" + uuid(word),),
        "shippo": ("shippo" + "_live_" + word(40, HEX),),
        "duffel": ("duffel" + "_live_" + word(43),),
        "flutterwave": ("FLW" + "SECK-" + word(32, HEX) + "-X",),
        "onepassword": ("ops" + "_eyJ" + word(250),),
        "mongodb": ("mdb" + "_sa_sk_" + word(40),),
        "elastic": ("es" + "su_" + word(60),),
        "adafruit": ("ai" + "o_" + word(28),),
        "infracost": ("ic" + "o-" + word(32),),
    }


ISSUED = issued(word)


def key_body(word: Words) -> str:
    return "\n".join(word(64, ALNUM + "+/", seed=n) for n in range(12))


def key_block(kind: str = "RSA PRIVATE KEY", body: str | None = None) -> str:
    return f"{PEM}BEGIN {kind}{PEM}\n{body or KEY_BODY}\n{PEM}END {kind}{PEM}"


KEY_BODY = key_body(word)
VALUE = word(24)
PASS = "hunter2" + "-Tr0ub4dor"
AWS_SECRET = word(40, ALNUM + "/+")


def in_context(word: Words, secret: str) -> tuple[tuple[str, str, str], ...]:
    """Rule, text, and what must vanish from it."""
    value, body, aws = word(24), key_body(word), word(40, ALNUM + "/+")
    return (
        ("private-key", key_block(body=body), body[:40]),
        ("private-key", key_block("OPENSSH PRIVATE KEY", body).replace("\n", "\\n"), body[-40:]),
        ("private-key", key_block("PGP PRIVATE KEY BLOCK", body), body[100:140].split("\n")[0]),
        ("aws-secret", f"aws_secret_access_key = {aws}", aws),
        ("aws-secret", f'{{"SecretAccessKey": "{aws}"}}', aws),
        ("slack", f"https://hooks.slack.com/services/T{word(8)}/B{word(8)}/{value}", value),
        ("discord", f"https://discord.com/api/webhooks/123456789012345678/{word(68)}", word(68)),
        ("telegram", f"bot12345678:AA{word(33)}", word(33)),
        ("terraform", f"{word(14)}.atlasv1.{word(67)}", word(67)),
        ("authorization", f"Authorization: Bearer {value}", value),
        ("authorization", f"authorization: Basic {value}==", value),
        ("authorization", f'"Authorization": "token {value}"', value),
        ("authorization", f"-H 'Proxy-Authorization: {value}'", value),
        ("bearer", f"sent bearer {value} to", value),
        ("url-password", f"postgres://app:{secret}@db.example:5432/app", secret),
        ("url-password", f"redis://:{secret}@cache:6379/0", secret),
        ("url-password", f"https://bob:p@{secret}@example.com/x", secret),
        ("url-password", f"https://{value}@example.com/repo.git", value),
        ("netrc", f"machine example.com login bob password {secret}", secret),
        ("basic-auth", f"curl -s -u bob:{secret} https://example.com", secret),
        ("password", f"password={secret}", secret),
        ("password", f"DB_PASSWORD={secret}", secret),
        ("password", "PGPASSWORD=" + "correcthorse", "correcthorse"),
        ("password", f'password = "{secret} with spaces"', secret),
        ("password", f"'password' => '{secret}'", secret),
        ("password", f'password: str = "{secret}"', secret),
        ("password", f'config["password"] = "{secret}"', secret),
        ("password", f'{{"password": "a\\"{secret}"}}', secret),
        ("password", f'{{\\"password\\": \\"{secret}\\"}}', secret),
        ("password", f'\\\\\\"passwd\\\\\\": \\\\\\"{secret}\\\\\\"', secret),
        ("password", f"Server=db;User Id=sa;Password={secret};", secret),
        ("password", f"Uid=sa;Pwd={secret};", secret),
        ("password", f"mysql --password {secret} -h db", secret),
        ("password", f"passphrase: {secret}", secret),
        ("secret", f"api_key: '{value}'", value),
        ("secret", f'"apiKey": "{value}"', value),
        ("secret", f"X-Api-Key: {value}", value),
        ("secret", f"export MY_TOKEN={value}", value),
        ("secret", "MY_TOKEN=" + "abcdefghij", "abcdefghij"),
        ("secret", f"client_secret={value}&grant_type=x", value),
        ("secret", f"//registry.example/:_authToken={value}", value),
        ("secret", f"AccountKey={value}+/==;EndpointSuffix=x", value),
        ("secret", f'\\"clientSecret\\":\\"{value}\\"', value),
        ("secret", f"TOKEN=Bearer {value}", value),
        ("password", f"deploy --token {value}", value),
        (
            "private-key",
            f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{body}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
            body[-30:],
        ),
        ("private-key", f"PuTTY-User-Key-File-3: ssh-ed25519\nPrivate-Lines: 12\n{body}\nPrivate-MAC: 12", body[-30:]),
        ("private-key", f'{{"kty":"EC","crv":"P-256","d":"{word(43)}"}}', word(43)),
        ("secret", f"    client-key-data: {word(200)}", word(200)),
        ("cookie", f"Cookie: theme=dark; session={value}", value),
        ("cookie", f"set-cookie: sid={value}; Path=/; HttpOnly", value),
        ("basic-auth", f"sent Basic {value}== to", value),
        ("docker-auth", f'{{"auths":{{"https://index.docker.io/v1/":{{"auth":"{value}=="}}}}}}', value),
        ("docker-auth", f"//registry.example/:_auth={value}==", value),
        ("netrc", f"machine example.com\n  login bob\n  password {secret}\n", secret),
        ("pgpass", f"db.example:5432:app:bob:{secret}\n", secret),
        ("signed-url", f"https://a.blob.core.windows.net/c?sv=2024-01-01&sig={word(43)}%3D", word(43)),
        ("signed-url", f"https://b.s3.amazonaws.com/k?X-Amz-Signature={word(64, HEX)}", word(64, HEX)),
        ("azure", f"client secret {word(3)}8Q~{word(34)}", word(34)),
        ("password", f"jdbc:postgresql://db/app?user=bob&password={secret}", secret),
        ("password", f"jdbc:oracle:thin:scott/{secret}@//db:1521/x", secret),
        ("password", f"host=db user=bob password={secret} dbname=app", secret),
        ("password", f"smtp_pass: {secret}", secret),
        ("password", f"DB_PASS={secret}", secret),
        ("password", f"sshpass -p {secret} ssh bob@host", secret),
        ("password", f"mysqldump -u root -p{secret} app", secret),
        ("password", f"docker login -u bob -p {secret} registry.example", secret),
        ("password", f"redis-cli -h cache -a {secret} ping", secret),
        ("password", f"openssl rsa -in k.pem -passin pass:{secret}", secret),
        ("password", f"mysql --password='{secret}' app", secret),
        ("password", f"password: |\n  {secret}\n", secret),
        ("secret", f"api_key: >-\n    {value}\n", value),
        ("secret", f'"token":\n   "{value}"', value),
        ("secret", f"DD_APP_KEY={word(40, HEX)}", word(40, HEX)),
        ("secret", f"HONEYBADGE_KEY={value}", value),
        ("secret", f"APP_KEY=base64:{value}=", value),
        ("secret", f"AZURE_STORAGE=DefaultEndpointsProtocol=https;AccountName=a;AccountKey={word(86)}==;", word(86)),
        ("secret", f"Endpoint=sb://x/;SharedAccessKeyName=k;SharedAccessKey={value}=", value),
        ("authorization", f"Authorization: SSWS 00{value}", value),
    )


IN_CONTEXT = in_context(word, PASS)

HARMLESS = (
    "commit 4a8cc7d1e5b1a9c0d2f3e4b5a6978877665544ff by bob",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "id 123e4567-e89b-12d3-a456-426614174000",
    "index 83db48f..bf269f4 100644",
    "PWD=/home/bob/project1",
    "OLDPWD=/tmp/x9",
    "max_tokens=4096 total_tokens: 123456 token_count=99999",
    "def login(password: str, token: str) -> None:",
    "connect(password=password, token=get_token(), secret=settings.secret)",
    "password=$PASSWORD token=${TOKEN} secret={{ secret }} api_key=<your key>",
    "token_uri: https://oauth2.example.com/token2",
    "secretName: tls-certificate-2026",
    "tokenizer = Tokenizer(vocab_size=32000)",
    "key: value1234 and keyboard=layout12",
    "task-management-system-with-20-parts disk-usage-of-partition-1234567890",
    "https://example.com:8080/path@v1.2.3/x",
    "git@github.com:bob/project.git and https://github.com/bob/project.git",
    "if '-----BEGIN RSA PRIVATE " + "KEY-----' in text: raise ValueError(1)",
    "The password is required. Enter your password:",
    "author=bob authority=example authorization is needed",
    "bearer of good news and the bearer tokens",
    "run 20261115T194200Z-abc123 FCT-7f3k2m evidence file:src/a.py@4a8cc7d1e5b1a9c0d2f3e4b5a6978877665544ff",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIE8Y0n4uWq3vXyZ0a1b2c3d4e5f6g7h8i9j0k1l2m3n4 bob@host",
    "== 12 passed in 0.31s == 100% [..........]",
    "docker run -u 1000:1000 --user=1000:1000 image && git push -u origin main:main",
    "Basic usage: holdfast run -- make test",
)
