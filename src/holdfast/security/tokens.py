"""Tokens that their makers gave a prefix: found wherever they stand as a word."""

import re

from holdfast.security.shapes import BASE64_REST, DOTTED, HEX, WORD_REST, Rest, Shape

_DIGIT_WITHIN = rb"(?=[A-Za-z0-9_-]{0,200}[0-9])"
_UUID = rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def _token(name: str, *anchors: bytes, body: bytes, rest: Rest = WORD_REST, boundary: bool = False) -> Shape:
    heads = b"|".join(re.escape(anchor) for anchor in anchors)
    pattern = rb"((?:" + heads + rb")" + body + rb")"
    return Shape(name, anchors, pattern, (rest,), issued=True, boundary=boundary)


TOKENS: tuple[Shape, ...] = (
    _token("age-key", b"AGE-SECRET-KEY-1", body=rb"[A-Z0-9]{20,100}"),
    # Cloud and code hosts.
    _token("aws-key-id", b"AKIA", b"ASIA", b"ABIA", b"ACCA", body=rb"[A-Z0-9]{16}", boundary=True),
    _token(
        "github", b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", body=rb"[A-Za-z0-9]{30,255}", boundary=True
    ),
    _token("github", b"github_pat_", body=rb"[A-Za-z0-9_]{22,255}"),
    _token(
        "gitlab",
        b"glpat-",
        b"gldt-",
        b"glrt-",
        b"glptt-",
        b"glcbt-",
        b"gloas-",
        b"glagent-",
        b"glimt-",
        b"glffct-",
        b"glft-",
        b"glwt-",
        b"GR1348941",
        b"glsoat-",
        body=rb"[A-Za-z0-9_-]{20,255}",
        rest=DOTTED,
    ),
    _token(
        "aws-session",
        b"IQoJb3JpZ2lu",
        b"FwoGZXIvYXdz",
        body=rb"[A-Za-z0-9+/=]{40,400}",
        rest=BASE64_REST,
        boundary=True,
    ),
    _token(
        "aws-bedrock",
        b"ABSKQmVkcm9ja0FQSUtleS",
        b"bedrock-api-key-",
        body=rb"[A-Za-z0-9+/=]{40,400}",
        rest=BASE64_REST,
    ),
    _token("amazon-mws", b"amzn.mws.", body=_UUID),
    _token("google", b"1//0", body=rb"[A-Za-z0-9_-]{35,120}", boundary=True),
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
        # After a letter and a hyphen it stands within a blob in base64 for addresses.
        body=rb"(?<![A-Za-z0-9]-sk-)(?=[A-Za-z0-9_-]{0,200}[0-9])(?=[A-Za-z0-9_-]{0,100}[A-Za-z0-9]{16})"
        rb"[A-Za-z0-9_-]{20,255}",
        boundary=True,
    ),
    _token("huggingface", b"hf_", b"api_org_", body=rb"[A-Za-z0-9]{30,100}", boundary=True),
    _token("groq", b"gsk_", body=rb"[A-Za-z0-9]{40,100}", boundary=True),
    _token("xai", b"xai-", body=rb"[A-Za-z0-9]{60,120}", boundary=True),
    _token("replicate", b"r8_", body=rb"[A-Za-z0-9]{36,60}", boundary=True),
    _token("perplexity", b"pplx-", body=rb"[A-Za-z0-9]{40,80}", boundary=True),
    # Packages.
    _token("npm", b"npm_", body=rb"[A-Za-z0-9]{36}", boundary=True),
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
        b"xoxc-",
        b"xapp-",
        body=rb"(?=[A-Za-z0-9-]{15})[A-Za-z0-9.-]{15,255}",
    ),
    _token("slack", b"xoxd-", body=rb"[A-Za-z0-9%/+=-]{20,255}", rest=Rest(rb"[A-Za-z0-9%/+=-]*", 4096)),
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
    _token(
        "stripe", b"sk_live_", b"sk_test_", b"sk_org_", b"rk_live_", b"rk_test_", body=rb"[A-Za-z0-9]{16,255}"
    ),
    Shape("stripe", (b"whsec_",), rb"(whsec_[A-Za-z0-9+/=]{16,255})", (BASE64_REST,)),
    _token("sendgrid", b"SG.", body=rb"[A-Za-z0-9_-]{20,64}\.[A-Za-z0-9_-]{16,64}", boundary=True),
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
    _token("linear", b"lin_api_", b"lin_oauth_", b"lin_wh_", body=rb"[A-Za-z0-9]{32,100}"),
    _token(
        "notion", b"ntn_", b"secret_", body=rb"(?=[A-Za-z0-9]{0,60}[0-9])[A-Za-z0-9]{43,60}", boundary=True
    ),
    _token("figma", b"figd_", body=rb"[A-Za-z0-9_-]{30,100}"),
    _token("grafana", b"glsa_", b"glc_", body=rb"[A-Za-z0-9_+/=]{30,400}", rest=BASE64_REST, boundary=True),
    _token("sentry", b"sntrys_", b"sntryu_", body=rb"[A-Za-z0-9_+/=]{30,400}", rest=BASE64_REST),
    _token(
        "newrelic",
        b"NRAK-",
        b"NRJS-",
        b"NRII-",
        b"NRIQ-",
        b"NRRA-",
        b"NRSP-",
        b"NRAA-",
        body=rb"[A-Za-z0-9_-]{18,60}",
    ),
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
    # Shapes that two halves show, or an exact length.
    _token(
        "discord",
        *(first + second for first in (b"M", b"N") for second in (b"D", b"T", b"j", b"z")),
        *(b"OD", b"OT"),
        # The first part is a number of 17 to 19 digits in base64.
        body=rb"[AEIMQUYcgk][A-Za-z0-9]{20,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}",
        rest=DOTTED,
        boundary=True,
    ),
    _token("airtable", b"pat", body=rb"[A-Za-z0-9]{14}\.[a-f0-9]{64}", rest=DOTTED, boundary=True),
    _token(
        "crates",
        b"cio",
        body=rb"(?=[A-Za-z0-9]{0,31}[0-9])(?=[a-z0-9]{0,31}[A-Z])[A-Za-z0-9]{32}",
        boundary=True,
    ),
    _token("square", b"EAAA", body=_DIGIT_WITHIN + rb"[A-Za-z0-9_-]{60}", boundary=True),
    _token("tencent", b"AKID", body=_DIGIT_WITHIN + rb"[A-Za-z0-9]{32}", boundary=True),
    _token("yandex", b"AQVN", body=_DIGIT_WITHIN + rb"[A-Za-z0-9_-]{35,38}", boundary=True),
    _token("nuget", b"oy2", body=_DIGIT_WITHIN + rb"[a-z0-9]{43}", boundary=True),
    _token("jfrog", b"AKCp", body=_DIGIT_WITHIN + rb"[A-Za-z0-9]{60,80}", boundary=True),
    _token("easypost", b"EZAK", b"EZTK", body=_DIGIT_WITHIN + rb"[A-Za-z0-9]{54}", boundary=True),
    # Further hosts and tools.
    _token("cloudflare", b"v1.0-", body=rb"[a-f0-9]{24}-[a-f0-9]{100,160}", boundary=True),
    _token("cloudflare", b"cfk_", b"cfut_", b"cfat_", body=rb"[A-Za-z0-9]{40,60}", boundary=True),
    _token(
        "doppler", b"dp.pt.", b"dp.st.", b"dp.ct.", b"dp.sa.", body=rb"[A-Za-z0-9_.-]{35,80}", rest=DOTTED
    ),
    _token("dropbox", b"sl.", body=rb"(?:[a-z]\.)?[A-Za-z0-9_-]{100,400}", boundary=True),
    _token("dynatrace", b"dt0c01.", b"dt0s01.", body=rb"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    _token("netlify", b"nfp_", body=rb"[A-Za-z0-9]{36,60}", boundary=True),
    _token("vercel", b"vcp_", b"vca_", b"vck_", b"vci_", b"vcr_", body=rb"[A-Za-z0-9]{40,80}", boundary=True),
    _token(
        "fly",
        b"fm1_",
        b"fm1a_",
        b"fm2_",
        b"fo1_",
        body=rb"[A-Za-z0-9+/=_-]{40,600}",
        rest=BASE64_REST,
        boundary=True,
    ),
    _token("render", b"rnd_", body=_DIGIT_WITHIN + rb"[A-Za-z0-9]{28,40}", boundary=True),
    _token("sonarqube", b"squ_", b"sqp_", b"sqa_", body=rb"[a-f0-9]{40}", boundary=True),
    _token("sourcegraph", b"sgp_", body=rb"(?:[a-z0-9]{5,16}_)?[a-f0-9]{40}", boundary=True),
    _token("tailscale", b"tskey-", body=rb"[a-z]{2,12}-[A-Za-z0-9]{8,30}-[A-Za-z0-9]{20,60}"),
    _token(
        "resend", b"re_", body=rb"(?=[A-Za-z0-9_]{0,32}[0-9])[A-Za-z0-9]{8}_[A-Za-z0-9]{24}", boundary=True
    ),
    _token("pinecone", b"pcsk_", body=rb"[A-Za-z0-9_]{40,100}", boundary=True),
    _token("langsmith", b"lsv2_pt_", b"lsv2_sk_", body=rb"[a-f0-9]{32}_[a-f0-9]{10}"),
    _token("nvidia", b"nvapi-", body=rb"[A-Za-z0-9_-]{50,100}"),
    _token("cerebras", b"csk-", body=_DIGIT_WITHIN + rb"[a-z0-9]{48}", boundary=True),
    _token("neon", b"napi_", body=rb"[a-z0-9]{40,80}", boundary=True),
    _token("deno", b"ddp_", b"ddo_", body=rb"[A-Za-z0-9]{36}", boundary=True),
    _token("buildkite", b"bkua_", b"bkaj_", b"bkct_", body=rb"[A-Za-z0-9]{32,64}", boundary=True),
    _token("contentful", b"CFPAT-", body=rb"[A-Za-z0-9_-]{40,60}"),
    _token("typeform", b"tfp_", body=rb"[A-Za-z0-9_.=-]{40,70}", rest=DOTTED, boundary=True),
    _token("prefect", b"pnu_", b"pnb_", body=rb"[A-Za-z0-9]{36}", boundary=True),
    _token("readme", b"rdme_", body=rb"[a-z0-9]{70}"),
    _token("brevo", b"xkeysib-", b"xsmtpsib-", body=rb"[a-f0-9]{64}-[A-Za-z0-9]{16}"),
    _token("hubspot", b"pat-na1-", b"pat-eu1-", b"pat-na2-", body=_UUID),
    _token("plaid", b"access-sandbox-", b"access-production-", b"access-development-", body=_UUID),
    _token("shippo", b"shippo_live_", b"shippo_test_", body=rb"[a-f0-9]{40}"),
    _token("duffel", b"duffel_live_", b"duffel_test_", body=rb"[A-Za-z0-9_-]{43}"),
    _token("flutterwave", b"FLWSECK-", b"FLWSECK_TEST-", body=rb"[A-Za-z0-9-]{20,60}"),
    _token("onepassword", b"ops_eyJ", body=rb"[A-Za-z0-9_=-]{100,600}", rest=BASE64_REST),
    _token("mongodb", b"mdb_sa_sk_", body=rb"[A-Za-z0-9_-]{30,60}"),
    _token("elastic", b"essu_", body=rb"[A-Za-z0-9_=+/-]{40,100}", rest=BASE64_REST, boundary=True),
    _token("adafruit", b"aio_", body=_DIGIT_WITHIN + rb"[A-Za-z0-9]{28}", boundary=True),
    _token("infracost", b"ico-", body=_DIGIT_WITHIN + rb"[A-Za-z0-9]{32}", boundary=True),
    # Shapes any service may use.
    _token("jwt", b"eyJ", body=rb"[A-Za-z0-9_-]{10,1024}\.[A-Za-z0-9_-]{6,64}", rest=DOTTED, boundary=True),
)
