"""Things of which only one value holds at a time: systems, data, security, operations."""
# ruff: noqa: E501

TABLE = """\
login | needed = need an account, needs an account, must sign in, must log in, login required, requires login, only authenticated users, registered users only, signed-in users only, after signing in, behind a login, logged-in users only, account required | not needed = guests can, guest checkout, anonymous users can, anonymous access, without an account, without signing in, without logging in, no login, no account needed, unauthenticated access, open to anyone, publicly accessible
login method | password = password login, email and password, username and password, sign in with a password, password form | magic link = magic link, passwordless, emailed login link, one-time login link, sign-in link by email | single sign-on = single sign-on, sso only, saml login, oidc login, log in through okta, corporate identity provider | passkey = passkeys, webauthn login, fido2 login | social = sign in with google, social login, github login, login with facebook
second factor | required = mfa required, 2fa required, mfa is mandatory, two-factor is enforced, must enrol in mfa, everyone must use 2fa, enforce two-factor, second factor required | optional = mfa is optional, 2fa is optional, optional two-factor, may turn on 2fa, opt into mfa, users can enable 2fa | absent = no mfa, no 2fa, mfa is not supported, password alone suffices, no second factor, single factor
second factor kind | totp = authenticator app, totp codes, google authenticator, time-based codes | sms = sms code, text message code, codes by sms, texted code | hardware key = hardware key, yubikey, security key, u2f key | push = push approval, duo push, push notification approval
session store | server side = server-side sessions, sessions in redis, session table, sessions in the database, session store, stateful sessions | token = stateless jwt, jwt sessions, self-contained tokens, stateless tokens, session in a signed cookie, no server-side session
browser token storage | cookie = httponly cookie, http-only cookie, token in a cookie, cookie-based auth, session cookie | local storage = localstorage, local storage, token in localstorage | session storage = sessionstorage | memory = token kept in memory, in-memory token, never stored in the browser
token kind | jwt = jwt, json web token, signed token, self-contained token | opaque = opaque token, random token, reference token, token introspection | paseto = paseto
token signing | symmetric = hs256, shared secret signing, hmac-signed tokens, symmetric signing key | asymmetric = rs256, es256, eddsa tokens, public key verification, jwks, asymmetric signing
api authentication | api key = api key, x-api-key, static api token, api keys in a header | oauth = oauth2, oauth, client credentials grant, bearer access token from oauth | basic = http basic, basic auth, credentials in the header | mutual tls = mtls, mutual tls, client certificates | none = no api authentication, unauthenticated api, open api without keys
oauth flow | authorization code = authorization code flow, pkce, auth code flow, code grant | implicit = implicit flow, implicit grant | device code = device flow, device code | password grant = resource owner password, password grant, ropc
refresh tokens | rotate = rotating refresh tokens, refresh token rotation, single-use refresh tokens, new refresh token each time | reused = long-lived refresh token, refresh tokens are reused, reusable refresh token, refresh token does not change | none = no refresh tokens, log in again on expiry, without refresh tokens
session lifetime | sliding = sliding expiry, sliding session, extended on activity, renewed on each request, idle timeout | absolute = absolute expiry, fixed lifetime, expires regardless of activity, hard session limit | never = sessions never expire, stay logged in forever, no session expiry
concurrent sessions | one = one session per user, single active session, new login ends the old, one device at a time, kicks out other devices | many = multiple devices at once, several sessions per user, concurrent logins allowed, signed in on all devices, unlimited sessions
password hashing | bcrypt = bcrypt | argon2 = argon2, argon2id | scrypt = scrypt | pbkdf2 = pbkdf2 | sha = sha-256 passwords, sha256 hashed passwords, md5 passwords, unsalted hash | plain = plaintext passwords, passwords stored in clear
password expiry | periodic = passwords expire, rotate passwords every, forced password change, password rotation policy, change password every 90 days | never = passwords never expire, no forced rotation, no password expiry, changed only on compromise
password reset | emailed link = reset link by email, emailed reset link, self-service reset, forgot password link | by support = support resets passwords, admin resets the password, contact support to reset, helpdesk reset
account lockout | locks = lock the account, locked out after, account lockout, locked after failed attempts, lock after five failures | no lock = never lock accounts, no lockout, throttle instead of locking, accounts are not locked, slow down failed logins
sign up | open = open registration, anyone can sign up, self-service signup, public signup, anyone can register | invite = invite only, invitation only, by invitation, must be invited, needs an invite, waitlist | admin creates = admins create accounts, provisioned by an admin, scim provisioned, no self-registration, accounts created by staff
email verification | before use = must verify email first, unverified users cannot, email confirmation required, confirm the address before, verified email required | not needed = no email verification, email is not verified, unverified users can, use it without confirming, verification is optional
authorisation model | rbac = rbac, role-based, roles decide, role-based access control, permissions by role | abac = abac, attribute-based, policy attributes, attribute-based access control | acl = access control list, per-object acl, per-resource permissions | rebac = rebac, relationship-based, zanzibar, openfga, spicedb | flat = everyone has full access, no roles, all users equal, every user is an admin
authorisation default | deny = deny by default, default deny, denied unless granted, allowlist only, closed by default, whitelisted only | allow = allow by default, default allow, allowed unless denied, open by default, blocklist only, permitted unless forbidden
authorisation place | gateway = checked at the gateway, gateway enforces permissions, auth at the edge, authorised by the proxy | service = each service checks, services enforce permissions, checked in the handler, authorisation in the service layer | database = row-level security, rls policies, enforced in the database
row level security | in use = row-level security enabled, rls is on, enforced by rls, postgres rls policies, force row level security | not in use = no row-level security, rls is off, rls disabled, filtered in application code, tenant filter in queries
admin access | named people = only admins, admin only, restricted to admins, administrators only, admin role required, staff only | everyone = every user can, all users can, any user may, anyone on the team can, no admin role needed, open to all members
admin impersonation | allowed = support can impersonate, log in as a user, impersonation is allowed, act on behalf of users, sudo as customer | forbidden = no impersonation, impersonation is forbidden, never log in as, cannot act as a user, impersonation removed
production access | open = developers have production access, engineers can ssh into production, direct production access, anyone can query production, everyone has prod access | on request = break-glass, just-in-time access, temporary production access, access on request, time-boxed access | none = nobody has production access, no direct production access, no human access to production, no ssh to production, engineers cannot access production
production database access | read only = read-only replica access, read-only production access, select only in production, read-only credentials | read write = write access to production, can write to production, full production credentials | none = no production database access, nobody queries production, production data is off limits
identity provider | okta = okta | auth0 = auth0 | keycloak = keycloak | cognito = cognito | entra = azure ad, entra id, microsoft entra | google = google workspace sso, google identity
identity provider choice | okta = okta | auth0 = auth0 | firebase = firebase auth | own = home-grown auth, our own auth service, own identity service, custom login service | clerk = clerk auth, clerk.dev | supabase = supabase auth
secrets place | vault = hashicorp vault, secrets in vault, vault agent | cloud manager = aws secrets manager, secret manager, key vault, parameter store, ssm parameters | env file = dotenv file, .env file, secrets in .env, env file on the server | repository = secrets in the repo, committed secrets, credentials in git, checked-in secrets | encrypted in git = sops, sealed secrets, git-crypt, encrypted in the repository, ansible vault | kubernetes = kubernetes secrets, k8s secret
secrets place choice | vault = hashicorp vault, secrets in vault, vault agent | cloud manager = aws secrets manager, secret manager, key vault, parameter store, ssm parameters | password manager = 1password, bitwarden
secrets in repository | never = never commit secrets, no secrets in git, secrets stay out of git, no credentials in the repo, secrets are not committed | plain = secrets are committed, credentials checked in, .env is committed, keys in the repository | encrypted = encrypted secrets committed, sops-encrypted, sealed secrets in git
secret rotation | automatic = rotated automatically, automatic rotation, auto-rotated, rotation lambda, dynamic secrets, short-lived credentials | manual = rotated by hand, manual rotation, rotate manually, rotated on demand | never = never rotated, static credentials, long-lived credentials, no rotation
ci cloud credentials | oidc = oidc federation, workload identity federation, short-lived ci tokens, assume role with oidc, keyless auth from ci | static keys = long-lived access keys, static aws keys, service account json key, access key in ci secrets
env file in git | committed = .env is committed, commit the .env, .env in version control, .env checked in | ignored = .env is gitignored, .env is ignored, never commit .env, .env stays local, only .env.example
encryption at rest | encrypted = encrypted at rest, disk encryption, volumes are encrypted, aes-256 at rest, sse-kms, transparent data encryption, encrypted volumes | plain = not encrypted at rest, unencrypted disks, stored in the clear, plaintext on disk, no encryption at rest
encryption in transit | tls = https only, tls everywhere, tls required, encrypted in transit, always over https, hsts, redirects to https | plain = plain http, http is fine, unencrypted connection, without tls, no tls, cleartext traffic, sslmode disable
internal traffic | mutual tls = mtls between services, mutual tls inside, service mesh encryption, encrypted inside the cluster | plain = plain http inside the cluster, plaintext between services, no tls internally, trusted internal network, tls terminates at the ingress
tls termination | load balancer = terminates at the load balancer, tls ends at the alb, terminated at the ingress, ssl offloading, nginx terminates tls | application = app terminates tls, tls passthrough, end-to-end tls, terminated in the service | cdn = cloudflare terminates tls, tls ends at the cdn
tls certificates | automatic = let's encrypt, cert-manager, certbot, acme, renewed automatically, acm certificates | bought = purchased certificate, commercial certificate, renewed by hand, digicert, manually renewed certificate | self-signed = self-signed, own ca, private ca, internal ca
certificate checks | verified = certificates are verified, verify tls certificates, strict certificate validation, certificate pinning, sslmode verify-full | skipped = verify false, insecure skip verify, certificate checks disabled, ignore certificate errors, accept self-signed, --insecure
minimum tls | 1.3 = tls 1.3 only, tls 1.3 minimum, requires tls 1.3 | 1.2 = tls 1.2 and up, tls 1.2 minimum, at least tls 1.2 | older = tls 1.0 accepted, tls 1.1 accepted, legacy tls allowed
key management | customer managed = customer-managed keys, cmk, bring your own key, byok, own kms key | provider managed = provider-managed keys, aws-managed key, default encryption key, sse-s3
field encryption | application = encrypted in the application, field-level encryption, column encryption, envelope encryption of fields | none = columns stored in plain, no field-level encryption, only disk encryption
end-to-end encryption | yes = end-to-end encrypted, e2ee, server cannot read, zero-knowledge, only clients hold the key | no = server can read, not end-to-end, server decrypts, decrypted on the server
personal data in logs | never = no pii in logs, redact personal data, mask emails in logs, pii is scrubbed, never log personal data, logs are redacted | allowed = log the email, emails appear in logs, pii in logs is fine, log full request bodies, user data is logged
network exposure | public = exposed to the internet, public endpoint, publicly reachable, internet-facing, public ip, reachable from anywhere, public load balancer | private = internal only, private network, vpn only, behind the vpn, not exposed, private subnet, vpc only, no public ip, intranet only, behind tailscale
database exposure | private = database not reachable from outside, database in a private subnet, database reachable by app only, no public database access | public = database is publicly accessible, public database endpoint, database open to the internet, port 5432 is open
remote access | vpn = over the vpn, wireguard, openvpn, tailscale, vpn required | bastion = bastion host, jump host, jump box, ssh through a bastion | session manager = session manager, ssm session, no ssh ports | direct ssh = ssh directly, direct ssh, port 22 open | zero trust = zero trust, beyondcorp, identity-aware proxy, cloudflare access
bind address | loopback = binds to localhost, listens on 127.0.0.1, loopback only, localhost only | all = binds to 0.0.0.0, listens on all interfaces, 0.0.0.0, every interface
ip filtering | allowlist = ip allowlist, ip whitelist, only known ips, restricted to office ips, source ip restricted | open = any ip, from any address, 0.0.0.0/0, no ip restriction, all addresses allowed
cors | any origin = allow any origin, wildcard origin, access-control-allow-origin *, cors open to all, all origins allowed | listed origins = allowlisted origins, only our origins, specific origins, origin allowlist, cors restricted | off = same origin only, no cors, cors disabled, cors not enabled
csrf protection | token = csrf token, anti-forgery token, csrf middleware, double submit cookie | samesite = samesite cookies, samesite strict, samesite lax | none = no csrf protection, csrf disabled, csrf exempt
cookie samesite | strict = samesite strict | lax = samesite lax | none = samesite none, cross-site cookie
egress | open = unrestricted egress, outbound traffic allowed, can reach the internet, open egress, internet access allowed | closed = no outbound internet, egress blocked, no network access, air-gapped, offline only, egress allowlist, sandboxed without network
ip protocol | ipv4 = ipv4 only, no ipv6, ipv6 disabled | dual = dual stack, ipv4 and ipv6, ipv6 enabled | ipv6 = ipv6 only, no ipv4
http version | http/2 = http/2 | http/1.1 = http/1.1, http 1.1 only | http/3 = http/3, quic
input trust | validated = validate all input, input is validated, never trust the client, server-side validation, reject unknown input | trusted = input is trusted, trust the client, no validation, skips validation, client is trusted
sql building | parameterised = parameterised queries, parameterized queries, prepared statements, bind parameters, placeholders only | concatenated = string concatenation in sql, f-string sql, interpolated sql, concatenated queries
html output | escaped = escaped by default, auto-escaping, sanitised html, output is escaped, dompurify | raw = raw html, unescaped html, dangerouslysetinnerhtml, not sanitised, mark_safe
content security policy | enforced = csp enforced, strict csp, content-security-policy header, no inline scripts, nonce-based csp | report only = report-only csp, csp in report mode | none = no csp, inline scripts allowed, unsafe-inline
file upload scanning | scanned = uploads are scanned, virus scan, clamav, scanned for malware | not scanned = uploads are not scanned, no virus scan, stored without scanning
upload path | direct = presigned url, presigned upload, upload straight to s3, direct-to-bucket upload, signed upload url | through server = uploaded through the api, proxied upload, multipart to the backend, server receives the file
download links | signed = signed url, presigned download, expiring link, time-limited link, temporary link | public = public url, permanent link, public bucket, anyone with the url | proxied = streamed through the app, proxied through the backend, served by the api
bucket access | private = private bucket, bucket is private, block public access, no public bucket | public = public bucket, world-readable bucket, bucket is public, public-read
vulnerability findings | block = critical cves block, vulnerabilities fail the build, blocked on high severity, scan fails the pipeline, audit must pass | warn = vulnerabilities only warn, advisory scan, report-only scan, cves are reported, audit does not fail | ignored = no vulnerability scanning, scan is off, not scanned for cves
audit log | kept = audit log, is audited, audit trail, every change is recorded, who changed what is recorded | none = no audit log, not audited, no audit trail, changes are not recorded
audit log mutability | immutable = append-only audit log, immutable audit log, write-once log, tamper-evident, worm storage | mutable = audit log can be edited, audit entries may be deleted, audit rows are purged
api style | rest = rest api, restful, rest endpoints, json over http, openapi | graphql = graphql, graphql schema, apollo server, graphql resolvers | grpc = grpc, protobuf services, proto services | rpc = json-rpc, trpc, rpc over http, xml-rpc | soap = soap, wsdl
service to service protocol | http = http between services, rest between services, services call over http | grpc = grpc between services, internal grpc | messages = services communicate by events, only through the queue, message bus between services, event-driven communication, no direct calls between services
api version place | path = version in the path, /v1/, /v2/, url versioning, versioned urls, version prefix | header = version header, accept header versioning, api-version header, media type version | query = version query parameter, ?version | none = unversioned api, no api versioning, versionless, single evergreen version
api versioning style | integers = v1 and v2, integer versions, major version in the url | dates = date-based version, dated versions, calendar api versions | semantic = semver api, semantic api version
breaking api changes | forbidden = never break the api, no breaking changes, backwards compatible only, additive changes only, only additive | new version = breaking needs a new version, bump the major for breaking, new version for breaking changes | allowed = breaking changes are fine, may break at any time, no compatibility guarantee, unstable api, break freely
unknown fields in requests | rejected = reject unknown fields, unknown fields are rejected, extra fields forbidden, additionalproperties false, strict parsing, unknown keys are an error | ignored = ignore unknown fields, unknown fields are ignored, extra fields are dropped, tolerant reader, silently ignored keys | kept = unknown fields are preserved, extra fields are kept, passthrough of unknown fields, extra allow
pagination | cursor = cursor pagination, cursor-based, keyset pagination, next_cursor, after token, page token, seek method | offset = offset pagination, limit and offset, limit/offset, offset-based, page number, page and per_page | none = no pagination, not paginated, unpaginated, returns everything, full list in one response, all rows at once
total count in lists | included = total count included, returns the total, total_count, x-total-count, number of pages returned | left out = no total count, total is not returned, without a total, no count query
page numbering | zero = zero-based pages, first page is 0, page 0 | one = one-based pages, first page is 1, pages start at 1
update verb | put = put replaces, full replacement, put the whole resource, full update | patch = patch requests, partial update, json merge patch, merge-patch, only changed fields
patch format | merge patch = json merge patch, merge-patch+json, rfc 7396 | json patch = json patch, rfc 6902, json-patch+json, patch operations
json key case | camel = camelcase keys, camel case json, camelcase fields, camelcase in responses | snake = snake_case keys, snake case json, snake_case fields, snake_case in responses | kebab = kebab-case keys, hyphenated keys | pascal = pascalcase keys
url naming | plural = plural resource names, plural nouns, plural endpoints | singular = singular resource names, singular nouns, singular endpoints
trailing slash | with = trailing slash required, urls end with a slash, always a trailing slash, append_slash | without = no trailing slash, without trailing slash, strip the trailing slash
response envelope | wrapped = wrapped in data, response envelope, data envelope, enveloped responses, under a data key, json:api | bare = bare array, no envelope, unwrapped response, top-level array, resource at the top level
null fields in responses | left out = omit null fields, nulls are omitted, absent instead of null, omitempty, null keys dropped | sent = nulls are included, explicit null, null fields are sent, keys always present
error format | problem json = problem+json, rfc 7807, rfc 9457, problem details | own shape = error code and message, custom error object, errors array, own error envelope | plain text = plain text errors, error string only
errors over http | status codes = proper status codes, 4xx for client errors, errors use http status, returns 404, returns 422 | always 200 = always returns 200, 200 with an error body, errors in a 200 response, http 200 even on failure
validation error status | 400 = 400 for validation, bad request on invalid input, validation errors return 400 | 422 = 422 for validation, unprocessable entity, validation errors return 422
hidden resource status | 404 = 404 for forbidden, hide with 404, not found instead of forbidden, pretend it does not exist | 403 = 403 for forbidden, returns forbidden, 403 when not allowed
deleting missing things | ok = delete is idempotent, deleting twice is fine, 204 even if missing, no error when already gone | error = 404 on deleting missing, deleting a missing row fails, error if already deleted
creation response | body = returns the created object, 201 with the body, created resource in the response | empty = 204 on create, returns only the id, empty body on create, location header only
idempotency | key = idempotency key, idempotency-key header, client request id, deduplicated by key, safe to retry | natural = idempotent by design, upsert makes it idempotent, naturally idempotent | none = not idempotent, repeats create duplicates, no idempotency, retry may duplicate, running twice doubles
rerun of a job | safe = safe to rerun, can be run again, rerunnable, idempotent job, running it twice is harmless, re-run safely | unsafe = must not be rerun, never run twice, run only once, not safe to rerun, one-shot script
bulk endpoint failure | all or nothing = all or nothing, whole batch fails, batch is atomic, one failure rejects all, rolls back the batch | partial = partial success, per-item results, failed items are reported, skip bad items, the rest goes through, 207 multi-status
long running requests | job = returns a job id, 202 accepted, poll for the result, background job, queued and polled | held = waits for the result, synchronous response, blocks until done, request stays open
push to clients | websocket = websocket, websockets, socket.io, wss | sse = server-sent events, sse, eventsource | polling = polling, polls every, short polling, client polls | long polling = long polling, long-poll | push = webhooks push, web push
notify partners | webhooks = webhooks, we call their endpoint, callback url, push to partners | polling = partners poll, they poll our api, pull model for partners | files = sftp drop, nightly file, csv by sftp
webhook authenticity | signed = signed webhooks, hmac signature, signature header, verify the signature | unsigned = unsigned webhooks, signature not checked, no webhook signature | secret url = secret in the url, obscure webhook url
api documentation | generated = generated from code, openapi generated, docs generated from annotations, code-first openapi, swagger from code | hand written = openapi written by hand, spec-first, contract-first, design-first api, hand-written api docs
client sdk | generated = generated client, openapi-generator, generated sdk, codegen client | hand written = hand-written client, handwritten sdk, client maintained by hand
graphql schema | code first = code-first graphql, schema from code, code first schema | schema first = schema-first, sdl first, schema.graphql is the source
graphql queries | persisted = persisted queries only, allowlisted queries, trusted documents | free = arbitrary queries, any query accepted, ad hoc queries
introspection | on = introspection enabled, introspection is on, schema is introspectable | off = introspection disabled, introspection is off, no introspection in production
api gateway | gateway = behind an api gateway, kong, apigee, gateway in front, through the gateway | direct = no api gateway, called directly, services are exposed directly, clients call services directly
service discovery | dns = dns-based discovery, kubernetes dns, service dns names | registry = consul, eureka, service registry, etcd registration | static = hard-coded hosts, static host list, fixed addresses
service mesh | in use = istio, linkerd, service mesh, sidecar proxy, envoy sidecar | not in use = no service mesh, without a mesh, mesh removed, no sidecars
error handling style | exceptions = raise exceptions, throw on error, exceptions for errors, let it raise, errors are raised | result values = result type, returns an error value, either type, error as value, ok or err, neverthrow, returns err | error codes = return codes, error codes, errno style, returns -1
error visibility | swallowed = swallow errors, errors are swallowed, silently ignored, fail silently, except pass, suppress the exception, ignore the failure | surfaced = fail loudly, never swallow, errors are surfaced, raise the error, propagate the error, crash on error, fail fast, re-raise
failure of an invariant | crash = crash the process, panics on violation, abort on violation, fail fast, exit immediately, let it crash | carry on = keep going, log and continue, carry on, degrade gracefully, best effort, continue on error
errors shown to users | generic = generic error message, something went wrong, hide details, no stack traces to users, internal details hidden | detailed = full error shown, stack trace shown, detailed error returned, show the exception, expose the error message
fail mode | open = fail open, fails open, allow when unavailable, let requests through on failure | closed = fail closed, fails closed, deny when unavailable, reject on failure, block when check is down
bad record handling | skip = skip bad rows, skip the record, bad lines are skipped, ignore malformed rows, drop invalid records | stop = stop on the first bad, abort the import, fail the whole import, reject the file, halt on bad data | quarantine = quarantined records, dead-letter bad records, set aside, error table, reject file
missing configuration | fails = refuse to start, fails at startup, missing variable is an error, crash on missing config, required setting | default = falls back to a default, default value is used, sensible default, missing variable is fine, optional setting
startup with dependency down | waits = waits for the database, retries until ready, wait-for-it, blocks until available | fails = exits if database is down, fails to start, crash at startup | starts = starts anyway, lazy connection, connects on first use, starts without the database
retry policy | retried = retries automatically, retried on failure, retried automatically, retry on failure, retry with backoff, automatic retries, tries again | not retried = no retries, never retry, not retried, fails immediately, gives up at once, single attempt, retry disabled
retry spacing | exponential = exponential backoff, backs off exponentially, doubling delay | fixed = fixed delay, constant interval, fixed backoff, same delay each time | immediate = immediate retry, retry at once, no delay between retries, without backoff | linear = linear backoff, linearly growing delay
retry jitter | jittered = with jitter, full jitter, randomised backoff, jittered | plain = no jitter, without jitter, deterministic backoff
retry count | bounded = maximum retries, limited retries, gives up after, retry limit, max attempts, up to three attempts | unbounded = retries forever, retry indefinitely, infinite retries, until it succeeds, never gives up, unlimited retries
retry owner | client = client retries, caller retries, callers are responsible for retrying | server = server retries, queue redelivers, worker retries | mesh = mesh retries, proxy retries, envoy retries
request timeout | set = timeout on every call, must set a timeout, every request has a timeout, deadline propagated, explicit timeout | none = no timeout, without a timeout, waits forever, timeout disabled, infinite timeout
circuit breaker | used = circuit breaker, trips after failures, breaker opens, resilience4j, hystrix | absent = no circuit breaker, without a breaker, breaker removed
degraded mode | serves stale = serve stale, stale-if-error, falls back to cached data, last known good | errors = returns 503, returns an error when down, shows an error page, no fallback
overload | shed = load shedding, rejects when full, returns 429 under load, drops requests, shed load | queue = queues requests, waits in line, requests are buffered, backlog grows | backpressure = backpressure, slows the producer, blocks the producer
cache | cached = cached, is cached, caching enabled, behind a cache, memoised, cache the response, cache hit | not cached = not cached, no caching, cache disabled, no-store, always fetched, uncached, never cache, bypass the cache, cache removed
cache place | redis = redis cache, cached in redis, elasticache, valkey | memcached = memcached | in process = in-process cache, in-memory cache, lru cache, local cache, per-process cache, caffeine cache | cdn = cached at the cdn, edge cache, cloudfront caches, fastly caches | disk = on-disk cache, cached on disk, file cache | database = cache table, cached in postgres
cache write | write through = write-through, written through the cache, update cache on write | write behind = write-behind, write-back, flushed later | cache aside = cache-aside, lazy loading cache, filled on miss, look-aside | write around = write-around, writes skip the cache
cache expiry | time = ttl, expires after, time-based expiry, time to live | event = invalidated on write, event-based invalidation, explicit invalidation, purged on change, invalidated on update | never = never expires, cached forever, no ttl, immutable cache, cache has no expiry | versioned key = versioned keys, cache key includes a hash, cache busting
cache eviction | lru = lru, least recently used, allkeys-lru | lfu = lfu, least frequently used | fifo = fifo eviction, oldest first eviction | none = noeviction, no eviction, unbounded cache
cache warmth | warmed = cache warming, pre-warmed, preloaded at startup, primed cache | cold = cold start cache, filled on demand, lazily filled, no warming
cache scope | per user = per-user cache, private cache, cached per user, cache-control private | shared = shared cache, cached for everyone, cache-control public, global cache
cache negative results | cached = negative caching, misses are cached, 404s are cached | not cached = misses are not cached, no negative caching, 404s are not cached
browser caching | long = immutable assets, max-age one year, far-future expiry, hashed filenames | none = no-cache, no-store, must-revalidate, assets are not cached
cdn provider | cloudflare = cloudflare cdn, cloudflare | cloudfront = cloudfront | fastly = fastly | akamai = akamai | none = no cdn, served from origin, without a cdn | bunny = bunny cdn, bunnycdn
http cache validation | etag = etag, if-none-match | last modified = last-modified, if-modified-since | none = no conditional requests, no validators
consistency | strong = strongly consistent, strong consistency, linearizable, read your writes, immediately consistent, immediately visible | eventual = eventually consistent, eventual consistency, may lag, stale reads possible, visible after a delay, lag behind
reads served from | primary = reads from the primary, reads hit the primary, read from the master, reads go to the writer | replica = reads from a replica, read replica, replica reads, reads go to replicas, follower reads
replication | synchronous = synchronous replication, sync replica, wait for the replica, synchronous_commit on | asynchronous = asynchronous replication, async replica, replica lag, without waiting for the replica | none = no replication, single node, not replicated, one copy only
replication topology | single leader = single leader, one primary, primary-replica, leader-follower, master-slave, single writer | multi leader = multi-master, multi-leader, active-active writes, several primaries | leaderless = leaderless, dynamo-style, quorum writes
failover | automatic = automatic failover, fails over automatically, auto failover, patroni, self-healing failover | manual = manual failover, fail over by hand, promote by hand, operator promotes the replica | none = no failover, single point of failure, no standby
availability setup | active active = active-active, both sites serve traffic, all regions serve | active passive = active-passive, hot standby, warm standby, cold standby, standby takes over
conflict resolution | last write wins = last write wins, lww, latest timestamp wins, later overwrites | merge = crdt, merged automatically, three-way merge, operational transform | reject = conflict error, 409 conflict, reject the later write, must resolve by hand | first wins = first write wins, first one wins
transactions | in a transaction = in one transaction, wrapped in a transaction, transactional, atomic write, commits atomically, all in a transaction | without = no transaction, outside a transaction, autocommit, not transactional, separate writes, without transactions
isolation level | serializable = serializable | repeatable read = repeatable read, snapshot isolation | read committed = read committed | read uncommitted = read uncommitted, dirty reads allowed, nolock
distributed transaction | saga = saga, compensating actions, compensating transactions, choreographed saga | two phase = two-phase commit, 2pc, xa transaction | outbox = transactional outbox, outbox pattern, outbox table | dual write = dual write, write to both directly
transaction per request | yes = transaction per request, atomic_requests, one transaction per request | no = explicit transactions, transactions opened by hand, no request-wide transaction
locking | optimistic = optimistic locking, version column, compare and swap, if-match, lock_version, retry on conflict | pessimistic = pessimistic locking, select for update, row lock, lock the row, exclusive lock | none = no locking, lock-free, without locks, locks removed
distributed lock | redis = redlock, redis lock, setnx lock | database = advisory lock, pg_advisory_lock, lock table in the database | zookeeper = zookeeper lock | etcd = etcd lock, etcd lease | consul = consul lock | none = no distributed lock, single instance so no lock
lock granularity | coarse = global lock, one big lock, table lock, single mutex, coarse-grained lock | fine = per-row lock, per-key lock, fine-grained locking, lock per account, striped lock
lock wait | waits = waits for the lock, blocks on the lock, lock wait timeout | fails = nowait, fails if locked, exits when locked, skip locked, refuse when locked
schema migration direction | reversible = down migration, reversible migrations, migrations can be rolled back, write a down, rollback migration required | forward only = forward-only, roll forward, no down migrations, migrations are irreversible, never roll back a migration, fix forward
schema migration time | at deploy = migrations run on deploy, migrate in the pipeline, migration step before deploy, pre-deploy job, release phase migration | at startup = migrates on startup, runs migrations at boot, auto-migrate at start, app migrates itself | by hand = migrations run by hand, dba applies, run migrations manually, manual migration
schema migration order | before code = migrate before deploying, schema first then code, migrations run before the rollout | after code = migrate after deploying, code first then schema, post-deploy migration
schema migration downtime | online = zero-downtime migration, online migration, expand and contract, no downtime migrations, gh-ost, pt-online-schema-change, create index concurrently | offline = maintenance window, downtime for migrations, take the site down, stop the app to migrate, offline migration
schema migration source | hand written sql = raw sql migrations, hand-written sql, plain sql files, sql migration files | generated = autogenerated migrations, generated by alembic, makemigrations, prisma migrate, generated from models | none = no migrations, schema is recreated, drop and recreate, create_all, synchronize true
migration tool | alembic = alembic | flyway = flyway | liquibase = liquibase | django = django migrations, makemigrations | prisma = prisma migrate | knex = knex migrations
migration tool choice | alembic = alembic | flyway = flyway | goose = goose migrations | rails = activerecord migrations, rails migrations | dbmate = dbmate | atlas = atlas migrate
migration tool product | alembic = alembic | flyway = flyway | golang-migrate = golang-migrate | drizzle = drizzle-kit | sqitch = sqitch
edited migrations | never = never edit a migration, migrations are immutable, applied migrations are frozen, add a new migration instead | allowed = edit existing migrations, squash migrations, rewrite the migration, migrations may be edited
data migration place | with schema = data migration inside the migration, backfill in the migration, data migrated in same step | separate = separate backfill job, backfill script, data migrations are separate, backfilled asynchronously
schema strictness | schemaless = schemaless, free-form json, dynamic fields, no schema, jsonb blob, arbitrary keys | strict = strict schema, fixed columns, schema enforced, typed columns, validated against the schema, closed schema
schema evolution | backward compatible = backward compatible schema, backward compatibility mode, only add optional fields | forward compatible = forward compatibility mode, forward compatible schema | full = full compatibility mode, both directions compatible | none = compatibility none, incompatible schema changes allowed
column nullability | not null = not null, non-nullable, cannot be null, required column, never null, mandatory column | nullable = nullable, may be null, can be null, allows null, optional column, null allowed
missing value representation | null = null for missing, stored as null, null means unknown, use null | empty string = empty string for missing, stored as empty string, blank instead of null | sentinel = sentinel value, -1 means unknown, zero means missing, n/a placeholder
foreign keys | enforced = foreign keys enforced, foreign key constraints, referential integrity in the database, fk constraints | absent = no foreign keys, foreign keys are not enforced, without fk constraints, integrity in the application, foreign_keys off
on parent delete | cascade = on delete cascade, delete cascades, children are deleted too, deleted along with | restrict = on delete restrict, cannot delete while, refuses to delete, blocked while children exist, on_delete protect | set null = on delete set null, children are orphaned, reference is cleared
uniqueness enforcement | database = unique constraint, unique index, enforced by the database | application = checked in code, application checks uniqueness, validated before insert | none = duplicates allowed, not unique, may repeat, no uniqueness
delete style | soft = soft delete, soft-deleted, deleted_at, is_deleted flag, marked as deleted, tombstone, archived instead of deleted, can be restored, trash bin, kept with a flag | hard = hard delete, really deleted, permanently deleted, row is removed, physically deleted, delete from, cannot be restored, gone for good
account deletion | erased = erase the account data, personal data removed, right to be forgotten, data wiped | anonymised = anonymised on deletion, anonymized, pseudonymised, scrubbed but kept | deactivated = deactivated, account disabled but kept, suspended not deleted
deletion delay | immediate = deleted immediately, deleted at once, instant deletion, no grace period | delayed = grace period, deleted after 30 days, scheduled for deletion, purged later, delayed deletion
data retention | forever = kept forever, never deleted, retained indefinitely, no expiry, keep all history, unlimited retention | limited = deleted after, purged after, retention period, retained for, expires after days, ttl on rows, rolling window
history | overwritten = overwritten in place, latest value only, no history kept, updates in place, only the current state | versioned = every version kept, history table, versioned rows, append-only, temporal table, event-sourced, full history
primary key kind | uuid v4 = uuid4, uuid v4, uuidv4, random uuid | uuid v7 = uuid7, uuid v7, uuidv7, time-ordered uuid | ulid = ulid, ulids | integer = auto-increment, autoincrement, serial id, bigserial, integer primary key, sequential ids, identity column, integer ids | snowflake = snowflake id, snowflake ids | nanoid = nanoid, short random id
primary key kind choice | uuid v4 = uuid4, uuid v4, uuidv4, random uuid | uuid v7 = uuid7, uuid v7, uuidv7, time-ordered uuid | natural = natural key, business key as primary key, email as primary key | cuid = cuid, cuid2 | ksuid = ksuid
id origin | client = client generates the id, ids generated by the client, client-side ids | server = server assigns the id, ids generated on the server, generated by the application | database = database generates the id, database sequence, default gen_random_uuid
ids in urls | opaque = opaque ids, hashids, slugs in urls, non-guessable ids, public uuid | raw = sequential ids in urls, raw database id, numeric id in the url, primary key exposed
id width | 64 bit = bigint, 64-bit ids, bigserial, int64 ids | 32 bit = 32-bit ids, int32 ids, integer ids only
id type in json | string = ids are strings, id as string, stringified ids | number = ids are numbers, numeric id in json, id as integer
key composition | composite = composite primary key, compound key, composite key | surrogate = surrogate key, single id column, synthetic key
id reuse | reused = ids are reused, ids may be recycled, recycle ids | never = ids are never reused, ids stay unique forever, no id reuse
time zone stored | utc = in utc, stored in utc, timestamptz, always utc, utc timestamps, zulu time | local = in local time, stored in local time, server time zone, naive local datetime, europe/berlin time, timestamp without time zone | with offset = offset kept, original offset stored, time zone stored alongside
time zone shown | user = user's time zone, in the viewer's time zone, browser time zone, converted to local for display | utc = shown in utc, displayed in utc, utc in the ui | fixed = fixed time zone for display, office time zone, company time zone, always shown in cet
datetime kind | aware = timezone-aware, aware datetimes, tz-aware | naive = naive datetimes, timezone-naive, tz-naive, without tzinfo
timestamp format | iso = iso 8601, rfc 3339, iso strings | epoch seconds = unix seconds, epoch seconds, unix timestamp in seconds | epoch milliseconds = epoch milliseconds, unix millis, milliseconds since epoch, epoch_ms
timestamp precision | seconds = second precision, truncated to seconds, whole seconds | milliseconds = millisecond precision, millisecond timestamps | microseconds = microsecond precision | nanoseconds = nanosecond precision
date format | iso = yyyy-mm-dd, iso dates, year-month-day | us = mm/dd/yyyy, month first, american dates | european = dd/mm/yyyy, dd.mm.yyyy, day first
clock | wall = wall clock, system time, datetime.now, time.time | monotonic = monotonic clock, time.monotonic, steady clock | injected = injected clock, fake clock, clock passed in
clock source of truth | server = server time, server clock decides, timestamps set by the server | client = client time, device clock, timestamps set by the client | database = database now, now() in the database, database clock
first day of week | monday = week starts on monday, monday first, iso week | sunday = week starts on sunday, sunday first
daylight saving | followed = follows daylight saving, dst-aware, shifts with dst | ignored = ignores daylight saving, fixed utc offset, no dst
money representation | minor units = integer cents, minor units, stored in cents, amount in cents, integer pence, amount_cents | decimal = decimal type, numeric column, decimal amounts, bigdecimal, numeric(12 2) | float = float amounts, floating point money, double for prices, stored as float | string = amounts as strings, money as string
currency | single = single currency, euros only, usd only, only one currency, everything in euro, one currency | multiple = multi-currency, multiple currencies, currency per order, currency column, several currencies
rounding | half even = banker's rounding, round half even, half-even | half up = round half up, half-up, commercial rounding | down = truncate amounts, round down, floored amounts | up = round up, ceiling of amounts
rounding time | per line = rounded per line, round each line item, per-line rounding | at the end = rounded at the end, round the total, only the total is rounded
tax in prices | included = prices include vat, tax inclusive, gross prices, vat included, including tax | excluded = prices exclude vat, tax exclusive, net prices, plus vat, tax added at checkout, before tax
exchange rate | at order = rate at order time, rate frozen at purchase, locked exchange rate | current = current exchange rate, converted at today's rate, live rate
text encoding | utf-8 = utf-8, utf8 | latin-1 = latin-1, iso-8859-1, windows-1252, cp1252 | utf-16 = utf-16, utf16 | ascii = ascii only, plain ascii, no unicode
utf-8 mark | without = no bom, without bom, bom stripped | with = with bom, utf-8-sig, utf-8 with bom
mysql charset | utf8mb4 = utf8mb4 | utf8mb3 = utf8mb3, three-byte utf8
line endings | lf = lf line endings, unix line endings, eol lf, lf only | crlf = crlf, windows line endings, dos line endings
collation | case insensitive = case-insensitive, citext, _ci collation, nocase, lowercased before comparing, ignoring case | case sensitive = case-sensitive, case matters, binary collation, exact case
email comparison | normalised = emails are lowercased, email normalised, case-insensitive email | as typed = email stored as typed, case-sensitive email, email kept verbatim
text normal form | nfc = nfc, composed form | nfd = nfd, decomposed form | nfkc = nfkc | none = not normalised, no unicode normalisation
binary in json | base64 = base64 | hex = hex-encoded, hexadecimal strings | separate = multipart upload, separate binary endpoint
byte order | big = big-endian, network byte order | little = little-endian
boolean storage | boolean = boolean column, true/false column | integer = 0/1 integer, tinyint flag, stored as 0 or 1 | text = y/n column, yes/no strings
enum storage | database enum = postgres enum, native enum type, enum column | text = text with check constraint, enum stored as text, varchar enum | integer = enum stored as integer, numeric enum code | lookup table = lookup table, reference table for statuses
distance units | metric = metric units, kilometres, kilograms, celsius, si units | imperial = imperial units, in miles, pounds and ounces, fahrenheit
size units | binary = kib, mebibytes, 1024-based | decimal = 1000-based, decimal megabytes, si megabytes
phone numbers | e.164 = e.164, e164, international format with plus | as typed = phone stored as typed, free text phone, national format
number format | dot = decimal point, dot as decimal separator | comma = decimal comma, comma as decimal separator
geometry order | lon lat = longitude first, lon lat, geojson order, lng lat | lat lon = latitude first, lat lon, lat lng
country codes | alpha-2 = alpha-2, iso 3166-1 alpha-2, two-letter country | alpha-3 = alpha-3, three-letter country
column naming | snake = snake_case columns, snake case columns | camel = camelcase columns, camel case columns
table naming | plural = plural table names, plural tables | singular = singular table names, singular tables
main database | postgres = postgres, postgresql, psycopg, pgbouncer, aurora postgres, neon database | mysql = mysql, innodb, planetscale | mariadb = mariadb | sqlite = sqlite, sqlite3, libsql, turso | mongodb = mongodb, mongo, mongoose, documentdb | sql server = sql server, mssql, t-sql, azure sql
main database choice | postgres = postgres, postgresql, psycopg, pgbouncer, aurora postgres, neon database | mysql = mysql, innodb, planetscale | oracle = oracle database, oracle db, pl/sql | dynamodb = dynamodb, dynamo table | cockroachdb = cockroachdb, cockroach | cassandra = cassandra, scylladb
main database product | postgres = postgres, postgresql, psycopg, pgbouncer, aurora postgres, neon database | mysql = mysql, innodb, planetscale | firestore = firestore | spanner = spanner
database for tests | real = tests run against postgres, real database in tests, testcontainers, same database as production | sqlite = sqlite in tests, in-memory sqlite, tests use sqlite | mocked = database is mocked, mocked repository, no database in tests, fake repository
database model | relational = relational database, sql database, normalised tables | document = document store, document database, nosql documents | key value = key-value store, kv store | graph = graph database, neo4j | wide column = wide-column store
database hosting | managed = rds, cloud sql, managed postgres, managed database, aurora, hosted database, supabase | self-hosted = self-hosted database, we run postgres ourselves, database on our own vm, postgres in a container
database per service | own = database per service, each service owns its data, own database per service | shared = shared database, one database for all services, services share the schema
database access layer | orm = orm, sqlalchemy orm, hibernate, activerecord, prisma client, entity framework, django orm, typeorm | query builder = query builder, knex, jooq, sqlalchemy core, kysely, squirrel | raw sql = raw sql, hand-written sql queries, plain sql, sqlx, sqlc, no orm
lazy loading | eager = eager loading, select_related, joinedload, preloaded relations, fetch join | lazy = lazy loading, lazily loaded relations, loaded on access
connection pooling | pooled = connection pool, pgbouncer, pooled connections, hikaricp, reuse connections | per request = connection per request, new connection each time, no pooling, nullpool
pgbouncer mode | transaction = transaction pooling, pool_mode transaction | session = session pooling, pool_mode session | statement = statement pooling
sqlite journal | wal = wal mode, write-ahead log, journal_mode wal | rollback = rollback journal, delete journal mode, journal_mode delete
sqlite place | file = sqlite file, database file on disk | memory = :memory:, in-memory database
durability | synced = fsync on every write, synchronous full, durable writes, appendfsync always | relaxed = fsync off, synchronous off, synchronous normal, may lose the last second, appendfsync everysec
redis persistence | aof = aof, append-only file | rdb = rdb snapshots, snapshot persistence | none = redis without persistence, redis is ephemeral, no persistence
redis setup | cluster = redis cluster | sentinel = redis sentinel | single = single redis, standalone redis, one redis node
redis role | cache only = redis is only a cache, redis can be flushed, redis data is disposable | source of truth = redis is source of truth, redis holds primary data, redis must not be flushed
business logic place | database = stored procedures, logic in the database, triggers do, plpgsql functions | application = logic in the application, no stored procedures, no triggers, logic in code
normal form | normalised = normalised tables, normalised schema, normalized schema, third normal form, no duplication of data | denormalised = denormalised, denormalized, duplicated for speed, embedded copies
partitioning | partitioned = partitioned by, table partitions, partitioned table | unpartitioned = not partitioned, single table, no partitions
sharding | sharded = sharded, shards, split across databases, vitess, citus | single = not sharded, single database, no sharding, one database instance
shard key | tenant = sharded by tenant, tenant_id as shard key | user = sharded by user, user_id as shard key | hash = hash sharding, consistent hashing | range = range sharding, sharded by date
json column type | jsonb = jsonb | json = json column type, plain json type | text = json in a text column, json stored as text
views | materialised = materialised view, materialized view, refreshed view | live = plain view, live view, computed on read
derived values | stored = stored total, precomputed, denormalised counter, counter cache, persisted total | computed = computed on the fly, calculated on read, computed at query time, derived at runtime, not stored
write model | crud = crud, update in place, plain tables | event sourcing = event sourcing, event-sourced, event store, replay events
read and write models | separate = cqrs, separate read model, read projections | same = single model, no cqrs, one model for both
warehouse | bigquery = bigquery | snowflake = snowflake warehouse, snowflake | redshift = redshift | databricks = databricks, delta lake | clickhouse = clickhouse | duckdb = duckdb
warehouse choice | bigquery = bigquery | snowflake = snowflake warehouse, snowflake | postgres = analytics in postgres, reporting on postgres
analytics source | production = reports query production, analytics on the primary, dashboards hit the main database | separate = separate warehouse, analytics replica, reports from the warehouse, nightly export for analytics
transform order | elt = elt, load then transform, dbt in the warehouse | etl = etl, transform before loading, transformed before load
time series store | influxdb = influxdb | timescale = timescaledb, timescale | prometheus = prometheus tsdb | victoriametrics = victoriametrics
vector store | pgvector = pgvector | pinecone = pinecone | qdrant = qdrant | weaviate = weaviate | milvus = milvus | chroma = chroma db, chromadb
vector store choice | pgvector = pgvector | pinecone = pinecone | faiss = faiss | lancedb = lancedb
search engine | elasticsearch = elasticsearch, elastic cluster | opensearch = opensearch | postgres = postgres full-text, tsvector, full-text search in postgres, pg_trgm | algolia = algolia | meilisearch = meilisearch | typesense = typesense
search engine choice | elasticsearch = elasticsearch, elastic cluster | opensearch = opensearch | solr = solr | sqlite = fts5, sqlite full-text
search matching | exact = exact match only, exact matching, whole words only | fuzzy = fuzzy search, typo tolerant, trigram search, approximate matching | prefix = prefix search, starts with | substring = substring search, ilike, contains match | semantic = semantic search, vector search, embeddings search
index update | immediate = indexed immediately, indexed on save, synchronous indexing, refresh on write | delayed = indexed asynchronously, indexed by a job, search lags, reindexed nightly, index refreshed periodically
search ranking | relevance = ranked by relevance, bm25, best match first | recency = newest first, sorted by date, most recent first | popularity = sorted by popularity, most popular first
reindexing | full = full reindex, rebuild the whole index, reindexed from scratch | incremental = incremental indexing, only changed documents, delta indexing
message broker | kafka = kafka, redpanda, msk | rabbitmq = rabbitmq, amqp, rabbit broker | sqs = sqs, amazon sqs | nats = nats, jetstream | redis = redis streams, redis pub/sub, redis queue | pubsub = google pub/sub, cloud pub/sub
message broker choice | kafka = kafka, redpanda, msk | rabbitmq = rabbitmq, amqp, rabbit broker | service bus = azure service bus | postgres = postgres queue, queue table, skip locked queue, listen/notify | pulsar = apache pulsar | activemq = activemq
message broker product | kafka = kafka, redpanda, msk | rabbitmq = rabbitmq, amqp, rabbit broker | none = no message broker, no queue, without a broker
job queue | celery = celery | sidekiq = sidekiq | rq = rq worker, python-rq | bullmq = bullmq, bull queue | dramatiq = dramatiq | arq = arq
job queue choice | celery = celery | sidekiq = sidekiq | resque = resque | temporal = temporal workflows, temporal.io | hangfire = hangfire | delayed job = delayed_job
job queue product | celery = celery | sidekiq = sidekiq | good job = good_job, goodjob | solid queue = solid queue | oban = oban | faktory = faktory
job queue kind used | celery = celery | sidekiq = sidekiq | huey = huey
delivery | at least once = at-least-once, may be delivered twice, duplicates possible, redelivered, consumers must dedupe | exactly once = exactly-once, never delivered twice, no duplicates | at most once = at-most-once, may be lost, fire and forget, lost messages are acceptable
message order | ordered = in order, ordering guaranteed, fifo queue, strictly ordered, ordered per key, order is preserved | unordered = out of order, no ordering guarantee, unordered, order is not guaranteed, any order
acknowledgement | after = ack after processing, acknowledged after work, acks_late, manual ack, commit offset after | before = ack on receipt, auto ack, acknowledged on delivery, commit offset before, early ack
failed messages | dead letter = dead-letter queue, dlq, parked messages | dropped = failed messages are dropped, discarded on failure, message thrown away | requeued = requeued, put back on the queue, redelivered forever
message distribution | one consumer = competing consumers, work queue, one consumer gets it, each message once per group | all consumers = fan-out, pub/sub, broadcast, every subscriber gets it
message body | full state = event-carried state, full payload in the event, whole object in the event | reference = thin events, only ids in events, claim check, fetch the rest
message format | json = json messages, json events | avro = avro | protobuf = protobuf messages, protobuf events | msgpack = msgpack, messagepack | cloudevents = cloudevents
schema registry | used = schema registry, registered schemas, confluent registry | absent = no schema registry, schemas are not registered
consumer style | push = pushed to consumers, push subscription, webhook delivery | pull = pull subscription, consumers poll, pulled by workers
kafka coordination | kraft = kraft, without zookeeper | zookeeper = zookeeper-based kafka, kafka with zookeeper
topic cleanup | compacted = log compaction, compacted topic, cleanup.policy compact | time based = time-based retention, cleanup.policy delete, retention.ms
event choice | events = event-driven, emits an event, publishes an event, domain events | direct calls = calls directly, direct call, synchronous call between services, request-response
workflow coordination | orchestration = orchestrated, orchestrator, central coordinator, workflow engine | choreography = choreographed, choreography, services react to events
email sending | in request = sent during the request, sends email synchronously, email sent inline | background = email is queued, sent in the background, mail job, asynchronous email
email provider | ses = amazon ses, aws ses | sendgrid = sendgrid | mailgun = mailgun | postmark = postmark | smtp = own smtp server, plain smtp, postfix | resend = resend api
email provider choice | ses = amazon ses, aws ses | sendgrid = sendgrid | mailchimp = mandrill, mailchimp transactional
sms provider | twilio = twilio | vonage = vonage, nexmo | sns = sms through sns | messagebird = messagebird
payment provider | stripe = stripe | adyen = adyen | paypal = paypal, braintree | mollie = mollie | square = square payments | paddle = paddle billing
payment provider choice | stripe = stripe | adyen = adyen | checkout.com = checkout.com
card data | never stored = card numbers never stored, tokenised cards, hosted payment page, stripe elements, card data never touches | stored = we store card numbers, card numbers in the database, pci vault of our own
payment capture | immediate = captured immediately, charged at order, charge right away | later = authorise then capture, captured on shipment, delayed capture, charge on delivery
scheduler | cron = crontab, cron job, system cron, unix cron | systemd = systemd timer | kubernetes = cronjob resource, kubernetes cronjob, k8s cronjob | airflow = airflow, airflow dag | celery beat = celery beat | eventbridge = eventbridge, cloudwatch events
scheduler choice | cron = crontab, cron job, system cron, unix cron | systemd = systemd timer | cloud scheduler = cloud scheduler | quartz = quartz scheduler | ci = scheduled workflow, github actions schedule, scheduled pipeline | dagster = dagster
scheduler product | cron = crontab, cron job, system cron, unix cron | systemd = systemd timer | prefect = prefect flows | in app = apscheduler, node-cron, in-process scheduler
job cadence | every minute = every minute, minutely, once a minute | hourly = runs hourly, every hour, once an hour | daily = runs daily, every day, nightly, every night, once a day | weekly = runs weekly, every week, once a week, every sunday | monthly = runs monthly, every month, once a month, first of the month | on demand = on demand, triggered by hand, only when asked, ad hoc run
job cadence choice | every minute = every minute, minutely, once a minute | hourly = runs hourly, every hour, once an hour | continuously = runs continuously, always running, in a loop, real time
job trigger | schedule = on a schedule, scheduled job, by cron, at fixed times, timed job | event = triggered by an event, on change, event-triggered, when a file arrives | by hand = run by hand, started manually, manual trigger, workflow_dispatch
missed runs | caught up = catch up missed runs, backfill missed, catchup true, runs missed jobs later | skipped = missed runs are skipped, no catch-up, catchup false, not replayed
overlapping runs | forbidden = no overlapping runs, one at a time, concurrencypolicy forbid, single instance of the job, must not overlap, mutual exclusion of runs | allowed = runs may overlap, concurrent runs allowed, concurrencypolicy allow, parallel runs allowed | replaced = newer run cancels older, concurrencypolicy replace, cancel-in-progress
processing style | batch = batch processing, batch pipeline, batch job, nightly batch, bulk processing, processed in batches, micro-batch | stream = streaming, stream processing, real-time processing, as events arrive, flink, kafka streams, continuously processed
stream engine | flink = flink | spark = spark streaming, structured streaming | kafka streams = kafka streams, ksqldb | beam = apache beam, google dataflow | kinesis = kinesis analytics
load style | full = full load, full refresh, truncate and reload, complete reload, everything re-imported | incremental = incremental load, delta load, only changed rows, change data capture, cdc, since the last run
call style | synchronous = synchronous, synchronously, blocking call, waits for the reply, inline in the request, in the request path | asynchronous = asynchronous, asynchronously, non-blocking, in the background, fire-and-forget, queued for later, off the request path, deferred to a worker
io model | async = asyncio, async/await, async handlers, event loop, non-blocking io, asgi | blocking = blocking io, sync handlers, synchronous code only, no asyncio, wsgi, thread per request
concurrency unit | threads = uses threads, thread pool, multithreaded, threadpoolexecutor | processes = several processes, multiprocessing, process pool, worker processes, prefork | coroutines = coroutines, green threads, gevent, asyncio tasks, goroutines, virtual threads | actors = akka, actor model | single = single-threaded, one thread, no concurrency, single thread
thread safety | safe = thread-safe, safe to share between threads, can be used concurrently | unsafe = not thread-safe, one per thread, not shared between threads, single-threaded use only
shared state | shared = shared mutable state, global variable, module-level state, singleton | isolated = no shared state, no globals, share nothing, state is passed in, message passing
service state | stateless = stateless, no local state, any instance can serve, no sticky sessions | stateful = stateful, keeps state in memory, sticky sessions, session affinity, local state
load balancing | round robin = round robin | least connections = least connections, least_conn, least outstanding | sticky = sticky sessions, session affinity, ip hash | random = random balancing, power of two choices | weighted = weighted routing, weighted balancing
load balancer | alb = alb, application load balancer | nlb = nlb, network load balancer | nginx = nginx balances, nginx load balancer | haproxy = haproxy | traefik = traefik | envoy = envoy proxy at the edge
load balancer choice | alb = alb, application load balancer | nlb = nlb, network load balancer | none = no load balancer, single instance behind dns
reverse proxy | nginx = nginx | caddy = caddy, caddyfile | traefik = traefik | apache = apache httpd, mod_proxy | envoy = envoy | haproxy = haproxy
python app server | gunicorn = gunicorn | uvicorn = uvicorn | uwsgi = uwsgi | hypercorn = hypercorn | waitress = waitress | daphne = daphne
python app server choice | gunicorn = gunicorn | uvicorn = uvicorn | granian = granian
ruby app server | puma = puma | unicorn = unicorn server | passenger = phusion passenger | falcon = falcon server
workers per container | one = one process per container, single worker per pod, one worker per container | many = several workers per container, multiple workers per pod, supervisord
memory limit | hard = memory limit set, oom killed, hard memory cap, limits.memory | none = no memory limit, unlimited memory, without memory limits
data size handling | streamed = streamed, read in chunks, iterated line by line, constant memory, yields rows one by one | loaded = loaded into memory, read at once, whole file in memory, slurped, load everything
garbage collector | g1 = g1gc, g1 collector | zgc = zgc | parallel = parallel gc | shenandoah = shenandoah
allocator | jemalloc = jemalloc | tcmalloc = tcmalloc | mimalloc = mimalloc | system = system allocator, glibc malloc
memory management | manual = manual memory management, malloc and free, explicit free | counted = reference counting, automatic reference counting, shared_ptr | collected = garbage collected, gc-managed
file storage | object store = s3, object storage, gcs bucket, blob storage, minio, r2, s3 bucket | local disk = local disk, local filesystem, on the server's disk, /var/lib, mounted volume | database = files in the database, blobs in postgres, bytea, gridfs, large objects | network share = nfs, efs, smb share, network share
object store | s3 = amazon s3, aws s3 | gcs = google cloud storage, gcs | azure = azure blob | minio = minio | r2 = cloudflare r2 | b2 = backblaze b2
object store choice | s3 = amazon s3, aws s3 | gcs = google cloud storage, gcs | spaces = digitalocean spaces
storage class | hot = standard storage class, hot storage, s3 standard | cold = glacier, cold storage, archive tier, deep archive | infrequent = infrequent access, standard-ia, cool tier
bucket versioning | on = bucket versioning enabled, object versions kept, versioned bucket | off = bucket versioning disabled, unversioned bucket, no object versions
disk kind | ssd = ssd, nvme, gp3 | hdd = hdd, spinning disks, magnetic disk | ephemeral = tmpfs, ephemeral disk, instance store
temp files | cleaned = temp files are cleaned up, removed on exit, deleted after use | kept = temp files are kept, left for debugging, never cleaned up
state of a cli | file = state file, stored in a json file, dotfile | database = local sqlite database, state in sqlite | none = keeps no state, stateless cli
user data directory | xdg = xdg, ~/.config, ~/.local/share | home dotfile = dotfile in home, dot directory in home | project = in the project directory, per-project directory, inside the repository
data file format | parquet = parquet | csv = csv files | json lines = json lines, jsonl, ndjson | avro = avro files | orc = orc files | excel = xlsx, excel files
data file format choice | parquet = parquet | csv = csv files | arrow = apache arrow, feather files | xml = xml files
export format | csv = exported as csv, csv export | excel = excel export, exported as xlsx | json = exported as json, json export | pdf = pdf export, exported as pdf | parquet = parquet export
config file format | yaml = yaml config, config.yaml, yml | toml = toml config, config.toml | json = json config, config.json | ini = ini file, .ini, configparser | env = env vars only, dotenv config | python = settings.py, python config module
config file format choice | yaml = yaml config, config.yaml, yml | toml = toml config, config.toml | hcl = hcl config | xml = xml config | jsonnet = jsonnet | cue = cuelang
csv delimiter | comma = comma-separated, comma delimiter | semicolon = semicolon-separated, semicolon delimiter | tab = tab-separated, tsv, tab delimiter | pipe = pipe-delimited
csv header | with = header row, first line is a header, with a header line | without = no header row, headerless, without a header line
compression | gzip = gzip, .gz | zstd = zstd, zstandard | brotli = brotli | snappy = snappy | lz4 = lz4 | xz = xz-compressed, lzma
compression choice | gzip = gzip, .gz | zstd = zstd, zstandard | none = uncompressed, no compression, compression off, not compressed
archive format | tar = tarball, tar.gz | zip = zip archive, zip file | 7z = 7z
image format | webp = converted to webp | avif = converted to avif | png = stored as png | jpeg = stored as jpeg | svg = svg icons only
wire serialisation | json = json payload, json over the wire, json bodies | protobuf = protobuf, protocol buffers | msgpack = msgpack payload | xml = xml payload, xml bodies | cbor = cbor | thrift = thrift
wire serialisation choice | json = json payload, json over the wire, json bodies | protobuf = protobuf, protocol buffers | pickle = pickle | flatbuffers = flatbuffers | form = form-encoded, urlencoded form
spreadsheet engine | openpyxl = openpyxl | xlsxwriter = xlsxwriter | pandas = pandas to_excel
log format | json = json logs, structured logs, structured logging, logged as json, structlog | plain = plain text logs, human-readable logs, unstructured logs, free-text logs | logfmt = logfmt
log destination | stdout = log to stdout, logs go to stdout, stdout only | stderr = log to stderr, logs go to stderr | file = log file, log to a file, /var/log, rotating file | syslog = syslog, journald
log level in production | debug = debug level in production, debug logging on, verbose logging | info = info level, info logging | warning = warning level, warnings and above, warn level | error = errors only, error level
log backend | elk = elk, elasticsearch logs, kibana, logstash | loki = loki | cloudwatch = cloudwatch logs, cloudwatch | datadog = datadog logs | splunk = splunk | stackdriver = cloud logging, stackdriver
log backend choice | elk = elk, elasticsearch logs, kibana, logstash | loki = loki | graylog = graylog | papertrail = papertrail | none = no central logs, logs stay on the host
python logging library | stdlib = stdlib logging, logging module | loguru = loguru | structlog = structlog | print = print statements
go logging library | slog = slog, log/slog | zap = zap logger, uber zap | logrus = logrus | zerolog = zerolog
java logging library | logback = logback | log4j = log4j2, log4j | jul = java.util.logging
node logging library | pino = pino | winston = winston | console = console.log
log sampling | sampled = sampled logs, log sampling, one in a hundred logged | all = every request logged, all requests are logged, no log sampling
access log | on = access logs enabled, access log on, requests in the access log | off = access logs disabled, access log off, no access log
metrics style | pull = prometheus scrape, scraped, /metrics endpoint, pull-based metrics | push = statsd, pushgateway, push-based metrics, pushed metrics, otlp metrics push
metrics backend | prometheus = prometheus, thanos, mimir | datadog = datadog, dogstatsd | cloudwatch = cloudwatch metrics | new relic = new relic | influx = influxdb metrics, telegraf | graphite = graphite metrics
metrics backend choice | prometheus = prometheus, thanos, mimir | datadog = datadog, dogstatsd | none = no metrics, metrics are not collected | azure = azure monitor | stackdriver = google cloud monitoring
dashboards | grafana = grafana | datadog = datadog dashboards | kibana = kibana dashboards | looker = looker dashboards | metabase = metabase | superset = apache superset
dashboards choice | grafana = grafana | datadog = datadog dashboards | tableau = tableau dashboards | power bi = power bi | redash = redash
dashboards as code | code = dashboards as code, dashboards in git, provisioned dashboards, grafonnet | clicked = dashboards built in the ui, hand-made dashboards, clicked together dashboards
tracing | on = distributed tracing, requests are traced, opentelemetry tracing, spans are exported, tracing enabled | off = no tracing, tracing disabled, not traced, tracing removed
trace backend | jaeger = jaeger | zipkin = zipkin | tempo = grafana tempo | datadog = datadog apm | x-ray = x-ray, aws xray | honeycomb = honeycomb
trace backend choice | jaeger = jaeger | zipkin = zipkin | new relic = new relic apm | sentry = sentry performance
trace sampling | all = sample everything, 100% of traces, every request traced, always_on sampler | head = head sampling, probabilistic sampling, sample one percent, fixed sample rate | tail = tail sampling, tail-based sampling
trace context | w3c = traceparent, w3c trace context | b3 = b3 headers, x-b3 | custom = x-request-id, own correlation id
instrumentation | opentelemetry = opentelemetry sdk, otel | vendor = vendor agent, datadog agent library, new relic agent | none = not instrumented, no instrumentation
instrumentation style | automatic = auto-instrumentation, automatically instrumented, zero-code instrumentation | manual = manual spans, instrumented by hand, explicit spans
error tracker | sentry = sentry | rollbar = rollbar | bugsnag = bugsnag | honeybadger = honeybadger | airbrake = airbrake | glitchtip = glitchtip
error tracker choice | sentry = sentry | rollbar = rollbar | none = no error tracker, errors only in logs
alert basis | symptoms = symptom-based alerts, alert on user impact, slo-based alerts, burn rate alerts, error budget alerts | causes = cause-based alerts, alert on cpu, threshold alerts, alert on disk and cpu
alert channel | pager = pages the on-call, pagerduty, opsgenie, phone call | chat = slack alert, posts to slack, teams alert, alert channel in slack | email = alert email, emailed alerts, alerts by mail | none = nobody is alerted, no alerting, no alerts
uptime checks | external = external uptime check, pingdom, uptimerobot, synthetic checks | internal = only internal checks, no external monitoring
status page | public = public status page, statuspage | none = no status page
product analytics | posthog = posthog | mixpanel = mixpanel | amplitude = amplitude analytics | google = google analytics, ga4 | plausible = plausible analytics | matomo = matomo
product analytics choice | posthog = posthog | mixpanel = mixpanel | segment = segment.io, segment analytics | none = no analytics, no tracking, analytics removed
telemetry | opt in = telemetry is opt-in, off by default telemetry, telemetry off unless enabled | opt out = telemetry is opt-out, telemetry on by default | none = no telemetry, never phones home, telemetry removed, nothing is sent
crash reports | automatic = crash reports sent automatically, automatic crash reporting | asked = asks before sending, user confirms the report | never = crash reports are never sent, no crash reporting
health check depth | shallow = shallow health check, returns ok only, liveness only, does not touch the database | deep = deep health check, checks the database, checks dependencies, verifies downstream
user tracking consent | required = consent required, cookie banner, only after consent, opt-in cookies | not required = no cookie banner, cookieless, without consent, no consent needed
deployment trigger | automatic = auto-deploy, deployed automatically, continuous deployment, deploy on merge, every merge deploys, push to main deploys, ships on merge | manual = deployed by hand, manual deploy, someone presses the button, manual approval before deploy, deploys are manual, run the deploy script | scheduled = scheduled deploys, release train, deploys go out weekly, deploy every tuesday | tag = deploy on tag, tagged releases deploy, tag triggers the deploy
deployment style | push = pipeline pushes, push-based deploy, ci runs kubectl, ci deploys directly, helm upgrade from ci | gitops = gitops, argo cd, argocd, flux cd, fluxcd, pulled from git
rollout strategy | blue green = blue-green, blue/green, swap environments | canary = canary rollout, canary release, small share of traffic first | rolling = rolling update, rolling deployment, pod by pod, one instance at a time | recreate = recreate strategy, stop then start, big bang, all at once | staged = staged rollout, phased rollout, percentage rollout
rollback | automatic = automatic rollback, rolls back on failure, auto-rollback, reverts itself | manual = manual rollback, rolled back by hand, operator rolls back | forward = roll forward, fix forward, never roll back, no rollbacks, hotfix instead
rollback method | redeploy = redeploy the previous version, previous image, helm rollback, redeploy the old tag | revert = revert commit, git revert, revert the pull request | flag = turn off the flag, kill switch, disable the feature flag
deploy downtime | none = zero downtime, no downtime, without interruption, seamless deploy | some = short downtime, maintenance window, site goes down, brief outage, maintenance page during deploys
deploy days | any day = deploy any day, deploy on fridays, fridays are fine, any time | not fridays = no friday deploys, never deploy on friday, not before the weekend, monday to thursday only | windows = deployment window, change window, only in the maintenance window
deploy hours | working hours = during business hours, office hours deploys, daytime only | off hours = at night, outside business hours, off-peak, after hours
code freeze | in force = code freeze, change freeze, deployment freeze, frozen until, no merges until | lifted = freeze is over, freeze lifted, freeze ended, no code freeze
deploy unit | monolith = single deployable, monolith, one application, modular monolith, one service | microservices = microservices, many services, separate services, each service deploys independently | serverless = lambda functions, serverless functions, cloud functions
architecture layering | layered = layered architecture, three-tier, controller service repository | hexagonal = hexagonal, ports and adapters, clean architecture, onion architecture | vertical = vertical slices, feature folders
compute | serverless = aws lambda, serverless, cloud functions, fargate, cloud run, azure functions | vms = ec2 instances, virtual machines, vm, droplets | kubernetes = kubernetes, k8s, eks, gke, aks | bare metal = bare metal, own hardware, dedicated servers, on our own rack | paas = heroku, fly.io, render.com, app engine, elastic beanstalk, railway.app
hosting | cloud = in the cloud, cloud-hosted, public cloud, saas | on premises = on-prem, on premises, on-premise, own data centre, own datacenter, self-hosted in the office | hybrid = hybrid cloud, partly on-prem
cloud provider | aws = aws, amazon web services, ec2, aws lambda, eks, ecs | gcp = gcp, google cloud, gke, cloud run | azure = azure, aks | hetzner = hetzner | digitalocean = digitalocean | ovh = ovh, ovhcloud
cloud provider choice | aws = aws, amazon web services, ec2, aws lambda, eks, ecs | gcp = gcp, google cloud, gke, cloud run | linode = linode, akamai cloud | heroku = heroku | fly = fly.io | cloudflare = cloudflare workers
cloud provider product | aws = aws, amazon web services, ec2, aws lambda, eks, ecs | gcp = gcp, google cloud, gke, cloud run | vercel = vercel | render = render.com | scaleway = scaleway | railway = railway.app
cloud count | single = single cloud, one cloud provider, aws only | multi = multi-cloud, several clouds, cloud-agnostic
frontend hosting | vercel = vercel | netlify = netlify | s3 = s3 and cloudfront, static site on s3 | github pages = github pages | cloudflare = cloudflare pages | own server = served by nginx, served by the backend, bundled with the backend
frontend hosting choice | vercel = vercel | netlify = netlify | firebase = firebase hosting | amplify = aws amplify
region setup | single = single region, one region, only in one region | multi = multi-region, several regions, two regions, replicated across regions
availability zones | single = single az, one availability zone, single-zone | multi = multi-az, three availability zones, across zones
data residency | eu = data stays in the eu, eu only, eu-west-1, eu-central-1, frankfurt region, hosted in europe | us = data stays in the us, us only, us-east-1, us-west-2, hosted in the us | anywhere = any region, no residency requirement, data may leave the eu
environments | staging exists = staging environment, staging first, tested on staging, deploy to staging | no staging = no staging, straight to production, staging was removed, test in production | preview = preview environments, review apps, environment per pull request
staging data | copy = copy of production data, production dump in staging, restored from production | synthetic = synthetic data, seeded data, fake data, fixtures in staging | anonymised = anonymised production data, scrubbed dump, masked copy
staging parity | same = staging mirrors production, identical to production, same as production | differs = staging is smaller, staging differs from production, not identical to production
dev environment | containers = docker compose up, devcontainer, dev in docker, development in containers | native = installed natively, run on the host, no docker in development, virtualenv on the host | nix = nix shell, nix develop, flake.nix, devenv | remote = codespaces, gitpod, remote dev machine, cloud workstation | vagrant = vagrant
local services | docker = docker compose services, database in docker locally | shared = shared dev database, team dev server | cloud = develop against the cloud, connects to the staging database | mocked = localstack, mocked locally, emulators
container runtime | docker = docker, dockerd | podman = podman | containerd = containerd, nerdctl | none = no containers, without docker, not containerised, runs directly on the host | singularity = singularity, apptainer
container orchestration | kubernetes = kubernetes, k8s, helm, kubectl | swarm = docker swarm, swarm stack | compose = docker compose in production, compose on the server | nomad = nomad | ecs = ecs, fargate | none = systemd units, no orchestrator, plain docker run
kubernetes flavour | eks = eks | gke = gke | aks = aks | k3s = k3s | openshift = openshift | kubeadm = kubeadm
kubernetes flavour choice | eks = eks | gke = gke | rancher = rke2, rancher | microk8s = microk8s
kubernetes manifests | helm = helm charts, helm chart, values.yaml | kustomize = kustomize, kustomize overlays | plain = plain manifests, raw yaml manifests, kubectl apply -f | jsonnet = jsonnet, tanka | cdk8s = cdk8s
ingress controller | nginx = ingress-nginx, nginx ingress | traefik = traefik ingress | istio = istio gateway | alb = aws load balancer controller, alb ingress | contour = contour ingress | gateway api = gateway api
base image | alpine = alpine, alpine-based, musl | debian = debian slim, bookworm, bullseye, slim image | distroless = distroless | ubuntu = ubuntu image, ubuntu base | scratch = from scratch, scratch image | ubi = ubi, red hat ubi
base image choice | alpine = alpine, alpine-based, musl | debian = debian slim, bookworm, bullseye, slim image | wolfi = wolfi, chainguard
container user | root = runs as root, root in the container, user root | non-root = non-root, unprivileged user, runasnonroot, rootless container, user 1000
container filesystem | read only = read-only root filesystem, readonlyrootfilesystem, immutable filesystem | writable = writable filesystem, writes inside the container
image tag | pinned = pinned by digest, immutable tags, sha256 digest, tagged with the commit sha, versioned image tags | latest = latest tag, :latest, floating tag, mutable tag
image registry | docker hub = docker hub | ghcr = ghcr, ghcr.io, github container registry | ecr = ecr, elastic container registry | gcr = gcr, artifact registry | acr = acr, azure container registry | gitlab = gitlab registry
image registry choice | docker hub = docker hub | ghcr = ghcr, ghcr.io, github container registry | harbor = harbor registry | quay = quay.io
image build | dockerfile = dockerfile, docker build, multi-stage build | buildpacks = buildpacks, pack build, nixpacks | kaniko = kaniko | jib = jib | ko = ko build | nix = nix image, dockertools
image build choice | dockerfile = dockerfile, docker build, multi-stage build | buildpacks = buildpacks, pack build, nixpacks | bazel = rules_oci
image architecture | amd64 = amd64 only, x86_64 only, x86 only | arm64 = arm64 only, graviton, arm only | both = multi-arch, amd64 and arm64, multi-platform image
server os | ubuntu = ubuntu, ubuntu lts | debian = debian servers | rhel = rhel, rocky linux, almalinux, centos | amazon = amazon linux | windows = windows server | nixos = nixos
server os choice | ubuntu = ubuntu, ubuntu lts | debian = debian servers | alpine = alpine linux hosts | freebsd = freebsd | flatcar = flatcar, coreos, bottlerocket, talos
infrastructure definition | terraform = terraform, terragrunt | opentofu = opentofu, tofu apply | pulumi = pulumi | cloudformation = cloudformation, aws sam | cdk = aws cdk, cdk | bicep = bicep, arm templates
infrastructure definition choice | terraform = terraform, terragrunt | opentofu = opentofu, tofu apply | crossplane = crossplane | by hand = clicked in the console, clickops, set up by hand, no infrastructure as code | ansible = ansible provisions
configuration management | ansible = ansible, playbooks | puppet = puppet | chef = chef recipes, cookbooks | salt = saltstack, salt states | none = no configuration management, configured by hand, snowflake servers
terraform state | remote = remote state, state in s3, terraform cloud state, gcs backend | local = local state, tfstate in the repo, state on a laptop
terraform apply | ci = applied from ci, atlantis, terraform cloud applies, pipeline applies | laptop = applied from a laptop, apply locally, run terraform by hand
server lifetime | immutable = immutable infrastructure, replace not patch, servers are cattle, rebuilt images, packer images | mutable = patched in place, long-lived servers, servers are pets, ssh in and update
process manager | systemd = systemd, systemctl | supervisord = supervisord, supervisorctl | pm2 = pm2 | launchd = launchd | none = nohup, screen session, tmux session | runit = runit, s6
process manager choice | systemd = systemd, systemctl | supervisord = supervisord, supervisorctl | docker = restart policy always, restart unless-stopped
scaling | automatic = autoscaling, auto-scaling, hpa, scales automatically, autoscaler, keda | manual = scaled by hand, fixed number of replicas, manual scaling, fixed instance count, no autoscaling
scaling direction | horizontal = scale out, horizontal scaling, more instances, add replicas, horizontally | vertical = scale up, vertical scaling, bigger machine, larger instance, vertically
scale to zero | yes = scales to zero, scale to zero, idle instances stop, no minimum instances | no = always at least one, minimum one instance, always warm, never scales to zero
instance count | one = single instance, one replica, only one instance, single server, must not run twice | several = several replicas, multiple instances, two replicas, more than one instance, horizontally scaled
instance pricing | spot = spot instances, preemptible | on demand = on-demand instances, pay as you go | reserved = reserved instances, savings plan, committed use
high availability | yes = highly available, high availability, redundantly deployed, no single point | no = single point of failure, not highly available, no redundancy
lambda packaging | zip = zip deployment, lambda zip, lambda layers | image = lambda container image, image-based lambda
domain dns | route 53 = route 53, route53 | cloudflare = cloudflare dns | registrar = registrar's dns, godaddy dns, namecheap dns | azure = azure dns | google = cloud dns
backups | automatic = automatic backups, backed up nightly, daily backups, scheduled backups, automated snapshots, backed up automatically | manual = manual backups, backed up by hand, run pg_dump by hand, backup before risky changes | none = no backups, not backed up, without backups, backups disabled
backup kind | logical = pg_dump, mysqldump, logical backup, sql dump | physical = physical backup, pg_basebackup, base backup, volume snapshot, disk snapshot | continuous = point-in-time recovery, pitr, wal archiving, wal-g, continuous archiving, litestream
backup scope | full = full backups, whole database backed up, complete backup | incremental = incremental backups, only changes backed up, differential backup
backup place | other region = off-site, offsite, cross-region backups, another region, separate account | same place = same region backups, same server backups, on the same disk
backup testing | tested = restore tested, restore drills, restores are rehearsed, backups are verified | untested = never tested restore, restore untested, backups are not verified
backup encryption | encrypted = encrypted backups, backups are encrypted, gpg-encrypted dump | plain = unencrypted backups, plain dumps, backups are not encrypted
disaster recovery | hot = hot standby, hot site, instant takeover | warm = warm standby, pilot light, warm site | cold = restore from backup, cold standby, rebuild from backups | none = no disaster recovery, no dr plan
tenancy | multi = multi-tenant, multitenant, many customers per instance, tenants share, shared instance, shared by all customers | single = single-tenant, instance per customer, dedicated instance, one deployment per customer, one customer per instance
tenant isolation | row = tenant_id column, shared tables, row per tenant, shared schema | schema = schema per tenant, separate schemas, postgres schema per customer | database = database per tenant, separate database per customer, own database per tenant | cluster = cluster per tenant, stack per tenant, account per tenant
tenant resolution | subdomain = subdomain per tenant, tenant from the subdomain, customer subdomains | path = tenant in the path, tenant url prefix | header = tenant header, x-tenant-id | token = tenant from the token, tenant claim
cross tenant queries | forbidden = no cross-tenant, tenants never see each other, tenant data is isolated | allowed = cross-tenant queries allowed, data shared across tenants
rate limiting | limited = rate limited, throttled, requests per minute limit, quota enforced, returns 429 | unlimited = no rate limit, not rate limited, unthrottled, unlimited requests, rate limiting removed
rate limit scope | per user = per user limit, limit per account, per-user throttling | per ip = per ip limit, limit per address, per-ip throttling | per key = per api key limit, limit per token, per-key quota | global = global rate limit, one limit for all, service-wide limit | per tenant = per-tenant limit, limit per organisation
rate limit algorithm | token bucket = token bucket | leaky bucket = leaky bucket | fixed window = fixed window | sliding window = sliding window
rate limit place | gateway = limited at the gateway, nginx limit_req, limited at the edge, waf rate limit | application = limited in the application, rate limit middleware, limited in code
over limit | reject = rejected over the limit, 429 over the limit, blocked when exceeded | queue = queued over the limit, delayed when exceeded, slowed down | charge = overage charged, billed for overage
captcha | used = captcha, recaptcha, hcaptcha, turnstile | absent = no captcha, captcha removed, without captcha
feature flags | in use = feature flags, behind a flag, feature toggle, flag-gated, launchdarkly, unleash server | not in use = no feature flags, without flags, flags removed, no toggles
feature flag provider | launchdarkly = launchdarkly | unleash = unleash server | flagsmith = flagsmith | posthog = posthog flags | growthbook = growthbook | config = flags in config, env var flags, flags in settings
feature flag provider choice | launchdarkly = launchdarkly | unleash = unleash server | database = flags in the database, flag table, django-waffle, flipper | split = split.io | configcat = configcat
flag default | off = off by default, disabled by default, default off, dark launch, opt-in flag | on = on by default, enabled by default, default on, opt-out flag
flag evaluation | runtime = evaluated at runtime, switched without a deploy, toggled live, dynamic flags | build time = compile-time flag, build-time flag, cargo feature, needs a rebuild
flag removal | removed = flags are removed after, delete the flag after rollout, short-lived flags, flag expiry date | kept = flags stay, permanent flags, long-lived flags, kill switch kept
configuration source | environment = environment variables, env vars, configured by environment, twelve-factor | file = config file, configuration file, config.yaml, settings file | service = config service, consul kv, etcd config, spring cloud config, appconfig | database = settings in the database, config table, configured in the admin | arguments = command-line arguments, cli flags configure, command line options | hard-coded = hard-coded, hardcoded, constants in code, baked in
configuration precedence | environment wins = env overrides file, environment takes precedence, env vars win | file wins = file overrides environment, config file wins, file takes precedence | arguments win = flags override everything, command line wins, cli overrides
configuration reload | live = hot reload, reloaded without restart, picks up changes live, sighup reload, dynamic config | restart = needs a restart, restart to apply, read once at startup, only at boot
configuration per environment | one file each = config per environment, settings/production, separate config files, config.prod | same image = same artefact everywhere, build once deploy many, one image for all environments | rebuild = rebuilt per environment, image per environment, build per environment
dependency pinning | exact = pinned, exact versions, pin exact, lockfile committed, pinned with double equals, locked versions, pinned to exact | ranges = version ranges, caret ranges, compatible release, caret version, loose versions, minimum versions only, unpinned | latest = always latest, newest version, track latest, floating versions
lockfile | committed = lockfile is committed, commit the lockfile, lock file checked in, check in the lock file, frozen lockfile, npm ci | not committed = lockfile is ignored, no lockfile, do not commit the lockfile, lock file gitignored
vendoring | vendored = vendored, vendor directory, copied into the repo, third_party directory, go mod vendor, checked-in dependencies | fetched = fetched from the registry, downloaded at build, not vendored, installed from pypi, installed from npm
third-party dependencies | none = no dependencies, zero dependencies, stdlib only, standard library only, dependency-free, no third-party packages | few = needs approval to add dependencies, avoid new dependencies, dependencies kept minimal, ask before adding a dependency | free = add dependencies freely, dependencies are fine, use a library for it, any package may be added
dependency updates | automated = dependabot, renovate, automatic dependency updates, bot opens update prs | manual = updated by hand, manual dependency updates, upgraded manually, no dependabot
dependency auto merge | yes = dependabot auto-merge, patch updates merged automatically, renovate automerge | no = dependency prs reviewed, no auto-merge of updates, updates need review
dependency source | public = public registry, straight from pypi, straight from npmjs | private mirror = private registry, artifactory, nexus repository, internal mirror, devpi, verdaccio, codeartifact
python package manager | pip = pip install, requirements.txt, pip-tools, pip-compile | poetry = poetry, poetry.lock, poetry install | uv = uv, uv.lock, uv sync, uv pip | pipenv = pipenv, pipfile | conda = conda, mamba, environment.yml, miniforge | pdm = pdm, pdm.lock
python package manager choice | pip = pip install, requirements.txt, pip-tools, pip-compile | poetry = poetry, poetry.lock, poetry install | hatch = hatch env | pixi = pixi, pixi.toml | rye = rye sync
python build backend | setuptools = setuptools, setup.py | hatchling = hatchling | poetry-core = poetry-core | flit = flit | pdm-backend = pdm-backend | maturin = maturin
python build backend choice | setuptools = setuptools, setup.py | hatchling = hatchling | scikit-build = scikit-build | uv_build = uv_build
python project file | pyproject = pyproject.toml, pyproject only | setup.py = setup.py, setup.cfg | requirements = requirements.txt only
python environment | venv = venv, virtualenv, .venv | conda = conda environment | global = system python, global install, --break-system-packages | docker = python only in docker | pyenv = pyenv-virtualenv
python version manager | pyenv = pyenv | asdf = asdf | mise = mise python, rtx | uv = uv python install | system = system python
node package manager | npm = npm, npm ci, package-lock.json, npm install | yarn = yarn, yarn.lock, yarn install, yarn berry | pnpm = pnpm, pnpm-lock.yaml, pnpm install | bun = bun install, bun.lockb, bun add
yarn version | classic = yarn classic, yarn 1, yarn v1 | berry = yarn berry, yarn 4, yarn 3, plug'n'play, pnp
node version manager | nvm = nvm, .nvmrc | volta = volta | fnm = fnm | asdf = asdf nodejs, .tool-versions | mise = mise | corepack = corepack
javascript runtime | node = node.js, nodejs, runs on node | deno = deno | bun = bun runtime, runs on bun
javascript bundler | webpack = webpack | vite = vite | rollup = rollup.js | esbuild = esbuild | parcel = parcel bundler | turbopack = turbopack
javascript bundler choice | webpack = webpack | vite = vite | rspack = rspack | none = no bundler, unbundled, import maps | swc = swcpack
javascript modules | esm = es modules, esm, type module, import syntax, esm only | commonjs = commonjs, cjs, require(), module.exports | both = dual package, esm and cjs
javascript typing | typescript = typescript, .ts files, tsc | javascript = plain javascript, vanilla js, no typescript, .js files only | jsdoc = jsdoc types, checkjs
typescript strictness | strict = strict mode, strict true, noimplicitany, no any | loose = strict false, any allowed, loose typing, allowjs
ruby package manager | bundler = bundler, gemfile, gemfile.lock | gem = gem install
php package manager | composer = composer, composer.lock | pear = pear packages
jvm build tool | gradle = gradle, build.gradle, gradlew | maven = maven, pom.xml, mvn | sbt = sbt | ant = apache ant, build.xml | bazel = bazel for java | mill = mill build
jvm build tool choice | gradle = gradle, build.gradle, gradlew | maven = maven, pom.xml, mvn | leiningen = leiningen, project.clj
gradle language | kotlin = kotlin dsl, build.gradle.kts | groovy = groovy dsl, build.gradle groovy
c build tool | cmake = cmake, cmakelists.txt | make = plain make, makefile only, gnu make | meson = meson build | bazel = bazel for c++ | autotools = autotools, autoconf, configure script | scons = scons
c build tool choice | cmake = cmake, cmakelists.txt | make = plain make, makefile only, gnu make | xmake = xmake | msbuild = visual studio project, vcxproj | zig = zig build
c package manager | conan = conan packages | vcpkg = vcpkg | submodules = git submodules, fetchcontent | system = system packages, apt packages for headers
c compiler | gcc = gcc, g++ | clang = clang, clang++ | msvc = msvc, cl.exe | icc = icc, icx
c++ standard | c++11 = c++11 | c++14 = c++14 | c++17 = c++17 | c++20 = c++20 | c++23 = c++23
c++ exceptions | on = exceptions are allowed, uses c++ exceptions | off = -fno-exceptions, no exceptions in c++, exceptions disabled
linking | static = statically linked, static linking, static binary, single static binary | dynamic = dynamically linked, shared libraries, dynamic linking
rust toolchain | stable = stable rust, stable toolchain | nightly = nightly rust, nightly toolchain, rustc nightly
rust async runtime | tokio = tokio | async-std = async-std | smol = smol | none = no async runtime, blocking rust
rust tls | rustls = rustls | openssl = native-tls, openssl crate
rust unsafe | forbidden = forbid unsafe, no unsafe, forbid(unsafe_code) | allowed = unsafe blocks allowed, unsafe is fine where needed
go modules | modules = go modules, go.mod | gopath = gopath, dep tool, glide
cgo | on = cgo enabled, needs cgo | off = cgo disabled, pure go
dotnet packages | nuget = nuget, packagereference | paket = paket
swift packages | spm = swift package manager, package.swift | cocoapods = cocoapods, podfile | carthage = carthage
haskell build | cabal = cabal | stack = stack.yaml, haskell stack
r packages | renv = renv | packrat = packrat | global = install.packages globally
dart sdk | flutter = flutter pub | dart = dart pub
task runner | make = makefile, make targets, make test | just = justfile, just recipes | npm scripts = npm scripts, npm run | taskfile = taskfile, go-task | invoke = invoke tasks, tasks.py | tox = tox
task runner choice | make = makefile, make targets, make test | just = justfile, just recipes | nox = nox, noxfile | rake = rake, rakefile | shell = shell scripts, bin/ scripts | poe = poethepoet, poe tasks
task runner product | make = makefile, make targets, make test | just = justfile, just recipes | mage = magefile | mise = mise tasks
repository layout | monorepo = monorepo, single repository, one repository for everything, all in one repo | polyrepo = polyrepo, multi-repo, separate repositories, one repo per service, repository per package
monorepo tool | nx = nx | turborepo = turborepo, turbo.json | lerna = lerna | bazel = bazel | pants = pants build | rush = rush.js
monorepo tool choice | nx = nx | turborepo = turborepo, turbo.json | workspaces = npm workspaces, pnpm workspaces, yarn workspaces, cargo workspace, uv workspace | moon = moonrepo | buck = buck2
monorepo versions | locked = one version for all, lockstep versions, fixed versioning, same version for every package | independent = independent versions, versioned separately, own version per package
source layout | src = src layout, src/ directory, under src/ | flat = flat layout, package at the root, no src directory
shared code | package = shared package, internal library, published library | copied = copied between projects, copy-paste, duplicated code | submodule = git submodule, git subtree
large files in git | lfs = git lfs | plain = binaries committed directly, binaries in git | outside = dvc, kept outside git, artefacts in s3, git-annex
generated code | committed = generated code is committed, generated files checked in, commit the generated | built = generated at build time, generated files are gitignored, not committed generated, regenerated on build
build artefacts | committed = dist is committed, build output checked in, compiled assets committed | ignored = dist is gitignored, build output is not committed, artefacts never committed
build reproducibility | reproducible = reproducible builds, bit-for-bit, hermetic build, deterministic build | not = builds are not reproducible, timestamps embedded, non-deterministic build
build cache | on = build cache enabled, remote cache, cached builds, sccache, ccache | off = no build cache, clean build every time, build from scratch every time
build place | ci = built in ci, ci builds the release, artefacts from ci only | laptop = built on a laptop, built locally, developer builds the release
asset build | precompiled = assets precompiled, assets built ahead, prebuilt assets | on the fly = compiled on request, assets compiled at runtime
ci provider | github actions = github actions, .github/workflows, actions workflow | gitlab = gitlab ci, .gitlab-ci.yml | jenkins = jenkins, jenkinsfile | circleci = circleci, .circleci | travis = travis ci, .travis.yml | azure = azure pipelines, azure devops pipeline
ci provider choice | github actions = github actions, .github/workflows, actions workflow | gitlab = gitlab ci, .gitlab-ci.yml | buildkite = buildkite | drone = drone ci, woodpecker | teamcity = teamcity | bitbucket = bitbucket pipelines
ci provider product | github actions = github actions, .github/workflows, actions workflow | gitlab = gitlab ci, .gitlab-ci.yml | none = no ci, without ci, ci removed | bamboo = bamboo ci | forgejo = forgejo actions, gitea actions
ci runners | hosted = hosted runners, github-hosted, ubuntu-latest, cloud runners | self-hosted = self-hosted runners, own runners, runner on our server
ci trigger | every push = on every push, every commit, on push, each push | pull request = on pull requests only, on pull request, only for prs | nightly = nightly build, nightly run, scheduled at night | manual = workflow_dispatch only, started by hand in ci, manually triggered pipeline | main only = only on main, main branch only, after merging to main
slow tests | every commit = slow tests on every commit, full suite on each push, e2e on every pr | nightly = slow tests nightly, e2e nightly, full suite at night | before release = slow tests before release, e2e before a release | by hand = slow tests by hand, run slow tests manually
ci failures | block = red ci blocks, must be green, required checks, cannot merge on red, checks must pass, build must pass before merging | warn = ci is advisory, may merge on red, non-blocking checks, checks are optional, allow_failure, continue-on-error
flaky tests | retried = flaky tests are retried, rerun flaky, pytest-rerunfailures, retry failed tests | quarantined = quarantine flaky tests, quarantined, flaky tests skipped, marked flaky and skipped | fixed = fix flaky tests at once, flaky tests are bugs, no reruns, never rerun | deleted = delete flaky tests, flaky tests are removed
ci permissions | least = read-only github_token, least-privilege token, minimal ci permissions | broad = write-all permissions, admin token in ci, broad ci token
action pinning | sha = actions pinned to a sha, pin actions by commit, commit hash pinned actions | tag = actions pinned by tag, @v4, major tag of the action | branch = @main action, @master action
ci matrix | one version = one python version in ci, single version in ci, no matrix | several versions = test matrix, several versions in ci, matrix of versions
ci order | fail fast = fail-fast true, cancel on first failure, stop the matrix on failure | run all = fail-fast false, run the whole matrix, finish all jobs
ci path filter | affected only = only affected projects, path filters, changed packages only, nx affected | everything = everything is built every time, no path filters, run all jobs always
coverage gate | enforced = coverage must not drop, coverage threshold, minimum coverage, fail under, coverage gate | reported = coverage only reported, coverage is informational, no coverage threshold | none = coverage is not measured, no coverage
lint gate | blocks = lint errors fail the build, lint must pass, warnings as errors, zero warnings | warns = lint only warns, lint is advisory, lint warnings allowed | none = no linter, not linted
pre-commit hooks | required = pre-commit hooks required, hooks must be installed, husky runs on commit, pre-commit mandatory | optional = pre-commit hooks optional, hooks are optional, install hooks if you like | none = no git hooks, no pre-commit, hooks removed
hook tool | pre-commit = pre-commit framework, .pre-commit-config.yaml | husky = husky, lint-staged | lefthook = lefthook | own = core.hookspath, own git hooks
commit hook bypass | allowed = --no-verify is fine, may skip hooks, hooks can be bypassed | forbidden = never use --no-verify, never skip hooks, hooks must not be bypassed
default branch | main = main branch, default branch is main, branch called main | master = master branch, default branch is master | develop = develop branch is default, default branch is develop | trunk = branch called trunk
branching model | trunk = trunk-based, short-lived branches, everyone commits to main, trunk based development | gitflow = gitflow, git-flow, develop and release branches, develop branch | github flow = github flow, feature branches into main | forks = fork and pull, contributors fork, work from forks
direct push to main | allowed = push straight to main, push directly to main, commit directly to main, commits go straight to main, direct commits allowed, direct pushes allowed | forbidden = never push to main, no direct pushes, main is protected, protected branch, only through pull requests, must go through a pr, goes through a pull request, open a pull request, branch protection
merge style | squash = squash merge, squash and merge, squashed, one commit per pull request, squash before merging | merge commit = merge commit, merge commits, --no-ff, no fast-forward, keep every commit, preserve the branch history | rebase = rebase merge, rebase and merge, rebase onto main, fast-forward only, linear history, --ff-only
branch update | rebase = rebase your branch, git pull --rebase, rebase before pushing | merge = merge main into your branch, merge main in, no rebasing
force push | allowed = force push allowed, force-push is fine, may force-push, rewrite history freely | forbidden = never force push, no force-push, force pushes forbidden, do not rewrite history, history is never rewritten | own branches = force push only own branch, --force-with-lease, force-push feature branches only
branch after merge | deleted = delete the branch after merging, branches are deleted, auto-delete branches | kept = keep merged branches, branches are kept, do not delete branches
branch naming | ticket = branch named after the ticket, ticket id in the branch, jira key in the branch | type prefix = feature/ prefix, feat/ prefix, fix/ prefix, type prefix in branch names | user prefix = username prefix, initials in the branch | free = any branch name, no branch naming rule
merge automation | queue = merge queue, merge train, bors, mergify, mergequeue | auto = auto-merge, merged automatically once green | by hand = merged by hand, author presses merge, manual merge
who merges | author = author merges, authors merge their own, merge your own pr | reviewer = reviewer merges, reviewers merge | maintainer = maintainers merge, only maintainers merge, only the lead merges | bot = bot merges, merged by a bot
review before merge | required = review required, needs a review, needs an approval, must be reviewed, code review is mandatory, approval before merging, one approval, two approvals | not required = no review needed, merge without review, self-merge, reviews are optional, may merge without approval, merge your own without review | after = post-merge review, reviewed after merging, ship then review
number of approvals | one = one approval, one reviewer, a single approval, one approving review | two = two approvals, two reviewers, second approval, two approving reviews | none = zero approvals, no approvals required, without approval
stale approvals | dismissed = approvals dismissed on push, stale reviews dismissed, re-approval after changes | kept = approvals stay after push, approval survives new commits
who approves | code owners = code owners approve, codeowners, owning team approves | lead = tech lead approves, team lead signs off, lead must approve | anyone = anyone may approve, any team member approves, any reviewer | security = security team approves, security sign-off | manager = manager approves, product owner approves, cab approval, change advisory board
commit messages | conventional = conventional commits, feat:, fix:, commitlint | free = free-form commit messages, no commit convention, any commit message | ticket = ticket number in the commit, jira key in commits, issue id in the message | gitmoji = gitmoji, emoji commits | imperative = imperative subject line, plain imperative sentence
commit signing | required = signed commits required, commits must be signed, gpg-signed commits, verified commits only | not required = unsigned commits allowed, signing is optional, no commit signing
contributor agreement | cla = cla, contributor licence agreement, sign the cla | dco = dco, signed-off-by, sign-off | none = no cla, no agreement needed
commit granularity | small = atomic commits, small commits, one change per commit | large = one big commit, everything in one commit
pull request size | small = small pull requests, keep prs small, stacked prs | large = large prs are fine, one big pr
issue link | required = every pr links an issue, ticket required, must reference an issue | not required = no ticket needed, prs without an issue
issue tracker | github = github issues | jira = jira | linear = linear tickets | gitlab = gitlab issues | trello = trello | youtrack = youtrack
issue tracker choice | github = github issues | jira = jira | asana = asana | azure = azure boards | bugzilla = bugzilla | shortcut = shortcut stories
issue tracker product | github = github issues | jira = jira | notion = notion board | files = todo.md, issues in the repo
code host | github = hosted on github | gitlab = hosted on gitlab | bitbucket = hosted on bitbucket | gitea = gitea, forgejo, codeberg | azure = azure repos | sourcehut = sourcehut
code host choice | github = hosted on github | gitlab = hosted on gitlab | gerrit = gerrit
version control | git = git repository | mercurial = mercurial, hg repository | subversion = subversion, svn | perforce = perforce | jujutsu = jujutsu, jj repository
repository visibility | public = public repository, open source, repo is public, open-sourced | private = private repository, closed source, repo is private, proprietary code, internal repository
version scheme | semver = semver, semantic versioning, major.minor.patch | calver = calver, calendar versioning, year.month, date-based versions | zerover = zerover, 0.x forever | build number = build number, incrementing number, commit count version | sha = commit sha as version, git hash version
version source | tag = version from git tags, setuptools-scm, hatch-vcs, tag decides the version | file = version in pyproject.toml, version in package.json, __version__, version file, bumped by hand | tool = semantic-release, release-please, changesets, computed from commits
tag format | with v = v prefix, tags start with v, v1.2.3 | without v = no v prefix, tags without v, bare version tags
release trigger | automatic = released automatically, automatic release, semantic-release, release on merge | manual = released by hand, manual release, maintainer cuts the release, release by hand | tag = release on tag, pushing a tag releases, tag push publishes
release cadence | continuous = continuous releases, every merge is a release, several times a day | weekly = weekly release, released every week | biweekly = every two weeks, fortnightly release, each sprint | monthly = monthly release, released every month | quarterly = quarterly release, every quarter | when ready = when ready, no fixed schedule, release as needed
release cadence choice | continuous = continuous releases, every merge is a release, several times a day | weekly = weekly release, released every week | yearly = yearly release, once a year
release branch | cut = release branch, release/ branches, branch cut for the release | from main = released from main, tagged on main, no release branches
hotfix path | main first = fix on main then cherry-pick, cherry-picked to the release, fix lands on main first | branch first = hotfix branch from the tag, hotfix branch merged back, release branch fixed first
changelog | by hand = changelog written by hand, hand-written changelog, keep a changelog, edit changelog.md | generated = generated changelog, changelog from commits, auto-generated release notes, git-cliff | fragments = towncrier, news fragments, changesets files | none = no changelog, changelog is not kept
pre-releases | published = release candidates, beta releases, rc first, alpha versions published | none = no pre-releases, straight to final, no release candidates
package registry | pypi = pypi, published to pypi | npm = npmjs, published to npm | private = private package index, internal registry, artifactory, nexus repository | crates = crates.io | maven central = maven central, sonatype | github packages = github packages
package registry choice | pypi = pypi, published to pypi | npm = npmjs, published to npm | none = not published, never published, installed from git
package publishing auth | trusted = trusted publishing, oidc publishing, pypi trusted publisher | token = api token upload, pypi token, npm token | password = upload with a password
distribution form | wheel = wheel, wheels | source = sdist only, source distribution, built from source | binary = prebuilt binary, single executable, pyinstaller, standalone binary | container = shipped as a container, docker image only | installer = msi installer, dmg, deb package, rpm package
mobile distribution | stores = app store, play store, through the stores | side = sideloaded, apk download, enterprise distribution, testflight only
licence | mit = mit license, mit licence, mit-licensed | apache = apache 2.0, apache license | gpl = gpl, gplv3, gpl-3.0, gnu general public | agpl = agpl, agplv3, affero | lgpl = lgpl | bsd = bsd license, bsd-3-clause, bsd-2-clause
licence choice | mit = mit license, mit licence, mit-licensed | apache = apache 2.0, apache license | mpl = mpl 2.0, mozilla public license | proprietary = proprietary licence, all rights reserved, commercial licence, closed licence, no licence granted | bsl = business source license, busl, bsl 1.1 | unlicense = public domain, cc0, unlicense
licence product | mit = mit license, mit licence, mit-licensed | apache = apache 2.0, apache license | sspl = sspl | isc = isc license
licence of dependencies | permissive only = no gpl dependencies, permissive licences only, copyleft forbidden, gpl is not allowed | any = any licence, gpl dependencies are fine, copyleft allowed
licence headers | required = licence header in every file, spdx header required, copyright header required | none = no licence headers, no file headers
open source contributions | accepted = contributions welcome, accepts pull requests, outside contributions accepted | not accepted = contributions are not accepted, no outside pull requests, closed to contributions
support window | latest only = only the latest version, latest release only, no backports, old versions unsupported | lts = lts, long-term support, supported for years, extended support | two versions = last two versions, n-1 support, current and previous, two latest majors
backports | done = backported, fixes are backported, cherry-picked to older releases | not done = no backports, never backported, upgrade to get the fix
old release security fixes | yes = security fixes backported, old releases get security patches | no = security fixes only in latest, old releases get no patches
deprecation policy | warned = deprecated first, deprecation warning, deprecate before removing, one release of notice, deprecation period | removed at once = removed without notice, removed outright, no deprecation period, deleted immediately
compatibility promise | stable = backwards compatible, backward compatible, stable api, no breaking changes, old code keeps working, compatibility guaranteed | unstable = no compatibility promise, may break any time, experimental api, unstable api, not backwards compatible, breaks compatibility
compatibility shims | kept = compatibility shim, old name kept as alias, legacy path still works, fallback to the old format | dropped = no shims, no compatibility layer, old name removed, legacy path removed, clean break
old clients | supported = old clients supported, old app versions keep working, support previous app versions | forced = force upgrade, must update the app, old clients are rejected, minimum app version
minimum python | 3.8 = python 3.8, py38, 3.8+, 3.8 and up | 3.9 = python 3.9, py39, 3.9+, 3.9 and up | 3.10 = python 3.10, py310, 3.10+, 3.10 and up | 3.11 = python 3.11, py311, 3.11+, 3.11 and up | 3.12 = python 3.12, py312, 3.12+, 3.12 and up | 3.13 = python 3.13, py313, 3.13+, 3.13 and up
minimum python choice | 3.8 = python 3.8, py38, 3.8+, 3.8 and up | 3.9 = python 3.9, py39, 3.9+, 3.9 and up | 2.7 = python 2.7, python 2, py27
node version | 16 = node 16, node.js 16 | 18 = node 18, node.js 18 | 20 = node 20, node.js 20 | 22 = node 22, node.js 22 | 24 = node 24, node.js 24
java version | 8 = java 8, jdk 8, java 1.8 | 11 = java 11, jdk 11 | 17 = java 17, jdk 17 | 21 = java 21, jdk 21 | 25 = java 25, jdk 25
postgres version | 12 = postgres 12, postgresql 12 | 13 = postgres 13, postgresql 13 | 14 = postgres 14, postgresql 14 | 15 = postgres 15, postgresql 15 | 16 = postgres 16, postgresql 16 | 17 = postgres 17, postgresql 17
platform support | linux only = linux only, only runs on linux, no windows support, posix only | cross-platform = cross-platform, windows and linux, all platforms, runs on windows too, linux macos and windows | windows only = windows only, only on windows | macos only = macos only, mac only
browser support | evergreen = evergreen browsers, modern browsers only, last two versions of browsers, no ie | legacy = ie11, internet explorer, legacy browsers supported
offline use | works = works offline, offline-first, no internet needed, offline mode | needs network = needs internet, online only, requires a connection, no offline mode
on-call | rotation = on-call rotation, weekly rotation, on-call shifts, rota | dedicated = dedicated ops team, sre team is on call, operations handles incidents | none = no on-call, nobody is on call, best effort outside hours, business hours support only
on-call coverage | around the clock = 24/7, around the clock, follow the sun, day and night | business hours = office hours only, business hours only, weekdays only, nine to five
who runs services | builders = you build you run, team owns production, developers are on call | operations = ops team runs it, handed over to operations, separate operations team
incident review | blameless = blameless postmortem, postmortem for every incident, written postmortem | none = no postmortems, no incident review
hotfix approval | skips review = hotfixes skip review, emergency fixes without review, merge hotfix first | needs review = hotfixes need review, even hotfixes are reviewed
release approval | needed = release sign-off, qa sign-off, approval before release, product signs off | not needed = no sign-off needed, anyone can release, release without approval
who can deploy | anyone = anyone can deploy, every engineer can deploy, all developers deploy | few = only the release manager, only sre deploys, ops deploys, only leads deploy, only maintainers can deploy | pipeline = only the pipeline deploys, only ci deploys, no human deploys
change request | needed = change request needed, change ticket, cab approval | not needed = no change request, without a change ticket
architecture decisions | recorded = adr, architecture decision record, decisions written down, rfc first | unrecorded = no adrs, decisions made in chat, no rfc process
backend language | python = backend in python, python backend, fastapi, django, flask | go = backend in go, go backend, golang service, written in golang | java = java backend, spring boot | node = node backend, express server, nestjs | ruby = rails backend, ruby on rails | rust = rust backend, axum, actix
python web framework | django = django | fastapi = fastapi | flask = flask | starlette = starlette | tornado = tornado server | litestar = litestar
node web framework | express = express.js, expressjs, express server | fastify = fastify | nestjs = nestjs, nest.js | koa = koa | hono = hono | hapi = hapi
go web framework | standard = net/http, standard library router | gin = gin-gonic, gin framework | echo = echo framework, labstack echo | fiber = gofiber, fiber framework | chi = go-chi, chi router
python http client | requests = requests library, requests.get, requests.session | httpx = httpx | aiohttp = aiohttp | urllib = urllib only, urllib.request | urllib3 = urllib3 directly
python validation | pydantic = pydantic | marshmallow = marshmallow | attrs = attrs, cattrs | dataclasses = plain dataclasses, stdlib dataclasses | msgspec = msgspec
pydantic version | v1 = pydantic v1, pydantic 1 | v2 = pydantic v2, pydantic 2
sqlalchemy version | 1.4 = sqlalchemy 1.4, sqlalchemy 1 | 2.0 = sqlalchemy 2.0, sqlalchemy 2
postgres driver | psycopg2 = psycopg2 | psycopg3 = psycopg 3, psycopg3 | asyncpg = asyncpg | pg8000 = pg8000
node orm | prisma = prisma | typeorm = typeorm | sequelize = sequelize | drizzle = drizzle orm, drizzle | mikro = mikro-orm, mikroorm | knex = knex without an orm
column type for text | text = text columns, text type without limit | varchar = varchar(255), varchar with a limit
large text place | inline = stored inline in the row, in the row itself | external = body in object storage, only a key stored
deleted rows in queries | hidden = filtered out by default, default scope hides deleted, deleted rows are hidden | shown = deleted rows still show, deleted rows are included
updated at column | trigger = updated_at by trigger, database trigger sets updated_at | application = updated_at set in code, orm sets updated_at | none = no updated_at, no timestamps on rows
created by | recorded = created_by column, author recorded on each row | not recorded = no created_by, author is not recorded
bulk writes | batched = bulk insert, inserted in batches, copy command, executemany | single = row by row, one insert per row, single inserts
write conflict on insert | upsert = upsert, on conflict do update, insert or replace, merge into | ignore = on conflict do nothing, insert ignore, insert or ignore, skip duplicates | fail = fails on duplicate, duplicate key error, raises on conflict
reading missing rows | none = returns none, returns null when missing, optional result | raises = raises not found, raises doesnotexist, throws notfound, raises keyerror
empty result | empty list = returns an empty list, empty array, empty collection | null = returns null for no results, null instead of a list | error = 404 for an empty list, error when nothing found
default sort order | newest first = newest first, descending by date, latest at the top, most recent first | oldest first = oldest first, chronological, ascending by date | alphabetical = alphabetical order, sorted by name
list filters | query string = filters in the query string, query parameters filter | body = post a filter body, search endpoint with a body
api query language | simple = simple field filters, equality filters only | rich = odata, rsql, filter expression language
partial responses | supported = sparse fieldsets, fields parameter, choose fields | unsupported = full object always, no field selection
nested resources | embedded = embedded sub-resources, nested objects in the response, expanded relations | linked = links to related, ids of related only, hateoas links
hypermedia | yes = hateoas, hypermedia links, hal links | no = no hateoas, no hypermedia, plain json without links
api date of removal | sunset header = sunset header, deprecation header, announced sunset | silent = removed silently, no sunset notice
request id | accepted = x-request-id accepted, caller's request id is kept | generated = request id generated at edge, always a new request id
content negotiation | json only = json only, only application/json | several = accept header decides, content negotiation, json or xml
request size | limited = body size limit, maximum body size, client_max_body_size | unlimited = no body limit, unlimited upload size
api clock skew | tolerated = clock skew tolerated, leeway on exp | strict = no leeway, exact expiry check
api public docs | public = public api docs, docs open to everyone, swagger ui is public | private = docs behind login, swagger disabled in production, internal api docs
access token lifetime | short = short-lived access tokens, tokens expire in minutes, fifteen-minute tokens | long = long-lived tokens, tokens valid for months, non-expiring tokens, tokens never expire
token revocation | possible = tokens can be revoked, revocation list, denylist of tokens, logout revokes | impossible = tokens cannot be revoked, valid until expiry, no revocation
logout scope | everywhere = logs out everywhere, all sessions end, global logout | this device = logs out this device only, only the current session ends
password change effect | ends sessions = password change ends sessions, logged out after password change | keeps sessions = sessions survive a password change, logged in after password change
remember me | offered = remember me, stay signed in checkbox | not offered = no remember me, remember me removed
username | email = email is the username, log in with email, email as login | handle = separate username, log in with a username, unique handle | phone = log in with phone number, phone is the login
email change | confirmed = confirm new email, email change needs confirmation | immediate = email changes immediately, no confirmation of new email
role assignment | one = one role per user, single role, exactly one role | several = several roles per user, multiple roles
permission granularity | coarse = admin or user only, two roles only, coarse roles | fine = fine-grained permissions, per-action permissions, granular permissions
permission source | token = permissions in the token, scopes in the jwt, claims carry roles | lookup = permissions looked up, roles read from the database, permission service
service accounts | own = service account per service, own identity per service | shared = shared service account, one service account for all
shared accounts | forbidden = no shared accounts, personal accounts only, never share logins | used = shared login, team account, shared admin account
root account use | forbidden = root account is never used, no root login, permitrootlogin no | allowed = root login allowed, ssh as root
ssh authentication | keys = ssh keys only, passwordauthentication no, key-based ssh | passwords = ssh with a password, password ssh allowed | certificates = ssh certificates, signed ssh keys
sudo | passwordless = passwordless sudo, nopasswd | password = sudo asks for a password | none = no sudo
firewall default | drop = default drop, all ports closed, only 443 open | accept = default accept, all ports open, firewall off
waf | on = waf enabled, behind a waf, aws waf, cloudflare waf | off = no waf, waf disabled
selinux | enforcing = selinux enforcing | permissive = selinux permissive | disabled = selinux disabled
sandboxing | sandboxed = sandboxed, gvisor, firecracker, runs in a sandbox, seccomp | not = unsandboxed, no sandbox, full host access
debug mode in production | off = debug false, debug off in production, no debug in production | on = debug true in production, debug mode in production
admin interface | exposed = admin panel public, /admin reachable from the internet | restricted = admin panel behind vpn, admin only from the office, admin on internal host
penetration tests | done = annual pentest, external penetration test, pentested | none = no pentest, never pentested
security reports | private = report vulnerabilities privately, security@, security advisory, responsible disclosure | public = report vulnerabilities as issues, public issue for security bugs
bug bounty | yes = bug bounty, hackerone, bugcrowd | no = no bug bounty
sbom | produced = sbom generated, cyclonedx, spdx sbom | none = no sbom
artefact signing | signed = signed releases, cosign, sigstore, gpg-signed artefacts | unsigned = unsigned releases, artefacts are not signed
code signing | signed = code-signed, notarized, signed installer | unsigned = not code-signed, unsigned installer
random source | secure = secrets module, csprng, cryptographically secure random, os.urandom | plain = random module for tokens, math.random, non-cryptographic random
hash function | sha-256 = sha-256, sha256 | md5 = md5 | blake = blake2, blake3 | sha-1 = sha-1, sha1 | xxhash = xxhash | sha-512 = sha-512, sha512
symmetric cipher | aes gcm = aes-gcm, aes-256-gcm | aes cbc = aes-cbc | chacha = chacha20, xchacha20 | fernet = fernet
queue priority | priority = priority queue, urgent jobs first, separate high-priority queue | none = single queue for all, no priorities, first come first served
job results | kept = job results are stored, result backend | discarded = ignore_result, job results are discarded, no result backend
job timeout | set = job time limit, soft_time_limit, killed after a timeout | none = jobs run without limit, no job timeout
job payload | ids = pass ids to jobs, only ids in job arguments | objects = pass whole objects, pickled objects in jobs
job enqueue time | after commit = enqueued after commit, on_commit, after_commit | in transaction = enqueued inside the transaction, before commit
worker deployment | separate = separate worker process, dedicated worker pods, worker container | in web = runs inside the web process, thread in the web server
shutdown | graceful = graceful shutdown, drains connections, finishes in-flight, handles sigterm | abrupt = killed immediately, kill -9, no drain, sigkill
restart policy | always = restarts automatically, restart always, restarted on crash | never = restart never, stays down, not restarted
liveness | probed = liveness probe, livenessprobe | none = no liveness probe, liveness removed
process priority | low = nice 19, low priority process, idle priority | normal = normal priority process
resource requests | set = resource requests set, cpu requests, guaranteed qos | none = no resource requests, best-effort qos
cpu limits | set = cpu limits set, cpu is capped | none = no cpu limits, without cpu limits, cpu limit removed
cluster count | one = one cluster, single cluster, shared cluster | several = cluster per environment, several clusters, separate clusters
namespace layout | per team = namespace per team | per app = namespace per app, namespace per service | shared = one namespace, default namespace
cloud accounts | one = one aws account, single account | per environment = account per environment, separate production account | per team = account per team
node pool | dedicated = dedicated nodes, own node pool, tainted nodes | shared = shared nodes, any node
gpu use | gpu = gpu required, runs on gpu, cuda | cpu = cpu only, no gpu, without a gpu
model hosting | api = hosted model api, openai api, anthropic api | local = local model, self-hosted model, ollama, vllm, runs the model locally | none = no model, without an llm, no llm calls
model training place | in house = trained in house, fine-tuned ourselves | vendor = vendor model as is, no fine-tuning
deploy artefact | image = docker image, container image, oci image | package = deb package, rpm, wheel deployed | source = git pull on the server, deployed from source, rsync | jar = fat jar, war file
deploy tool | helm = helm upgrade | ansible = ansible-playbook deploy | capistrano = capistrano | kamal = kamal | script = deploy.sh, deploy script, fabric script | spinnaker = spinnaker
gitops tool | argo = argo cd, argocd | flux = flux cd, fluxcd | fleet = rancher fleet
config repository | same = manifests in the app repo, deploy config beside the code | separate = separate deploy repo, separate config repository, gitops repository
environment promotion | promote = promote the same image, promoted through environments | rebuild = rebuilt for production, fresh build per stage
production branch | main = main is production, production deploys from main | release = production branch, deploys from release branch | tag = production deploys from tags
test in production | yes = test in production, smoke test in production | no = never test in production, no tests against production
load tests | regular = load tested before release, regular load tests, k6 in the pipeline | none = no load tests, never load tested
chaos tests | done = chaos engineering, chaos monkey, game days | none = no chaos testing
seeding | automatic = seeded automatically, seed on startup | by hand = seed by hand, run the seed script | none = no seed data
maintenance mode | read only = read-only during maintenance, read-only mode | offline = site offline during maintenance, 503 maintenance page | none = stays up during maintenance
cost model | fixed = flat rate, fixed price, per month flat | usage = usage-based, metered, pay per use | seats = per seat, per user pricing
free tier | exists = free tier, free plan, freemium | none = no free tier, paid only, no free plan
trial | card first = card required for trial, credit card up front | no card = no credit card needed, trial without a card | none = no trial
billing period | monthly = billed monthly, monthly billing | yearly = billed annually, annual billing
proration | prorated = prorated, pro rata, proration | full = no proration, full period charged
refunds | automatic = refunded automatically, automatic refunds | approved = refunds need approval, support approves refunds, manual refunds | none = no refunds, non-refundable
stock check | reserved at cart = reserved in the cart, stock held in cart | at payment = stock checked at payment, reserved at checkout | overselling = overselling allowed, backorders
numbering of invoices | gapless = gapless invoice numbers, consecutive invoice numbers | gaps = gaps allowed in invoice numbers, random invoice numbers
rendering | server = server-side rendering, ssr, server-rendered | client = client-side rendering, spa, single-page app | static = static site generation, ssg, prerendered
frontend framework | react = react app, react components, react frontend, next.js, remix.run | vue = vue, nuxt | svelte = svelte, sveltekit | angular = angular | htmx = htmx, server-rendered templates | solid = solidjs
user content storage | raw = stored as entered, raw input stored, sanitised on output | sanitised = sanitised before storing, cleaned on input
import of duplicates | update = existing records updated, duplicates update | skip = existing records skipped, duplicates skipped | error = duplicates rejected, import fails on duplicates
file name handling | original = original file name kept, uploaded name kept | random = random file names, renamed to a uuid, content-addressed
content addressing | hash = content-addressed, addressed by hash, stored under its hash | name = addressed by name, stored under its name
file writes | atomic = atomic write, temp file and rename, os.replace, write then rename | in place = written in place, overwritten directly, truncate and write
symbolic links | followed = follows symlinks, symlinks are followed | ignored = symlinks are not followed, symlinks are skipped, refuses symlinks
hidden files | included = dotfiles included, hidden files are scanned | skipped = dotfiles skipped, hidden files ignored
gitignore respect | respected = respects .gitignore, gitignored files are skipped | ignored = ignores .gitignore, gitignored files are scanned
directory walk | recursive = walks recursively, walks subdirectories | flat = not recursive, top level only, no subdirectories
existing output | overwrite = overwrites existing output, overwritten without asking | refuse = refuses to overwrite, fails if the file exists, --force to overwrite | append = appends to existing output | ask = asks before overwriting
confirmation | asked = asks for confirmation, prompts before, confirm first, are you sure | skipped = without confirmation, no prompt, --yes, non-interactive
dry run default | dry = dry run by default, --apply to change, nothing changes without --apply | real = applies by default, --dry-run to preview
exit code on findings | non-zero = exits non-zero, exit code 1 on findings, fails with findings | zero = exits zero, exit 0 even with findings, always exit 0
cli output | human = human-readable output, table output by default | json = json output by default, machine-readable output
cli output stream | stdout = results on stdout, output to stdout | stderr = messages on stderr, output to stderr
colour output | auto = colour when a tty, auto-detect colour | always = always coloured, force colour | never = no colour, colour disabled
python cli library | argparse = argparse | click = click library, click commands | typer = typer | fire = python-fire | docopt = docopt
test runner in python | pytest = pytest | unittest = unittest, stdlib unittest | nose = nosetests
javascript test runner | jest = jest | vitest = vitest | mocha = mocha | node = node:test, node test runner | karma = karma runner | ava = ava runner
end-to-end tool | playwright = playwright | cypress = cypress | selenium = selenium, webdriver | puppeteer = puppeteer
python formatter | black = formatted with black, black formatter | ruff = ruff format | yapf = yapf | autopep8 = autopep8 | none = no formatter
python linter | ruff = ruff check, linted with ruff | flake8 = flake8 | pylint = pylint | none = no python linter
python type checker | mypy = mypy | pyright = pyright, basedpyright | pyre = pyre | ty = ty check | none = no type checker
javascript linter | eslint = eslint | biome = biome lint | oxlint = oxlint | standard = standardjs | tslint = tslint
javascript formatter | prettier = prettier | biome = biome format | dprint = dprint
documentation tool | sphinx = sphinx, readthedocs | mkdocs = mkdocs | docusaurus = docusaurus | vitepress = vitepress | mdbook = mdbook | antora = antora
documentation place | repository = docs in the repo, docs/ folder, docs next to the code | wiki = wiki, confluence, notion docs | site = separate docs site, separate docs repository
runbooks | written = runbook for every alert, runbooks in the repo | none = no runbooks
secrets scanning | on = gitleaks, trufflehog, secret scanning enabled, detect-secrets | off = no secret scanning
access review | regular = quarterly access review, access reviewed regularly | none = no access review, access never reviewed
offboarding | automatic = access removed automatically, scim deprovisioning | manual = access removed by hand, offboarding checklist
developer machines | managed = managed laptops, mdm, company laptops only | own = byod, own devices, personal laptops allowed
ai generated code | allowed = ai-generated code allowed, copilot allowed, agents may commit | reviewed = ai code must be reviewed, agent changes need human review | forbidden = no ai-generated code, copilot forbidden, agents may not commit
agent permissions | free = agent may run anything, agents run without asking, auto-approve commands | asks = agent asks before, ask before running commands, confirm each command | read only = agent is read-only, agents may only read
"""

OPPOSITES = """\
allow ~ forbid
allow ~ deny
allow ~ block
allow ~ prohibit
allow ~ disallow
allowed ~ not allowed
permit ~ forbid
permit ~ prohibit
permitted ~ banned
grant ~ revoke
grant ~ deny
authorise ~ refuse
accept ~ reject
accept ~ refuse
accept ~ decline
approve ~ reject
approve ~ veto
enable ~ disable
enabled ~ disabled
enabled by default ~ disabled by default
on by default ~ off by default
turn on ~ turn off
turned on ~ turned off
switch on ~ switch off
switched on ~ switched off
activate ~ deactivate
active ~ inactive
active ~ retired
activate ~ suspend
required ~ optional
mandatory ~ optional
mandatory ~ voluntary
compulsory ~ optional
obligatory ~ optional
must ~ must not
must ~ need not
always ~ never
always ~ only sometimes
every time ~ only once
everyone ~ nobody
everyone ~ only admins
anyone ~ no one
anyone ~ only maintainers
all of them ~ none of them
all users ~ selected users
everywhere ~ nowhere
everything ~ nothing
opt in ~ opt out
include ~ exclude
included ~ left out
include ~ omit
inclusive ~ exclusive
with ~ without
add ~ remove
added ~ removed
create ~ delete
insert ~ delete
keep ~ drop
keep ~ delete
keep ~ remove
keep ~ discard
keep ~ throw away
keep ~ replace
kept ~ deleted
retain ~ purge
retain ~ discard
retain ~ delete
preserve ~ discard
preserve ~ overwrite
preserve ~ strip
save ~ discard
store ~ discard
persist ~ discard
persisted ~ kept in memory only
persistent ~ ephemeral
persistent ~ transient
persistent ~ temporary
durable ~ volatile
durable ~ ephemeral
permanent ~ temporary
long-lived ~ short-lived
long-lived ~ ephemeral
permanent ~ provisional
forever ~ for a limited time
indefinitely ~ until expiry
expires ~ never expires
block ~ warn
fail the build ~ only warn
error ~ warning
raise ~ swallow
raise ~ return none
raise ~ ignore
throw ~ return an error
crash ~ carry on
abort ~ continue
stop ~ continue
halt ~ proceed
stop on error ~ continue on error
fail fast ~ keep going
fail open ~ fail closed
fail loudly ~ fail silently
loud ~ silent
surface ~ hide
report ~ suppress
report ~ ignore
log ~ suppress
handle ~ ignore
handled ~ unhandled
caught ~ uncaught
retry ~ give up
retry ~ fail immediately
retry ~ never retry
retried ~ not retried
backs off ~ retries immediately
bounded ~ unbounded
limited ~ unlimited
capped ~ uncapped
throttled ~ unthrottled
rate limited ~ not rate limited
restricted ~ unrestricted
finite ~ infinite
fixed ~ variable
fixed ~ configurable
fixed ~ dynamic
fixed ~ floating
hard-coded ~ configurable
hard-coded ~ read from config
constant ~ variable
static ~ dynamic
statically ~ dynamically
static ~ generated
eager ~ lazy
eagerly ~ lazily
at startup ~ on first use
at startup ~ on demand
at boot ~ lazily
up front ~ on demand
ahead of time ~ just in time
ahead of time ~ at runtime
precomputed ~ computed on the fly
precomputed ~ calculated on read
compile time ~ runtime
build time ~ runtime
at build ~ at runtime
on write ~ on read
at write time ~ at read time
mutable ~ immutable
changeable ~ frozen
editable ~ read-only
writable ~ read-only
read-write ~ read-only
read-only ~ write access
frozen ~ open for changes
locked ~ unlocked
sealed ~ open
append-only ~ updated in place
append ~ overwrite
append ~ prepend
append ~ replace
overwrite ~ skip existing
overwrite ~ refuse if exists
overwrite ~ merge
merge ~ replace
merge ~ keep separate
patch ~ replace
nightly ~ on every push
nightly ~ on every commit
nightly ~ on demand
nightly ~ hourly
nightly ~ weekly
daily ~ weekly
daily ~ hourly
daily ~ monthly
weekly ~ monthly
weekly ~ hourly
monthly ~ quarterly
quarterly ~ yearly
hourly ~ every minute
on a schedule ~ on demand
on a schedule ~ on every push
scheduled ~ event-driven
periodic ~ one-off
recurring ~ one-time
once ~ repeatedly
once ~ every time
once per session ~ on every request
per request ~ per session
per request ~ at startup
per commit ~ per release
per pull request ~ after merge
before merge ~ after merge
before ~ after
before release ~ after release
before deploy ~ after deploy
pre-deploy ~ post-deploy
first ~ last
earliest ~ latest
oldest ~ newest
oldest first ~ newest first
ascending ~ descending
increasing ~ decreasing
increase ~ decrease
grow ~ shrink
raise the limit ~ lower the limit
upward ~ downward
upgrade ~ downgrade
upgrade ~ stay on
bump ~ hold back
forward ~ backward
roll forward ~ roll back
roll out ~ roll back
forwards compatible ~ backwards compatible
backwards compatible ~ breaking
non-breaking ~ breaking
stable ~ unstable
stable ~ experimental
stable ~ nightly build
stable ~ beta
released ~ unreleased
released ~ work in progress
published ~ unpublished
published ~ draft
final ~ draft
finished ~ in progress
done ~ not started
complete ~ incomplete
completed ~ pending
resolved ~ unresolved
fixed ~ still broken
works ~ broken
works ~ fails
passing ~ failing
passes ~ fails
green ~ red
succeeds ~ fails
success ~ failure
healthy ~ unhealthy
up ~ down
available ~ unavailable
reachable ~ unreachable
online ~ offline
connected ~ disconnected
connected ~ air-gapped
public ~ internal
public ~ private
publicly reachable ~ internal only
internet-facing ~ behind the vpn
exposed ~ hidden
visible ~ hidden
visible ~ invisible
shown ~ hidden
show ~ hide
display ~ hide
reveal ~ mask
plain ~ masked
plain ~ redacted
plain ~ encrypted
plaintext ~ encrypted
plaintext ~ hashed
cleartext ~ ciphertext
encrypted ~ unencrypted
signed ~ unsigned
verified ~ unverified
verify ~ skip verification
validated ~ unvalidated
validate ~ trust
checked ~ unchecked
check ~ skip
trusted ~ untrusted
authenticated ~ anonymous
authenticated ~ unauthenticated
logged in ~ guest
signed in ~ signed out
internal ~ external
in-house ~ third-party
in-house ~ outsourced
home-grown ~ off-the-shelf
built ourselves ~ bought
build ~ buy
own implementation ~ library
custom ~ standard
custom ~ default
standard library ~ third-party
open source ~ proprietary
open source ~ closed source
free ~ paid
free ~ charged
free ~ subscription
included in the price ~ charged extra
blocking ~ non-blocking
blocking ~ advisory
blocking ~ informational
binding ~ advisory
enforced ~ advisory
enforced ~ not enforced
enforced ~ recommended
enforce ~ suggest
required ~ recommended
required ~ discouraged
required ~ forbidden
required ~ not needed
needed ~ unnecessary
necessary ~ unnecessary
recommended ~ discouraged
preferred ~ avoided
prefer ~ avoid
use ~ avoid
use ~ do not use
use ~ stop using
in use ~ unused
used ~ no longer used
adopt ~ abandon
adopt ~ drop
introduce ~ phase out
introduce ~ retire
supported ~ unsupported
supported ~ deprecated
supported ~ end of life
supported ~ no longer supported
maintained ~ abandoned
maintained ~ unmaintained
current ~ obsolete
current ~ legacy
current ~ former
up to date ~ outdated
fresh ~ stale
live ~ cached
live ~ archived
live data ~ snapshot
archive ~ restore
archive ~ delete
soft delete ~ hard delete
reversible ~ irreversible
undoable ~ final
recoverable ~ unrecoverable
restorable ~ gone for good
synchronous ~ asynchronous
synchronously ~ asynchronously
sync ~ async
in the foreground ~ in the background
inline ~ in the background
inline ~ queued
immediately ~ later
immediately ~ after a delay
immediate ~ deferred
immediate ~ delayed
instant ~ scheduled
real time ~ batch
real time ~ nightly
streaming ~ batch
streaming ~ buffered
streamed ~ loaded into memory
buffered ~ unbuffered
buffered ~ flushed immediately
sequential ~ parallel
sequentially ~ in parallel
serial ~ parallel
one at a time ~ concurrently
one at a time ~ all at once
one by one ~ in bulk
individually ~ in batches
single-threaded ~ multithreaded
single-threaded ~ multi-threaded
thread-safe ~ not thread-safe
shared ~ per tenant
shared ~ dedicated
shared ~ isolated
shared ~ separate
shared ~ exclusive
shared ~ per user
shared ~ private
shared ~ own
common ~ separate
global ~ local
global ~ per user
global ~ per project
global ~ scoped
system-wide ~ per user
site-wide ~ per page
central ~ local
centralised ~ decentralised
centralised ~ distributed
centralised ~ per team
single ~ multiple
single ~ several
one ~ many
one ~ several
only one ~ more than one
unique ~ duplicated
unique ~ may repeat
deduplicated ~ duplicates kept
together ~ separately
joint ~ separate
combined ~ split
combine ~ split
join ~ split
merged ~ kept apart
bundled ~ separate
bundled ~ installed separately
embedded ~ referenced
embedded ~ standalone
embedded ~ external
inlined ~ linked
nested ~ flat
hierarchical ~ flat
tree ~ flat list
monolith ~ microservices
monorepo ~ polyrepo
monorepo ~ separate repositories
coupled ~ decoupled
tightly coupled ~ loosely coupled
attached ~ detached
attach ~ detach
install ~ uninstall
installed ~ not installed
open ~ closed
open ~ restricted
open ~ invite only
opened ~ closed
reopen ~ close
start ~ stop
launch ~ shut down
pause ~ resume
suspend ~ resume
subscribe ~ unsubscribe
register ~ unregister
enrol ~ withdraw
push ~ pull
push ~ poll
pushed ~ polled
webhook ~ polling
publish ~ withhold
client-side ~ server-side
in the browser ~ on the server
upstream ~ downstream
inbound ~ outbound
ingress ~ egress
incoming ~ outgoing
local ~ remote
locally ~ remotely
local ~ in the cloud
on premises ~ in the cloud
on-prem ~ cloud
self-hosted ~ managed
self-hosted ~ saas
self-managed ~ fully managed
managed ~ unmanaged
hosted ~ self-hosted
on the host ~ in a container
bare metal ~ virtualised
containerised ~ native
stateless ~ stateful
strict ~ lenient
strict ~ tolerant
strict ~ permissive
strict ~ loose
strict ~ best effort
strictly ~ loosely
rigid ~ flexible
exact ~ approximate
exact ~ fuzzy
exact ~ rounded
exact match ~ prefix match
precise ~ approximate
precise ~ estimated
rounded ~ truncated
round up ~ round down
guaranteed ~ best effort
guaranteed ~ not guaranteed
promised ~ not guaranteed
consistent ~ inconsistent
strongly consistent ~ eventually consistent
atomic ~ non-atomic
atomic ~ partial
all or nothing ~ partial success
transactional ~ non-transactional
committed ~ rolled back
committed ~ uncommitted
committed ~ gitignored
checked in ~ gitignored
checked in ~ generated
tracked ~ ignored
tracked ~ untracked
in version control ~ outside version control
pinned ~ floating
pinned ~ latest
pinned ~ unpinned
locked version ~ version range
vendored ~ downloaded
vendored ~ fetched from the registry
idempotent ~ not idempotent
deterministic ~ random
deterministic ~ non-deterministic
deterministic ~ flaky
predictable ~ random
reproducible ~ not reproducible
seeded ~ unseeded
reliable ~ flaky
reliable ~ unreliable
ordered ~ unordered
sorted ~ unsorted
in order ~ out of order
fifo ~ lifo
breadth first ~ depth first
top ~ bottom
top-down ~ bottom-up
left ~ right
left-to-right ~ right-to-left
horizontal ~ vertical
horizontally ~ vertically
scale out ~ scale up
scale up ~ scale down
minimum ~ maximum
at least ~ at most
lower bound ~ upper bound
more than ~ less than
higher ~ lower
high priority ~ low priority
urgent ~ can wait
major ~ minor
critical ~ negligible
important ~ unimportant
large ~ small
long ~ short
verbose ~ quiet
verbose ~ terse
detailed ~ brief
detailed ~ summary only
full ~ partial
full ~ incremental
full ~ delta
full ~ abbreviated
full rebuild ~ incremental build
from scratch ~ incrementally
from scratch ~ reused
clean ~ incremental
whole ~ part
entire ~ subset
complete ~ sampled
every request ~ sampled
sampled ~ unsampled
cached ~ uncached
cached ~ always fetched
cached ~ recomputed
cache ~ bypass
warm ~ cold
hot ~ cold
preloaded ~ loaded on demand
prefetch ~ fetch on demand
compressed ~ uncompressed
minified ~ unminified
optimised ~ unoptimised
debug build ~ release build
development ~ production
staging ~ production
test mode ~ live mode
sandbox ~ production
dry run ~ real run
simulated ~ real
mocked ~ real
mock ~ real service
fake ~ real
stubbed ~ real
synthetic ~ real data
in memory ~ on disk
in memory ~ in the database
in-process ~ out of process
in-process ~ separate process
on disk ~ in the database
in the database ~ in a file
in code ~ in config
in code ~ in the database
in the repository ~ outside the repository
as code ~ by hand
declarative ~ imperative
functional ~ object-oriented
inheritance ~ composition
class-based ~ function-based
typed ~ untyped
strongly typed ~ weakly typed
statically typed ~ dynamically typed
nullable ~ not null
nullable ~ non-nullable
may be null ~ never null
may be empty ~ must not be empty
empty ~ populated
blank ~ filled in
present ~ absent
exists ~ does not exist
defined ~ undefined
set ~ unset
known ~ unknown
explicit ~ implicit
explicitly ~ implicitly
explicit ~ inferred
explicit ~ magic
named ~ anonymous
named ~ positional
keyword arguments ~ positional arguments
absolute ~ relative
absolute path ~ relative path
absolute imports ~ relative imports
direct ~ indirect
directly ~ through a proxy
directly ~ via a queue
directly to main ~ through a pull request
push to main ~ open a pull request
reviewed ~ unreviewed
review required ~ no review
needs approval ~ no approval needed
with approval ~ without approval
ask first ~ go ahead
ask before ~ without asking
confirm first ~ without confirmation
prompt ~ assume yes
interactive ~ non-interactive
interactive ~ unattended
attended ~ unattended
manual ~ automatic
manual ~ automated
manually ~ automatically
by hand ~ automatically
by hand ~ by script
by hand ~ generated
hand-written ~ generated
handwritten ~ auto-generated
human ~ bot
by a person ~ by the pipeline
from ci ~ from a laptop
in ci ~ locally
squash ~ merge commit
squash ~ rebase
squash ~ keep every commit
rebase ~ merge
rebase ~ merge commit
linear history ~ merge commits
force push ~ never force push
rewrite history ~ never rewrite history
trunk-based ~ gitflow
short-lived branches ~ long-lived branches
protected ~ unprotected
protected ~ open to direct pushes
tabs ~ spaces
single quotes ~ double quotes
semicolons ~ no semicolons
snake case ~ camel case
uppercase ~ lowercase
upper case ~ lower case
case-sensitive ~ case-insensitive
singular ~ plural
leading ~ trailing
zero-based ~ one-based
signed integer ~ unsigned integer
integer ~ float
decimal ~ float
integer ~ string
text ~ binary
structured ~ unstructured
structured ~ free-form
schema ~ schemaless
normalised ~ denormalised
relational ~ document
sql ~ nosql
rest ~ graphql
soft limit ~ hard limit
soft fail ~ hard fail
graceful ~ abrupt
gracefully ~ immediately
wait ~ do not wait
wait for ~ proceed without
wait ~ time out
waits forever ~ times out
with a timeout ~ without a timeout
primary ~ secondary
primary ~ replica
active-active ~ active-passive
single region ~ multi-region
single-tenant ~ multi-tenant
redundant ~ single point of failure
replicated ~ single copy
backed up ~ not backed up
monitored ~ unmonitored
alert ~ stay silent
page ~ only notify
notify ~ stay silent
notified ~ not told
documented ~ undocumented
tested ~ untested
covered by tests ~ untested
tests first ~ tests later
run tests ~ skip tests
skip ~ run
skip ~ process
execute ~ skip
apply ~ skip
apply ~ revert
commit ~ revert
revert ~ keep
merge ~ hold
ship ~ hold back
release ~ postpone
go ahead ~ postpone
now ~ later
today ~ next quarter
this release ~ next release
short term ~ long term
early ~ late
in advance ~ afterwards
prior notice ~ without notice
with warning ~ without warning
deprecate ~ remove outright
deprecate ~ keep supporting
rename ~ keep the name
move ~ leave in place
copy ~ move
copy ~ link
copy ~ reference
by value ~ by reference
hard link ~ symbolic link
symlink ~ copy
static linking ~ dynamic linking
root ~ unprivileged
as root ~ as a normal user
privileged ~ unprivileged
admin ~ regular user
superuser ~ normal user
least privilege ~ full access
full access ~ read-only access
full access ~ no access
deny by default ~ allow by default
allowlist ~ blocklist
whitelist ~ blacklist
opt-in ~ mandatory
default ~ opt-in
rotated ~ never rotated
expiring ~ permanent
single-use ~ reusable
reusable ~ disposable
reuse ~ recreate
reuse ~ start fresh
recycle ~ dispose
refresh ~ keep the old
restart ~ reload
hot reload ~ restart required
without restart ~ restart required
zero downtime ~ maintenance window
no downtime ~ downtime
canary ~ all at once
gradually ~ all at once
phased ~ big bang
step by step ~ in one go
incremental ~ big bang
internal api ~ public api
supported api ~ private api
versioned ~ unversioned
paginated ~ returned in full
cursor ~ offset
wrapped ~ bare
escaped ~ raw
sanitised ~ raw
raw ~ processed
raw ~ parsed
raw ~ cooked
filtered ~ unfiltered
truncated ~ in full
shortened ~ verbatim
verbatim ~ paraphrased
verbatim ~ normalised
as is ~ converted
unchanged ~ modified
unmodified ~ patched
stock ~ forked
upstream version ~ fork
original ~ copy
source of truth ~ derived copy
authoritative ~ derived
canonical ~ alias
utc ~ local time
server time ~ client time
wall clock ~ monotonic
gross ~ net
tax included ~ tax excluded
inclusive of tax ~ exclusive of tax
prepaid ~ postpaid
monthly billing ~ annual billing
refundable ~ non-refundable
capture immediately ~ capture later
charge at order ~ charge on delivery
light ~ dark
light mode ~ dark mode
portrait ~ landscape
wide ~ narrow
expanded ~ collapsed
expand ~ collapse
opened in a new tab ~ opened in the same tab
server rendered ~ client rendered
single page ~ multi-page
linux only ~ cross-platform
one platform ~ cross-platform
portable ~ platform-specific
vendor-neutral ~ vendor-specific
cloud-agnostic ~ tied to one cloud
generic ~ specific
generic ~ specialised
general purpose ~ special purpose
simple ~ complex
minimal ~ comprehensive
conservative ~ aggressive
pessimistic ~ optimistic
safe ~ unsafe
secure ~ insecure
harmless ~ dangerous
valid ~ invalid
true ~ false
yes ~ no
correct ~ wrong
legal ~ illegal
compliant ~ non-compliant
eligible ~ ineligible
transitive ~ direct only
recursive ~ iterative
recursive ~ top level only
symmetric ~ asymmetric
one-way ~ two-way
one-way ~ bidirectional
unidirectional ~ bidirectional
half duplex ~ full duplex
positive ~ negative
accumulate ~ reset
increment ~ decrement
consumed ~ left over
code freeze ~ merges open
hide behind a flag ~ ship to everyone
behind a flag ~ for everyone
beta users only ~ everyone
internal users only ~ all customers
employees only ~ customers too
owner only ~ anyone
author merges ~ reviewer merges
on call ~ off duty
around the clock ~ business hours only
weekdays ~ weekends
working days ~ calendar days
business days ~ calendar days
daytime ~ at night
"""
