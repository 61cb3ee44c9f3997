"""The shapes of secrets we know: a table of named rules, each cheap to rule out.

A rule is looked at only where one of its literal anchors stands, and then sees at most
`REACH` bytes from there: so a scan is linear, and gives the same answer however its input was
cut. There is no rule on randomness alone: commit ids, UUIDs and checksums must survive.

The secret is the one group that took part in the match; what goes before it is kept. The
`rest` of that group says which further bytes belong to the same secret. How text is walked,
cut and rewritten is `security.redact`'s business.
"""

import re
from dataclasses import dataclass
from functools import cache

REACH = 2048  # bytes a match may look at from its anchor on; patterns below stay well within
WORD = 15  # every issued token holds so many of these bytes in a row, at most `NEAR` after its anchor's start
WORD_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+"
NEAR = 12


@dataclass(frozen=True, slots=True)
class Rest:
    """What still belongs to a secret after the bytes that gave it away."""

    pattern: bytes
    limit: int  # after so many bytes we look at the text afresh
    until: bool = False  # the pattern is where it ends, not what it is made of

    def compiled(self) -> re.Pattern[bytes]:
        return _compiled(self.pattern)


@dataclass(frozen=True, slots=True)
class Shape:
    """One named kind of secret."""

    name: str
    anchors: tuple[bytes, ...]
    pattern: bytes  # matched at the anchor
    rests: tuple[Rest, ...]  # one for each group of the pattern
    fold: bool = False  # anchors are given in lower case and stand in any case
    issued: bool = False  # a token with a prefix of its maker's, one long word
    boundary: bool = False  # only where a word begins

    def compiled(self) -> re.Pattern[bytes]:
        return _compiled(self.pattern)


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


_WORD = Rest(rb"[A-Za-z0-9_-]*", 65536)
_DOTTED = Rest(rb"[A-Za-z0-9_.=-]*", 65536)
_BARE = Rest(rb"[^\s\"'`<>(){}\[\],;|&\\\x00-\x1f]*", 65536)
_BASE64 = Rest(rb"[A-Za-z0-9+/=_.~-]*", 65536)
_IN_QUOTES = Rest(rb"(?:\\[^\r\n]|[^\"\\\r\n])*", 4096)
_IN_APOSTROPHES = Rest(rb"(?:\\[^\r\n]|[^'\\\r\n])*", 4096)
_IN_ESCAPED = Rest(rb"[^\"'\\\r\n]*", 4096)
_HEX = Rest(rb"[A-Fa-f0-9]*", 4096)
_USERINFO = Rest(rb"", 0)
_PRIVATE = Rest(rb"(?i)</private>", 65536, until=True)
_KEY_BLOCK = Rest(rb"-----END [A-Z0-9 ]{2,40}-----", 16384, until=True)

# A value that only stands for a secret: our own marker, a variable, a template, an ellipsis.
_REAL = (
    rb"(?!\[redacted:|\$[{(]|\$[A-Za-z_]{1,40}(?:[\"'\s;,]|\Z)|\{\{|\{[A-Za-z0-9_.]{0,40}\}"
    rb"|<[A-Za-z0-9_ -]{1,40}>|%[(s]|\*{3,}|\.\.\.|(?i:bearer|basic|token|digest)(?:\s|\Z))"
)
_CLOSE = rb"(?:\\{0,3}[\"']\]?)?"  # the quote after a key: JSON, JSON in JSON, x["key"]
_SEPARATOR = rb"[ \t]{0,8}(?::[ \t]{0,4}[A-Za-z_][A-Za-z0-9_.|\[\] ]{0,40} =|=>|:=|!=|={1,3}|:)[ \t]{0,8}"
_SCHEME = rb"(?:(?i:bearer|basic|token|digest)[ \t]{1,4})?"
_SUFFIX = rb"(?:[_-][A-Za-z0-9_-]{1,32}|[A-Z][A-Za-z0-9]{0,24}|[0-9]{1,3})?"
_NOT_A_VALUE = (
    rb"(?![_-]?(?i:name|count|type|ur[il]|limit|endpoint|file|path|len|size|ids?[^A-Za-z]|budget|usage|expir|ttl|ref"
    rb"|version|index|info|manager|store|ring|class|scope|prefix|min|max|polic|rotat|field|label|stdin))"
)
_KEY_OF = (
    *("api", "access", "private", "signing", "encryption"),
    *("account", "auth", "master", "session", "deploy"),
)
_UPPER_KEY_OF = tuple(word.upper() for word in _KEY_OF)


def _key_after(words: tuple[str, ...], key: str, joints: tuple[str, ...]) -> bytes:
    """`key`, but only where it says whose: most keys are those of dictionaries."""
    behind = "|".join(f"(?<={word}{joint})" for word in words for joint in joints)
    return f"(?:{behind}){key}".encode()


_SECRET_KEY = rb"(?:secret|token|credential|" + _key_after(_KEY_OF, "key", ("", "_", "-")) + rb")"
_UPPER_KEY = rb"(?:SECRET|TOKEN|CREDENTIAL|" + _key_after(_UPPER_KEY_OF, "KEY", ("", "_")) + rb")"
_PASSWORD_KEY = rb"(?:passw(?:or)?d|passphrase)"
_BARE_BYTE = rb"[^\s\"'`<>(){}\[\],;|&\\\x00-\x1f]"
_HAS_DIGIT = rb"(?=[^\s\"'`<>(){}\[\],;|&\\]{0,256}[0-9])"
_HAS_DIGIT_OR_SIGN = rb"(?=[^\s\"'`<>(){}\[\],;|&\\]{0,256}[0-9!@#$%^*+~?])"
_NO_CALL = rb"(?![\[({])"
_NOT_A_PLACE = rb"(?!https?://|[.~]{0,2}/)"


def _assigned(key: bytes, upper: bytes, *, quoted: bytes, bare: bytes, any_bare: bytes) -> bytes:
    """`key = value` in JSON, YAML, TOML, .env, shells and code; the value in groups 1 to 5."""
    head = rb"(?i:" + key + rb")" + _NOT_A_VALUE + _SUFFIX + _CLOSE + _SEPARATOR
    return (
        rb"(?:"
        + upper
        + _NOT_A_VALUE
        + _SUFFIX
        + rb"="
        + _REAL
        + rb"("
        + any_bare
        + rb")"
        + _NO_CALL
        + rb"|"
        + head
        + _SCHEME
        + rb"(?:"
        + rb"\""
        + _SCHEME
        + _REAL
        + rb"((?:\\[^\r\n]|"
        + quoted
        + rb")"
        + rb"{4,256})"
        + rb"|'"
        + _SCHEME
        + _REAL
        + rb"((?:\\[^\r\n]|"
        + quoted.replace(rb"\"", rb"'")
        + rb"){4,256})"
        + rb"|\\{1,3}[\"']"
        + _SCHEME
        + _REAL
        + rb"([^\"'\\\r\n]{4,256})"
        + rb"|"
        + _REAL
        + rb"("
        + bare
        + rb")"
        + _NO_CALL
        + rb"))"
    )


_ASSIGNED_RESTS = (_BARE, _IN_QUOTES, _IN_APOSTROPHES, _IN_ESCAPED, _BARE)


def _token(name: str, *anchors: bytes, body: bytes, rest: Rest = _WORD, boundary: bool = False) -> Shape:
    heads = b"|".join(re.escape(anchor) for anchor in anchors)
    pattern = rb"((?:" + heads + rb")" + body + rb")"
    return Shape(name, anchors, pattern, (rest,), issued=True, boundary=boundary)


SHAPES: tuple[Shape, ...] = (
    # What a person marked, in output that arrives in pieces; in texts it is dropped (`security.private`).
    Shape("private", (b"<private>",), rb"((?i:<private>))", (_PRIVATE,), fold=True),
    Shape(
        "private-key",
        (b"-----BEGIN ",),
        # Key material must follow: the bare header also stands in source code that looks for keys.
        rb"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?=(?s:.){0,400}?[A-Za-z0-9+/]{20}))",
        (_KEY_BLOCK,),
    ),
    _token("age-key", b"AGE-SECRET-KEY-1", body=rb"[A-Z0-9]{20,100}"),
    # Cloud and code hosts.
    _token("aws-key-id", b"AKIA", b"ASIA", b"ABIA", b"ACCA", body=rb"[A-Z0-9]{16}", boundary=True),
    Shape(
        "aws-secret",
        (b"secret",),
        rb"(?i:secret_?(?:access_?)?key)"
        + _CLOSE
        + _SEPARATOR
        + rb"(?:\\{0,3}[\"'])?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
        (_BASE64,),
        fold=True,
    ),
    _token("github", b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", body=rb"[A-Za-z0-9]{30,255}"),
    _token("github", b"github_pat_", body=rb"[A-Za-z0-9_]{22,255}"),
    _token(
        "gitlab",
        b"glpat-",
        b"gldt-",
        b"glrt-",
        b"glptt-",
        b"glcbt-",
        b"gloas-",
        b"glsoat-",
        body=rb"[A-Za-z0-9_-]{20,255}",
        rest=_DOTTED,
    ),
    _token("google", b"AIza", body=rb"[A-Za-z0-9_-]{35}", boundary=True),
    _token("google", b"ya29.", body=rb"[A-Za-z0-9_-]{20,256}", rest=_DOTTED),
    _token("google", b"GOCSPX-", body=rb"[A-Za-z0-9_-]{24,64}"),
    _token("digitalocean", b"dop_v1_", b"doo_v1_", b"dor_v1_", body=rb"[a-f0-9]{32,128}"),
    _token("alibaba", b"LTAI", body=rb"[A-Za-z0-9]{17,21}", boundary=True),
    _token("databricks", b"dapi", body=rb"[a-f0-9]{32}", boundary=True),
    _token("docker", b"dckr_pat_", b"dckr_oat_", body=rb"[A-Za-z0-9_-]{20,100}"),
    _token("vault", b"hvs.", b"hvb.", b"hvr.", body=rb"[A-Za-z0-9_-]{24,512}", boundary=True),
    _token("pulumi", b"pul-", body=rb"[a-f0-9]{40}", boundary=True),
    _token("heroku", b"HRKU-", body=rb"[A-Za-z0-9_-]{30,100}"),
    # Models.
    _token("anthropic", b"sk-ant-", body=rb"[A-Za-z0-9_-]{20,255}"),
    _token(
        "openai",
        b"sk-",
        body=rb"(?=[A-Za-z0-9_-]{0,200}[0-9])(?=[A-Za-z0-9_-]{0,100}[A-Za-z0-9]{16})"
        rb"[A-Za-z0-9_-]{20,255}",
        boundary=True,
    ),
    _token("huggingface", b"hf_", b"api_org_", body=rb"[A-Za-z0-9]{30,100}", boundary=True),
    _token("groq", b"gsk_", body=rb"[A-Za-z0-9]{40,100}", boundary=True),
    _token("xai", b"xai-", body=rb"[A-Za-z0-9]{60,120}", boundary=True),
    _token("replicate", b"r8_", body=rb"[A-Za-z0-9]{36,60}", boundary=True),
    _token("perplexity", b"pplx-", body=rb"[A-Za-z0-9]{40,80}", boundary=True),
    # Packages.
    _token("npm", b"npm_", body=rb"[A-Za-z0-9]{36}"),
    _token("pypi", b"pypi-", body=rb"[A-Za-z0-9_-]{50,256}"),
    _token("rubygems", b"rubygems_", body=rb"[a-f0-9]{40,64}"),
    # Chat, mail, payment.
    _token(
        "slack",
        b"xoxa-",
        b"xoxb-",
        b"xoxe-",
        b"xoxp-",
        b"xoxr-",
        b"xoxs-",
        b"xoxe.",
        b"xapp-",
        body=rb"(?=[A-Za-z0-9-]{10})[A-Za-z0-9.-]{10,255}",
    ),
    Shape(
        "slack",
        (b"hooks.slack.com/",),
        rb"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,200})",
        (_BASE64,),
    ),
    Shape("discord", (b"/api/webhooks/",), rb"/api/webhooks/[0-9]{10,24}/([A-Za-z0-9_-]{40,120})", (_WORD,)),
    Shape("telegram", (b":AA",), rb"(?<=[0-9]{8}):(AA[A-Za-z0-9_-]{32,40})", (_WORD,), issued=True),
    _token("stripe", b"sk_live_", b"sk_test_", b"rk_live_", b"rk_test_", body=rb"[A-Za-z0-9]{16,255}"),
    Shape("stripe", (b"whsec_",), rb"(whsec_[A-Za-z0-9+/=]{16,255})", (_BASE64,)),
    _token("sendgrid", b"SG.", body=rb"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}", boundary=True),
    _token("twilio", b"SK", body=rb"[0-9a-f]{32}(?![0-9a-f]{4})", boundary=True),
    _token("mailgun", b"key-", body=rb"[0-9a-f]{32}(?![0-9a-f]{4})", boundary=True),
    _token("shopify", b"shpat_", b"shpca_", b"shppa_", b"shpss_", body=rb"[A-Fa-f0-9]{32}", rest=_HEX),
    _token("square", b"sq0atp-", b"sq0csp-", body=rb"[A-Za-z0-9_-]{20,64}"),
    # Tools teams use.
    _token(
        "atlassian",
        b"ATATT3",
        b"ATCTT3",
        b"ATBB",
        body=rb"[A-Za-z0-9_=-]{24,400}",
        rest=_DOTTED,
        boundary=True,
    ),
    _token("linear", b"lin_api_", b"lin_oauth_", body=rb"[A-Za-z0-9]{32,100}"),
    _token(
        "notion", b"ntn_", b"secret_", body=rb"(?=[A-Za-z0-9]{0,60}[0-9])[A-Za-z0-9]{43,60}", boundary=True
    ),
    _token("figma", b"figd_", body=rb"[A-Za-z0-9_-]{30,100}"),
    _token("grafana", b"glsa_", b"glc_", body=rb"[A-Za-z0-9_+/=]{30,400}", rest=_BASE64, boundary=True),
    _token("sentry", b"sntrys_", b"sntryu_", body=rb"[A-Za-z0-9_+/=]{30,400}", rest=_BASE64),
    _token("newrelic", b"NRAK-", body=rb"[A-Z0-9]{20,60}"),
    _token("postman", b"PMAK-", body=rb"[A-Za-z0-9-]{30,100}"),
    _token(
        "planetscale",
        b"pscale_tkn_",
        b"pscale_pw_",
        b"pscale_oauth_",
        body=rb"[A-Za-z0-9_.-]{30,100}",
        rest=_DOTTED,
    ),
    _token("supabase", b"sbp_", b"sb_secret_", body=rb"[A-Za-z0-9_-]{20,100}", boundary=True),
    _token("circleci", b"CCIPAT_", b"CCIPRJ_", body=rb"[A-Za-z0-9_-]{20,120}"),
    Shape("terraform", (b".atlasv1.",), rb"\.(atlasv1\.[A-Za-z0-9_=-]{50,120})", (_WORD,), issued=True),
    # Shapes any service may use.
    _token("jwt", b"eyJ", body=rb"[A-Za-z0-9_-]{10,1024}\.[A-Za-z0-9_-]{6,64}", rest=_DOTTED, boundary=True),
    Shape(
        "authorization",
        (b"authorization",),
        rb"(?i:authorization)" + _CLOSE + rb"[ \t]{0,8}[:=][ \t]{0,8}(?:\\{0,3}[\"'])?"
        rb"(?:(?i:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256)[ \t]{1,4})?"
        + _REAL
        + rb"([^\s\"'\\,;<>]{6,256})",
        (Rest(rb"[^\s\"'\\,;<>]*", 65536),),
        fold=True,
    ),
    Shape(
        "bearer",
        (b"bearer ",),
        rb"(?i:bearer) {1,4}(?=[A-Za-z0-9._~+/-]{0,200}[0-9])([A-Za-z0-9._~+/=-]{16,256})",
        (_BASE64,),
        fold=True,
    ),
    Shape(
        "url-password",
        (b"://",),
        rb"://(?!\[redacted:)(?:[^\s/:@\"'<>\\]{0,128}:(?!\[redacted:)([^\s/\"'<>\\]{1,256})(?=@)"
        rb"|(?=[A-Za-z0-9_-]{0,250}[0-9])([A-Za-z0-9_-]{20,255})(?=@))",
        (_USERINFO, _USERINFO),
    ),
    Shape(
        "netrc",
        (b"login ",),
        rb"login [ \t]{0,8}\S{1,128}\s{1,8}password[ \t]{1,8}" + _REAL + rb"(\S{1,256})",
        (Rest(rb"\S*", 4096),),
    ),
    Shape(
        "basic-auth",
        (b" -u", b" --user"),
        # Numbers are the user and group of a container.
        rb" (?:-u|--user)[ =]{0,4}+[\"']?+(?![0-9]{1,10}:[0-9]{1,10}(?:[\s\"']|\Z))[^\s:\"'-][^\s:\"']{0,64}:"
        + _REAL
        + rb"([^\s\"']{3,256})",
        (Rest(rb"[^\s\"']*", 4096),),
    ),
    Shape(
        "password",
        (b"passw", b"passphrase"),
        _assigned(
            _PASSWORD_KEY,
            rb"(?:PASSW(?:OR)?D|PASSPHRASE)",
            quoted=rb"[^\"\\\r\n]",
            bare=_HAS_DIGIT_OR_SIGN + _BARE_BYTE + rb"{4,256}+",
            any_bare=_BARE_BYTE + rb"{4,256}+",
        ),
        _ASSIGNED_RESTS,
        fold=True,
    ),
    Shape(
        "password",
        (b"pwd",),
        rb"(?i:pwd)[\"']?[ \t]{0,2}[:=][ \t]{0,2}[\"']?(?![/~.]|[A-Za-z]:|"
        + _REAL[3:]
        + _HAS_DIGIT_OR_SIGN
        + rb"("
        + _BARE_BYTE
        + rb"{4,256})"
        + _NO_CALL,
        (_BARE,),
        fold=True,
    ),
    Shape(
        "password",
        (b"passw", b"passphrase", b"token", b"secret", b"key"),
        rb"(?:(?<=-)(?i:password|passwd|passphrase|token|secret)|(?<=-api-)key|(?<=-api)key)"
        rb" {1,4}[\"']?(?!-)" + _REAL + _HAS_DIGIT_OR_SIGN + rb"([^\s\"'`|;&<>()]{4,256})",
        (Rest(rb"[^\s\"'`|;&<>()]*", 65536),),
        fold=True,
    ),
    Shape(
        "secret",
        (b"secret", b"token", b"credential", b"key"),
        _assigned(
            _SECRET_KEY,
            _UPPER_KEY,
            quoted=rb"[^\"\\\s]",
            bare=_NOT_A_PLACE + _HAS_DIGIT + _BARE_BYTE + rb"{8,256}+",
            any_bare=_NOT_A_PLACE + _BARE_BYTE + rb"{6,256}+",
        ),
        _ASSIGNED_RESTS,
        fold=True,
    ),
)
