"""Phrases that mean the same among engineers: `phrase = phrase = phrase; …`, the first gives the name."""
# ruff: noqa: E501

SAME = """\
sign in = log in = login = authenticate = sign on; sign out = log out = logout = sign off session
sign up = register = create an account = registration = signup; pull request = merge request = pr = mr
prod = production = live = live environment; staging = pre-production = preprod = stage environment
dev environment = development environment = local environment; repo = repository = git repo
env var = environment variable = env variable = envvar; db = database = data store; k8s = kubernetes
deps = dependencies = third-party packages = external packages; config = configuration = settings
config file = configuration file = settings file; creds = credentials = login details
spin up = start = bring up = boot up; nuke = delete = remove = drop = get rid of = wipe = erase = purge
fall back = revert to = fallback; kick off = trigger = launch = fire off
customer = user = client = end user; backend = server side = back end = server-side
frontend = client side = front end = client-side; timeout = time limit = deadline = time-out
retry = try again = attempt again = reattempt
must not = may not = is not allowed = is forbidden = never = not permitted = prohibited = forbidden = banned = disallowed = off limits = at no time = under no circumstances = not ever
have to = must = need to = required = mandatory = obligatory
can = may = is allowed to = is permitted to = is able to
optional = not required = not mandatory = voluntary
by default = unless told otherwise = out of the box = default behaviour
turn on = enable = switch on = activate; turn off = disable = switch off = deactivate
check out = checkout = place an order = complete a purchase = buy; order = purchase
guest = anonymous user = visitor = unauthenticated user = not signed in
account holder = registered user = member; signed in = logged in = authenticated; docs = documentation
spec = specification; repo root = top level = project root = root directory; folder = directory = dir
file name = filename; path = file path = filepath; admin = administrator; admins = administrators
auth = authentication = authn; authz = authorization = authorisation = access control
2fa = two-factor authentication = mfa = multi-factor authentication = two factor = second factor
sso = single sign-on = single sign on; pw = password = passwd; token = access token = api token
api key = apikey = access key; secret = sensitive value = confidential value
secrets manager = secret store = vault; ci = continuous integration = build pipeline = ci pipeline
cd = continuous deployment = continuous delivery; build = compile; ship = release = roll out = publish
deploy = push out = put live = go live with; deployment = rollout
roll back = rollback = revert = undo = back out; hotfix = emergency fix = urgent fix = quick fix
bug = defect = fault = error in code; fix = repair = correct = resolve = patch
broken = not working = does not work = busted = out of order
fails = breaks = errors out = goes wrong = blows up; crash = go down = die = fall over
outage = downtime = incident; unavailable = down = unreachable = offline
slow = sluggish = takes long = laggy; speed up = make faster = accelerate = optimise = optimize
cache = caching layer = cached copy; invalidate = bust = evict
queue = job queue = work queue = message queue
background job = worker job = async job = asynchronous job = task in background
worker = background worker = consumer process; scheduled job = scheduled task = cron job = timer job = cron
nightly = every night = each night = overnight; daily = every day = each day = once a day
weekly = every week = each week = once a week; hourly = every hour = each hour = once an hour
monthly = every month = each month = once a month; yearly = every year = annually = once a year = annual
quarterly = every quarter = each quarter; twice a week = two times a week
fortnightly = every two weeks = biweekly = every other week; every minute = once a minute = each minute
real time = real-time = realtime
immediately = at once = right away = straight away = instantly = without delay
later = afterwards = subsequently; before = prior to = ahead of = in advance of
after = following = once done; until = till; during = in the course of
always = every time = in all cases = without exception; sometimes = occasionally = from time to time
only = exclusively = solely = just; at least = no fewer than = minimum of = not less than
at most = no more than = maximum of = up to; more than = above = exceeds
less than = under = below = fewer than; max = maximum = upper limit = upper bound
min = minimum = lower limit = floor; limit = cap = ceiling = quota
rate limit = throttle = request limit = throttling
unlimited = no limit = without limit = uncapped = unbounded
approx = approximately = roughly = about = around; use = employ = utilise = utilize = rely on = go with
avoid = stay away from = steer clear of = do not use; prefer = favour = favor = would rather
choose = pick = select = opt for = decide on; replace = swap = substitute = switch out = exchange
replaced by = superseded by = swapped for; migrate = move = port = switch over = transition
upgrade = update = bump = move to newer version; downgrade = go back to older version = lower the version
install = put on the machine; uninstall = deinstall = take out; create = make = add = set up = generate
change = modify = alter = edit = adjust = amend; rename = change the name
copy = duplicate = clone = replicate; merge = combine = join = integrate
split = separate = break up = divide; store = save = persist
keep = retain = hold on to = preserve = kept = retained = preserved; discard = throw away = toss = throw out
load = read = fetch = pull in; send = transmit = dispatch = deliver; receive = get = obtain
return = give back = hand back = respond with; reply = respond = answer; request = req = http call
endpoint = route = api route = url; api = web api; rest api = restful api; rpc = remote procedure call
graphql = gql; ws = websocket = web socket = websockets; sse = server-sent events
plain http = unencrypted http; https = tls = ssl = encrypted connection
cert = certificate = tls certificate; encrypt = cipher = encipher
encrypted at rest = encryption at rest = stored encrypted
plain text = plaintext = unencrypted = in the clear = cleartext; digest = checksum; salt = random salt
pg = postgres = postgresql = psql; mysql = mariadb compatible; mongo = mongodb
elasticsearch = elastic search; redis cache = redis; sqlite = sqlite3; sql db = relational database = rdbms
nosql = non-relational = document store; primary key = pk; foreign key = fk; uuid = guid; id = identifier
auto-increment = autoincrement = serial id = sequential id; index = db index
schema = data model = table structure; migration = schema change = schema migration = db migration
table = relation; row = record = tuple = entry; column = field = attribute; null = none = nil = empty value
nullable = may be null = can be null = optional column; not null = non-null = required column
transaction = tx = atomic unit; commit = check in; mutex = mutual exclusion lock; deadlock = lock up
replica = read replica = secondary = follower; leader = main node = primary node; shard = partition
backup = back-up = dump; restore = recover = bring back = get back
soft delete = mark as deleted = logical delete = flag as deleted
hard delete = permanent delete = physical delete = delete for good
permanently = for good = irrevocably = irreversibly
indefinitely = forever = without end = no expiry = never expires
temporary = temp = short-lived = transient = ephemeral; expire = lapse = run out = become invalid
ttl = time to live = expiry time = lifetime; retention = how long kept = keeping period
archive = move to cold storage; log = log file = logging; logs = log output = log lines = log entries
log level = verbosity = logging level; stack trace = traceback = backtrace
exception = error = failure = err; throw = raise; catch = handle = rescue = trap
swallow = ignore silently = suppress; warn = warning = caution; panic = abort = hard crash
debug = troubleshoot = diagnose; monitor = watch = observe = keep an eye on; monitoring = observability
alert = page = alarm; metric = measurement; dashboard = overview page; trace = distributed trace
instrument = add metrics to; health check = healthcheck = liveness probe; uptime = availability
sla = service level agreement; slo = service level objective; on-call = on call = pager duty = standby
postmortem = post-mortem = incident review = retrospective of incident
runbook = playbook = operating procedure; vm = virtual machine; container = docker container
image = docker image = container image; compose = docker compose = docker-compose; helm chart = chart
pod = kubernetes pod; server = host = machine = box; cluster = kubernetes cluster
serverless = lambda = aws lambda = cloud function = faas; s3 = object storage = bucket = blob storage
cdn = content delivery network = edge cache; dns = name resolution; lb = load balancer
proxy = reverse proxy = gateway; firewall = network policy = security group; vpn = private network
vpc = virtual private cloud; iac = infrastructure as code; tf = terraform
gha = github actions = github workflow = actions workflow; gh = github; gl = gitlab
aws = amazon web services; gcp = google cloud = google cloud platform; azure = microsoft azure
on-prem = on premises = on-premise = in our own data centre = self-hosted; cloud = hosted
region = data centre location; autoscale = scale automatically = auto-scaling
scale up = add capacity = scale out = grow; scale down = reduce capacity = scale in = shrink
zero downtime = without downtime = no downtime = no interruption
canary = gradual rollout = staged rollout = phased rollout; blue green = blue-green = blue/green
feature flag = feature toggle = feature switch; behind a flag = feature flagged = toggled
ab test = a/b test = split test = experiment; microservice = micro service = service
microservices = service-oriented = many services; monolith = single application = one big app
monorepo = mono repo = single repository; polyrepo = multi-repo = separate repositories = multirepo
lib = library = package = module; framework = toolkit; sdk = client library
cli = command line = command-line tool = command line interface; gui = graphical interface
ui = user interface; ux = user experience; tui = terminal interface = text interface
terminal = console = shell; stdout = standard output = standard out; stderr = standard error
stdin = standard input; exit code = return code = exit status = status code of process
command-line flag = cli option = command line switch; arg = argument = parameter = param
args = arguments = parameters = params; func = function = fn; method = member function; var = variable
const = constant; ctor = constructor; dtor = destructor; impl = implementation; iface = interface type
enum = enumeration; struct = record type; bool = boolean; int = integer; str = string
dict = dictionary = map = hash map = hashmap; list = array; regex = regular expression = regexp
async = asynchronous = non-blocking; synchronous = blocking
concurrent = in parallel = simultaneously = parallel = at the same time
sequential = one after another = one at a time = serially = in sequence = serial; thread = os thread
event loop = main loop; race = race condition; idempotent = safe to repeat = repeatable without effect
deterministic = reproducible = repeatable; random = randomised = randomized = nondeterministic
rng seed = random seed; immutable = frozen = unchangeable = cannot be changed
mutable = changeable = can be changed = modifiable
read only = read-only = readonly = view only = no write access; read write = read-write = writable
public = publicly visible = open to everyone = visible to all = world readable
private = not visible to others = visible only to owner = only the owner sees
internal = in-house = inside the company; external = outside = third party = third-party
type hint = type annotation = typing = annotation; typed = annotated = with types
untyped = without types = no type hints = unannotated; ts = typescript; js = javascript; py = python
golang = go language; rb = ruby; c sharp = c# = csharp; cpp = c++ = cplusplus; rs = rust; kt = kotlin
dotnet = .net; nodejs = node.js; reactjs = react.js = react; vuejs = vue.js = vue; nextjs = next.js
rn = react native; tailwind = tailwindcss = tailwind css; sass = scss
lint = linter = static check = linting; format = formatter = code formatting
type check = type checker = static typing check = typecheck
style guide = code style = coding style = coding conventions
convention = rule = guideline = agreed practice; naming = naming convention = names; camelcase = camel case
snake_case = snake case; kebab-case = kebab case = dashed; pascalcase = pascal case = upper camel case
uppercase = upper case = capitals = all caps; lowercase = lower case = small letters
whitespace = blank space; indent = indentation; newline = line break = line feed
trailing comma = dangling comma; single quotes = single-quoted; double quotes = double-quoted
comment = code comment = remark; docstring = doc comment = documentation comment; todo = to do = fixme
dead code = unused code = unreachable code; duplicate code = copy-pasted code = repeated code
refactor = restructure = clean up = tidy up; rewrite = reimplement = redo = start from scratch
legacy = old = outdated = previous generation; deprecated = phased out = obsolete = on its way out
discouraged = not recommended; sunset = retire = end of life = discontinue
new = newly added = recently introduced; breaking change = incompatible change = breaks callers
backward compatible = backwards compatible = compatible with old clients = non-breaking
semver = semantic versioning = semantic version; calver = calendar versioning = date versions
version = release number; tag = git tag; branch = git branch
main branch = trunk = mainline = master = main = default branch
feature branch = topic branch = working branch; squash = squash merge = squash and merge
rebase = replay commits; cherry-pick = cherry pick = pick the commit; force push = force-push = push --force
commit message = commit text = commit subject; changelog = change log = release notes = list of changes
readme = read me = readme file; license = licence
cla = contributor license agreement = contributor agreement; dco = developer certificate of origin
open source = oss = open-source; proprietary = closed source = closed-source
code review = review = peer review; reviewer = approver
approve = sign off = give the ok = accept = green-light; reject = decline = refuse = turn down = deny
approval = sign-off = go-ahead; without approval = unapproved = no sign-off
reviewed by = checked by = looked at by; author = writer = creator; maintainer = owner = responsible person
assignee = assigned person; team lead = tech lead = lead; pm = product manager = product owner = po
qa = quality assurance = testers; ops = operations = sre = platform team
dev = developer = engineer = programmer; devs = developers = engineers = programmers
stakeholder = interested party; ticket = issue = task = story; backlog = to-do list = list of tickets
sprint = iteration; standup = stand-up = daily meeting = daily scrum; retro = retrospective
estimate = estimation = sizing; story points = points; milestone = target date
due date = cut-off = target day; eta = expected date; meeting = video call = sync meeting
async communication = in writing; pairing = pair programming; mob programming = ensemble programming
onboarding = getting started = first steps; handover = handoff = hand-off
freeze = code freeze = change freeze; release train = regular release
release day = day of release = ship day; weekend = saturday and sunday
business hours = office hours = working hours = work hours; business day = working day = workday = weekday
around the clock = 24/7 = day and night = all day; test suite = tests; unit test = unit-level test
integration test = integration-level test; e2e = end-to-end = end to end test = e2e test
smoke test = sanity check = sanity test; regression test = test for the bug
acceptance test = uat = user acceptance test; test double = mock = stub = fake
real service = actual service; fixture = test data = sample data
snapshot test = golden test = golden file test = approval test; coverage = test coverage = code coverage
flaky = unstable = intermittent = fails sometimes = nondeterministic test; skip = leave out = omit = ignore
quarantine = isolate = set aside; passes = succeeds = is green = works; is red = does not pass = failing
gate = prevent merge = block merge; required check = blocking check = must pass
optional check = non-blocking check = advisory check; tdd = test-driven development = test first
bdd = behaviour-driven = behavior driven; property-based = property based = generative tests
fuzz = fuzz testing = fuzzing; load test = stress test = performance test; benchmark = perf measurement
perf = performance; latency = response time = delay; throughput = requests per second = rps
p99 = 99th percentile; p95 = 95th percentile; disk = storage = hard drive; cpu = processor
gpu = graphics card; out of memory = oom = memory exhausted; leak = memory leak; allocate = reserve memory
heap = dynamic memory; malloc = dynamic allocation = heap allocation
gc = garbage collection = garbage collector; isr = interrupt handler = interrupt service routine
rtos = real-time operating system; mcu = microcontroller; fw = firmware
ota = over the air = over-the-air = remote update; bootloader = boot loader; watchdog = wdt = watchdog timer
fpu = floating point unit; floats = floating point = floating-point; fixed point = fixed-point
deep sleep = hibernate = low-power sleep; ble = bluetooth low energy = bluetooth le
bare metal = no os = without operating system; dma = direct memory access; serial port = uart = serial line
pcb = circuit board; fps = frame rate = frames per second; ecs = entity component system
shader = gpu program; multiplayer = online play; savegame = save game = saved game
npc = non-player character; ml = machine learning; ai = artificial intelligence
llm = large language model = language model; nn = neural network = neural net; train = train a model
retrain = train again = refit; fine-tune = finetune = fine tune; inference = prediction = scoring
predict = score = infer; eval = evaluation = evaluate; hyperparameter = hyper-parameter = tuning parameter
dataset = data set; train set = training set = training data; test set = holdout = held-out data
val set = validation set = dev set; cross-validation = cross validation = k-fold; label = ground truth
features = input variables = predictors; embedding = vector representation
vector db = vector database = vector store; rag = retrieval-augmented generation = retrieval augmented
quantise = quantize = quantization = quantisation; checkpoint = saved weights = model checkpoint
weights = model parameters; drift = data drift = distribution shift; notebook = jupyter notebook = ipynb
pipeline = workflow = data flow; etl = extract transform load; elt = extract load transform
batch = in bulk = bulk; streaming = stream processing = continuous processing
backfill = reprocess history = fill in the past
late data = late-arriving data = late events = late arrivals
dedupe = deduplicate = remove duplicates = dedup; duplicates = repeated entries = doubles
upsert = insert or update = merge into; append only = append-only = only ever added
overwrite = clobber = write over; full refresh = full reload = reload everything = complete reload
incremental = delta = only changes; cdc = change data capture; dwh = data warehouse = warehouse
data lake = lake = lakehouse; lineage = data provenance = where data comes from
catalog = catalogue = data catalog
pii = personal data = personally identifiable information = personal information
gdpr = dsgvo = data protection regulation; anonymise = anonymize = make anonymous
pseudonymise = pseudonymize; mask = redact = black out = obscure; consent = explicit permission
opt in = opt-in = must be enabled by user; opt out = opt-out = on unless disabled
cookie banner = consent banner = cookie notice; tracking = analytics = usage tracking
telemetry = usage data = usage statistics = phone home; privacy = data protection
newsletter = marketing email = mailing; unsubscribe = opt out of emails = leave the list
notify = notification = inform = let know; email = e-mail = mail; sms = text message
push notification = mobile notification; summary email = daily summary = digest email; inbox = message list
dm = direct message = private message; subscription = plan = recurring plan
free tier = free plan = free version; trial = free trial = trial period = test period
paid plan = premium = pro plan; upgrade plan = move to higher plan; cancel = end subscription = call off
renew = extend = prolong; refund = money back = reimburse = pay back; invoice = bill
billing = invoicing = charging; charge = debit; payment = money transfer; pay = make payment
credit card = card = payment card; voucher = coupon = discount code = promo code
discount = price reduction = rebate; price = cost = fee; vat = sales tax = tax
free of charge = at no cost = gratis; cart = basket = shopping cart; in stock = on hand
out of stock = sold out = unavailable item; ship goods = send the parcel = dispatch order
delivery = shipping = shipment; return goods = send back; seller = vendor = merchant
buyer = purchaser = shopper; product list = product range; profile = user profile = account page
avatar = profile picture = profile photo; username = user name = login name
display name = shown name = nickname; role = permission level; permission = right = privilege = access right
grant = give = allow; revoke = withdraw = take away; workspace = organisation = organization = org = tenant
team = group; multi-tenant = multitenant = shared by customers; single-tenant = dedicated instance
invite = invitation = ask to join; ban = block = suspend; moderate = review content; report = flag content
post = put up = publish content; draft = unpublished = not yet published
published = publicly available = public now; autosave = auto-save = save automatically = saved automatically
save button = explicit save = manual save; unsaved = not saved; take back = reverse an action
trash = recycle bin = bin = deleted items; search = look up = find; filter = narrow down
sort = order by = arrange; newest first = most recent first = latest first = reverse chronological
oldest first = earliest first = chronological; alphabetical = a to z = by name
case insensitive = case-insensitive = ignoring case = regardless of case
case sensitive = case-sensitive = case matters; fuzzy = approximate = typo tolerant
exact match = exact = verbatim match; full text search = full-text search = fts; pagination = paging = pages
infinite scroll = endless scroll = continuous scrolling; page size = items per page
modal = dialog = popup = pop-up; toast = snackbar = notification bubble; tooltip = hover text
dropdown = drop-down = select box; checkbox = tick box; form = input form
input field = form field = text box; placeholder = hint text; validate = check = verify
validation error = invalid input; sanitize = sanitise = clean input; escape = html-encode
upload = send a file; download = fetch a file; export = data export = take out data; import = bring in data
csv = comma separated values = comma-separated; xlsx = excel = excel file = spreadsheet; pdf = pdf document
json = json format; yaml = yml; toml = toml format; xml = xml format; md = markdown; rst = restructuredtext
dark mode = dark theme = night mode; light mode = light theme = day mode
theme = colour scheme = color scheme; colour = color; a11y = accessibility
i18n = internationalisation = internationalization; l10n = localisation = localization
translate = localise = localize; locale = language setting; rtl = right to left = right-to-left
timezone = time zone = tz; utc = gmt = universal time; local time = user's time zone
timestamp = point in time; iso date = iso 8601 = iso format
ssr = server-side rendering = server rendered = rendered on the server
csr = client-side rendering = rendered in browser; ssg = static site generation = statically generated
spa = single page app = single-page application; pwa = progressive web app; hydrate = hydration
bundle = bundler output; bundler = build tool; minify = minified = compress code; source map = sourcemap
polyfill = shim; component = ui component; state management = state handling = app state
state store = redux store; props = component properties; css in js = css-in-js; stylesheet = css file
responsive = adapts to screen size; mobile first = mobile-first; breakpoint = screen width
browser = web browser; local storage = localstorage = browser storage; session storage = sessionstorage
cookie = browser cookie; session = login session; csrf = xsrf = cross-site request forgery
xss = cross-site scripting; cors = cross-origin; csp = content security policy
offline first = offline-first = works offline = works without connection = usable offline
online only = needs internet = needs a connection = requires internet
synchronise = synchronize = keep in step; conflict = clash = collision
last write wins = latest edit wins = last writer wins; app store = apple store; play store = google play
apk = android package; ios = iphone = apple phone; native app = native application
cross platform = cross-platform = multi-platform; hybrid app = webview app; deep link = deeplink = app link
testflight = ios beta channel; desktop app = desktop application; installer = setup program
auto-update = self update = updates itself = automatic update; tray = system tray = menu bar icon
only one copy running = one instance only
confirm = ask first = confirmation = ask for confirmation = are you sure
without asking = unprompted = without confirmation = silently; prompt = ask = question the user
interactive = asks questions = with prompts; non-interactive = noninteractive = headless = unattended
dry run = dry-run = preview = simulate = no changes made; verbose = chatty = detailed output
quiet = silent = no output; colored output = coloured output = ansi colours
progress bar = progress indicator; override = take precedence = win over = trump = beat
precedence = priority = which wins; hardcoded = hard-coded = baked in = built in = fixed in code
configurable = adjustable = can be configured = customisable = customizable
default value = preset = default; magic number = unnamed constant; opinionated = fixed choice
hot reload = live reload = reload without restart; restart = reboot = start again = bounce
shut down = stop = terminate = halt = take down; kill = end process; graceful = cleanly = orderly
daemon = background service = service process; process = running program
startup = start-up = boot = launch time; idle = unused; busy = under load = occupied
stale = out of date = old copy; fresh = up to date = current
eventually consistent = eventual consistency = catches up later
strongly consistent = strong consistency = immediately consistent; at least once = at-least-once
exactly once = exactly-once; at most once = at-most-once; dlq = dead letter queue = dead-letter queue
backoff = back off = wait longer between tries; exponential backoff = growing delay = doubling delay
circuit breaker = breaker; fail fast = fail early = fail immediately = crash early
fail open = allow on failure = let through when down; fail closed = deny on failure = block when down
best effort = no guarantee = try but not guaranteed; degrade gracefully = graceful degradation = limp on
partial failure = some failed; all or nothing = atomic = either all or none
event driven = event-driven = event based; pub sub = publish subscribe = pubsub
message broker = broker = message bus; rabbit = rabbitmq = rabbit mq; kafka topic = message topic
consumer = subscriber = listener; producer = publisher = emitter; webhook = callback url = http callback
callback = handler; polling = poll = check repeatedly = ask regularly; push based = pushed
pull based = pulled; in memory = in-memory = kept in ram; on disk = on-disk = persisted to disk
per user = for each user = user-level; per tenant = for each tenant = tenant-level
per request = for each request = on every request; per file = for each file
global = system-wide = application-wide = everywhere; local = on the machine = on this machine
shared = common = used by all; dedicated = reserved for one = not shared
central = centralised = centralized = in one place; distributed = decentralised = spread out
manual = by hand = manually = hand-made; automatic = automated = automatically = on its own = by itself
generated = auto-generated = autogenerated = produced by tool; handwritten = hand-written = written by hand
vendored = checked in copy = bundled copy; committed = checked in = in git = under version control = tracked
gitignored = ignored by git = not committed = untracked = not checked in
generated code = codegen output = generated files; lockfile = lock file
pinned = fixed version = exact version = locked version; unpinned = floating = any version
latest = newest = most recent; pre-release = prerelease = alpha or beta; stable = production ready = mature
experimental = not production ready = preview quality; wip = work in progress = unfinished = in progress
done = finished = complete = completed; pending = waiting = outstanding; blocked = stuck = cannot proceed
postponed = deferred = put off = delayed = pushed back
dropped = abandoned = scrapped = given up = no longer planned; decided = agreed = settled = chosen
undecided = open question = not settled = tbd = to be decided = to be determined
asap = as soon as possible = urgently; fyi = for your information; lgtm = looks good to me
nit = minor remark = nitpick; rfc = request for comments = design proposal
adr = architecture decision record = decision record; design doc = design document = technical design
diagram = drawing = figure; poc = proof of concept = prototype = spike
mvp = minimum viable product = first version; scope = extent
out of scope = not covered = excluded = not part of; in scope = covered = included = part of
requirement = must-have = need; nice to have = optional extra; assumption = we assume
constraint = restriction = limitation; workaround = work-around = temporary fix = stopgap = hack
root cause = underlying cause = actual reason; because = due to = as a result of
reason = cause = rationale = why; so that = in order to; instead of = rather than = in place of = in lieu of
no longer = not any more = not anymore = any longer = used to; still = continues to = remains
already = by now; currently = at present = now = right now = at the moment = today
previously = formerly = in the past = earlier = before this
from now on = going forward = henceforth = in future = from here on
except = apart from = other than = with the exception of = save for; including = as well as = along with
without = lacking = with no; everyone = everybody = all users = anyone = all people
nobody = no one = no user = not anyone; some = a few; every = each = all; not any = zero of them
single = sole = only one; multiple = several = many = more than one; first = initial = earliest
last = final; primary = principal = chief; auxiliary = supplementary; additional = extra = further = more
big = large = huge = sizeable; small = tiny = little = compact; simple = easy = straightforward = plain
complex = complicated = involved; important = critical = crucial = essential
useless = pointless = of no use; dangerous = risky = unsafe = hazardous; safe = harmless = secure
allowed = permitted = ok = okay = fine = acceptable = legal; frowned upon = should be avoided
recommended = advised = suggested = encouraged; supported = works with = compatible with
unsupported = not supported = does not work with = incompatible with
enabled = active = turned on = switched on; disabled = inactive = turned off = switched off
visible = shown = displayed; hidden = not shown = invisible = concealed; show = display = present = render
hide = conceal = do not show; closed = shut = not accessible; lock account = account locked = locked out
whitelist = allowlist = allow list = permitted list; blacklist = denylist = block list = blocklist
master slave = primary replica = leader follower; sandbox = test environment = isolated environment
qa environment = testing environment; preview deploy = preview environment = review app
laptop = local machine = workstation; ide = editor = code editor; vscode = vs code = visual studio code
pre-commit = precommit = pre-commit hook = commit hook; git hook = hook; makefile = make target
script = shell script; sh = posix shell = bourne shell; cmd = command; util = utility = helper
misc = miscellaneous; info = information; doc = document; msg = message; response = resp; ctx = context
conn = connection; tmp = temporary file; src = source = source code; dest = destination = target
num = number = count; avg = average = mean; std lib = standard library = stdlib; di = dependency injection
ioc = inversion of control; orm = object-relational mapper = object relational mapping
dto = data transfer object; crud = create read update delete; mvc = model view controller
ddd = domain-driven design = domain driven; cqrs = command query responsibility segregation
oop = object-oriented = object oriented; fp = functional programming = functional style
composition = compose objects; inheritance = subclassing = extending classes
base class = parent class = superclass; subclass = child class = derived class
singleton = single instance = global instance; global variable = global state = globals
side effect = side-effect; pure function = no side effects = side-effect free
early return = guard clause = return early; exception handling = try catch = try except
result type = result object = either type; error code = failure code; assertion = assert
invariant = always true condition; precondition = required beforehand; incoming data = input data
output = result = outgoing data; payload = request body = message body; header = http header
query param = query parameter = query string; web page = webpage; site = website = web site
app = application; program = software; tool = utility program; service account = machine user = bot account
bot = automated account; agent = ai agent = coding agent = assistant; human = person
in person = face to face; remote = from home = distributed work; office = on site = on-site
holiday = vacation = time off = leave; slack = slack channel; teams = ms teams = microsoft teams
jira = jira ticket; confluence = confluence page; wiki = knowledge base; faq = frequently asked questions
howto = how-to = guide = tutorial; handbook = user guide = user manual; reference = api reference
example = sample = demo; template = boilerplate = scaffold; starter = skeleton project
produce = emit = create automatically; parse = interpret = read in; serialize = serialise = marshal
deserialize = deserialise = unmarshal; compress = zip = gzip; decompress = unzip = extract; utf8 = utf-8
ascii = plain ascii; crlf = windows line endings; lf = unix line endings
compile time = build time = at build; run time = runtime = at runtime
at startup = on start = when starting = on boot; on demand = when needed = as needed = lazily = on request
eagerly = up front = ahead of time = in advance; lazy = on first use
precompute = calculate in advance = precalculate; once = one time = a single time; twice = two times
half = fifty percent; percent = per cent; milliseconds = millis; sec = seconds; mins = minutes; hrs = hours
kb = kilobytes; mb = megabytes; gb = gigabytes; tb = terabytes
"""
