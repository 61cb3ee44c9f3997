"""Things that fill the same role: where one is *the* one, naming another is another value.

A role has words that name it (`database`) and the things that may fill it. A thing may fill several roles
(Redis is a cache, a queue and a database); two things compete where they share one.
Names are as `words.canonical` gives them, several words joined by a blank.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from holdfast.model.claims.word_stems import SAME, STOP, Token, canonical, plain, several
from holdfast.values import frozen

# role | words that name it | things that fill it, with a comma between them; `a=b` are two names of one thing
_TABLE = """
database | database datastore sql relational | postgresql, mysql, mariadb, sqlite=sqlite3, oracle, mssql=sql
  server, mongodb, dynamodb, cassandra, cockroachdb, couchdb, firestore, neo4j, duckdb, clickhouse, redis,
  supabase, planetscale, spanner, bigquery, snowflake, redshift, aurora, scylladb, rocksdb, leveldb, lmdb,
  h2, db2, timescaledb, influxdb, tidb, yugabytedb, in memory
cache | cache | redis, memcached=memcache, valkey, varnish, hazelcast, dragonfly, lru_cache, in memory
queue | queue message broker bus messaging | kafka=apache kafka, rabbitmq, nats, sqs=amazon sqs, pulsar,
  activemq, zeromq, redis streams, celery, rq, sidekiq, resque, dramatiq, huey, bullmq, pubsub=pub
  sub=google pub sub, kinesis, eventbridge, service bus, beanstalkd, arq, temporal, airflow, river, oban
jobs | queue process worker | celery, rq, sidekiq, resque, dramatiq, huey, bullmq, arq, temporal, airflow,
  cron=cronjob=cron job=crontab, systemd timer=systemd timers, apscheduler, quartz, oban, river, dagster,
  prefect, luigi
testrunner | test suite runner framework run unit | pytest=py.test, unittest, nose=nose2, jest, vitest,
  mocha, jasmine, ava, karma, junit=junit5, testng, rspec, minitest, go test, cargo test, nextest,
  gtest=googletest, catch2, xunit, nunit, phpunit, tox, nox, tap, bats, ward
e2e | e2e browser end test acceptance | playwright, cypress, selenium, puppeteer, webdriverio, testcafe,
  nightwatch
pypackages | package dependency manage management install python tool lock virtual environment project |
  pip, poetry, uv, pipenv, conda=miniconda=mamba, pdm, hatch, rye, pip-tools=pip-compile, setuptools, flit
jspackages | package dependency manage management install javascript node frontend | npm, yarn, pnpm, bun,
  deno
jvmbuild | build java tool | gradle, maven, ant, bazel, sbt, buck
buildtool | build tool task runner command | make=makefile=gnu make, bazel, cmake, meson, ninja,
  just=justfile, taskfile=go task, invoke, scons, pants, buck, nx, turborepo, lerna
bundler | bundle bundler build frontend asset | webpack, vite, rollup, esbuild, parcel, turbopack, rspack,
  snowpack, browserify, grunt, gulp
webframework | web framework | fastapi, flask, django, starlette, tornado, aiohttp, bottle, pyramid, sanic,
  litestar, falcon, express=expressjs, koa, fastify, nestjs=nest, hapi, hono, rails=ruby on rails, sinatra,
  laravel, symfony, spring=spring boot, quarkus, micronaut, gin, echo, fiber, chi, axum, actix=actix web,
  rocket, warp, phoenix, aspnet=asp.net, net http
uiframework | ui framework component library | react=reactjs=react.js, vue=vuejs=vue.js=vue 3, angular,
  svelte=sveltekit, solid=solidjs, preact, ember, htmx, alpinejs, lit, backbone, jquery, nextjs=next.js,
  nuxt, remix, astro, qwik, elm
state | state management | redux=redux toolkit, zustand, mobx, recoil, jotai, pinia, vuex, xstate, context
  api
mobile | mobile application ios android cross platform | flutter, react native=react-native, ionic, xamarin,
  kotlin multiplatform, swiftui, cordova, capacitor, expo, maui, native code
css | css style styling | tailwind=tailwindcss, bootstrap, styled components=styled-components, emotion, css
  modules, sass=scss, less, bulma, chakra, material ui=mui
orm | orm database query access layer | sqlalchemy, peewee, django orm, tortoise, pony, sqlmodel, prisma,
  typeorm, sequelize, drizzle, knex, kysely, hibernate, jooq, mybatis, gorm, ent, sqlc, diesel, sqlx,
  activerecord=active record, ecto, raw sql, plain sql
dbmigration | migration schema database | alembic, flyway, liquibase, django migration, goose, golang
  migrate, dbmate, sqitch, atlas, prisma migrate, knex, yoyo
formatter | format code style | black, ruff=ruff format, yapf, autopep8, prettier, gofmt, gofumpt, rustfmt,
  clang format=clang-format, dprint, biome, google java format, standard
linter | lint static check | ruff, flake8, pylint, pycodestyle, eslint, tslint, jshint, biome, oxlint,
  golangci lint=golangci-lint, staticcheck, clippy, rubocop, checkstyle, pmd, stylelint, shellcheck
typechecker | type check checker static typing | mypy, pyright, pyre, pytype, basedpyright, ty
ci | ci pipeline continuous integration build cd | github actions=github action=gha, gitlab ci=gitlab,
  jenkins, circleci, travis=travis ci, buildkite, azure pipelines=azure devops, teamcity, bitbucket
  pipelines, drone, woodpecker, tekton, codebuild, concourse
cloud | cloud host hosting provider platform | aws=amazon web services=amazon, gcp=google cloud
  platform=google, azure=microsoft azure, heroku, digitalocean, hetzner, fly=fly.io, render, vercel,
  netlify, cloudflare, on-prem=on premises=own hardware, linode, ovh, scaleway, railway, oracle cloud
orchestration | orchestrate container cluster orchestration workload | kubernetes, docker swarm=swarm,
  nomad, ecs=fargate, docker compose, mesos, systemd, cloud run, lambda, app engine, openshift
containers | container runtime image | docker, podman, containerd, cri o, lxc, buildah, kaniko, buildkit
baseimage | image docker base container | alpine, debian=debian slim, ubuntu, distroless, scratch, ubi,
  busybox, fedora, wolfi, centos, rocky
iac | infrastructure code provision iac infra | terraform, pulumi, cloudformation, cdk, ansible,
  opentofu=tofu, chef, puppet, salt, crossplane, bicep
gitops | deploy gitops delivery cd | argo cd=argocd, flux=fluxcd, spinnaker, helm, kustomize, jenkins x,
  capistrano, octopus
objectstorage | storage store blob object | s3=amazon s3=s3 bucket, gcs=google cloud storage, azure
  blob=azure blob storage, minio, local disk=local filesystem=local file system=disk=filesystem, ceph, r2,
  backblaze, nfs, efs
search | search | elasticsearch, opensearch, solr, meilisearch, typesense, algolia, lucene, sphinx search,
  tantivy, zinc
vectordb | vector embedding | pgvector, chroma=chromadb, pinecone, weaviate, qdrant, milvus, faiss, lancedb
serialization | format serialize serialise encode encoding serialization | json=jsonl=json lines=ndjson,
  yaml=yml, toml, ini, xml, protobuf=protocol buffers=protobufs=proto, msgpack=messagepack, avro, csv, tsv,
  cbor, thrift, parquet, pickle, hcl, bson, edn, flatbuffers, capnp=cap'n proto, dotenv=.env, plain
  text=plaintext=text, logfmt, arrow, orc, bencode, html, table
api | api style protocol interface communicate rpc communication | rest=restful, graphql, grpc, soap, json
  rpc=json-rpc, websocket=websockets, trpc, odata, thrift rpc, sse=server sent events, xml rpc, message
  queue, shared database
httpclient | http client call outgoing library | httpx, requests, aiohttp, urllib3, urllib, axios, fetch
  api=fetch, got, ky, node-fetch, superagent, okhttp, retrofit, reqwest, curl, libcurl
auth | authentication | jwt=jwts=json web token, session cookie=session cookies=cookie=cookies=server side
  session, oauth=oauth2=oauth 2, saml, basic auth=basic authentication=http basic, api key=api keys,
  mtls=mutual tls, openid connect=oidc, passkey=passkeys=webauthn, ldap, kerberos, magic link=magic links,
  opaque token=opaque tokens, paseto
idprovider | identity provider sso authentication | auth0, okta, keycloak, cognito, clerk, firebase auth,
  azure ad=entra, supabase auth
passwordhash | password hash | argon2id=argon2, bcrypt, scrypt, pbkdf2, md5, sha 1=sha1, sha 256=sha256
hash | hash checksum digest | sha256=sha 256, sha1=sha 1, md5, sha512=sha 512, blake2=blake2b, blake3,
  xxhash=xxh3, crc32=crc, siphash, murmur3, sha3
cipher | encrypt cipher symmetric | aes=aes 256=aes gcm, chacha20=chacha20 poly1305, des, 3des, rsa,
  nacl=libsodium, age, pgp=gpg, fernet
signing | sign key signature | ed25519, rsa, ecdsa, hmac, secp256k1, gpg, cosign=sigstore
idscheme | identifier scheme | uuid=uuidv4=uuid4=uuids, uuidv7=uuid7, ulid=ulids, nanoid, bigint=auto
  increment=auto incrementing=autoincrement=integer=sequential integer=auto incrementing bigint,
  snowflake=snowflake id, ksuid, slug=slugs, base58, hash id=hashids=sqids, cuid, natural key=natural keys
secretstore | secret | vault=hashicorp vault, secrets manager=aws secrets manager, 1password, doppler, sops,
  sealed secrets=sealed secret, parameter store=ssm, env file=.env=environment variables=environment
  variable, kms, bitwarden, azure key vault=key vault, git crypt, keychain
timezone | time zone timezone clock | utc=gmt, local time=local timezone=localtime=local=customer local
  timezone, cet, est, pst, europe/berlin, us/eastern, america/new_york, jst, ist, cest
timeformat | format | iso 8601=iso8601=iso, unix=epoch=unix time=unix timestamp=epoch seconds=epoch
  milliseconds, rfc3339=rfc 3339, rfc2822=rfc 2822
indent | indent indentation | tab=tabs=hard tabs, space=spaces
quotes | quote string quotes | single quotes=single quote=single quoted, double quotes=double quote=double
  quoted
naming | name naming case convention style | snake_case=snake case=snake-case, camelcase=camel
  case=camel-case=lowercamelcase, pascalcase=pascal case=pascal-case=uppercamelcase, kebab
  case=kebab-case=dash case, screaming_snake_case=upper_snake_case=upper snake case
lineending | line ending eol newline | lf=unix line endings, crlf, cr
encoding | encode encoding charset file text | utf-8=utf8, utf-16=utf16, latin-1=latin1=iso-8859-1, ascii,
  cp1252=windows-1252, shift_jis
license | license licensed | mit, apache=apache-2.0=apache 2.0=apache 2=apache license,
  gpl=gpl-3.0=gplv3=gpl v3=gplv2, agpl=agpl-3.0=agplv3, bsd=bsd-3-clause, mpl=mpl-2.0=mpl 2.0,
  lgpl=lgpl-3.0, isc, proprietary, unlicense, cc0, bsl=busl, elastic license, sspl
mergestyle | merge pullrequest land | squash=squash merge=squash merges=squash merging, merge commit=merge
  commits=no ff, rebase=rebase merge=rebase and merge, fast forward=ff only=fast forward only
branching | branch development model workflow strategy work branching | trunk based=trunk based development,
  git flow=gitflow, github flow, release branch=release branches, forking, long lived branches=long lived
  feature branches
branchname | branch default | main, master, develop, trunk, dev, next, stable
versioning | version release scheme number tag versioning | semver=semantic version=semantic
  versioning=semantic, calver=calendar=calendar version=calendar versioning=date based, romantic versioning,
  zerover, commit hash
commitstyle | commit message style | conventional commit=conventional commits=conventional, gitmoji, free
  form=freeform=free text, imperative sentence
loglevel | log level verbosity | debug, info, warn=warning, error, trace, critical=fatal
logging | logger library log | loguru, structlog, stdlib logging=logging module, log4j, logback, slf4j, zap,
  zerolog, logrus, slog, winston, pino, bunyan, tracing crate, serilog
errortracking | error track report crash monitor exception | sentry, rollbar, bugsnag, honeybadger,
  airbrake, datadog, newrelic=new relic
metrics | metric monitor dashboard telemetry observability | prometheus, statsd, datadog, newrelic=new
  relic, cloudwatch, influxdb, graphite, victoriametrics, grafana cloud, nagios, zabbix
tracing | trace distributed | jaeger, zipkin, opentelemetry=otel, honeycomb, tempo, x ray, datadog,
  lightstep
logstore | log aggregate ship central | loki, elk=elasticsearch, splunk, cloudwatch, papertrail, graylog,
  datadog, logstash
docs | documentation site generator | mkdocs, sphinx, docusaurus, hugo, jekyll, vitepress, gitbook,
  confluence, notion, typedoc, javadoc, doxygen, mdbook, readthedocs, asciidoctor, wiki
markup | markup write | markdown=md=commonmark, restructuredtext=rst, asciidoc, org mode, latex, html
humanlanguage | language write | english, german, french, spanish, japanese, chinese, portuguese, polish
docstyle | docstring style | google style, numpy style=numpydoc, restructuredtext, sphinx style, epytext
payment | payment provider billing checkout charge psp card | stripe, adyen, braintree, paypal, square,
  mollie, paddle, klarna, worldpay, chargebee, recurly, razorpay
mailer | email send provider transactional delivery | sendgrid, mailgun, ses=amazon ses, postmark,
  mailchimp, smtp, resend, sparkpost, mandrill
sms | sms text phone provider | twilio, nexmo=vonage, messagebird, sns, plivo
cdn | cdn static asset edge | cloudfront, cloudflare, fastly, akamai, bunny
proxy | proxy reverse ingress load balancer gateway | nginx, apache=httpd, haproxy, traefik, envoy, caddy,
  kong, alb, istio, linkerd
appserver | wsgi asgi server application serve | gunicorn, uvicorn, uwsgi, hypercorn, daphne, waitress,
  granian, puma, unicorn, tomcat, jetty
dns | dns domain record | route53=route 53, cloudflare, cloud dns, bind, namecheap, powerdns
vcs | vcs version control source repository | git, mercurial=hg, svn=subversion, perforce, jj
forge | host repository code git forge | github, gitlab, bitbucket, gitea, codeberg, sourcehut, forgejo
issues | issue tracker ticket bug task track board | jira, linear, github issues=github issue, trello,
  asana, youtrack, redmine, bugzilla, shortcut
chat | chat | slack, teams=microsoft teams=ms teams, discord, mattermost, irc, zulip, matrix, telegram
oncall | call page pager alert incident | pagerduty, opsgenie, victorops, grafana oncall, incident.io
flags | feature flag toggle | launchdarkly, unleash, flagsmith, split.io, growthbook, config cat, homegrown
analytics | analytics track product usage | google analytics=ga4, mixpanel, amplitude, posthog, segment,
  matomo, plausible, heap, snowplow
language | language write implement rewrite code written program | python, go=golang, rust, java, kotlin,
  typescript, javascript, ruby, php, c, c++=cpp, c#=csharp, scala, elixir, erlang, haskell, clojure, swift,
  bash, perl, lua, zig, ocaml, nim, dart, r, julia, powershell, shell
concurrency | concurrency parallel io worker model handle | async=asyncio=async await,
  thread=threads=threading=thread pool, process=processes=multiprocessing, gevent=greenlets=greenlet, trio,
  anyio, actors=actor, goroutines=goroutine, coroutines=coroutine, event loop, callbacks=callback
delivery | delivery semantics deliver message event guarantee | at-least-once=at least once, at-most-once=at
  most once, exactly-once=exactly once
consistency | consistency read model | strong consistency=strongly consistent=linearizable, eventual
  consistency=eventually consistent=eventual, causal consistency, read your writes
isolation | isolation transaction level | serializable, repeatable read, read committed, read uncommitted,
  snapshot isolation
coordination | leader election lock coordinate discovery consensus | etcd, zookeeper, consul, redlock, raft,
  advisory lock, eureka
pdf | pdf render document invoice | weasyprint, wkhtmltopdf, reportlab, latex, puppeteer, prince, pdfkit,
  typst, chrome headless=headless chrome
datatype | type represent | string=strings=text, number=numbers=numeric, integer=integers=int,
  float=floats=double, boolean=booleans=bool, list=lists=array=arrays, map=maps=dict=dicts=object=objects,
  tuple=tuples, set=sets, null=none, decimal=decimals, enum=enums, bytes=blob
errorstyle | error signal handle | exception=exceptions, result types=result type=result, error codes=return
  codes=error code=return code, sentinel values, panics=panic, option types
testdata | test data | factory=factories=factory_boy, fixture=fixtures=json fixtures, faker,
  snapshot=snapshots, production dump
backoff | retry backoff policy delay | exponential backoff=exponential=exponentially, fixed
  delay=fixed=constant delay, linear backoff=linear, jitter, immediate
registry | registry image push container package | ghcr=ghcr.io, ecr, docker hub=dockerhub, gcr, quay,
  artifactory, nexus, harbor, acr
persistencestyle | model persistence | event sourcing=event sourced, crud=plain crud, active record, data
  mapper
conflictresolution | conflict resolve merge | last write wins=lww, crdt=crdts, operational
  transformation=ot, three way merge, manual merge
imageformat | format | webp, png, jpeg=jpg, avif, gif, svg, heic
dashboard | dashboard chart | grafana, kibana, datadog, tableau, metabase, looker, superset, power
  bi=powerbi
iot | protocol send | mqtt, coap, amqp, zigbee, modbus, lorawan, bluetooth=ble
rtos | rtos firmware | zephyr, freertos, vxworks, bare metal, rtems
i18n | translate translation | gettext, i18next, fluent, formatjs, icu
notebook | notebook | jupyter, marimo, colab, zeppelin
featurestore | feature store | feast, tecton, hopsworks
vmtool | environment dev | nix, minikube, kind, tilt, skaffold, devcontainer=devcontainers=dev containers,
  vagrant, docker compose, asdf, mise
mltracking | experiment registry | mlflow, wandb=weights and biases, neptune, comet
gui | gui toolkit desktop | qt=pyqt, gtk, wxwidgets, tkinter, electron, tauri, winforms, wpf, swing, javafx,
  imgui
textui | terminal screen | textual, rich, curses=ncurses, urwid, bubbletea, ratatui, blessed
packageindex | index registry publish | pypi, devpi, npm registry, crates.io, maven central, github
  packages, rubygems
buildbackend | build backend packaging | hatchling, setuptools, flit core, poetry core, maturin, meson
  python, scikit build
maps | map tile | leaflet, mapbox=mapbox gl=maplibre, openlayers, google maps, here
charts | chart plot graph | d3, chart.js=chartjs, plotly, matplotlib, recharts, highcharts, echarts, vega,
  bokeh, seaborn
statictyping | type | flow, typescript, jsdoc
testhttp | mock http | responses, respx, vcr=vcrpy, wiremock, nock, msw, mockserver
mockinglib | mock | mockito, sinon, unittest.mock, jest mocks, mockk, moq, gomock
snapshot | update schedule dependency bump | renovate, dependabot, manual updates
monitoring | uptime | pingdom, uptimerobot, statuscake, better uptime, uptime kuma
serverless | serverless function | lambda=aws lambda, cloud functions, azure functions, cloudflare workers,
  knative
warehouse | warehouse analytics | snowflake, bigquery, redshift, databricks, clickhouse, synapse
bi | report dashboard | tableau, looker, metabase, power bi, superset
vpn | vpn access | wireguard, openvpn, tailscale, ipsec, zerotier
secretscan | secret scan | gitleaks, trufflehog, detect secrets, git secrets
migrationstyle | migration | expand contract=expand and contract, big bang migration, forward only,
  reversible
cascade | delete foreign key | cascade, restrict, set null
cli | cli command line argument parse parser | click, argparse, typer, docopt, fire, cobra, clap, commander,
  yargs, oclif, picocli, optparse
validation | validation validate model schema settings | pydantic, marshmallow, attrs, msgspec, zod, joi,
  yup, cerberus, jsonschema=json schema, voluptuous, valibot, ajv, dataclasses=dataclass
paths | path file paths | pathlib, os.path, strings
datelib | date time library datetime | moment=moment.js=momentjs, date fns=date-fns, luxon, dayjs=day.js,
  pendulum, arrow, dateutil, joda, temporal api, zoneinfo, pytz
numeric | dataframe data table analysis | pandas, polars, dask, spark=pyspark, duckdb, vaex, modin
ml | model train machine learning deep framework | pytorch=torch, tensorflow, jax, keras, mxnet,
  scikit-learn, xgboost, lightgbm
llm | model llm provider ai | openai=gpt 4=gpt, anthropic=claude, gemini, llama, mistral, ollama, bedrock,
  cohere
template | template html render engine | jinja=jinja2, mustache, handlebars, ejs, mako, django template,
  liquid, pug, nunjucks, thymeleaf, erb, haml, twig
di | dependency injection container | guice, dagger, koin, wire, fx, inversify, dependency injector
parsergen | parser parse grammar generate | antlr, bison=yacc, recursive descent=hand
  written=hand-written=handwritten, lark, pyparsing, peg=pegjs, tree sitter=tree-sitter, nom, regex=regular
  expressions=regular expression, parsec, lalr
money | money amount | integer cents=cents=minor units=integer minor units, decimal=decimals=numeric,
  float=floats=floating point, decimal string=decimal strings, string
rate | rate limit algorithm | token bucket, leaky bucket, fixed window, sliding window
loadbalance | load balance strategy route | round-robin=round robin, least connections, random, ip hash,
  sticky sessions, consistent hashing
evict | evict eviction cache policy replace | lru, lfu, fifo, random eviction, ttl eviction, arc
deploystrategy | deploy rollout strategy | blue green=blue-green, canary, rolling=rolling update=rolling
  updates, big bang, recreate, in place, feature flag
repo | repository layout code | monorepo=single repository=one repository=single repo,
  polyrepo=multirepo=multiple repositories=separate repositories=one repository per service=repository per
  service
architecture | architecture style design | microservices=microservice, monolith=modular monolith,
  serverless, event driven, hexagonal, layered, clean architecture, mvc, cqrs, event sourcing
tenancy | tenant tenancy isolation data | schema per tenant, database per tenant, row level security=row
  level, shared tables, shared schema, single tenant=singletenant, multi tenant=multitenant
apiversioning | version api versioned | url=url path=path, header=accept header=custom header, query
  param=query string=query parameter, media type
pagination | pagination page list | cursor=cursors=cursor based=keyset, offset=offsets=offset based=limit
  offset, page number=page numbers, link header
locking | lock locking concurrency update conflict | optimistic=optimistic locking, pessimistic=pessimistic
  locking, advisory lock=advisory locks, row locks=row lock, last write wins
rendering | render rendering | server=server side rendering=ssr=server side, client=client side
  rendering=csr=client side, static=static generation=ssg, spa, islands
os | os operating | linux, windows, macos, freebsd, openbsd
distro | distribution linux server host vm | ubuntu, debian, centos, rhel=red hat, fedora, arch, alpine,
  amazon linux, nixos, rocky
cpu | architecture cpu build target | x86=x86_64=amd64=x64, arm=arm64=aarch64, riscv
browser | browser | chrome, firefox, safari, edge, ie11=internet explorer
editor | editor ide | vscode=vs code=visual studio code, intellij=pycharm, vim=neovim, emacs, sublime
cadence | cadence schedule often | hourly=every hour, daily=every day=nightly=every night=each night,
  weekly=every week=once a week, monthly=every month, quarterly, yearly=annually, biweekly=fortnightly=every
  two weeks, continuously=on every merge=on each merge, manually=on demand=by hand
weekday | day week | monday=mondays, tuesday=tuesdays, wednesday=wednesdays, thursday=thursdays,
  friday=fridays, saturday=saturdays, sunday=sundays
httpverb | update endpoint method verb http | put, patch, post, delete, get
status | status code | 200=ok, 201, 202, 204, 301, 302, 307, 308, 400, 401, 403, 404, 409, 410, 422, 429,
  500, 502, 503
"""


@frozen
class RoleFiller:
    """A thing found in a sentence: its one name, the roles it can fill, and where it stands."""

    name: str
    roles: frozenset[str]
    first: int
    last: int


@frozen
class _Roles:
    things: Mapping[tuple[str, ...], tuple[str, frozenset[str]]]
    words: Mapping[str, frozenset[str]]
    forms: frozenset[str]
    starts: frozenset[str]
    longest: int


@cache
def _roles() -> _Roles:
    named: dict[str, frozenset[str]] = {}
    fills: dict[tuple[str, ...], dict[str, str]] = {}
    for line in _lines():
        role, words, things = (part.strip() for part in line.split("|"))
        named[role] = frozenset(canonical(word) for word in words.split())
        for name, spelled in _things(things):
            for form in spelled:
                if form[0] not in STOP or len(form) > 1:
                    fills.setdefault(form, {})[role] = name
    things_ = {form: (min(roles.values(), key=len), frozenset(roles)) for form, roles in fills.items()}
    forms = several(_TABLE.replace("=", " ").replace(",", " "))
    starts = frozenset(form[0] for form in things_)
    return _Roles(things_, named, forms, starts, max(map(len, things_)))


def _lines() -> Iterable[str]:
    """The table's rows, each put together from its line and the indented ones after it."""
    row = ""
    for line in _TABLE.strip().splitlines():
        if line.startswith(" "):
            row += line
            continue
        if row:
            yield row
        row = line
    yield row


def _things(text: str) -> Iterable[tuple[str, list[tuple[str, ...]]]]:
    """Each thing by its first name, with all its spellings as the names of their words."""
    for thing in text.split(","):
        forms = thing.strip().split("=")
        yield forms[0], [tuple(plain(word) for word in form.split()) for form in forms]


# English words that are also names: they count only where they are written as the name of something used.
ENGLISH = several(
    """express go c r make just get put post delete patch next lit less black fetch echo gin fire age
    render fly square segment linear teams spring rocket warp hug standard solid click wire ant arc
    table text server client static path header url string strings random process thread async integer
    error debug info main dev stable local disk order rest in edge arrow temporal flux helm salt chef
    puppet atlas notion linear heap split.io expo ent chi got ky ava tap ward karma match cookie cookies
    slug slugs tempo river oban hatch rye just invoke pants sass serial restrict cascade trace critical
    cursor offset semantic calendar recreate sync decimal float shell native code shortcut matrix bind
    unix iso ok google amazon oracle decimals space tab spa manually rebase squash document conventional
    string local iso imperative request requests number list set map object array dict tuple boolean
    exception exceptions result fixture fixtures factory factories none null"""
)


def filled(words: tuple[Token, ...]) -> list[RoleFiller]:
    """The things a sentence names that fill some role, the longest name first at each place."""
    roles, found, at = _roles(), [], 0
    while at < len(words):
        if plain(words[at].low) not in roles.starts:
            at += 1
            continue
        for size in range(min(roles.longest, len(words) - at), 0, -1):
            key = tuple(plain(word.low) for word in words[at : at + size])
            if key in roles.things and (size > 1 or _spelled(words[at].low)):
                name, fills = roles.things[key]
                found.append(RoleFiller(name, fills, at, at + size))
                at += size
                break
        else:
            at += 1
    return found


def _spelled(low: str) -> bool:
    """Whether a word is written as the table has it, and does not only share its stem (`hour`, `hourly`)."""
    forms = _roles().forms
    return low in forms or low.removesuffix("s") in forms or SAME.get(low) in forms - ENGLISH


def role_words(role: str) -> frozenset[str]:
    """The words that name a role and say nothing more once its thing is named."""
    return _roles().words[role]
