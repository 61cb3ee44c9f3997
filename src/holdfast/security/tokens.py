"""Tokens that their makers gave a prefix: found wherever they stand as a word."""

import re

from holdfast.security.shapes import BASE64_REST, DOTTED, HEX, WORD_REST, Rest, Shape

_DIGIT_WITHIN = rb"(?=[A-Za-z0-9_-]{0,200}[0-9])"
_ENDS = rb"(?![A-Za-z0-9_-])"
_UUID = rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def _token(name: str, *anchors: bytes, body: bytes, rest: Rest = WORD_REST, boundary: bool = False) -> Shape:
    heads = b"|".join(re.escape(anchor) for anchor in anchors)
    pattern = rb"((?:" + heads + rb")" + body + rb")"
    return Shape(name, anchors, pattern, (rest,), issued=True, boundary=boundary)


TOKENS: tuple[Shape, ...] = (
    _token("age-key", b"AGE-SECRET-KEY-1", body=rb"[A-Z0-9]{20,100}"),
    # Cloud and code hosts.
    _token("aws-key-id", b"AKIA", b"ASIA", b"ABIA", b"ACCA", body=rb"[A-Z0-9]{16}", boundary=True),
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
        rest=DOTTED,
    ),
    _token("google", b"AIza", body=rb"[A-Za-z0-9_-]{35}", boundary=True),
    _token("google", b"ya29.", body=rb"[A-Za-z0-9_-]{20,256}", rest=DOTTED),
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
        (BASE64_REST,),
    ),
    Shape(
        "discord", (b"/api/webhooks/",), rb"/api/webhooks/[0-9]{10,24}/([A-Za-z0-9_-]{40,120})", (WORD_REST,)
    ),
    Shape("telegram", (b":AA",), rb"(?<=[0-9]{8}):(AA[A-Za-z0-9_-]{32,40})", (WORD_REST,), issued=True),
    _token("stripe", b"sk_live_", b"sk_test_", b"rk_live_", b"rk_test_", body=rb"[A-Za-z0-9]{16,255}"),
    Shape("stripe", (b"whsec_",), rb"(whsec_[A-Za-z0-9+/=]{16,255})", (BASE64_REST,)),
    _token("sendgrid", b"SG.", body=rb"[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}", boundary=True),
    _token("twilio", b"SK", body=rb"[0-9a-f]{32}(?![0-9a-f]{4})", boundary=True),
    _token("mailgun", b"key-", body=rb"[0-9a-f]{32}(?![0-9a-f]{4})", boundary=True),
    _token("shopify", b"shpat_", b"shpca_", b"shppa_", b"shpss_", body=rb"[A-Fa-f0-9]{32}", rest=HEX),
    _token("square", b"sq0atp-", b"sq0csp-", body=rb"[A-Za-z0-9_-]{20,64}"),
    # Tools teams use.
    _token(
        "atlassian",
        b"ATATT3",
        b"ATCTT3",
        b"ATBB",
        body=rb"[A-Za-z0-9_=-]{24,400}",
        rest=DOTTED,
        boundary=True,
    ),
    _token("linear", b"lin_api_", b"lin_oauth_", body=rb"[A-Za-z0-9]{32,100}"),
    _token(
        "notion", b"ntn_", b"secret_", body=rb"(?=[A-Za-z0-9]{0,60}[0-9])[A-Za-z0-9]{43,60}", boundary=True
    ),
    _token("figma", b"figd_", body=rb"[A-Za-z0-9_-]{30,100}"),
    _token("grafana", b"glsa_", b"glc_", body=rb"[A-Za-z0-9_+/=]{30,400}", rest=BASE64_REST, boundary=True),
    _token("sentry", b"sntrys_", b"sntryu_", body=rb"[A-Za-z0-9_+/=]{30,400}", rest=BASE64_REST),
    _token("newrelic", b"NRAK-", body=rb"[A-Z0-9]{20,60}"),
    _token("postman", b"PMAK-", body=rb"[A-Za-z0-9-]{30,100}"),
    _token(
        "planetscale",
        b"pscale_tkn_",
        b"pscale_pw_",
        b"pscale_oauth_",
        body=rb"[A-Za-z0-9_.-]{30,100}",
        rest=DOTTED,
    ),
    _token("supabase", b"sbp_", b"sb_secret_", body=rb"[A-Za-z0-9_-]{20,100}", boundary=True),
    _token("circleci", b"CCIPAT_", b"CCIPRJ_", body=rb"[A-Za-z0-9_-]{20,120}"),
    Shape("terraform", (b".atlasv1.",), rb"\.(atlasv1\.[A-Za-z0-9_=-]{50,120})", (WORD_REST,), issued=True),
    # Shapes any service may use.
    _token("jwt", b"eyJ", body=rb"[A-Za-z0-9_-]{10,1024}\.[A-Za-z0-9_-]{6,64}", rest=DOTTED, boundary=True),
)
