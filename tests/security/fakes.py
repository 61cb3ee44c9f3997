"""Fake secrets of every known shape, put together at run time so that no scanner flags this repository."""

import random
import string

ALNUM = string.ascii_letters + string.digits


def word(length: int, alphabet: str = ALNUM, *, seed: int = 7) -> str:
    """A repeatable random word that holds a digit and letters."""
    chosen = random.Random(f"{seed} {length} {alphabet}")
    return "".join(chosen.choice(alphabet) for _ in range(length - 2)) + alphabet[0] + alphabet[-1]


HEX = "a0123456789bcdef9"
UPPER = "A" + string.ascii_uppercase + string.digits + "7"
PEM = "-" * 5

# rule -> secrets that must vanish wherever they stand alone as a word
ISSUED: dict[str, tuple[str, ...]] = {
    "age-key": ("AGE-SECRET" + "-KEY-1" + word(58, UPPER),),
    "aws-key-id": ("AK" + "IA" + word(16, UPPER), "AS" + "IA" + word(16, UPPER)),
    "github": (
        "gh" + "p_" + word(36),
        "gh" + "s_" + word(36),
        "github" + "_pat_" + word(22) + "_" + word(59),
    ),
    "gitlab": ("glp" + "at-" + word(20), "gl" + "rt-" + word(24)),
    "google": ("AI" + "za" + word(35), "ya" + "29." + word(60), "GOC" + "SPX-" + word(28)),
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
    "slack": ("xo" + "xb-" + "123456789012-" + word(24), "xo" + "xp-" + word(40), "xa" + "pp-1-" + word(30)),
    "stripe": ("sk" + "_live_" + word(24), "rk" + "_test_" + word(24), "wh" + "sec_" + word(32)),
    "sendgrid": ("S" + "G." + word(22) + "." + word(43),),
    "twilio": ("S" + "K" + word(32, HEX),),
    "mailgun": ("ke" + "y-" + word(32, HEX),),
    "shopify": ("shp" + "at_" + word(32, HEX),),
    "square": ("sq0" + "csp-" + word(43),),
    "atlassian": ("ATA" + "TT3" + word(180),),
    "linear": ("lin" + "_api_" + word(40),),
    "notion": ("nt" + "n_" + word(46), "sec" + "ret_" + word(43)),
    "figma": ("fi" + "gd_" + word(40),),
    "grafana": ("gl" + "sa_" + word(32) + "_" + word(8, HEX),),
    "sentry": ("snt" + "rys_" + word(60),),
    "newrelic": ("NR" + "AK-" + word(27, UPPER),),
    "postman": ("PM" + "AK-" + word(24, HEX) + "-" + word(34, HEX),),
    "planetscale": ("pscale" + "_tkn_" + word(43),),
    "supabase": ("sb" + "p_" + word(40, HEX),),
    "circleci": ("CCI" + "PAT_" + word(22) + "_" + word(40, HEX),),
    "jwt": ("ey" + "J" + word(34) + "." + "ey" + "J" + word(60) + "." + word(43),),
}

KEY_BODY = "\n".join(word(64, ALNUM + "+/", seed=n) for n in range(12))


def key_block(kind: str = "RSA PRIVATE KEY") -> str:
    return f"{PEM}BEGIN {kind}{PEM}\n{KEY_BODY}\n{PEM}END {kind}{PEM}"


VALUE = word(24)
PASS = "hunter2" + "-Tr0ub4dor"
AWS_SECRET = word(40, ALNUM + "/+")

# (rule, text, what must vanish)
IN_CONTEXT: tuple[tuple[str, str, str], ...] = (
    ("private-key", key_block(), KEY_BODY[:40]),
    ("private-key", key_block("OPENSSH PRIVATE KEY").replace("\n", "\\n"), KEY_BODY[-40:]),
    ("private-key", key_block("PGP PRIVATE KEY BLOCK"), KEY_BODY[100:140].split("\n")[0]),
    ("aws-secret", f"aws_secret_access_key = {AWS_SECRET}", AWS_SECRET),
    ("aws-secret", f'{{"SecretAccessKey": "{AWS_SECRET}"}}', AWS_SECRET),
    ("slack", f"https://hooks.slack.com/services/T{word(8)}/B{word(8)}/{VALUE}", VALUE),
    ("discord", f"https://discord.com/api/webhooks/123456789012345678/{word(68)}", word(68)),
    ("telegram", f"bot12345678:AA{word(33)}", word(33)),
    ("terraform", f"{word(14)}.atlasv1.{word(67)}", word(67)),
    ("authorization", f"Authorization: Bearer {VALUE}", VALUE),
    ("authorization", f"authorization: Basic {VALUE}==", VALUE),
    ("authorization", f'"Authorization": "token {VALUE}"', VALUE),
    ("authorization", f"-H 'Proxy-Authorization: {VALUE}'", VALUE),
    ("bearer", f"sent bearer {VALUE} to", VALUE),
    ("url-password", f"postgres://app:{PASS}@db.example:5432/app", PASS),
    ("url-password", f"redis://:{PASS}@cache:6379/0", PASS),
    ("url-password", f"https://bob:p@{PASS}@example.com/x", PASS),
    ("url-password", f"https://{VALUE}@example.com/repo.git", VALUE),
    ("netrc", f"machine example.com login bob password {PASS}", PASS),
    ("basic-auth", f"curl -s -u bob:{PASS} https://example.com", PASS),
    ("password", f"password={PASS}", PASS),
    ("password", f"DB_PASSWORD={PASS}", PASS),
    ("password", "PGPASSWORD=" + "correcthorse", "correcthorse"),
    ("password", f'password = "{PASS} with spaces"', PASS),
    ("password", f"'password' => '{PASS}'", PASS),
    ("password", f'password: str = "{PASS}"', PASS),
    ("password", f'config["password"] = "{PASS}"', PASS),
    ("password", f'{{"password": "a\\"{PASS}"}}', PASS),
    ("password", f'{{\\"password\\": \\"{PASS}\\"}}', PASS),
    ("password", f'\\\\\\"passwd\\\\\\": \\\\\\"{PASS}\\\\\\"', PASS),
    ("password", f"Server=db;User Id=sa;Password={PASS};", PASS),
    ("password", f"Uid=sa;Pwd={PASS};", PASS),
    ("password", f"mysql --password {PASS} -h db", PASS),
    ("password", f"passphrase: {PASS}", PASS),
    ("secret", f"api_key: '{VALUE}'", VALUE),
    ("secret", f'"apiKey": "{VALUE}"', VALUE),
    ("secret", f"X-Api-Key: {VALUE}", VALUE),
    ("secret", f"export MY_TOKEN={VALUE}", VALUE),
    ("secret", "MY_TOKEN=" + "abcdefghij", "abcdefghij"),
    ("secret", f"client_secret={VALUE}&grant_type=x", VALUE),
    ("secret", f"//registry.example/:_authToken={VALUE}", VALUE),
    ("secret", f"AccountKey={VALUE}+/==;EndpointSuffix=x", VALUE),
    ("secret", f'\\"clientSecret\\":\\"{VALUE}\\"', VALUE),
    ("secret", f"TOKEN=Bearer {VALUE}", VALUE),
    ("password", f"deploy --token {VALUE}", VALUE),
)

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
