"""What carries secrets about: key blocks, cookies, signed addresses, connection strings, options of commands.

Like `security.contexts`, but each of these has a form of its own.
"""

from holdfast.security.contexts import CLOSE, GAP, HAS_DIGIT, HAS_DIGIT_OR_SIGN, NO_CALL, NUMBERED, REAL
from holdfast.security.shapes import BASE64_REST, HEX, NOTHING_MORE, WORD_REST, Rest, Shape

_TO_BLANK = Rest(rb"[^\s\"'`|;&<>()\\]*", 65536)
_TO_SEMICOLON = Rest(rb"[^\s\"'`;&<>\\]*", 65536)
_TO_LINE_END = Rest(rb"[^\r\n\"'\\]*", 8192)
_OPTION_VALUE = rb"[\"']?(?!-)" + REAL + rb"([^\s\"'`|;&<>()\\]{4,256})"
_BASE64_VALUE = rb"([A-Za-z0-9+/]{8,256}={0,2})"
_BREAK = (
    rb"[ \t]{0,4}(?:[|>][+-]?|\\)?[ \t]{0,4}(?:\r?\n|\\{1,3}n)"
    + NUMBERED
    + rb"?[+>|# \t]{1,24}(?:\\{0,15}[\"'])?"
)
_NOT_A_FIELD = rb"(?!-|[^\s\"']{1,80}:(?:\s|\\|\Z))"
_NEXT_LINE_VALUE = rb"([^\s\"'`<>(){}\[\],;|&\\\x00-\x1f]{6,256})"


def _on_next_line(name: str, anchors: tuple[bytes, ...], key: bytes, has: bytes) -> Shape:
    """A value that begins on the line after its key: YAML blocks, wrapped options, printed JSON."""
    pattern = (
        rb"(?i:"
        + key
        + rb")"
        + CLOSE
        + rb"[ \t]{0,4}[:=]?"
        + _BREAK
        + REAL
        + _NOT_A_FIELD
        + has
        + _NEXT_LINE_VALUE
        + NO_CALL
    )
    return Shape(name, anchors, pattern, (_TO_BLANK,), fold=True)


CARRIERS: tuple[Shape, ...] = (
    # Key material.
    Shape(
        "private-key",
        (b"---- BEGIN SSH2 ",),
        rb"(---- BEGIN SSH2 (?:ENCRYPTED )?PRIVATE KEY ----(?=(?s:.){0,400}?[A-Za-z0-9+/]{20}))",
        (Rest(rb"---- END SSH2 [A-Z ]{2,30}----", 16384, until=True),),
    ),
    Shape(
        "private-key",
        (b"Private-Lines:",),
        rb"Private-Lines: ?[0-9]{1,3}" + GAP + rb"([A-Za-z0-9+/]{20,76})",
        (Rest(rb"Private-MAC|\n\s*\n|\\n\\n", 16384, until=True),),
    ),
    Shape(
        "private-key",
        (b'"d"', b'"d\\'),
        # The private number of a key in JSON.
        rb"\"d\\{0,15}\"[ \t]{0,4}:[ \t]{0,4}\\{0,15}\"([A-Za-z0-9_-]{43,512})(?=\\{0,15}\")",
        (WORD_REST,),
    ),
    # Headers and files of tools.
    Shape(
        "cookie",
        (b"cookie",),
        rb"(?i:cookie)" + CLOSE + rb"[ \t]{0,4}:[ \t]{0,4}(?:\\{0,15}[\"'])?"
        rb"(?=[^\s=;,\"'\\]{1,64}=)(?=[^\r\n\"'\\]{1,300}?=[^\s;\"'\\]{8})([^\r\n\"'\\]{10,512})",
        (_TO_LINE_END,),
        fold=True,
    ),
    Shape(
        "basic-auth",
        (b"basic ",),
        rb"(?<![A-Za-z])(?i:basic) {1,4}(?=[A-Za-z0-9+/]{0,200}(?:[0-9]|=))"
        + _BASE64_VALUE
        + rb"(?![A-Za-z0-9_.-])",
        (BASE64_REST,),
        fold=True,
    ),
    Shape(
        "docker-auth",
        (b'"auth"', b'"auth\\', b"_auth", b":_password"),
        rb"(?:\"auth\\{0,15}\"|_auth|:_password)[ \t]{0,4}[:=][ \t]{0,4}(?:\\{0,15}[\"'])?"
        + _BASE64_VALUE
        + rb"(?![A-Za-z0-9_.-])",
        (BASE64_REST,),
    ),
    Shape(
        "pgpass",
        (b":5432:",),
        rb":5432:[^\s:]{1,64}:[^\s:]{1,64}:" + REAL + rb"([^\s:\"']{4,128})(?=[\s\\\"']|\Z)",
        (_TO_BLANK,),
    ),
    # Signed addresses.
    Shape(
        "signed-url",
        (b"sig=", b"signature="),
        rb"(?i:(?<=[?&;])sig|(?<=-)signature|(?<=[?&;])signature)=([A-Za-z0-9%/+_-]{32,256})",
        (Rest(rb"[A-Za-z0-9%/+=_-]*", 8192),),
        fold=True,
    ),
    Shape(
        "azure",
        (b"Q~",),
        rb"(?<=[A-Za-z0-9_~.-]{3}[0-9])(Q~[A-Za-z0-9_~.-]{31,40})",
        (Rest(rb"[A-Za-z0-9_~.-]*", 256),),
    ),
    # Connection strings.
    Shape(
        "password",
        (b"password=", b"passwd=", b"pwd=", b"pass="),
        rb"(?i)(?<=[?&;])(?:password|passwd|pwd|pass)="
        + REAL
        + rb"(?![0-9]{1,3}(?:\s|\Z))([^\s\"'`&;<>\\]{3,256})",
        (_TO_SEMICOLON,),
        fold=True,
    ),
    Shape(
        "password",
        (b"dbname=",),
        rb"dbname=(?:(?! password=)[^\r\n\"]){1,200}+ password=(?:'([^'\r\n]{2,128})'|(?!')"
        + REAL
        + rb"([^\s\"'`&;<>\\]{3,256}))",
        (Rest(rb"[^'\r\n]*", 4096), _TO_BLANK),
    ),
    Shape(
        "password",
        (b"jdbc:oracle:",),
        rb"jdbc:oracle:[a-z]{3,8}:[^\s/:@]{1,64}/([^\s@\"'\\]{1,128})(?=@)",
        (NOTHING_MORE,),
    ),
    # Short names of passwords, where they can be nothing else.
    Shape(
        "password",
        (b"_pass", b"-pass"),
        rb"(?i:[_-]pass)"
        + CLOSE
        + rb"[ \t]{0,4}[:=][ \t]{0,4}(?:\\{0,15}[\"'])?(?![0-9]{1,12}(?:[^!-~]|\Z))"
        + REAL
        + HAS_DIGIT_OR_SIGN
        + rb"([^\s\"'`<>(){}\[\],;|&\\\x00-\x1f]{4,256})"
        + NO_CALL,
        (_TO_SEMICOLON,),
        fold=True,
    ),
    Shape(
        "password",
        (b"_PASS=", b"_PWD="),
        rb"(?:_PASS|(?<!OLD)_PWD)=[\"']?(?![/~.])"
        + REAL
        + rb"([^\s\"'`<>(){}\[\],;|&\\\x00-\x1f]{4,256})"
        + NO_CALL,
        (_TO_SEMICOLON,),
    ),
    # Options of commands.
    Shape("password", (b"sshpass ",), rb"sshpass (?:-[ev] ){0,2}-p ?" + _OPTION_VALUE, (_TO_BLANK,)),
    Shape(
        "password",
        (b"mysql",),
        rb"mysql(?:dump|admin|import)?(?:(?! -p)[^\r\n|;&]){0,160}+ -p" + _OPTION_VALUE,
        (_TO_BLANK,),
    ),
    Shape(
        "password",
        (b"docker login", b"podman login", b"az login", b"helm registry login"),
        rb"(?:docker|podman|az|helm registry) login(?:(?! -p)[^\r\n|;&]){0,160}+ -p " + _OPTION_VALUE,
        (_TO_BLANK,),
    ),
    Shape(
        "password",
        (b"redis-cli ",),
        rb"redis-cli(?:(?! -a)[^\r\n|;&]){0,160}+ -a " + _OPTION_VALUE,
        (_TO_BLANK,),
    ),
    Shape(
        "password",
        (b" pass:",),
        rb"(?<=-pass|assin|ssout) pass:" + REAL + rb"([^\s\"'`]{4,256})",
        (_TO_BLANK,),
    ),
    Shape(
        "password",
        (b"password", b"passwd", b"passphrase"),
        rb"(?<=--)(?i:password|passwd|passphrase)(?: |=)(?:\"([^\"\r\n$<]{4,256})\"|'([^'\r\n$<]{4,256})')",
        (Rest(rb"[^\"\r\n]*", 4096), Rest(rb"[^'\r\n]*", 4096)),
        fold=True,
    ),
    # Values on the next line.
    _on_next_line("password", (b"passw", b"passphrase"), rb"passw(?:or)?d|passphrase", HAS_DIGIT_OR_SIGN),
    _on_next_line(
        "secret",
        (b"secret", b"token", b"key"),
        rb"secret|token|(?:(?<=api)|(?<=api[_-])|(?<=access)|(?<=access[_-])|(?<=private[_-]))key",
        HAS_DIGIT,
    ),
    _on_next_line("authorization", (b"bearer",), rb"bearer", HAS_DIGIT),
    Shape("secret", (b"APP_KEY=",), rb"APP_KEY=[\"']?base64:([A-Za-z0-9+/=]{20,128})", (BASE64_REST,)),
    Shape(
        "secret",
        (b"_KEY=", b"_AUTH="),
        # Anybody's key in a file of settings, where it can be no word: upper, lower and digits mixed.
        rb"_(?:KEY|AUTH)=[\"']?(?=[A-Za-z0-9+/=_-]{0,200}[0-9])(?=[A-Z0-9+/=_-]{0,200}[a-z])"
        rb"(?=[a-z0-9+/=_-]{0,200}[A-Z])([A-Za-z0-9+/=_-]{20,256})(?=[\s\"'\\]|\Z)",
        (BASE64_REST,),
    ),
    Shape("secret", (b"_KEY=",), rb"_KEY=[\"']?([a-f0-9]{32,128})(?=[\s\"'\\]|\Z)", (HEX,)),
)
