"""Words and phrases of which a thing can be only one: `one ~ other; one ~ other`."""

PAIRS = """\
allow ~ forbid; allow ~ deny; allow ~ block; allow ~ prohibit; allow ~ disallow; allowed ~ not allowed
permit ~ forbid; permit ~ prohibit; permitted ~ banned; grant ~ revoke; grant ~ deny; authorise ~ refuse
accept ~ reject; accept ~ refuse; accept ~ decline; approve ~ reject; approve ~ veto; enable ~ disable
enabled ~ disabled; enabled by default ~ disabled by default; on by default ~ off by default
turn on ~ turn off; turned on ~ turned off; switch on ~ switch off; switched on ~ switched off
activate ~ deactivate; active ~ inactive; active ~ retired; activate ~ suspend; required ~ optional
mandatory ~ optional; mandatory ~ voluntary; compulsory ~ optional; obligatory ~ optional; must ~ must not
must ~ need not; always ~ never; always ~ only sometimes; every time ~ only once; everyone ~ nobody
everyone ~ only admins; anyone ~ no one; anyone ~ only maintainers; all of them ~ none of them
all users ~ selected users; everywhere ~ nowhere; everything ~ nothing; opt in ~ opt out; include ~ exclude
included ~ left out; include ~ omit; inclusive ~ exclusive; with ~ without; add ~ remove; added ~ removed
create ~ delete; insert ~ delete; keep ~ drop; keep ~ delete; keep ~ remove; keep ~ discard
keep ~ throw away; keep ~ replace; kept ~ deleted; retain ~ purge; retain ~ discard; retain ~ delete
preserve ~ discard; preserve ~ overwrite; preserve ~ strip; save ~ discard; store ~ discard
persist ~ discard; persisted ~ kept in memory only; persistent ~ ephemeral; persistent ~ transient
persistent ~ temporary; durable ~ volatile; durable ~ ephemeral; permanent ~ temporary
long-lived ~ short-lived; long-lived ~ ephemeral; permanent ~ provisional; forever ~ for a limited time
indefinitely ~ until expiry; expires ~ never expires; block ~ warn; fail the build ~ only warn
error ~ warning; raise ~ swallow; raise ~ return none; raise ~ ignore; throw ~ return an error
crash ~ carry on; abort ~ continue; stop ~ continue; halt ~ proceed; stop on error ~ continue on error
fail fast ~ keep going; fail open ~ fail closed; fail loudly ~ fail silently; loud ~ silent; surface ~ hide
report ~ suppress; report ~ ignore; log ~ suppress; handle ~ ignore; handled ~ unhandled; caught ~ uncaught
retry ~ give up; retry ~ fail immediately; retry ~ never retry; retried ~ not retried
backs off ~ retries immediately; bounded ~ unbounded; limited ~ unlimited; capped ~ uncapped
throttled ~ unthrottled; rate limited ~ not rate limited; restricted ~ unrestricted; finite ~ infinite
fixed ~ variable; fixed ~ configurable; fixed ~ dynamic; fixed ~ floating; hard-coded ~ configurable
hard-coded ~ read from config; constant ~ variable; static ~ dynamic; statically ~ dynamically
static ~ generated; eager ~ lazy; eagerly ~ lazily; at startup ~ on first use; at startup ~ on demand
at boot ~ lazily; up front ~ on demand; ahead of time ~ just in time; ahead of time ~ at runtime
precomputed ~ computed on the fly; precomputed ~ calculated on read; compile time ~ runtime
build time ~ runtime; at build ~ at runtime; on write ~ on read; at write time ~ at read time
mutable ~ immutable; changeable ~ frozen; editable ~ read-only; writable ~ read-only; read-write ~ read-only
read-only ~ write access; frozen ~ open for changes; locked ~ unlocked; sealed ~ open
append-only ~ updated in place; append ~ overwrite; append ~ prepend; append ~ replace
overwrite ~ skip existing; overwrite ~ refuse if exists; overwrite ~ merge; merge ~ replace
merge ~ keep separate; patch ~ replace; nightly ~ on every push; nightly ~ on every commit
nightly ~ on demand; nightly ~ hourly; nightly ~ weekly; daily ~ weekly; daily ~ hourly; daily ~ monthly
weekly ~ monthly; weekly ~ hourly; monthly ~ quarterly; quarterly ~ yearly; hourly ~ every minute
on a schedule ~ on demand; on a schedule ~ on every push; scheduled ~ event-driven; periodic ~ one-off
recurring ~ one-time; once ~ repeatedly; once ~ every time; once per session ~ on every request
per request ~ per session; per request ~ at startup; per commit ~ per release
per pull request ~ after merge; before merge ~ after merge; before ~ after; before release ~ after release
before deploy ~ after deploy; pre-deploy ~ post-deploy; first ~ last; earliest ~ latest; oldest ~ newest
oldest first ~ newest first; ascending ~ descending; increasing ~ decreasing; increase ~ decrease
grow ~ shrink; raise the limit ~ lower the limit; upward ~ downward; upgrade ~ downgrade; upgrade ~ stay on
bump ~ hold back; forward ~ backward; roll forward ~ roll back; roll out ~ roll back
forwards compatible ~ backwards compatible; backwards compatible ~ breaking; non-breaking ~ breaking
stable ~ unstable; stable ~ experimental; stable ~ nightly build; stable ~ beta; released ~ unreleased
released ~ work in progress; published ~ unpublished; published ~ draft; final ~ draft
finished ~ in progress; done ~ not started; complete ~ incomplete; completed ~ pending
resolved ~ unresolved; fixed ~ still broken; works ~ broken; works ~ fails; passing ~ failing
passes ~ fails; green ~ red; succeeds ~ fails; success ~ failure; healthy ~ unhealthy; up ~ down
available ~ unavailable; reachable ~ unreachable; online ~ offline; connected ~ disconnected
connected ~ air-gapped; public ~ internal; public ~ private; publicly reachable ~ internal only
internet-facing ~ behind the vpn; exposed ~ hidden; visible ~ hidden; visible ~ invisible; shown ~ hidden
show ~ hide; display ~ hide; reveal ~ mask; plain ~ masked; plain ~ redacted; plain ~ encrypted
plaintext ~ encrypted; plaintext ~ hashed; cleartext ~ ciphertext; encrypted ~ unencrypted
signed ~ unsigned; verified ~ unverified; verify ~ skip verification; validated ~ unvalidated
validate ~ trust; checked ~ unchecked; check ~ skip; trusted ~ untrusted; authenticated ~ anonymous
authenticated ~ unauthenticated; logged in ~ guest; signed in ~ signed out; internal ~ external
in-house ~ third-party; in-house ~ outsourced; home-grown ~ off-the-shelf; built ourselves ~ bought
build ~ buy; own implementation ~ library; custom ~ standard; custom ~ default
standard library ~ third-party; open source ~ proprietary; open source ~ closed source; free ~ paid
free ~ charged; free ~ subscription; included in the price ~ charged extra; blocking ~ non-blocking
blocking ~ advisory; blocking ~ informational; binding ~ advisory; enforced ~ advisory
enforced ~ not enforced; enforced ~ recommended; enforce ~ suggest; required ~ recommended
required ~ discouraged; required ~ forbidden; required ~ not needed; needed ~ unnecessary
necessary ~ unnecessary; recommended ~ discouraged; preferred ~ avoided; prefer ~ avoid; use ~ avoid
use ~ do not use; use ~ stop using; in use ~ unused; used ~ no longer used; adopt ~ abandon; adopt ~ drop
introduce ~ phase out; introduce ~ retire; supported ~ unsupported; supported ~ deprecated
supported ~ end of life; supported ~ no longer supported; maintained ~ abandoned; maintained ~ unmaintained
current ~ obsolete; current ~ legacy; current ~ former; up to date ~ outdated; fresh ~ stale; live ~ cached
live ~ archived; live data ~ snapshot; archive ~ restore; archive ~ delete; soft delete ~ hard delete
reversible ~ irreversible; undoable ~ final; recoverable ~ unrecoverable; restorable ~ gone for good
synchronous ~ asynchronous; synchronously ~ asynchronously; sync ~ async
in the foreground ~ in the background; inline ~ in the background; inline ~ queued; immediately ~ later
immediately ~ after a delay; immediate ~ deferred; immediate ~ delayed; instant ~ scheduled
real time ~ batch; real time ~ nightly; streaming ~ batch; streaming ~ buffered
streamed ~ loaded into memory; buffered ~ unbuffered; buffered ~ flushed immediately; sequential ~ parallel
sequentially ~ in parallel; serial ~ parallel; one at a time ~ concurrently; one at a time ~ all at once
one by one ~ in bulk; individually ~ in batches; single-threaded ~ multithreaded
single-threaded ~ multi-threaded; thread-safe ~ not thread-safe; shared ~ per tenant; shared ~ dedicated
shared ~ isolated; shared ~ separate; shared ~ exclusive; shared ~ per user; shared ~ private; shared ~ own
common ~ separate; global ~ local; global ~ per user; global ~ per project; global ~ scoped
system-wide ~ per user; site-wide ~ per page; central ~ local; centralised ~ decentralised
centralised ~ distributed; centralised ~ per team; single ~ multiple; single ~ several; one ~ many
one ~ several; only one ~ more than one; unique ~ duplicated; unique ~ may repeat
deduplicated ~ duplicates kept; together ~ separately; joint ~ separate; combined ~ split; combine ~ split
join ~ split; merged ~ kept apart; bundled ~ separate; bundled ~ installed separately; embedded ~ referenced
embedded ~ standalone; embedded ~ external; inlined ~ linked; nested ~ flat; hierarchical ~ flat
tree ~ flat list; monolith ~ microservices; monorepo ~ polyrepo; monorepo ~ separate repositories
coupled ~ decoupled; tightly coupled ~ loosely coupled; attached ~ detached; attach ~ detach
install ~ uninstall; installed ~ not installed; open ~ closed; open ~ restricted; open ~ invite only
opened ~ closed; reopen ~ close; start ~ stop; launch ~ shut down; pause ~ resume; suspend ~ resume
subscribe ~ unsubscribe; register ~ unregister; enrol ~ withdraw; push ~ pull; push ~ poll; pushed ~ polled
webhook ~ polling; publish ~ withhold; client-side ~ server-side; in the browser ~ on the server
upstream ~ downstream; inbound ~ outbound; ingress ~ egress; incoming ~ outgoing; local ~ remote
locally ~ remotely; local ~ in the cloud; on premises ~ in the cloud; on-prem ~ cloud; self-hosted ~ managed
self-hosted ~ saas; self-managed ~ fully managed; managed ~ unmanaged; hosted ~ self-hosted
on the host ~ in a container; bare metal ~ virtualised; containerised ~ native; stateless ~ stateful
strict ~ lenient; strict ~ tolerant; strict ~ permissive; strict ~ loose; strict ~ best effort
strictly ~ loosely; rigid ~ flexible; exact ~ approximate; exact ~ fuzzy; exact ~ rounded
exact match ~ prefix match; precise ~ approximate; precise ~ estimated; rounded ~ truncated
round up ~ round down; guaranteed ~ best effort; guaranteed ~ not guaranteed; promised ~ not guaranteed
consistent ~ inconsistent; strongly consistent ~ eventually consistent; atomic ~ non-atomic
atomic ~ partial; all or nothing ~ partial success; transactional ~ non-transactional
committed ~ rolled back; committed ~ uncommitted; committed ~ gitignored; checked in ~ gitignored
checked in ~ generated; tracked ~ ignored; tracked ~ untracked; in version control ~ outside version control
pinned ~ floating; pinned ~ latest; pinned ~ unpinned; locked version ~ version range; vendored ~ downloaded
vendored ~ fetched from the registry; idempotent ~ not idempotent; deterministic ~ random
deterministic ~ non-deterministic; deterministic ~ flaky; predictable ~ random
reproducible ~ not reproducible; seeded ~ unseeded; reliable ~ flaky; reliable ~ unreliable
ordered ~ unordered; sorted ~ unsorted; in order ~ out of order; fifo ~ lifo; breadth first ~ depth first
top ~ bottom; top-down ~ bottom-up; left ~ right; left-to-right ~ right-to-left; horizontal ~ vertical
horizontally ~ vertically; scale out ~ scale up; scale up ~ scale down; minimum ~ maximum
at least ~ at most; lower bound ~ upper bound; more than ~ less than; higher ~ lower
high priority ~ low priority; urgent ~ can wait; major ~ minor; critical ~ negligible
important ~ unimportant; large ~ small; long ~ short; verbose ~ quiet; verbose ~ terse; detailed ~ brief
detailed ~ summary only; full ~ partial; full ~ incremental; full ~ delta; full ~ abbreviated
full rebuild ~ incremental build; from scratch ~ incrementally; from scratch ~ reused; clean ~ incremental
whole ~ part; entire ~ subset; complete ~ sampled; every request ~ sampled; sampled ~ unsampled
cached ~ uncached; cached ~ always fetched; cached ~ recomputed; cache ~ bypass; warm ~ cold; hot ~ cold
preloaded ~ loaded on demand; prefetch ~ fetch on demand; compressed ~ uncompressed; minified ~ unminified
optimised ~ unoptimised; debug build ~ release build; development ~ production; staging ~ production
test mode ~ live mode; sandbox ~ production; dry run ~ real run; simulated ~ real; mocked ~ real
mock ~ real service; fake ~ real; stubbed ~ real; synthetic ~ real data; in memory ~ on disk
in memory ~ in the database; in-process ~ out of process; in-process ~ separate process
on disk ~ in the database; in the database ~ in a file; in code ~ in config; in code ~ in the database
in the repository ~ outside the repository; as code ~ by hand; declarative ~ imperative
functional ~ object-oriented; inheritance ~ composition; class-based ~ function-based; typed ~ untyped
strongly typed ~ weakly typed; statically typed ~ dynamically typed; nullable ~ not null
nullable ~ non-nullable; may be null ~ never null; may be empty ~ must not be empty; empty ~ populated
blank ~ filled in; present ~ absent; exists ~ does not exist; defined ~ undefined; set ~ unset
known ~ unknown; explicit ~ implicit; explicitly ~ implicitly; explicit ~ inferred; explicit ~ magic
named ~ anonymous; named ~ positional; keyword arguments ~ positional arguments; absolute ~ relative
absolute path ~ relative path; absolute imports ~ relative imports; direct ~ indirect
directly ~ through a proxy; directly ~ via a queue; directly to main ~ through a pull request
push to main ~ open a pull request; reviewed ~ unreviewed; review required ~ no review
needs approval ~ no approval needed; with approval ~ without approval; ask first ~ go ahead
ask before ~ without asking; confirm first ~ without confirmation; prompt ~ assume yes
interactive ~ non-interactive; interactive ~ unattended; attended ~ unattended; manual ~ automatic
manual ~ automated; manually ~ automatically; by hand ~ automatically; by hand ~ by script
by hand ~ generated; hand-written ~ generated; handwritten ~ auto-generated; human ~ bot
by a person ~ by the pipeline; from ci ~ from a laptop; in ci ~ locally; squash ~ merge commit
squash ~ rebase; squash ~ keep every commit; rebase ~ merge; rebase ~ merge commit
linear history ~ merge commits; force push ~ never force push; rewrite history ~ never rewrite history
trunk-based ~ gitflow; short-lived branches ~ long-lived branches; protected ~ unprotected
protected ~ open to direct pushes; tabs ~ spaces; single quotes ~ double quotes; semicolons ~ no semicolons
snake case ~ camel case; uppercase ~ lowercase; upper case ~ lower case; case-sensitive ~ case-insensitive
singular ~ plural; leading ~ trailing; zero-based ~ one-based; signed integer ~ unsigned integer
integer ~ float; decimal ~ float; integer ~ string; text ~ binary; structured ~ unstructured
structured ~ free-form; schema ~ schemaless; normalised ~ denormalised; relational ~ document; sql ~ nosql
rest ~ graphql; soft limit ~ hard limit; soft fail ~ hard fail; graceful ~ abrupt; gracefully ~ immediately
wait ~ do not wait; wait for ~ proceed without; wait ~ time out; waits forever ~ times out
with a timeout ~ without a timeout; primary ~ secondary; primary ~ replica; active-active ~ active-passive
single region ~ multi-region; single-tenant ~ multi-tenant; redundant ~ single point of failure
replicated ~ single copy; backed up ~ not backed up; monitored ~ unmonitored; alert ~ stay silent
page ~ only notify; notify ~ stay silent; notified ~ not told; documented ~ undocumented; tested ~ untested
covered by tests ~ untested; tests first ~ tests later; run tests ~ skip tests; skip ~ run; skip ~ process
execute ~ skip; apply ~ skip; apply ~ revert; commit ~ revert; revert ~ keep; merge ~ hold; ship ~ hold back
release ~ postpone; go ahead ~ postpone; now ~ later; today ~ next quarter; this release ~ next release
short term ~ long term; early ~ late; in advance ~ afterwards; prior notice ~ without notice
with warning ~ without warning; deprecate ~ remove outright; deprecate ~ keep supporting
rename ~ keep the name; move ~ leave in place; copy ~ move; copy ~ link; copy ~ reference
by value ~ by reference; hard link ~ symbolic link; symlink ~ copy; static linking ~ dynamic linking
root ~ unprivileged; as root ~ as a normal user; privileged ~ unprivileged; admin ~ regular user
superuser ~ normal user; least privilege ~ full access; full access ~ read-only access
full access ~ no access; deny by default ~ allow by default; allowlist ~ blocklist; whitelist ~ blacklist
opt-in ~ mandatory; default ~ opt-in; rotated ~ never rotated; expiring ~ permanent; single-use ~ reusable
reusable ~ disposable; reuse ~ recreate; reuse ~ start fresh; recycle ~ dispose; refresh ~ keep the old
restart ~ reload; hot reload ~ restart required; without restart ~ restart required
zero downtime ~ maintenance window; no downtime ~ downtime; canary ~ all at once; gradually ~ all at once
phased ~ big bang; step by step ~ in one go; incremental ~ big bang; internal api ~ public api
supported api ~ private api; versioned ~ unversioned; paginated ~ returned in full; cursor ~ offset
wrapped ~ bare; escaped ~ raw; sanitised ~ raw; raw ~ processed; raw ~ parsed; raw ~ cooked
filtered ~ unfiltered; truncated ~ in full; shortened ~ verbatim; verbatim ~ paraphrased
verbatim ~ normalised; as is ~ converted; unchanged ~ modified; unmodified ~ patched; stock ~ forked
upstream version ~ fork; original ~ copy; source of truth ~ derived copy; authoritative ~ derived
canonical ~ alias; utc ~ local time; server time ~ client time; wall clock ~ monotonic; gross ~ net
tax included ~ tax excluded; inclusive of tax ~ exclusive of tax; prepaid ~ postpaid
monthly billing ~ annual billing; refundable ~ non-refundable; capture immediately ~ capture later
charge at order ~ charge on delivery; light ~ dark; light mode ~ dark mode; portrait ~ landscape
wide ~ narrow; expanded ~ collapsed; expand ~ collapse; opened in a new tab ~ opened in the same tab
server rendered ~ client rendered; single page ~ multi-page; linux only ~ cross-platform
one platform ~ cross-platform; portable ~ platform-specific; vendor-neutral ~ vendor-specific
cloud-agnostic ~ tied to one cloud; generic ~ specific; generic ~ specialised
general purpose ~ special purpose; simple ~ complex; minimal ~ comprehensive; conservative ~ aggressive
pessimistic ~ optimistic; safe ~ unsafe; secure ~ insecure; harmless ~ dangerous; valid ~ invalid
true ~ false; yes ~ no; correct ~ wrong; legal ~ illegal; compliant ~ non-compliant; eligible ~ ineligible
transitive ~ direct only; recursive ~ iterative; recursive ~ top level only; symmetric ~ asymmetric
one-way ~ two-way; one-way ~ bidirectional; unidirectional ~ bidirectional; half duplex ~ full duplex
positive ~ negative; accumulate ~ reset; increment ~ decrement; consumed ~ left over
code freeze ~ merges open; hide behind a flag ~ ship to everyone; behind a flag ~ for everyone
beta users only ~ everyone; internal users only ~ all customers; employees only ~ customers too
owner only ~ anyone; author merges ~ reviewer merges; on call ~ off duty
around the clock ~ business hours only; weekdays ~ weekends; working days ~ calendar days
business days ~ calendar days; daytime ~ at night
"""
