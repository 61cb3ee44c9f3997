"""Secrets that have no prefix: shown by the words around them.

Assignments in many languages, headers, options, addresses, and blocks of key material.
"""

from holdfast.security.shapes import (
    BARE,
    BASE64_REST,
    IN_APOSTROPHES,
    IN_ESCAPED,
    IN_ESCAPED_TWICE,
    IN_QUOTES,
    NOTHING_MORE,
    TO_KEY_END,
    TO_PRIVATE_END,
    Rest,
    Shape,
)

# A value that only stands for a secret: our own marker, a variable, a template, an ellipsis.
REAL = (
    rb"(?!\[redacted:|\$[{(]|\$[A-Za-z_]{1,40}(?:[\"'\s;,]|\Z)|\{\{|\{[A-Za-z0-9_.]{0,40}\}"
    rb"|<[A-Za-z0-9_ -]{1,40}>|%[(s]|\*{3,}|\.\.\.|(?i:bearer|basic|token|digest)(?:\s|\Z))"
)
# How agents and `grep -n` number lines, and what may stand between two words of a list of settings.
NUMBERED = rb"(?:[ \t]{0,8}[0-9]{1,6}(?:[:|\t-]|\xe2\x86\x92))"
GAP = rb"(?:[\s>|+#]|\\{1,3}[rn]|" + NUMBERED + rb"){1,16}"
CLOSE = rb"(?:\\{0,15}[\"']\]?)?"  # the quote after a key: JSON, JSON in JSON, x["key"]
_SEPARATOR = rb"[ \t]{0,8}(?::[ \t]{0,4}[A-Za-z_][A-Za-z0-9_.|\[\] ]{0,40} =|=>|:=|!=|={1,3}|:)[ \t]{0,8}"
_SCHEME = rb"(?:(?i:bearer|basic|token|digest)[ \t]{1,4})?"
_SUFFIX = rb"(?:[_-][A-Za-z0-9_-]{1,32}|[A-Z][A-Za-z0-9]{0,24}|[0-9]{1,3})?"
_NOT_A_VALUE = (
    rb"(?![_-]?(?i:name|count|type|ur[il]|limit|endpoint|file|path|len|size|ids?[^A-Za-z]|budget|usage|expir|ttl|ref"
    rb"|version|index|info|manager|store|ring|class|scope|prefix|min|max|polic|rotat|field|label|stdin))"
)
_KEY_OF = (
    *("api", "access", "private", "signing", "encryption"),
    *("account", "auth", "master", "session", "deploy", "app", "client", "hmac", "jwt", "license"),
    *("service", "consumer", "admin", "subscription", "server", "shared", "write", "webhook", "ssh"),
)
_UPPER_KEY_OF = tuple(word.upper() for word in _KEY_OF)


def _key_after(words: tuple[str, ...], key: str, joints: tuple[str, ...]) -> bytes:
    """`key`, but only where it says whose: most keys are those of dictionaries."""
    said = [word + joint for joint in joints for word in words]
    lengths = sorted({len(one) for one in said})
    behind = (f"(?<={'|'.join(one + key for one in said if len(one) == length)})" for length in lengths)
    return f"{key}(?:{'|'.join(behind)})".encode()


_SECRET_KEY = rb"(?:secret|token|credential|" + _key_after(_KEY_OF, "key", ("", "_", "-")) + rb")"
_UPPER_KEY = rb"(?:SECRET|TOKEN|CREDENTIAL|" + _key_after(_UPPER_KEY_OF, "KEY", ("", "_")) + rb")"
_PASSWORD_KEY = rb"(?:passw(?:or)?d|passphrase)"
_BARE_BYTE = rb"[^\s\"'`<>(){}\[\],;|&\\\x00-\x1f]"
HAS_DIGIT = rb"(?=[^\s\"'`<>(){}\[\],;|&\\]{0,256}[0-9])"
HAS_DIGIT_OR_SIGN = rb"(?=[^\s\"'`<>(){}\[\],;|&\\]{0,256}[0-9!@#$%^*+~?])"
NO_CALL = rb"(?![\[({])"
_NOT_A_PLACE = rb"(?!https?://|[.~]{0,2}/)"


def _assigned(key: bytes, upper: bytes, *, quoted: bytes, bare: bytes, any_bare: bytes) -> bytes:
    """`key = value` in JSON, YAML, TOML, .env, shells and code; the value in groups 1 to 6."""
    head = rb"(?i:" + key + rb")" + _NOT_A_VALUE + _SUFFIX + CLOSE + _SEPARATOR
    return (
        rb"(?:"
        + upper
        + _NOT_A_VALUE
        + _SUFFIX
        + rb"="
        + REAL
        + rb"("
        + any_bare
        + rb")"
        + NO_CALL
        + rb"|"
        + head
        + _SCHEME
        + rb"(?:"
        + rb"\""
        + _SCHEME
        + REAL
        + rb"((?:\\[^\r\n]|"
        + quoted
        + rb")"
        + rb"{4,256})"
        + rb"|'"
        + _SCHEME
        + REAL
        + rb"((?:\\[^\r\n]|"
        + quoted.replace(rb"\"", rb"'")
        + rb"){4,256})"
        + rb"|\\[\"']"
        + _SCHEME
        + REAL
        + rb"((?:[^\"'\\\r\n]|\\\\\\[\"']){4,256})"
        + rb"|\\{2,15}[\"']"
        + _SCHEME
        + REAL
        + rb"([^\"'\\\r\n]{4,256})"
        + rb"|"
        + REAL
        + rb"("
        + bare
        + rb")"
        + NO_CALL
        + rb"))"
    )


_ASSIGNED_RESTS = (BARE, IN_QUOTES, IN_APOSTROPHES, IN_ESCAPED, IN_ESCAPED_TWICE, BARE)


CONTEXTS: tuple[Shape, ...] = (
    # What a person marked, in output that arrives in pieces; in texts it is dropped (`security.private`).
    Shape("private", (b"<private>",), rb"((?i:<private>))", (TO_PRIVATE_END,), fold=True),
    Shape(
        "private-key",
        (b"-----BEGIN ",),
        # Key material must follow: the bare header also stands in source code that looks for keys.
        rb"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?=(?s:.){0,400}?[A-Za-z0-9+/]{20}))",
        (TO_KEY_END,),
    ),
    Shape(
        "aws-secret",
        (b"secret",),
        rb"(?i:secret_?(?:access_?)?key)"
        + CLOSE
        + _SEPARATOR
        + rb"(?:\\{0,15}[\"'])?((?:[A-Za-z0-9+]|\\?/){40})(?![A-Za-z0-9/+])",
        (BASE64_REST,),
        fold=True,
    ),
    Shape(
        "authorization",
        (b"authorization",),
        rb"(?i:authorization)" + CLOSE + rb"[ \t]{0,8}[:=][ \t]{0,8}(?:\\{0,15}[\"'])?"
        rb"(?:(?i:bearer|basic|token|digest|apikey|negotiate|aws4-hmac-sha256|ssws|hawk|oauth|aws|key|geniekey)"
        rb"[ \t]{1,4})?" + REAL + rb"([^\s\"'\\,;<>]{6,256})",
        (Rest(rb"[^\s\"'\\,;<>]*", 65536),),
        fold=True,
    ),
    Shape(
        "bearer",
        (b"bearer ",),
        rb"(?i:bearer) {1,4}(?=[A-Za-z0-9._~+/-]{0,200}[0-9])([A-Za-z0-9._~+/=-]{16,256})",
        (BASE64_REST,),
        fold=True,
    ),
    Shape(
        "url-password",
        (b"://",),
        rb"://(?!\[redacted:)(?:[^\s/:@\"'<>\\]{0,128}:(?!\[redacted:)([^\s/\"'<>\\]{1,256})(?=@)"
        rb"|(?=[A-Za-z0-9_-]{0,250}[0-9])([A-Za-z0-9_-]{20,255})(?=@))",
        (NOTHING_MORE, NOTHING_MORE),
    ),
    Shape(
        "netrc",
        (b"login ",),
        rb"login [ \t]{0,8}[^\s\\]{1,128}"
        + GAP
        + rb"(?:account[ \t]{1,8}[^\s\\]{1,128}"
        + GAP
        + rb")?password[ \t]{1,8}"
        + REAL
        + rb"([^\s\\\"']{1,256})",
        (Rest(rb"[^\s\\\"']*", 4096),),
    ),
    Shape(
        "basic-auth",
        (b" -u", b" --user"),
        # Numbers are the user and group of a container.
        rb" (?:-u|--user)[ =]{0,4}+[\"']?+(?![0-9]{1,10}:[0-9]{1,10}(?:[\s\"']|\Z))[^\s:\"'-][^\s:\"']{0,64}:"
        + REAL
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
            bare=HAS_DIGIT_OR_SIGN + _BARE_BYTE + rb"{4,256}+",
            any_bare=_BARE_BYTE + rb"{4,256}+",
        ),
        _ASSIGNED_RESTS,
        fold=True,
    ),
    Shape(
        "password",
        (b"pwd",),
        rb"(?i:pwd)[\"']?[ \t]{0,2}[:=][ \t]{0,2}[\"']?(?![/~.]|[A-Za-z]:|"
        + REAL[3:]
        + HAS_DIGIT_OR_SIGN
        + rb"("
        + _BARE_BYTE
        + rb"{4,256})"
        + NO_CALL,
        (BARE,),
        fold=True,
    ),
    Shape(
        "password",
        (b"passw", b"passphrase", b"token", b"secret", b"key"),
        rb"(?:(?<=-)(?i:password|passwd|passphrase|token|secret)|(?<=-api-)key|(?<=-api)key)"
        rb" {1,4}[\"']?(?!-)" + REAL + HAS_DIGIT_OR_SIGN + rb"([^\s\"'`|;&<>()]{4,256})",
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
            bare=_NOT_A_PLACE + HAS_DIGIT + _BARE_BYTE + rb"{8,256}+",
            any_bare=_NOT_A_PLACE + _BARE_BYTE + rb"{6,256}+",
        ),
        _ASSIGNED_RESTS,
        fold=True,
    ),
)
