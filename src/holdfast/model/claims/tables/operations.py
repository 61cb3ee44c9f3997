"""What excludes what in operations, builds and releases.

Each row: `topic | value = phrase, phrase | value = phrase`. Whoever has one value has none of the others.
"""
# ruff: noqa: E501

TABLE = """\
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
