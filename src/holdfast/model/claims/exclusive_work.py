"""Things of which only one value holds at a time: code, tests, products, people."""
# ruff: noqa: E501

TABLE = """\
string quotes | single = single quotes, single-quoted strings, single quoted, apostrophe strings, singlequote true, prefer single quotes, single quote style, strings in single quotes | double = double quotes, double-quoted strings, double quoted, singlequote false, prefer double quotes, black style quotes, double quote style, strings in double quotes | backtick = backticks everywhere, template literals for all strings, always template literals
semicolons | required = semicolons required, always semicolons, end statements with semicolons, explicit semicolons, semi true, with semicolons, use semicolons, semicolons at line end, terminate with semicolon | omitted = no semicolons, semicolon-free, without semicolons, omit semicolons, semi false, rely on asi, automatic semicolon insertion, standard style no semis, leave out semicolons, drop semicolons, do not use semicolons
indentation | tabs = indent with tabs, tabs for indentation, tab indented, hard tabs, usetabs true, tab characters for indent, use tabs, indent using tabs, tab indentation | spaces = indent with spaces, spaces for indentation, space indented, soft tabs, usetabs false, two-space indent, four-space indent, never tabs, use spaces, indent using spaces, space indentation, four spaces, two spaces
trailing commas | always = trailing commas everywhere, always trailing commas, trailing comma required, magic trailing comma, trailingcomma all, dangling commas required | never = no trailing commas, trailing commas forbidden, trailingcomma none, drop the trailing comma, without trailing commas | es5 only = trailingcomma es5, es5 trailing commas, trailing commas except function params
line endings | lf = lf line endings, unix line endings, eol lf, newline only, end of line lf | crlf = crlf line endings, windows line endings, eol crlf, carriage return line feed | native = native line endings, autocrlf true, platform line endings
final newline | required = final newline required, end files with newline, insert final newline, newline at end of file | omitted = no final newline, no newline at eof, strip the trailing newline
brace placement | same line = opening brace same line, k&r braces, one true brace style, 1tbs, egyptian braces | new line = opening brace own line, allman braces, brace on next line, bsd style braces
brace omission | always braces = always use braces, braces even for one-liners, curly all, single statements need braces, braces around every if | may omit = braces optional for one-liners, omit braces for single statements, braceless if allowed, curly multi-line
variable naming | snake = snake_case variables, snake case for variables, underscores in variable names, snake_case names, lower_snake_case | camel = camelcase variables, camel case for variables, lowercamelcase, camelcase names | hungarian = hungarian notation, type prefixes on variables, prefixed with the type
function naming | snake = snake_case functions, functions in snake_case, snake case function names, snake_case methods | camel = camelcase functions, functions in camelcase, camel case methods, lowercamelcase methods | pascal = pascalcase functions, pascalcase methods, uppercamelcase methods
file naming | kebab = kebab-case filenames, kebab case files, dashes in file names, hyphenated file names, files are kebab-case | snake = snake_case filenames, snake case files, underscores in file names, files are snake_case | camel = camelcase filenames, camelcase files, camel case file names | pascal = pascalcase filenames, pascalcase files, files named after component, pascal case file names
json field naming | snake = snake_case json, snake_case keys, snake_case in payloads, snake case json fields, snake_case api fields | camel = camelcase json, camelcase keys, camelcase in payloads, camel case json fields, camelcase api fields | kebab = kebab-case keys, kebab-case json, dashed keys | pascal = pascalcase json, pascalcase keys, pascalcase fields
constant naming | screaming = screaming_snake_case constants, upper case constants, all caps constants, upper_snake constants, constants in uppercase | camel = camelcase constants, lower camel constants, constants like normal variables | k prefix = k-prefixed constants, kconstant naming, constants start with k
table naming | plural = plural table names, tables are plural, pluralised tables, plural tables | singular = singular table names, tables are singular, singular tables, table named after entity
column naming | snake = snake_case columns, columns in snake_case, snake case column names | camel = camelcase columns, columns in camelcase, quoted camelcase columns
url path naming | kebab = kebab-case urls, hyphenated paths, dashes in urls, kebab case routes | snake = snake_case urls, underscored paths, underscores in urls, snake case routes | camel = camelcase urls, camelcase paths, camel case routes
resource naming | plural = plural resource names, plural endpoints, plural nouns in routes, collections are plural | singular = singular resource names, singular endpoints, singular nouns in routes
interface naming | i prefix = interfaces prefixed with i, i-prefixed interfaces, leading i on interfaces, iservice naming | no prefix = no i prefix, interfaces without prefix, unprefixed interfaces, drop the i prefix
private member naming | underscore = leading underscore for private, underscore-prefixed private, single underscore prefix, private members start with underscore | hash = hash private fields, ecmascript private fields, native private fields, sharp-prefixed fields | keyword = private keyword, typescript private modifier, no underscore for private, no underscore prefix
test function naming | should = it should style, should-style names, test names start with should, should_ prefix | test prefix = test_ prefix, names start with test_, test_ functions | given when = given when then names, given_when_then, bdd names
boolean naming | prefixed = is has prefix for booleans, booleans start with is, is_ prefix on booleans, has_ and is_ prefixes | bare = no is prefix, bare adjectives for booleans, booleans without prefix, unprefixed booleans
branch naming | type slash = feature slash prefix, feat/ branches, feature/ prefix, fix/ and feat/ prefixes, type-prefixed branch names | ticket = ticket id branch names, branches named after tickets, jira key in branch, branch starts with ticket number | username = username prefix branches, initials prefix, branches prefixed with author
abbreviations in names | spelled out = no abbreviations, spell names out, full words in names, unabbreviated names, descriptive names not short ones | allowed = abbreviations are fine, short names preferred, abbreviate freely, terse names
python imports | absolute = absolute imports, absolute imports only, no relative imports, import from package root, relative imports banned | relative = relative imports, relative imports inside package, dot imports, explicit relative imports
js import paths | alias = path aliases, at-sign alias imports, @/ imports, tsconfig paths alias, aliased imports | relative = relative import paths, ../ imports, no path aliases, dot-dot imports
module system | esm = es modules, esm only, type module, import export syntax, native esm, pure esm, esm-only package | commonjs = commonjs, cjs only, require calls, module.exports, type commonjs | dual = dual esm and cjs, ship both module formats, dual package, dual publish
js exports | named = named exports, named exports only, no default exports, default exports banned, export named symbols | default = default exports, default export per file, export default, one default export
barrel files | used = barrel files, index re-exports, index.ts barrels, re-export from index, import through the barrel | banned = no barrel files, barrels are banned, no index re-exports, import from the source file, deep imports only
wildcard imports | banned = no wildcard imports, star imports banned, no star imports, never import star, explicit imports only | allowed = wildcard imports allowed, star imports are fine, import star ok, glob imports
import order | sorted = sorted imports, isort order, alphabetical imports, imports sorted by tool, grouped and sorted imports | free = import order does not matter, unsorted imports, imports in any order, no import sorting
import location | top = imports at top of file, top-level imports only, no inline imports, no local imports | lazy = lazy imports, imports inside functions, function-level imports, deferred imports, import on first use
python type hints | required = type hints required, fully typed, annotations mandatory, all functions annotated, typed defs required, annotate every function, disallow untyped defs, must be typed, type annotations required, everything typed, strict typing | optional = type hints optional, annotations optional, gradually typed, hints where helpful, annotate when useful, type annotations optional, typing is optional | none = no type hints, untyped python, no annotations, we do not annotate, without type hints, types are omitted
python optional syntax | pipe = x or none with pipe, pep 604 unions, pipe none syntax, str pipe none | optional = typing.optional, optional[str], optional from typing
python generics syntax | builtin = builtin generics, list[int], pep 585, lowercase generics | typing = typing.list, capital list from typing, typing generics
future annotations | used = from __future__ import annotations, future annotations everywhere, postponed evaluation | banned = no future annotations, future annotations import banned, annotations evaluated eagerly
typescript strictness | strict = strict mode on, strict true, strict typescript, strict compiler flags, noimplicitany enabled | loose = strict mode off, strict false, loose typescript, implicit any allowed, non-strict typescript
typescript any | banned = no any, any is banned, never use any, no-explicit-any error, use unknown instead | allowed = any is allowed, any is fine, explicit any ok, no-explicit-any off
ts types declaration | interface = prefer interface, interfaces for object types, interface over type, use interfaces | type = prefer type aliases, type over interface, type aliases only, use type not interface
ts enums | enums = typescript enums, use enum, native enums, const enums | unions = string literal unions, union types instead, no enums, enums banned, as const objects, no typescript enums
frontend language | typescript = written in typescript, typescript only, ts everywhere, all typescript, tsx files, no plain javascript | javascript = plain javascript, vanilla js, javascript only, no typescript, js with jsdoc, jsx files | rescript = rescript, reasonml | elm = written in elm, elm frontend | dart = written in dart, dart web
python docstrings | google = google style docstrings, google-style, args and returns sections, google docstring convention | numpy = numpydoc, numpy style docstrings, numpy-style | sphinx = restructuredtext docstrings, :param:, sphinx style docstrings, rest docstrings, epytext | none = no docstrings, docstrings not needed, skip docstrings
docstring requirement | required = docstrings required, every public function documented, docstring mandatory, missing docstring fails, public api needs docstrings | optional = docstrings optional, docstrings not required, docstring only when unclear, missing docstrings allowed
comments | why only = comments explain why, no what comments, comment the reason only, sparse comments, self-documenting code, code should explain itself, few comments, avoid comments, comments only for why | thorough = comment every function, comments on every block, heavily commented, generous comments, comment each step, comment everything, many comments, well commented code
comment language | english = comments in english, english comments only, code comments english | german = comments in german, german comments | french = comments in french, french comments | japanese = comments in japanese, japanese comments | chinese = comments in chinese, chinese comments | spanish = comments in spanish, spanish comments
todo comments | ticketed = todos need a ticket, todo with issue number, todo must link issue, todo references a ticket, no bare todos | banned = no todos, todo comments banned, todos fail lint, no todo in main, todos not merged, do not leave todos, no todo comments | free = todos are fine, todos allowed freely, leave todos in code, plain todos ok, todo comments are fine
commented-out code | deleted = no commented-out code, delete dead code, remove commented code, dead code is removed | kept = keep commented-out code, commented code may stay, leave old code commented
error handling idiom | exceptions = throw exceptions, raise exceptions, exceptions for errors, errors are raised, functions throw on failure, raise on failure, raise an exception, exceptions not return codes, throws errors, let exceptions propagate | results = result types, return result, result objects, either type, errors as values, no exceptions, return errors not throw, neverthrow, return a result, errors are values, do not throw, never throw, result instead of exceptions | codes = return error codes, error codes, negative return values, errno style, status return codes, integer error codes, return status codes | sentinel = return none on failure, null on error, return false on failure
rust unwrap | banned = no unwrap, unwrap is banned, never unwrap, unwrap_used denied, no unwrap outside tests | allowed = unwrap is fine, unwrap allowed, unwrap freely, expect and unwrap ok
rust unsafe | forbidden = forbid unsafe, no unsafe code, unsafe forbidden, forbid(unsafe_code), safe rust only | allowed = unsafe allowed, unsafe blocks permitted, unsafe with safety comment, unsafe where profiled
rust async runtime | tokio = tokio, tokio runtime, tokio::main | async-std = async-std, async std runtime | smol = smol runtime, smol executor | none = no async runtime, blocking threads only, sync rust | embassy = embassy executor
rust edition toolchain | stable = stable rust, stable toolchain, no nightly features, builds on stable | nightly = nightly rust, nightly toolchain, requires nightly, nightly features
go error wrapping | stdlib = fmt.errorf with %w, wrap with %w, standard errors package, errors.is and errors.as | pkg errors = pkg/errors, errors.wrap, github.com/pkg/errors
go panics | never = never panic, no panics, panic is banned, libraries must not panic | allowed = panic on programmer error, panics are fine, panic for invariants, must functions panic
go context | first param = context first argument, ctx as first parameter, pass context explicitly | stored = context stored in struct, ctx in struct field, context as member
catch-all exception | banned = no bare except, never catch exception, broad except banned, catch specific exceptions, no blanket catch | allowed = catch everything, catch all exceptions, broad except allowed, swallow all errors
failure posture in code | fail fast = fail fast, crash early, raise immediately, let it crash, fail loudly, blow up early, fail hard, abort on error, stop at first error, die on error | degrade = degrade gracefully, swallow and continue, log and continue, best effort continue, carry on after errors, ignore errors silently, keep going on error, continue on error, skip and continue, ignore failures
assertions in production | kept = asserts stay enabled in production, assertions active in release, keep asserts in release | stripped = asserts disabled in production, assertions compiled out, strip asserts, python -o, ndebug builds
null handling | option types = option types, maybe type, optional return, no nulls, null is banned, never return null, none is not allowed | nullable = return null, null when missing, nullable returns, null is fine, null is allowed, may return null | null object = null object pattern, empty object instead
js nullish value | undefined only = undefined only, never use null, no null in codebase, prefer undefined | null = use null for absent, explicit null, prefer null over undefined
missing lookup | raises = raises when not found, throws notfound, raises keyerror, missing record raises, not found is an error | returns none = returns none when missing, returns null if missing, missing yields none, none when not found | returns default = returns a default value, default when missing, falls back to default value
optional chaining | used = optional chaining, ?. operator, safe navigation | avoided = no optional chaining, explicit null checks, avoid ?.
async style js | async await = async await, await everywhere, async functions, no then chains | promises = then chains, promise chains, .then style | callbacks = callback style, node callbacks, error-first callbacks | rxjs = rxjs streams, observables everywhere
python concurrency | asyncio = asyncio, async def everywhere, async python, async/await python | threads = thread pool, threading module, threads not asyncio, threadpoolexecutor | processes = multiprocessing, process pool, worker processes, processpoolexecutor | gevent = gevent, greenlets, monkey patching | trio = trio library, trio nursery, anyio, structured concurrency with trio | sync = fully synchronous, sync code only, no async, blocking code, plain synchronous
concurrency model | actors = actor model, actor-based, actor system, akka, message passing actors | shared locks = shared state with locks, mutexes, mutex guarded state | csp = channels not locks, csp channels, share by communicating | single thread = single threaded, one thread only, event loop only, no threads
kotlin async | coroutines = coroutines, suspend functions, kotlin flow | rxjava = rxjava, rxkotlin, rx observables | callbacks = callback interfaces, listener callbacks
swift async | async await = swift concurrency, swift async await, structured concurrency swift | combine = combine publishers, combine framework | gcd = grand central dispatch, dispatchqueue, gcd queues | rxswift = rxswift | completion = completion handlers, completion blocks
c# async | async all the way = async all the way, no .result calls, never block on async | blocking = .result and .wait, blocking on tasks, sync over async
programming paradigm | functional = functional style, pure functions, functions over classes, plain functions, no classes, functional core, prefer functions, free functions, functions not classes | object oriented = object oriented, classes for everything, oop style, class-based design, everything is a class, prefer classes, classes not functions, use classes | procedural = procedural style, simple scripts, straight-line code
code reuse | composition = composition over inheritance, prefer composition, no inheritance, compose objects, inheritance banned, composition not inheritance, favour composition, no subclassing | inheritance = inheritance hierarchy, base classes, subclass to extend, abstract base class, extend the base class, use inheritance, inherit from base, subclassing | mixins = mixins, mixin classes
python interfaces | protocol = typing protocols, structural typing, protocol classes | abc = abstract base classes, abc module, abcs | duck = duck typing, no formal interfaces
python data classes | dataclass = dataclasses, @dataclass, stdlib dataclass, frozen dataclass | pydantic = pydantic models, pydantic basemodel, pydantic everywhere | attrs = attrs classes, attr.s, attrs define | typeddict = typeddict, typed dicts | namedtuple = namedtuple, named tuples | dict = plain dicts, raw dictionaries, dictionaries for records | msgspec = msgspec structs, msgspec
mutability | immutable = immutable data, frozen objects, never mutate, no mutation, immutable by default, copies not mutation, read-only structures, do not mutate, data is immutable, never modified after creation | mutable = mutable state, mutate in place, in-place updates, objects are mutable, mutation is fine, mutated in place, modify in place, updated in place
js variable declaration | const = const by default, prefer const, const everywhere, no let unless reassigned | let = let everywhere, prefer let, let by default | var = var declarations, use var
java local types | var = local variable type inference, var for locals, java var keyword | explicit = explicit local types, no var in java, spell out types
java boilerplate | lombok = lombok, lombok annotations, @data annotation | records = java records, records for dtos | handwritten = no lombok, lombok banned, hand-written getters, explicit getters and setters | autovalue = autovalue, immutables library
java injection | constructor = constructor injection, inject through constructor | field = field injection, @autowired fields, inject into fields
dependency wiring | container = di container, dependency injection framework, ioc container, injector framework, wired by container | manual = manual wiring, pass dependencies explicitly, no di framework, plain constructor arguments, hand-wired dependencies | service locator = service locator, global registry lookup
global state | banned = no globals, no global state, globals are banned, no module-level state, no singletons | singleton = singletons, global singleton, module-level singleton, shared global instance
loops style | comprehensions = comprehensions, list comprehensions preferred, map and filter, functional iteration | for loops = plain for loops, explicit loops, no comprehensions, for loops preferred
js functions | arrow = arrow functions, arrow functions only, prefer arrow, fat arrow | declarations = function declarations, function keyword, hoisted functions, no top-level arrow functions
ternaries | allowed = ternaries allowed, ternary operators fine, nested ternaries ok | banned = no ternaries, ternary banned, no nested ternary, if else instead of ternary
early return | guard clauses = guard clauses, early returns, return early, bail out early | single exit = single exit point, one return per function, single return
walrus operator | allowed = walrus allowed, walrus operator welcome, assignment expressions fine | banned = no walrus, walrus operator banned, avoid assignment expressions
string formatting python | fstrings = f-strings, fstrings, f-string everywhere | format = str.format, .format calls | percent = percent formatting, %s formatting, printf-style formatting
logging arguments | lazy = lazy log formatting, percent-style log args, logger args not f-strings | fstring = f-strings in log calls, interpolated log messages
path handling python | pathlib = pathlib, path objects, pathlib everywhere | os.path = os.path, string paths, os.path.join
date library js | date-fns = date-fns | dayjs = dayjs, day.js | luxon = luxon | moment = moment.js, momentjs | temporal = temporal api, temporal polyfill | native = native date object, built-in date, no date library
utility library | lodash = lodash, lodash helpers | ramda = ramda | native = no lodash, native array methods, no utility library, plain es methods | remeda = remeda
magic numbers | named = named constants, no magic numbers, extract literals to constants | inline = inline literals fine, magic numbers allowed, literals in place
equality js | strict = triple equals, strict equality, strict equals only, eqeqeq | loose = double equals, loose equality, loose equals allowed
class members order | public first = public methods first, public members on top | private first = private members first, fields before public, helpers first | alphabetical = alphabetical members, members sorted alphabetically
file size layout | one class per file = one class per file, one component per file, single export per file, one type per file | many per file = several classes per file, group related classes, multiple components per file, one big module
project layout | by feature = feature folders, organised by feature, vertical slices, folder per feature, grouped by domain, feature-based structure | by layer = organised by layer, layered folders, controllers services models folders, grouped by type, folder per layer
python layout | src = src layout, package under src, src/ directory layout | flat = flat layout, package at repo root, no src directory
repo layout | monorepo = monorepo, mono repo, single repository for everything, one repo for all services, all packages in one repo | polyrepo = polyrepo, multi-repo, one repo per service, separate repositories, repo per package, split repositories
monorepo tool | nx = nx monorepo, nx workspace, nx run | turborepo = turborepo, turbo run, turbo.json | lerna = lerna | bazel = bazel monorepo, bazel workspace | rush = rush.js, rushstack | pants = pants build, pantsbuild | moon = moonrepo
architecture style | hexagonal = hexagonal architecture, ports and adapters, clean architecture, onion architecture | layered = three-tier layered, classic layered architecture, n-tier | mvc = mvc, model view controller | transaction script = transaction scripts, logic in handlers
business logic place | services = service layer holds logic, thin controllers, fat services, logic in services | models = fat models, logic in models, rich domain models, active record models | controllers = logic in controllers, fat controllers, logic in views | database = stored procedures, logic in database, plsql logic
database access style | orm = use the orm, through the orm, orm models, orm only, no raw sql | raw sql = raw sql, hand-written sql, plain sql, no orm, sql strings | query builder = query builder, knex, jooq, kysely, sqlalchemy core
python orm | sqlalchemy = sqlalchemy | django = django orm, django models | peewee = peewee | tortoise = tortoise orm | sqlmodel = sqlmodel | pony = pony orm
node orm | prisma = prisma | typeorm = typeorm | sequelize = sequelize | drizzle = drizzle, drizzle orm | mikro = mikro-orm, mikroorm | mongoose = mongoose
sql keyword case | upper = uppercase sql keywords, sql keywords in caps, upper case sql | lower = lowercase sql keywords, lower case sql, sql in lowercase
sql commas | leading = leading commas in sql, comma first sql | trailing = trailing commas in sql, comma last sql
python formatter | black = black code style, formatted with black, black formatter, run black | ruff = ruff format, ruff formatter, formatted with ruff | yapf = yapf | autopep8 = autopep8 | blue = blue formatter | none = no python formatter, hand-formatted python
python linter | ruff = ruff check, ruff lint, ruff as linter, linted with ruff | flake8 = flake8 | pylint = pylint | pycodestyle = pycodestyle, pep8 tool | none = no python linter
python type checker | mypy = mypy, mypy strict, run mypy | pyright = pyright, basedpyright, pylance | pyre = pyre, pyre-check | pytype = pytype | ty = ty check, astral ty | none = no type checker, no static type checking
python package manager | uv = uv sync, uv run, uv lock, uv.lock, uv for dependencies, uv add | poetry = poetry, poetry.lock, poetry install | pip = plain pip, pip install -r, requirements.txt, pip-tools, pip-compile | pipenv = pipenv, pipfile | conda = conda, environment.yml, mamba, micromamba | pdm = pdm, pdm.lock | hatch = hatch env, hatch environments
python build backend | setuptools = setuptools, setup.py | hatchling = hatchling, hatch build | flit = flit, flit-core | poetry-core = poetry-core | maturin = maturin | uv build = uv_build, uv build backend | meson = meson-python
python version manager | pyenv = pyenv | asdf = asdf | mise = mise python, rtx | conda = conda python | uv = uv python install, uv-managed python | system = system python
node version manager | nvm = nvm, .nvmrc | fnm = fnm | volta = volta | asdf = asdf nodejs | mise = mise node | n = n version manager
js package manager | npm = npm install, npm ci, package-lock.json, use npm, plain npm | yarn = yarn, yarn.lock, yarn install, yarn berry, yarn classic | pnpm = pnpm, pnpm-lock.yaml, pnpm install, pnpm workspaces | bun = bun install, bun.lockb, bun add
js runtime | node = node.js, nodejs runtime, runs on node | deno = deno, deno runtime, deno run | bun = bun runtime, runs on bun, bun run | workerd = workers runtime, cloudflare workers runtime
js formatter | prettier = prettier, prettier --write | biome = biome format, biome formatter | dprint = dprint | standard = standardjs, standard --fix | eslint = eslint --fix formatting, eslint stylistic
js linter | eslint = eslint, eslint config | biome = biome lint, biome check, biome linter | oxlint = oxlint, oxc lint | tslint = tslint | jshint = jshint | standard = standardjs linter, standard js | deno = deno lint
eslint config base | airbnb = airbnb config, airbnb style guide, eslint-config-airbnb | google = google js style, eslint-config-google | standard = eslint-config-standard, standard config | xo = xo config, xo style | own = our own eslint preset, custom eslint preset, in-house eslint config
go linter | golangci = golangci-lint, golangci | vet = go vet only, just go vet | staticcheck = staticcheck only, standalone staticcheck
go formatter | gofmt = gofmt, go fmt | gofumpt = gofumpt | goimports = goimports
c++ formatter style | google = clang-format google, google c++ style | llvm = clang-format llvm, llvm style | mozilla = mozilla c++ style | webkit = webkit style | microsoft = microsoft c++ style
c++ standard | c++11 = c++11, cpp11, gnu++11 | c++14 = c++14, cpp14 | c++17 = c++17, cpp17 | c++20 = c++20, cpp20 | c++23 = c++23, cpp23 | c++98 = c++98, c++03
c++ exceptions | enabled = c++ exceptions enabled, exceptions allowed in c++, throw in c++ | disabled = fno-exceptions, c++ exceptions disabled, exception-free c++
c++ rtti | enabled = rtti enabled, dynamic_cast allowed | disabled = fno-rtti, rtti disabled, no dynamic_cast
c++ memory ownership | smart = smart pointers, unique_ptr, shared_ptr, raii only | raw = raw pointers, new and delete, manual delete
c++ build | cmake = cmake, cmakelists | meson = meson, meson.build | bazel = bazel, build.bazel | make = plain makefiles, gnu make, makefile build | scons = scons | xmake = xmake
c++ packages | conan = conan, conanfile | vcpkg = vcpkg | submodules = git submodules for dependencies, submodule dependencies | fetchcontent = fetchcontent, cpm.cmake | system = system packages for libraries, apt-installed libraries
header guards | pragma = pragma once, #pragma once | ifndef = include guards, ifndef guards, #ifndef guard
java build | gradle = gradle, build.gradle, gradlew, gradle kotlin dsl | maven = maven, pom.xml, mvn | bazel = bazel java, bazel for jvm | ant = ant build, build.xml | sbt = sbt
gradle dsl | kotlin = kotlin dsl, build.gradle.kts, gradle kts | groovy = groovy dsl, groovy build scripts
java formatter | google = google-java-format, google java format | palantir = palantir-java-format | spotless eclipse = eclipse formatter | checkstyle = checkstyle sun, sun code conventions
jvm language | java = written in java, plain java, java only | kotlin = written in kotlin, kotlin only, kotlin for new code | scala = written in scala, scala codebase | clojure = written in clojure, clojure codebase | groovy = written in groovy
kotlin linter | ktlint = ktlint | detekt = detekt | ktfmt = ktfmt
swift formatter | swiftformat = swiftformat, nicklockwood swiftformat | swift-format = swift-format, apple swift-format | swiftlint = swiftlint autocorrect
ruby linter | rubocop = rubocop | standard = standardrb, standard ruby | none = no ruby linter
ruby types | sorbet = sorbet, rbi files | rbs = rbs, steep checker | none = untyped ruby, no ruby types
php standard | psr12 = psr-12, psr12 | per = per-cs, per coding style | wordpress = wordpress coding standards | symfony = symfony coding standard | laravel = laravel pint, pint preset
php static analysis | phpstan = phpstan, larastan | psalm = psalm | phan = phan | none = no php static analysis
css linter | stylelint = stylelint | none = no css linter, css unlinted
shell scripts | bash = bash scripts, bash required, #!/usr/bin/env bash, bashisms allowed | posix = posix sh, posix shell only, no bashisms, #!/bin/sh, dash compatible | zsh = zsh scripts, #!/bin/zsh | python = scripts in python, python instead of shell, no shell scripts | powershell = powershell scripts, pwsh | fish = fish scripts
shell strictness | strict = set -euo pipefail, set -e everywhere, strict mode shell | lax = no set -e, avoid set -e, explicit status checks
task runner | make = makefile targets, make targets, run make, via make | just = justfile, just recipes | npm scripts = npm scripts, package.json scripts | taskfile = taskfile, go-task, task.yml | nox = nox sessions, noxfile | tox = tox envs, tox.ini | invoke = invoke tasks, tasks.py | mage = mage, magefile | rake = rake tasks, rakefile
formatter enforcement | ci = formatting checked in ci, ci fails on formatting, format check in pipeline | pre-commit = formatted by pre-commit, pre-commit hook formats | editor = format on save only, formatting left to editor | none = formatting not enforced, no format check
pre-commit hooks | pre-commit = pre-commit framework, .pre-commit-config.yaml | husky = husky, lint-staged | lefthook = lefthook | none = no git hooks, no pre-commit hooks, hooks are not used | native = core.hookspath, plain git hooks
hook bypass | forbidden = never use --no-verify, no-verify is forbidden, hooks must not be skipped, do not bypass hooks | allowed = --no-verify is fine, hooks may be skipped, skip hooks with no-verify
linter warnings | errors = warnings are errors, warnings fail the build, werror, zero warnings, max-warnings 0, -d warnings | tolerated = warnings are tolerated, warnings allowed, warnings do not fail, lint warnings only advisory
lint suppressions | justified = suppressions need a reason, noqa with explanation, ignore comments need justification | banned = no lint suppressions, noqa banned, no eslint-disable, type ignore banned | free = noqa is fine, eslint-disable allowed, suppress freely
editor settings in repo | committed = .vscode committed, editor settings checked in, shared ide settings, .idea committed | ignored = .vscode ignored, editor settings gitignored, ide files not committed, .idea ignored
python validation | pydantic = pydantic validation, pydantic v2 models | marshmallow = marshmallow, marshmallow schemas | cerberus = cerberus | attrs = attrs validators, cattrs | jsonschema = jsonschema validation | manual = hand-written validation, manual checks
pydantic version | v1 = pydantic v1, pydantic 1.x, pydantic below 2 | v2 = pydantic v2, pydantic 2.x, pydantic 2 or later
js validation | zod = zod, zod schemas | yup = yup, yup schemas | joi = joi, joi schemas | ajv = ajv, json schema with ajv | valibot = valibot | io-ts = io-ts | class-validator = class-validator decorators | superstruct = superstruct
python web framework | fastapi = fastapi | django = django | flask = flask | litestar = litestar, starlite | aiohttp = aiohttp server | tornado = tornado | starlette = plain starlette, bare starlette | sanic = sanic
node web framework | express = express server, express app, express.js, expressjs | fastify = fastify | nestjs = nestjs, nest.js | koa = koa, koajs | hono = hono | hapi = hapi.js, hapijs | none = bare node http, no web framework
go web framework | stdlib = net/http only, stdlib router, standard library mux | gin = gin framework, gin-gonic | echo = labstack echo, echo framework | chi = chi router, go-chi | fiber = gofiber, fiber framework | gorilla = gorilla mux
rust web framework | axum = axum | actix = actix-web, actix | rocket = rocket framework, rocket.rs | warp = warp filters, warp framework | poem = poem framework
java web framework | spring boot = spring boot, springboot | quarkus = quarkus | micronaut = micronaut | dropwizard = dropwizard | vertx = vert.x, vertx | javalin = javalin
ruby web framework | rails = rails, ruby on rails | sinatra = sinatra | hanami = hanami | roda = roda
php framework | laravel = laravel | symfony = symfony | wordpress = wordpress | codeigniter = codeigniter | none = plain php, no php framework
http client python | requests = requests library, import requests | httpx = httpx | aiohttp = aiohttp client | urllib = urllib only, stdlib urllib | urllib3 = urllib3 directly
http client js | fetch = native fetch, fetch api, plain fetch | axios = axios | got = got library, got http | ky = ky client | undici = undici | superagent = superagent
logging library python | stdlib = stdlib logging, logging module, standard logging | structlog = structlog | loguru = loguru
logging library node | pino = pino | winston = winston | bunyan = bunyan | console = console.log, plain console
logging library go | slog = slog, log/slog | zap = go.uber.org/zap, uber zap | zerolog = zerolog | logrus = logrus
print statements | banned = no print statements, print is banned, no console.log, use the logger, t20 enabled, no-console error | allowed = print is fine, print statements allowed, console.log allowed
cli library python | argparse = argparse | click = click commands, click library | typer = typer | docopt = docopt | fire = python-fire
cli library go | cobra = cobra, spf13/cobra | urfave = urfave/cli | flag = stdlib flag package | kong = alecthomas kong
cli library rust | clap = clap derive, clap | structopt = structopt | argh = argh crate | lexopt = lexopt, pico-args
cli library node | commander = commander.js, commander | yargs = yargs | oclif = oclif | cac = cac
decorators | used = decorators, decorator-based, annotate with decorators | avoided = no decorators, avoid decorators, decorators banned
metaprogramming | avoided = no metaclasses, avoid metaprogramming, no magic, explicit code over magic | used = metaclasses, metaprogramming welcome, dynamic attributes
macros in code | avoided = no macros, macros banned, avoid macros | used = macros allowed, macro-heavy, proc macros
code duplication | dry = strictly dry, no duplication, extract shared helpers, deduplicate immediately | tolerate = duplication over wrong abstraction, rule of three, some duplication is fine, wet code, copy rather than couple
third-party dependencies | stdlib only = standard library only, no third-party dependencies, zero dependencies, no external packages, dependency-free, stdlib only, no dependencies, only standard library, nothing beyond stdlib, no new dependencies, no runtime dependencies | allowed = third-party packages welcome, use libraries freely, dependencies are fine, npm packages allowed, may add dependencies, new packages are fine | approval = new dependencies need approval, ask before adding dependencies, dependencies must be reviewed
dependency pinning | exact = exact pins, pinned exactly, exact versions, save-exact, double-equals pins | ranges = caret ranges, version ranges, floating versions, compatible release, tilde ranges, lower bounds only | latest = always latest, unpinned, no pins
lockfile | committed = lockfile committed, lock file checked in, commit the lockfile, lockfile in git, lockfile under version control | ignored = lockfile not committed, lock file gitignored, no lockfile, lockfile ignored, do not commit lockfile, lockfile not in git
dependency updates | automated = renovate, dependabot, automatic dependency updates, bot updates dependencies | manual = manual dependency updates, upgraded by hand, no update bot, quarterly upgrade by hand
dependency update bot | renovate = renovate bot, renovate.json | dependabot = dependabot.yml, dependabot prs | snyk = snyk upgrade prs
vendored code | vendored = dependencies are vendored, vendor directory committed, vendored in repo, third_party checked in, vendoring, copies of dependencies in repo, third-party code checked in | fetched = dependencies fetched at build, no vendoring, vendor directory ignored, not vendored, downloaded at install, dependencies downloaded, pulled from registry
generated files | committed = generated code committed, generated files checked in, commit generated output, codegen output in git, commit generated files, generated sources in git, check in generated | ignored = generated code not committed, generated files gitignored, generated at build time, never commit generated files, codegen during build, do not commit generated, generated on the fly, generated sources ignored
generated file edits | by generator only = never edit generated files, do not hand-edit generated, regenerate instead of editing, change the generator, do not edit generated, generated code is read-only | by hand = edit generated files by hand, hand-tweaked generated code, manual edits to generated code, generated files edited manually
build artifacts | committed = dist committed, build output checked in, compiled assets in git | ignored = dist gitignored, build output not committed, artifacts never committed
feature branches lifetime | trunk = trunk based, trunk-based development, commit straight to main, short-lived branches, everyone works on trunk, commit to trunk | gitflow = gitflow, git flow, develop branch, release branches and develop, branch from develop, merge to develop | github flow = github flow, feature branches off main, branch from main | release branches = long-lived release branches, release branch per version
default branch | main = main branch is default, default branch main, default is main | master = master branch is default, default branch master, still on master | develop = develop is default, default branch develop | trunk = trunk is default, default branch trunk
python test framework | pytest = pytest, pytest style, run pytest, pytest suite | unittest = unittest, unittest.testcase, stdlib unittest, python -m unittest | nose = nose tests, nose2, nosetests | doctest = doctest only | behave = behave features | robot = robot framework
js test framework | jest = jest, jest config, run jest | vitest = vitest, vite test | mocha = mocha, mocha chai | ava = ava runner | jasmine = jasmine, karma jasmine | node test = node:test, node test runner, built-in node test | bun test = bun test | tape = tape tests | qunit = qunit
java test framework | junit5 = junit 5, junit jupiter, junit5 | junit4 = junit 4, junit4 | testng = testng | spock = spock, spock framework
kotlin test framework | kotest = kotest | junit = kotlin with junit | spek = spek
go assertions | stdlib = stdlib testing only, plain testing package, no assertion library, no testify | testify = testify, testify assert, testify require | ginkgo = ginkgo, gomega | is = matryer is | go-cmp = go-cmp only
ruby test framework | rspec = rspec, spec files | minitest = minitest | test-unit = test-unit
php test framework | phpunit = phpunit | pest = pest php, pestphp | codeception = codeception
c++ test framework | gtest = googletest, gtest | catch2 = catch2 | doctest = doctest c++, doctest header | boost = boost.test, boost test
c# test framework | xunit = xunit, xunit.net | nunit = nunit | mstest = mstest
swift test framework | xctest = xctest | swift testing = swift testing, @test macro | quick = quick and nimble, quick nimble
e2e framework | playwright = playwright | cypress = cypress | selenium = selenium, webdriver | puppeteer = puppeteer | testcafe = testcafe | nightwatch = nightwatch | webdriverio = webdriverio, wdio
mobile e2e framework | detox = detox | appium = appium | maestro = maestro flows, maestro tests | espresso = espresso tests | xcuitest = xcuitest
mock library java | mockito = mockito | easymock = easymock | mockk = mockk | jmockit = jmockit
mock library c# | moq = moq | nsubstitute = nsubstitute | fakeiteasy = fakeiteasy
test doubles | mocks = mock external services, mocks in tests, mocked dependencies, mock the database, everything mocked, stubbed out, mock all collaborators, mocks for external services, use mocks, mock everything external, stub external calls | real = real services in tests, no mocks, mocks are banned, against real dependencies, test against real database, never mock, real postgres in tests, do not mock, avoid mocks, hits a real database, real backing services, tests use real | fakes = hand-written fakes, in-memory fakes, fakes not mocks, fake implementations, use fakes, fake in-memory implementation
database in tests | real container = testcontainers, postgres container in tests, real postgres in tests, dockerised test database, real database in tests, database container for tests, spin up postgres | sqlite = sqlite in tests, in-memory sqlite, sqlite for the test suite, tests use sqlite, sqlite test database | mocked = mocked database, database is mocked, stub the repository, no database in tests, mock the db, tests without database | shared = shared test database, common staging database for tests
test db isolation | transaction rollback = rollback after each test, tests wrapped in transaction, transactional tests | truncate = truncate between tests, clean tables after each test, database cleaner truncation | fresh = fresh database per test, new schema per test, recreate the database per run
network in tests | forbidden = no network in tests, tests run offline, network blocked in tests, pytest-socket, tests must not hit network, hermetic tests, no real http in tests, tests never touch network, no internet in tests, tests work offline, no outbound calls in tests | allowed = tests may hit network, live network in tests, tests call real apis, real http calls in tests, tests need internet, tests use the network, tests reach the internet
http in tests | recorded = recorded cassettes, vcr, vcrpy, recorded responses, cassettes | mocked = mocked http, responses library, nock, msw, respx, wiremock | live = live api calls in tests, real endpoint in tests
test location | beside = tests next to code, colocated tests, co-located tests, test files beside source, __tests__ folders beside | separate = separate tests directory, tests folder at root, tests/ directory, top-level tests folder, src/test tree | inline = inline test modules, cfg(test) modules, tests in the same file
test file naming | test prefix = test_ file prefix, files named test_*.py, test_*.py | test suffix = _test suffix, *_test.py, files end in _test | dot test = .test.ts, *.test.js, dot test files | dot spec = .spec.ts, *.spec.js, spec suffix
test structure | functions = plain test functions, function-based tests, no test classes | classes = test classes, class-based tests, testcase classes
test style | bdd = given when then, gherkin, cucumber features, bdd scenarios | table = table-driven tests, table driven, parametrised tables | describe = describe it blocks, nested describe
assertions per test | one = one assertion per test, single assert per test | many = several assertions per test, multiple asserts fine, many asserts allowed
test writing order | first = test first, tdd, test-driven, write the failing test first, red green refactor, tests before code, failing test first, write tests first | after = tests after implementation, code first tests later, tests written afterwards, write tests later, implementation before tests | none = no tests required, tests are optional, prototype without tests, tests not needed
snapshot tests | used = snapshot tests, snapshot testing, jest snapshots, golden files, insta snapshots, approval tests | banned = no snapshot tests, snapshots are banned, avoid snapshots, explicit assertions not snapshots
snapshot updates | reviewed = snapshots updated by hand, snapshot updates reviewed, never update snapshots blindly | automatic = snapshots auto-updated, update snapshots automatically, ci updates snapshots
fixtures | factories = factory_boy, factorybot, test factories, builders for test data, factory functions | static = static fixtures, fixture files, yaml fixtures, json fixtures, fixtures loaded from disk | production dump = anonymised production dump, production snapshot for tests, sanitised prod data | inline = inline test data, data built in each test, no shared fixtures
test data source | synthetic = synthetic test data, generated test data, faker data, made-up data | production copy = copy of production data, real customer data in tests, prod data in staging
test data randomness | random = randomised test data, property-based tests, hypothesis library, hypothesis tests, random inputs in tests, quickcheck | fixed = fixed test data, deterministic inputs, example-based tests, hardcoded examples
test seeds | fixed = fixed seed in tests, seeded tests, constant random seed | random = random seed each run, seed printed on failure
test order | random = random test order, shuffled tests, pytest-randomly, tests in random order, order-independent, order is randomised, tests are shuffled | fixed = fixed test order, tests run in order, sequential order matters, tests depend on order, alphabetical order tests, run in file order
test parallelism | parallel = tests run in parallel, pytest-xdist, parallel test run, -n auto, t.parallel, sharded tests, run tests concurrently, tests in parallel, parallelised tests | serial = tests run serially, tests one at a time, runinband, no parallel tests, single process tests, single test thread, xdist disabled, tests must run sequentially, tests not parallel, one test at a time
coverage gate | blocking = coverage gate blocks merge, coverage must not drop, fail under coverage, coverage threshold enforced, minimum coverage enforced, coverage is enforced, build fails below coverage, coverage drop blocks | informational = coverage is informational, coverage reported only, coverage not enforced, no coverage gate, coverage advisory, coverage is only reported, no minimum coverage, coverage does not block | unmeasured = coverage not measured, no coverage tool
coverage tool | codecov = codecov | coveralls = coveralls | sonar = sonarqube coverage, sonarcloud | local = coverage html only, local coverage report
flaky tests | quarantine = flaky tests quarantined, quarantine flaky, move flaky to quarantine, put flaky tests aside | retry = flaky tests retried, rerun flaky tests, pytest-rerunfailures, retry failed tests, auto-retry flakes, rerun until green, retries for flaky tests | delete = flaky tests deleted, delete flaky tests, remove flaky, drop flaky tests | fix at once = flaky tests fixed immediately, flakes block merge, no retries for flakes, never rerun, fix flakes first, no tolerance for flakes | skip = flaky tests skipped, mark flaky as skip, skip flaky tests
skipped tests | forbidden = no skipped tests, skips are forbidden, never skip tests, test.skip banned, skipping is not allowed, do not skip tests | with ticket = skips need a ticket, skip with a linked issue, skip only with reason | allowed = skipping tests allowed, skips are fine, tests may be skipped
failing tests on main | stop = stop the line, main must be green, fix or revert at once, broken main is reverted | tolerated = red main is tolerated, known failures on main, main may be red
private testing | public only = test public api only, no testing of private methods, test through public interface, black-box tests | internals = test private functions directly, private methods tested, white-box tests
test pyramid | unit heavy = mostly unit tests, many unit tests, unit tests first, test pyramid | integration heavy = mostly integration tests, integration over unit, testing trophy, few unit tests | e2e heavy = mostly end-to-end, e2e over unit
tests on pull request | full = full suite on every pr, all tests run on pr, everything runs on pull requests, complete test suite per pr, whole suite on pr, every test on pr | affected = only affected tests on pr, changed packages only, affected projects only, test impact analysis, only tests for changes | unit only = only unit tests on pr, unit tests only per pr, fast tests on pr, smoke tests on pr, quick tests on pr
e2e schedule | per pr = e2e on every pr, end-to-end tests per pull request, e2e gate merges | nightly = e2e nightly, end-to-end tests run nightly, nightly e2e run | pre release = e2e before release only, e2e on release branches | manual = e2e run by hand, manual e2e
e2e environment | staging = e2e against staging, end-to-end on staging | local stack = e2e against docker compose, e2e on local stack | preview = e2e against preview deploy, e2e on preview environment | production = e2e against production, synthetic tests in production
manual qa | required = manual qa before release, qa signs off, qa team approves, qa pass required, qa must approve, manual testing before release, testers sign off | none = no manual qa, no qa team, developers test their own, automated tests only, no manual testing, without qa
performance tests | gating = benchmarks gate merges, perf regression fails ci, performance tests block | tracked = benchmarks tracked only, perf tests informational | none = no benchmarks in ci, no performance tests
load testing tool | k6 = k6 | locust = locustfile, locust tests | jmeter = jmeter | gatling = gatling | artillery = artillery.io, artillery scripts | wrk = wrk, vegeta, hey benchmark
contract testing | pact = pact, consumer-driven contracts | schema = openapi schema diff, schema-based contract tests, schemathesis | none = no contract tests
time in tests | frozen = frozen time, freezegun, fake timers, injected clock, mock clock | real = real clock in tests, actual sleeps, wall clock in tests
sleeps in tests | banned = no sleeps in tests, sleep is banned in tests, never sleep in tests, poll instead of sleep | allowed = sleeps in tests fine, sleep between steps, fixed waits
component testing | testing library = testing library, react testing library, rtl, query by role | enzyme = enzyme, shallow rendering | storybook = storybook interaction tests, storybook test runner | cypress ct = cypress component testing
test selectors | role = query by role, accessible selectors, getbyrole | testid = data-testid, test ids, data-test attributes | css = css selectors in tests, class selectors | xpath = xpath selectors
visual regression | percy = percy | chromatic = chromatic | playwright = playwright screenshots, tohavescreenshot | none = no visual regression, no screenshot tests | backstop = backstopjs
mutation testing | used = mutation testing, mutmut, stryker, pitest | unused = no mutation testing
fuzzing | continuous = fuzzed continuously, oss-fuzz, fuzzing in ci | on demand = fuzz by hand, occasional fuzzing | none = no fuzzing, not fuzzed
test environment variables | dotenv = .env.test, test env file | hardcoded = env set in conftest, env hardcoded in test setup | ci only = env only in ci
bug fix test | required = every fix needs regression test, bug fixes come with tests, regression test required | optional = fixes may skip tests, regression tests optional
frontend framework | react = react, react app, react components, written in react | vue = vue, vue 3, vue.js, vue components | angular = angular, angular app | svelte = svelte, sveltekit, svelte components | solid = solidjs, solid.js | htmx = htmx, server-rendered with htmx | vanilla = vanilla js frontend, no frontend framework, plain web components, framework-free | preact = preact | lit = lit elements, lit-element | ember = ember.js, emberjs
react meta framework | next = next.js, nextjs | remix = remix.run, remix app, remix run | gatsby = gatsby | cra = create-react-app, create react app, react-scripts | vite = vite spa, vite react, plain vite | astro = astro | tanstack start = tanstack start
next router | app = app router, app/ directory, next app directory | pages = pages router, pages/ directory, next pages directory
vue meta framework | nuxt = nuxt, nuxt 3 | quasar = quasar | vite = vue with vite, plain vite vue | vitepress = vitepress | vue cli = vue cli, vue-cli
vue api style | composition = composition api, script setup | options = options api, options style components
react components | functions = function components, functional components, hooks only, no class components | classes = class components, react.component, lifecycle methods
angular components | standalone = standalone components, no ngmodules | ngmodule = ngmodules, module-based angular
angular reactivity | signals = angular signals, signal-based | rxjs = rxjs subjects, behaviorsubject state | ngrx = ngrx
client state | redux = redux, redux toolkit, rtk | zustand = zustand | mobx = mobx | jotai = jotai | recoil = recoil | context = react context only, plain context, usecontext for state, no state library | xstate = xstate, state machines for ui | pinia = pinia | vuex = vuex | valtio = valtio
redux style | toolkit = redux toolkit, createslice | classic = plain redux, hand-written reducers, action creators by hand
redux side effects | thunk = redux-thunk, thunks | saga = redux-saga, redux sagas | observable = redux-observable, redux epics | rtk query = rtk query
data fetching | tanstack = react query, tanstack query, usequery | swr = swr, useswr | apollo = apollo client | rtk query = rtk query hooks | relay = relay graphql, relay compiler | urql = urql | effect = fetch in useeffect, useeffect fetching | loaders = route loaders, loader functions, server components fetch
styling | tailwind = tailwind, tailwindcss, utility classes, tailwind classes | css modules = css modules, .module.css, module css | styled-components = styled-components, styled components, css-in-js | emotion = emotion css, @emotion | sass = sass, scss, scss files | vanilla extract = vanilla-extract, vanilla extract | plain css = plain css, vanilla css, hand-written css, global stylesheet | unocss = unocss | inline = inline styles
ui kit | mui = material ui, mui | chakra = chakra ui, chakra | ant = ant design, antd | shadcn = shadcn, shadcn/ui | bootstrap = bootstrap, react-bootstrap | mantine = mantine | own = in-house design system, our own component library, custom components only | fluent = fluent ui | vuetify = vuetify | primevue = primevue, primeng
css units | rem = rem units, sizes in rem | px = pixel units, sizes in px, pixels everywhere | fluid = clamp sizes, viewport units
rendering mode | ssr = server-side rendering, ssr, rendered on the server, server rendered | csr = client-side rendering, csr, single page app, spa, rendered in browser | ssg = static site generation, ssg, statically generated, prerendered, static export | isr = incremental static regeneration, isr | islands = islands architecture, partial hydration | rsc = react server components, server components by default
js requirement | required = requires javascript, javascript required, does not work without js | progressive = works without javascript, progressive enhancement, no-js fallback, usable with js disabled
client routing | react router = react router, react-router | tanstack = tanstack router | file based = file-based routing, filesystem routes | wouter = wouter | hash = hash routing, hash-based routes | server = server routes only, full page navigation
url routing mode | history = history mode, pushstate urls, clean urls, browserrouter | hash = hash mode, hashrouter, hash urls
bundler | vite = vite, vite build, vite config | webpack = webpack, webpack config | esbuild = esbuild bundle, esbuild directly | rollup = rollup | parcel = parcel bundler, parceljs | turbopack = turbopack | rspack = rspack, rsbuild | none = no bundler, no build step, import maps, buildless | rolldown = rolldown | bun = bun build
transpiler | babel = babel, babel-loader, .babelrc | swc = swc, swc-loader | esbuild = esbuild transpile, esbuild-loader | tsc = tsc emit, compiled with tsc | none = no transpile step, type stripping
library bundling | tsup = tsup | unbuild = unbuild | tsc = plain tsc, tsc only | rollup = rollup library build | vite lib = vite library mode | tsdown = tsdown
css preprocessor | sass = sass preprocessor, dart-sass, node-sass | less = less css, .less files | postcss = postcss only, postcss plugins | stylus = stylus | none = no css preprocessor, native css nesting
icons | svg sprite = svg sprite | icon font = icon font, font awesome font | inline svg = inline svg icons, svg components | lucide = lucide icons, lucide | heroicons = heroicons | material = material icons, material symbols
form library | react-hook-form = react-hook-form, react hook form, rhf | formik = formik | final-form = final-form, react-final-form | native = native forms, uncontrolled forms, plain form element, no form library | tanstack form = tanstack form | vee-validate = vee-validate
form inputs | controlled = controlled inputs, controlled components | uncontrolled = uncontrolled inputs, uncontrolled components, refs for inputs
form validation moment | blur = validate on blur, validation on blur, when leaving the field | submit = validate on submit, errors after submit, validation on submit only, only after submit | change = validate on every keystroke, validate as you type, inline live validation, validation on change, on each keystroke
form validation side | client = client-side validation only, validated in browser only | server = server-side validation only, validated on server only | both = validated on both sides, client and server validation
i18n library | i18next = i18next, react-i18next | react-intl = react-intl, formatjs | lingui = lingui | gettext = gettext, .po files | next-intl = next-intl | vue-i18n = vue-i18n | fluent = project fluent, ftl files | paraglide = paraglide
translation keys | keys = dotted translation keys, translation ids, semantic keys | source text = english text as key, source strings as keys, natural language keys
translation storage | repo = translations in repo, locale json committed, translation files in git | service = translations in crowdin, lokalise, phrase app, translation management service, transifex | database = translations in database
ui languages | english only = english only ui, single language ui, no localisation, not translated | multi = multilingual ui, localised interface, translated into several languages, i18n supported
right to left | supported = rtl supported, right-to-left layouts work, arabic layout supported | unsupported = no rtl support, ltr only, rtl not supported
accessibility standard | aa = wcag aa, wcag 2.1 aa, wcag 2.2 aa, level aa | aaa = wcag aaa, level aaa | a = wcag level a only | none = accessibility not a goal, no accessibility target, a11y out of scope
accessibility checks | gating = axe in ci, a11y checks block, accessibility checks fail build | manual = manual accessibility audit, a11y checked by hand | none = no accessibility checks, a11y not checked
theme | dark = dark mode by default, dark theme default, dark by default, defaults to dark, dark is the default, starts in dark mode, ui is dark | light = light mode by default, light theme default, light by default, defaults to light, light is the default, starts in light mode, ui is light | follows system = follows the system setting, respects os preference, prefers-color-scheme, matches the os theme, system theme default, uses system theme, depends on os setting
theme support | both = dark mode supported, light and dark themes, theme toggle | light only = light theme only, no dark mode, dark mode not supported | dark only = dark theme only, no light mode
responsive approach | mobile first = mobile first, mobile-first css, min-width breakpoints | desktop first = desktop first, desktop-first css, max-width breakpoints | fixed = fixed width layout, not responsive, desktop only layout
browser support | evergreen = evergreen browsers only, modern browsers only, last two versions, no ie11, no legacy browsers | legacy = ie11 supported, internet explorer supported, legacy browsers supported | chrome only = chrome only, chromium only
images | next image = next/image, image component | cdn = image cdn, imgix, cloudinary | plain = plain img tags, raw img
fonts | self hosted = self-hosted fonts, fonts bundled, fonts served locally | google = google fonts cdn, fonts from google | system = system fonts, system font stack, no web fonts
lists loading | infinite = infinite scroll, endless scrolling, load more on scroll | paged = numbered pages, page numbers, classic pagination, paginated list | load more = load more button, show more button
loading indicator | skeleton = skeleton screens, skeleton loaders, placeholder skeletons | spinner = loading spinner, spinners | none = no loading indicator
ui updates | optimistic = optimistic updates, optimistic ui, update before server confirms | pessimistic = wait for server response, pessimistic updates, update after confirmation, no optimistic updates
live updates | websocket = websockets, socket connection, socket.io, over websocket, websocket connection | sse = server-sent events, eventsource, sse stream | polling = polling, short polling, poll the server, refetch interval, client polls | long polling = long polling | manual = manual refresh, reload to see changes, no live updates, user must refresh, refresh the page
token storage in browser | cookie = httponly cookie, token in cookie, cookie session | localstorage = localstorage token, token in localstorage, jwt in local storage | memory = token in memory, in-memory access token | sessionstorage = sessionstorage token, token in sessionstorage
component docs | storybook = storybook, stories files | ladle = ladle | styleguidist = styleguidist | histoire = histoire | none = no storybook, no component catalogue
micro frontends | used = micro frontends, module federation, single-spa | monolith = single frontend app, no micro frontends, one frontend bundle
component structure | atomic = atomic design, atoms molecules organisms | flat = flat components folder | feature = components by feature, feature-sliced design
analytics tool | ga = google analytics, ga4 | plausible = plausible analytics, plausible.io | posthog = posthog | mixpanel = mixpanel | amplitude = amplitude | matomo = matomo | segment = segment events | none = no analytics, no tracking, analytics removed
error tracking | sentry = sentry | bugsnag = bugsnag | rollbar = rollbar | datadog = datadog error tracking | crashlytics = crashlytics | none = no error tracker
feature flag tool | launchdarkly = launchdarkly | unleash = unleash server, unleash flags | flagsmith = flagsmith | growthbook = growthbook | own = home-grown flags, flags table, own flag system | env = env var flags, flags from environment | configcat = configcat | split = split.io
charts | d3 = d3, d3.js | recharts = recharts | chartjs = chart.js | echarts = echarts | highcharts = highcharts | plotly = plotly | visx = visx | vega = vega-lite
maps | google = google maps | mapbox = mapbox | leaflet = leaflet map, leafletjs, openstreetmap tiles | maplibre = maplibre | apple = apple maps, mapkit
rich text editor | tiptap = tiptap | slate = slate.js, slate editor | prosemirror = prosemirror | quill = quill editor, quilljs | lexical = lexical editor | ckeditor = ckeditor | tinymce = tinymce | plain = plain textarea, no rich text | draft = draft.js
table component | ag grid = ag grid, ag-grid | tanstack = tanstack table, react-table | plain = plain html table | mui = mui datagrid
modal style | dialog = native dialog element | portal = portal modals | none = no modals, modals banned, inline instead of modal
source maps | public = public source maps, source maps shipped | hidden = hidden source maps, source maps uploaded only, maps not public | none = no source maps
design source | figma = figma | sketch = sketch files | xd = adobe xd | penpot = penpot | code = designed in code, no mockups
mobile approach | native = fully native apps, separate native apps, swift and kotlin, native ios and android | react native = react native, rn app | flutter = flutter | ionic = ionic, capacitor app | pwa = pwa, progressive web app, no app store app | kmp = kotlin multiplatform, kmm | maui = .net maui, xamarin | webview = webview wrapper, wrapped website
react native setup | expo = expo, expo managed, eas build | bare = bare react native, react-native cli, ejected from expo
react native architecture | new = new architecture, fabric enabled, turbomodules, bridgeless | old = old architecture, legacy bridge, fabric disabled
js engine mobile | hermes = hermes, hermes engine | jsc = javascriptcore, jsc engine
ios ui | swiftui = swiftui | uikit = uikit | storyboards = storyboards, interface builder, xibs
ios layout authoring | code = programmatic layout, no storyboards, views in code | storyboard = storyboard layouts, nib files
android ui | compose = jetpack compose, compose ui | xml = xml layouts, view system, android views
android di | hilt = hilt | dagger = plain dagger, dagger 2 | koin = koin | manual = manual di android
android async | coroutines = android coroutines, viewmodelscope | rxjava = rxjava android
mobile architecture | mvvm = mvvm | mvi = mvi, unidirectional flow | viper = viper | mvc = massive view controller, apple mvc | tca = composable architecture, tca | mvp = mvp pattern, model view presenter
ios packages | spm = swift package manager, spm, package.swift | cocoapods = cocoapods, podfile | carthage = carthage
mobile navigation | react navigation = react navigation | expo router = expo-router, expo router | native = react-native-navigation, wix navigation | go_router = go_router | navigator = navigator 2.0, flutter navigator | auto_route = auto_route
main navigation pattern | tabs = bottom tabs, tab bar navigation, bottom navigation | drawer = hamburger menu, side drawer, navigation drawer | sidebar = sidebar navigation, left sidebar | top = top navigation bar, top nav
flutter state | bloc = bloc, flutter_bloc, cubit | riverpod = riverpod | provider = provider package | getx = getx | setstate = plain setstate | mobx = flutter mobx
mobile offline | offline first = offline first, works offline, offline-first, usable without connection, local-first, full offline support, works without internet, works without network, usable on a plane, functions without connection | online only = online only, requires connection, needs internet, no offline mode, always connected, no offline support, internet connection required, must be online, unusable without network, does not work offline | read only offline = read-only offline, cached reading offline, offline viewing only
mobile storage | sqlite = sqlite on device, local sqlite | realm = realm database, realmdb | room = room database | core data = core data | watermelon = watermelondb | hive = hive boxes | swiftdata = swiftdata | isar = isar | grdb = grdb
mobile secret storage | keychain = keychain, keystore, secure enclave, encrypted storage, securestore | plain = plain preferences, tokens in asyncstorage, unencrypted storage
sync conflicts | last write = last write wins, latest edit wins, lww, last writer wins, newest change wins | merge = crdt, automatic merge, operational transform, conflict-free merge | ask = ask the user, user resolves conflicts, conflict dialog, user picks a version, user decides on conflict | server wins = server wins, server copy wins, server always wins, server version wins | client wins = client wins, local copy wins, device version wins, local change wins
push provider | fcm = firebase cloud messaging, fcm | apns = apns directly, direct apns | onesignal = onesignal | expo = expo push | sns = aws sns push | pusher = pusher beams
push permission prompt | at start = ask for push at launch, permission prompt on first launch, ask on startup | in context = ask for push in context, permission asked when needed, soft prompt first, after first action
mobile orientation | portrait = portrait only, locked to portrait, portrait lock, no landscape, portrait mode only | landscape = landscape only, locked to landscape, no portrait, landscape mode only | both = rotates freely, both orientations, portrait and landscape, supports rotation
tablet support | supported = tablet layout, ipad supported, tablets supported | phone only = phone only, no ipad, no tablet support
mobile platforms | both = ios and android, both platforms | ios only = ios only, no android app, iphone only | android only = android only, no ios app
mobile ota updates | used = over-the-air js updates, codepush, expo updates, ota updates | store only = store releases only, no ota updates, no codepush, app store updates only
mobile forced update | forced = force update, mandatory app update, old versions blocked | soft = optional update prompt, update nudge, soft update | none = old versions keep working, never force update
beta channel | testflight = testflight | firebase = firebase app distribution | play = play internal track, internal testing track | appcenter = app center | none = no beta channel
store rollout | phased = phased release, staged rollout, gradual store rollout | full = full rollout at once, released to everyone immediately
mobile release automation | fastlane = fastlane | eas = eas submit, eas build pipeline | bitrise = bitrise | codemagic = codemagic | xcode cloud = xcode cloud | manual = uploaded by hand, manual xcode archive
deep links | universal = universal links, app links, https deep links | scheme = custom url scheme, myapp scheme, custom scheme links | branch = branch.io links, firebase dynamic links
biometrics | required = biometric unlock required, face id mandatory | optional = biometric unlock optional, face id opt-in | none = no biometrics, biometrics not supported
in-app purchases | store = in-app purchase, storekit, play billing, apple iap | revenuecat = revenuecat | web = purchase on website only, web checkout only, no in-app purchases
mobile background work | background = syncs in background, background fetch, workmanager | foreground = foreground only sync, syncs only when open, no background work
jailbroken devices | blocked = jailbroken devices blocked, root detection blocks, refuses rooted devices | allowed = rooted devices allowed, no root detection, jailbreak allowed
location permission | always = always location, background location | in use = when-in-use location, foreground location only | none = no location access, location never requested
desktop shell | electron = electron | tauri = tauri | qt = qt, pyqt, pyside | native = native desktop, appkit and winui | gtk = gtk | wpf = wpf | javafx = javafx | wails = wails | avalonia = avalonia | flutter = flutter desktop
electron isolation | isolated = context isolation on, contextisolation true, nodeintegration false | open = nodeintegration true, context isolation off
desktop updates | auto = auto-update, updates itself, silent updates, sparkle updates, self-updating, updates automatically, installs updates itself, automatic updates | manual = manual download updates, user downloads updates, no auto-update, users update by hand, download the new version | prompt = asks before updating, update prompt, notify about updates | store = updated by package manager, store updates only
desktop windows | single = single window, single instance, one window only | multi = multiple windows, multi-window, several instances allowed
close button | quits = closing quits app, close button exits | tray = minimises to tray, closes to tray, keeps running in background
start at login | on = starts at login, launches on boot, autostart enabled | off = does not start at login, no autostart, autostart disabled
installer format | msi = msi installer | msix = msix | nsis = nsis installer | inno = inno setup | squirrel = squirrel.windows | portable = portable zip, no installer
code signing | signed = binaries are signed, signed releases, notarised builds, code signed | unsigned = unsigned binaries, builds not signed, no code signing
cli confirmation | asks = asks for confirmation, prompts before deleting, confirms before destructive, are you sure prompt, interactive confirmation, asks before deleting, confirm destructive actions, prompts the user first, wants confirmation | never asks = no confirmation prompt, never prompts, runs without asking, deletes without asking, non-interactive, no questions asked, deletes right away, never asks for confirmation, without confirmation | flag = requires --force, needs --yes, only with --yes
cli interactivity | interactive = interactive wizard, interactive prompts, asks for missing input, full-screen tui | non-interactive = never interactive, non-interactive only, flags only, fails on missing input, no prompts
cli output default | human = human-readable output, pretty table output, plain text by default, text output default, readable text by default, table by default | json = json by default, json output default, machine-readable by default, prints json, emits json, outputs json, json unless told otherwise | yaml = yaml by default, yaml output default | quiet = silent on success, no output on success, prints nothing when ok
cli diagnostics stream | stderr = logs to stderr, diagnostics on stderr, progress on stderr, errors to stderr, messages go to stderr, log messages on stderr, logging to stderr, warnings to stderr | stdout = logs to stdout, diagnostics on stdout, errors to stdout, everything to stdout, log messages on stdout, logging to stdout, warnings to stdout | file = logs to a file, diagnostics in logfile
cli colour | auto = colour when tty, auto-detect colour, colour only in terminal, respects no_color | always = always coloured, colour forced, colour always on | never = no colour, colour disabled, plain monochrome output, no ansi codes
cli exit on warning | nonzero = nonzero exit on warnings, exits 1 on warnings, warnings fail the command | zero = zero exit on warnings, warnings exit 0, warnings do not affect exit
partial failure exit | nonzero = nonzero exit on partial failure, any failure exits nonzero, partial failure is failure | zero = exits zero on partial failure, partial failure is success
cli no matches exit | nonzero = exits 1 when nothing found, no results is error, nonzero when empty | zero = exits 0 when nothing found, empty result is success
cli exit codes | distinct = distinct exit codes, exit code per error, sysexits codes, documented exit codes | single = always exit 1, one failure code, single error code
config precedence | flags win = flags override env, command line wins, cli flags take precedence, flags beat config, flags win, flags have priority, flags override everything | env wins = environment wins, env overrides flags, env vars take precedence, env beats file, env vars override, environment has priority | file wins = config file wins, file overrides env, config file takes precedence, file has priority, the file wins
env versus file | env first = env overrides config file, environment beats file, env var wins over file | file first = config file overrides env, file beats environment
config format | yaml = yaml config, config.yaml, configured in yaml, yaml settings file | toml = toml config, config.toml, configured in toml, pyproject.toml section | json = json config, config.json, configured in json | ini = ini config, .cfg file, configparser | env = env vars only, dotenv only, configured by environment only, twelve-factor config | code = config as code, config.ts, settings.py | hcl = hcl config | xml = xml config | jsonnet = jsonnet, cue config
config location | xdg = xdg config dir, ~/.config, xdg_config_home | home dot = dotfile in home, ~/.toolrc, home directory dotfile | cwd = config in working directory, project root config, current directory config | etc = /etc config, system-wide config | beside binary = config next to executable
config reload | hot = hot reload config, reloads without restart, sighup reload, config watched for changes, picks up config changes, live config reload, no restart needed | restart = restart to apply config, config read once, needs restart, read at startup only, restart required, changes need restart
unknown config keys | reject = unknown keys rejected, unknown keys are errors, strict config parsing, extra forbid, unknown option is error, typo in config fails | ignore = unknown keys ignored, extra keys ignored, lenient config parsing, extra ignore, unknown options are ignored, silently ignores unknown keys | warn = warn on unknown keys, unknown keys warned
missing config | fails = refuses to start without config, missing config is fatal, config file required | defaults = sensible defaults without config, works without config, config optional, zero config | creates = creates default config, writes config on first run
cli telemetry | opt in = telemetry opt-in, telemetry off by default, telemetry disabled by default, asks before telemetry, telemetry must be enabled, telemetry only with consent | opt out = telemetry opt-out, telemetry on by default, telemetry enabled by default, collects usage by default, telemetry unless disabled, telemetry can be disabled | none = no telemetry, collects no telemetry, never phones home, telemetry removed, sends no usage data, does not collect telemetry, no usage tracking, no data is sent
cli flags style | gnu = gnu long options, double-dash flags, --long-flags | single dash = single-dash flags, go-style flags | subcommands = subcommand style, git-style subcommands
cli default action | dry run = dry run by default, needs --apply, preview by default, prints plan only, changes nothing by default, only previews | apply = applies by default, executes by default, --dry-run to preview, changes things by default
cli overwrite | refuses = refuses to overwrite, will not overwrite, existing files kept, errors if file exists, never overwrites, does not overwrite, keeps existing files | overwrites = overwrites existing files, overwrites silently, clobbers existing, replaces existing output, existing files are replaced, overwrites without asking, replaces files | backup = backs up before overwriting, keeps .bak copy
cli verbosity default | quiet = quiet by default, silent by default, verbose with -v | verbose = verbose by default, chatty by default, quiet with -q
cli progress | shown = progress bar shown, shows progress bar | hidden = no progress bar, progress hidden
cli pager | used = output paged, opens pager, less by default | not used = never pages, no pager, pager disabled
cli input | stdin = reads stdin, reads from stdin by default, piped input | file = file argument required, input file required, does not read stdin
cli root | required = must run as root, requires sudo, needs root | refused = refuses to run as root, never run as root, must not run with sudo, no sudo
shell completion | shipped = shell completions shipped, completion scripts installed | none = no shell completion
update check | on = checks for updates, update check at start | off = never checks for updates, no update check, update check removed
error messages audience | user friendly = friendly error messages, no stack traces shown, hides tracebacks | raw = raw tracebacks shown, full stack trace shown, prints the stack trace
broken pipe | silent = exits quietly on broken pipe, sigpipe ignored quietly | error = broken pipe is an error, crashes on broken pipe
interrupt | graceful = ctrl-c finishes current item, graceful shutdown on sigint, cleans up on interrupt | immediate = ctrl-c exits immediately, aborts at once, hard exit on interrupt
file paths in output | relative = relative paths in output, prints relative paths | absolute = absolute paths in output, prints absolute paths
local time display | utc = times in utc, utc everywhere, timestamps shown in utc, always utc, store utc, utc timestamps | local = local time, user's timezone, shown in local timezone, times in local time, in local time, in user's timezone | fixed office = office timezone, cet timestamps, times in eastern
timestamp format | iso = iso 8601, iso8601 strings, rfc 3339 timestamps, rfc3339 | epoch = unix timestamps, epoch seconds, epoch millis, epoch milliseconds | locale = locale date format, human date strings
date display | iso = yyyy-mm-dd, iso dates | us = mm/dd/yyyy, us date format, month first | eu = dd/mm/yyyy, day first, dd.mm.yyyy | relative = relative dates, time ago format, 2 hours ago style
week start | monday = week starts monday, monday first, weeks begin on monday | sunday = week starts sunday, sunday first, weeks begin on sunday | saturday = week starts saturday
spelling variant | british = british english, british spelling, uk english, en-gb | american = american english, american spelling, us english, en-us
measurement units | metric = metric units, si units, kilometres and kilograms, celsius | imperial = imperial units, miles and pounds, fahrenheit
money representation | minor units = integer cents, amounts in cents, minor units, stored as cents, integer minor units, cents as integer, stored in cents | decimal = decimal type for money, numeric column for money, decimal amounts, decimal column | float = float for money, floating point amounts, money as floats, doubles for money
rounding | half even = banker's rounding, round half even, half-even | half up = round half up, half-up | down = round down, truncate amounts, floor the amount | up = round up, ceil the amount
file storage format | parquet = parquet, parquet files, stored as parquet | csv = csv files, stored as csv, comma separated files | avro = avro, avro files | orc = orc files | jsonl = json lines, jsonl, ndjson, newline-delimited json | arrow = arrow ipc, feather files | protobuf = protobuf records, protobuf files
parquet compression | snappy = snappy, snappy compressed | zstd = zstd, zstandard | gzip = gzip parquet, gzipped | lz4 = lz4 | none = uncompressed files, no compression
lake table format | delta = delta lake, delta tables | iceberg = iceberg, iceberg tables | hudi = hudi | hive = hive tables, plain hive partitions
warehouse | snowflake = snowflake warehouse, data in snowflake, snowflake sql | bigquery = bigquery | redshift = redshift | databricks = databricks sql, databricks lakehouse | clickhouse = clickhouse warehouse | duckdb = duckdb | synapse = azure synapse | postgres = postgres as warehouse | fabric = microsoft fabric | trino = trino, presto
orchestrator | airflow = airflow, airflow dags | dagster = dagster | prefect = prefect | luigi = luigi | cron = plain cron, cron jobs, crontab | argo = argo workflows | step functions = step functions | temporal = temporal workflows | mage = mage.ai | kestra = kestra
transformations | dbt = dbt, dbt models | spark = spark jobs, pyspark | sqlmesh = sqlmesh | dataform = dataform | stored procedures = warehouse stored procedures | pandas = pandas scripts | beam = apache beam, dataflow
dataframe library | pandas = pandas | polars = polars | spark = spark dataframes | dask = dask | modin = modin | duckdb = duckdb dataframes | cudf = cudf
etl order | elt = elt, load then transform, transform in warehouse | etl = etl, transform before loading, transform then load
ingestion tool | fivetran = fivetran | airbyte = airbyte | stitch = stitch data | meltano = meltano, singer taps | custom = custom ingestion scripts, hand-written extractors | debezium = debezium | dlt = dlthub, dlt pipelines
pipeline mode | batch = batch processing, nightly batch, daily batch, batch job, batch only, runs as batch, processed in batches, once a night batch | streaming = streaming, stream processing, real-time pipeline, continuous stream, processed as stream, processed continuously, event by event | micro batch = micro-batches, micro batching, structured streaming triggers
stream processor | flink = flink | spark = spark streaming, spark structured streaming | kafka streams = kafka streams | ksql = ksqldb | beam = beam streaming | materialize = materialize db, risingwave
load mode | full = full refresh, full reload, truncate and load, complete snapshot, reload everything, reloaded completely, everything is reloaded, full load | incremental = incremental load, incremental models, only new rows, delta load, high-water mark, change data capture, binlog replication, loads only changes, loads only new rows, incremental loading
write mode | append = append only, append-only table, inserts only, never update rows | overwrite = overwrite partitions, overwrite on write, replaces the table | upsert = upsert, merge into, update or insert, merge on key
late data | dropped = late events dropped, late data discarded, late records ignored, drop late arrivals, late rows are dropped, ignore late data, late events are lost | reprocessed = late data reprocessed, late arrivals trigger recompute, late events merged in, partitions reopened for late data, late rows are included, recomputed for late data, late events are counted | side output = late data to side output, late events to dead letter
time semantics | event time = event time, event timestamps, by event time | processing time = processing time, arrival time, ingestion time, by processing time
delivery semantics | at least once = at-least-once, at least once, duplicates possible, may be delivered twice, consumers must be idempotent | exactly once = exactly-once, exactly once, transactional delivery, delivered exactly once, no duplicates delivered | at most once = at-most-once, at most once, fire and forget, messages may be lost, never redelivered
partition key | date = partitioned by date, date partitions, daily partitions, partition by day | tenant = partitioned by tenant, per-customer partitions, partition by customer | hash = hash partitions, bucketed by hash | region = partitioned by region | hour = hourly partitions, partition by hour | month = monthly partitions, partition by month | none = unpartitioned, no partitions, not partitioned
deduplication | at write = dedup on ingest, deduplicate at write, dedupe before storing, unique key on ingest, duplicates removed on ingest, deduplicated on the way in | at read = dedup at query time, deduplicate on read, dedupe downstream, duplicates removed at query | none = no deduplication, duplicates kept, duplicates are left, duplicates are allowed, not deduplicated | by source = source guarantees uniqueness
duplicate winner | latest = keep latest duplicate, newest row wins, last record kept | first = keep first duplicate, first row wins, earliest record kept
bad records | quarantine = bad rows quarantined, dead letter queue, dead-letter topic, invalid records set aside, bad rows go to quarantine, sent to dead letter | drop = bad rows dropped, invalid records skipped, malformed rows discarded, skip bad rows, bad rows are skipped, ignore malformed rows | fail = bad row fails the job, pipeline stops on bad record, abort on malformed row, fail on invalid rows, one bad row fails, stops on invalid row
schema evolution | additive = additive changes only, backward compatible only, only add columns, new columns must be nullable | breaking allowed = breaking schema changes allowed, columns may be renamed, free schema changes | versioned = versioned schemas, new table per schema version
schema compatibility mode | backward = backward compatibility mode, backward compatible schemas | forward = forward compatibility mode, forward compatible schemas | full = full compatibility mode | none = compatibility none, no compatibility check
schema mode | on write = schema on write, schema enforced on write | on read = schema on read, schemaless landing, raw json landing
schema registry | confluent = confluent schema registry | glue = glue schema registry | apicurio = apicurio | buf = buf schema registry | none = no schema registry
new source column | auto added = new columns added automatically, schema drift accepted, automatic schema merge | rejected = new columns rejected, schema drift fails, unexpected columns fail
backfill | manual = backfills run by hand, manual backfill, backfill on request, backfill by hand, backfilled manually | automatic = automatic backfill, catchup true, missed runs are backfilled, backfills automatically, backfilled automatically | never = never backfill, no backfills, catchup false, history is not backfilled, do not backfill, past is not backfilled
slowly changing dimension | type 1 = scd type 1, overwrite dimension, no history kept | type 2 = scd type 2, valid_from valid_to, dimension history kept | snapshot = daily dimension snapshots
data modelling | star = star schema, kimball, facts and dimensions | vault = data vault | wide = one big table, wide denormalised table, obt | third normal = third normal form, inmon, normalised warehouse
medallion layers | medallion = bronze silver gold, medallion | staging marts = staging and marts layers, staging intermediate marts | raw only = raw layer only, no layering
data quality tool | great expectations = great expectations | dbt tests = dbt tests | soda = soda checks | deequ = deequ | pandera = pandera | none = no data quality checks | monte carlo = monte carlo
data quality failure | blocks = failed check stops pipeline, quality checks block publish, failing check blocks | alerts = failed check only alerts, quality checks warn only, check failures notify
lineage | openlineage = openlineage, marquez | datahub = datahub | dbt = dbt docs lineage | atlas = apache atlas | none = no lineage, lineage not tracked | unity = unity catalog lineage | openmetadata = openmetadata
bi tool | looker = looker | tableau = tableau | metabase = metabase | powerbi = power bi, powerbi | superset = apache superset | grafana = grafana for bi | redash = redash | lightdash = lightdash | mode = mode analytics | quicksight = quicksight
pii in warehouse | hashed = pii hashed, hashed emails, pseudonymised in warehouse | raw = raw pii in warehouse, pii stored in clear | excluded = no pii in warehouse, pii stripped before load, pii dropped at ingest | masked = masked columns, dynamic masking
null representation data | null = real nulls, sql null for missing | empty string = empty string for missing, blanks for missing | sentinel = -999 for missing, sentinel for missing
csv delimiter | comma = comma delimiter, comma-separated | semicolon = semicolon delimiter, semicolon-separated | tab = tab delimiter, tab-separated, tsv | pipe = pipe delimiter, pipe-separated
text encoding | utf8 = utf-8, utf8 | latin1 = latin-1, iso-8859-1 | utf16 = utf-16 | cp1252 = windows-1252, cp1252 | shift jis = shift-jis | utf8 bom = utf-8 with bom
event collection | client = client-side tracking, events from browser, tracked in frontend | server = server-side tracking, events from backend, tracked in backend
raw data retention | forever = raw data kept forever, raw never deleted, keep raw indefinitely | limited = raw data expires, raw deleted after load, raw purged
spark deployment | databricks = databricks clusters, databricks jobs | emr = emr | dataproc = dataproc | k8s = spark on kubernetes | local = local spark | glue = aws glue
spark language | python = pyspark jobs, spark in python | scala = scala spark, spark in scala | sql = spark sql only
ml framework | pytorch = pytorch, torch | tensorflow = tensorflow, keras | jax = jax, flax | sklearn = scikit-learn only, sklearn only | mxnet = mxnet | tinygrad = tinygrad
tabular model | xgboost = xgboost | lightgbm = lightgbm | catboost = catboost | random forest = random forest | logistic = logistic regression | linear = linear regression | neural = neural network for tabular, mlp
training loop | lightning = pytorch lightning, lightning module | trainer = hugging face trainer, transformers trainer | raw = hand-written training loop, raw pytorch loop | keras = keras fit, model.fit | accelerate = hf accelerate
training location | cloud = trained in cloud, cloud gpus, training on aws, vertex training, sagemaker training, train in the cloud, cloud training | on prem = trained on-prem, in-house gpu cluster, own gpu cluster, local cluster training, train on own hardware | laptop = trained on laptop, trains locally, local machine training, train on laptop, train locally | colab = trained in colab, colab notebooks | slurm = slurm cluster training
training hardware | gpu = trained on gpu, gpu training, cuda training | cpu = trained on cpu, cpu training, cpu-only training | tpu = trained on tpu, tpu training, tpu pods
training precision | fp32 = fp32 training, full precision | fp16 = fp16 training, half precision, mixed precision fp16 | bf16 = bf16 training, bfloat16 | fp8 = fp8 training
distributed training | ddp = ddp, distributeddataparallel | fsdp = fsdp, fully sharded | deepspeed = deepspeed, zero stage | horovod = horovod | single = single gpu training, no distributed training | ray = ray train
fine tuning method | full = full fine-tuning, all weights tuned, full finetune | lora = lora, qlora, low-rank adapters, peft adapters | none = no fine-tuning, prompt only, off-the-shelf model | head = linear probe, frozen backbone, only the head trained
rag or tuning | rag = retrieval-augmented, rag pipeline, retrieval over documents | fine tune = fine-tuned on documents, knowledge baked in by fine-tuning | long context = everything in prompt, whole corpus in context
experiment tracking | mlflow = mlflow | wandb = weights & biases, wandb, weights and biases | tensorboard = tensorboard | neptune = neptune.ai | comet = comet ml | clearml = clearml | spreadsheet = results in spreadsheet, experiment spreadsheet | aim = aim tracker
model registry | mlflow = mlflow registry | hub = hugging face hub, hf hub | sagemaker = sagemaker registry | s3 = models in s3 bucket, s3 model folder | git lfs = models in git lfs | vertex = vertex model registry | wandb = wandb artifacts registry
data versioning | dvc = dvc | lakefs = lakefs | git lfs = data in git lfs | delta = delta time travel | none = data not versioned, no data versioning | pachyderm = pachyderm
model format | onnx = onnx, exported to onnx | safetensors = safetensors | torchscript = torchscript | pickle = pickle, pickled model, joblib dump | gguf = gguf, ggml | savedmodel = savedmodel, tf saved model | tflite = tflite, litert | coreml = core ml, coreml, mlmodel | tensorrt = tensorrt engine | pt = state_dict checkpoint, .pt checkpoint | openvino = openvino ir
pickle loading | forbidden = never unpickle, pickle is banned, no pickle files | allowed = pickle is fine, pickle allowed
model serving | triton = triton inference server | torchserve = torchserve | tfserving = tensorflow serving | bentoml = bentoml | fastapi = model behind fastapi, fastapi serving | seldon = seldon | kserve = kserve | sagemaker = sagemaker endpoint | ray serve = ray serve | vertex = vertex endpoint
llm serving | vllm = vllm | tgi = text-generation-inference, tgi | ollama = ollama | llama.cpp = llama.cpp, llama-server | api = hosted llm api, provider api | sglang = sglang | tensorrt-llm = tensorrt-llm | lmstudio = lm studio
llm provider | openai = openai, gpt models, chatgpt api | anthropic = anthropic, claude models | google = gemini, google ai | azure = azure openai | bedrock = bedrock | mistral = mistral api, la plateforme | self hosted = self-hosted llm, own llama, local model only | cohere = cohere
inference mode | online = real-time inference, online inference, predictions on request, live scoring, predictions in real time, scored per request | batch = batch inference, batch scoring, nightly scoring, precomputed predictions, offline scoring, predictions computed nightly, scored in batch | edge = on-device inference, edge inference, runs on device
inference hardware | gpu = gpu inference, served on gpu | cpu = cpu inference, served on cpu, cpu-only serving | npu = npu inference, neural engine | tpu = tpu inference
quantisation | none = no quantisation, unquantised, full precision weights, not quantized | int8 = int8, 8-bit quantised, int8 quantization | int4 = int4, 4-bit, q4_k_m, gptq, awq | fp16 = fp16 weights, half precision weights | fp8 = fp8 weights, fp8 quantization
quantisation timing | post = post-training quantisation, ptq | aware = quantisation-aware training, qat
data split | random = random split, shuffled split, random train test split, split at random, randomly split | time = time-based split, temporal split, chronological split, split by date, split by time, split chronologically, train on past | group = group split, split by user, grouped split, split by patient | stratified = stratified split, stratified sampling
validation scheme | kfold = k-fold, cross-validation, cross validated | holdout = holdout set, single holdout, fixed validation set | loo = leave-one-out | walk forward = walk-forward validation, rolling window validation, backtesting
test set use | untouched = test set untouched, test set only at end, never tune on test set, test set locked | tuned on = tuned on test set, test set used for tuning
class imbalance | oversample = oversampling, smote | undersample = undersampling, downsample majority | weights = class weights, weighted loss, focal loss | ignore = imbalance left alone, no rebalancing
missing values | impute = imputed, median imputation, mean imputation, fill missing | drop = rows with missing dropped, drop nan rows, dropna | native = model handles missing, nan passed through | indicator = missing indicator column
feature scaling | standard = standard scaler, standardised features, z-score | minmax = min-max scaling, minmaxscaler | none = no feature scaling, unscaled features | robust = robust scaler
categorical encoding | onehot = one-hot, one hot encoded | target = target encoding, mean encoding | ordinal = ordinal encoding, label encoded | embedding = learned embeddings for categories, entity embeddings | hashing = feature hashing, hashing trick
feature store | feast = feast | tecton = tecton | hopsworks = hopsworks | sagemaker = sagemaker feature store | none = no feature store, features in sql | redis = features in redis | vertex = vertex feature store
feature computation | online = features computed at request, on-the-fly features | offline = precomputed features, features computed offline, nightly features
random seeds | fixed = fixed seed, seeded runs, seed everything, deterministic training, seed set to constant, seeds are fixed, always same seed, runs are seeded | varied = several seeds averaged, random seed per run, unseeded, seeds vary, no fixed seed, seeds are random
labels | human = human labels, hand labelled, annotators, manual annotation, labelled by people, labelled by hand, human annotators, manually labelled | weak = weak labels, snorkel, heuristic labels, distant supervision | model = model-generated labels, llm labels, pseudo labels, synthetic labels, labelled by model, generated by llm | crowd = crowdsourced labels, mechanical turk | implicit = click labels, implicit feedback labels
labelling tool | label studio = label studio | labelbox = labelbox | prodigy = prodigy | cvat = cvat | sagemaker = ground truth jobs | argilla = argilla | roboflow = roboflow
primary metric | accuracy = accuracy is the metric, optimise accuracy, judged by accuracy | f1 = f1 is the metric, optimise f1, macro f1 | auc = auc is the metric, roc auc, optimise auc | precision = optimise precision, precision first | recall = optimise recall, recall first | rmse = rmse is the metric, optimise rmse | mae = mae is the metric | logloss = log loss is the metric | ndcg = ndcg is the metric
hyperparameter search | optuna = optuna | grid = grid search | random = random search | ray = ray tune | bayesian = bayesian optimisation, hyperopt | manual = hand-tuned hyperparameters | sweeps = wandb sweeps
retraining | scheduled = retrained weekly, scheduled retraining, retrained nightly, retrain monthly | drift = retrain on drift, drift-triggered retraining | manual = retrained by hand, manual retraining, retrain on request | never = never retrained, frozen model | online = online learning, continuous learning
model rollout | shadow = shadow mode, shadow deployment | canary = canary model rollout, gradual model rollout | replace = swapped at once, direct model replacement | ab = a/b tested model, model behind ab test
notebooks | forbidden in repo = no notebooks in repo, notebooks not committed, notebooks gitignored | stripped = notebooks without output, nbstripout, outputs stripped | committed = notebooks committed with output, notebooks in repo with results
notebook tool | jupyter = jupyter, jupyterlab | marimo = marimo | databricks = databricks notebooks | colab = google colab | vscode = vscode notebooks | hex = hex notebooks | quarto = quarto
pipeline code for ml | notebooks = production from notebooks, notebooks in production, papermill | scripts = scripts only, python modules not notebooks, production code is modules
ml pipeline tool | kubeflow = kubeflow | metaflow = metaflow | zenml = zenml | sagemaker = sagemaker pipelines | vertex = vertex pipelines | airflow = airflow for training | kedro = kedro | flyte = flyte
embedding store | pgvector = pgvector | pinecone = pinecone | weaviate = weaviate | qdrant = qdrant | milvus = milvus | chroma = chroma db, chromadb | faiss = faiss | elasticsearch = elasticsearch vectors, opensearch knn | lancedb = lancedb | redis = redis vector
similarity metric | cosine = cosine similarity, cosine distance | dot = dot product, inner product | l2 = euclidean distance, l2 distance
chunking | fixed = fixed-size chunks, chunk by tokens | semantic = semantic chunking | structural = chunk by heading, split by section, markdown-aware chunks | whole = whole documents, no chunking
retrieval type | keyword = bm25 only, keyword retrieval, lexical search only | vector = vector search only, dense retrieval, embeddings only | hybrid = hybrid search, bm25 plus vectors, hybrid retrieval
llm framework | langchain = langchain | llamaindex = llamaindex, llama-index | raw = no llm framework, raw sdk calls, direct api calls to model | haystack = haystack framework | dspy = dspy | semantic kernel = semantic kernel
prompt storage | repo = prompts in repo, prompts versioned in git, prompt files | database = prompts in database, prompts editable in admin | service = prompts in langfuse, prompt registry service | inline = prompts inline in code, hardcoded prompts
llm output | structured = structured output, json mode, json schema output, function calling | free = free text output, parsed with regex
llm evaluation | judge = llm as judge, model-graded | human = human evaluation, human raters | exact = exact match scoring, string match eval | none = no evals, vibes only
llm streaming | streamed = streamed tokens, streaming responses, response streamed | whole = whole response at once, no streaming, non-streaming
customer data for training | never = never train on customer data, no training on customer data, no training on user data, customer data never trains, do not train on customers | opt in = training only with consent, opt-in training data | used = trained on customer data, user data used for training, we train on customer data
dynamic allocation | none = no heap, no malloc, static allocation only, no dynamic allocation, malloc forbidden, heap is banned, heap not allowed, malloc not allowed, everything statically allocated, statically allocated | startup = allocate only at startup, heap at init only, no malloc after init | pools = memory pools, fixed-block pools, pool allocator | heap = heap allowed, malloc is fine, dynamic allocation allowed, malloc allowed, uses the heap, heap allocation is fine
firmware scheduling | rtos = rtos, rtos tasks, preemptive scheduler | superloop = superloop, bare metal, main loop only, no rtos, while(1) loop | cooperative = cooperative scheduler, run-to-completion
rtos choice | freertos = freertos | zephyr = zephyr | threadx = threadx, azure rtos | rtx = keil rtx, cmsis-rtos | nuttx = nuttx | vxworks = vxworks | embassy = embassy async | rtic = rtic | qnx = qnx | riot = riot os | chibios = chibios
firmware language | c = firmware in c, plain c firmware, c99, written in c | c++ = firmware in c++, embedded c++ | rust = firmware in rust, embedded rust, no_std rust | micropython = micropython, circuitpython | ada = ada spark, firmware in ada
interrupt handlers | short = isr only sets flag, minimal isr, defer work from isr, no work in isr, short interrupt handlers, isrs only set flags, keep isrs short, handlers defer work | heavy = processing in isr, work done in interrupt, long isr, handled in the isr, do work in isr
interrupt nesting | nested = nested interrupts enabled, interrupts may nest | flat = no nested interrupts, interrupts disabled in isr
peripheral reading | interrupt = interrupt driven, irq-driven | polled = polled peripheral, busy-wait polling, polling loop | dma = dma transfer, dma driven
watchdog | enabled = watchdog enabled, watchdog always on, hardware watchdog, iwdg running, watchdog must be on, watchdog active, watchdog runs | disabled = watchdog disabled, no watchdog, watchdog off, watchdog is off, watchdog not used, without watchdog
watchdog feeding | main loop = fed from main loop, kicked in main loop | task = dedicated watchdog task, feed from supervisor | isr = fed from timer interrupt, kicked in isr
fault reaction | reset = reset on fault, reboot on hard fault, reboot on panic | halt = halt on fault, hang on hard fault, stop in infinite loop | safe state = enter safe state, fail-safe outputs
bootloader | mcuboot = mcuboot | uboot = u-boot, uboot | custom = custom bootloader, own bootloader | rom = rom bootloader, vendor bootloader | grub = grub | none = no bootloader
secure boot | on = secure boot enabled, verified boot, signed firmware only, signature checked at boot, secure boot on, only signed images boot | off = secure boot disabled, no secure boot, unsigned firmware boots, secure boot off, any image boots
firmware update | ota = ota firmware updates, over-the-air firmware, updated remotely, updates over wifi, updated over the air, remote firmware update, wireless update | wired = usb flashing, update by usb, jtag flashing, flashed by cable, service port update, updated by cable, flashed over usb, update needs cable | sd = update from sd card | none = firmware not updatable, no field updates
update slots | dual = a/b partitions, dual bank, a/b slots, two image slots | single = single slot update, single bank, in-place firmware update
firmware downgrade | blocked = anti-rollback, downgrades refused, no firmware downgrade | allowed = downgrade allowed, firmware can be rolled back
firmware logging | uart = uart logging, serial console logs, logs over uart | rtt = segger rtt, rtt logging | swo = swo trace, itm logging | flash = logs stored in flash, flash ring buffer | none = no logging in release, logging compiled out | defmt = defmt | semihosting = semihosting
floating point | hardware = hardware fpu, hard float, fpu enabled, floats are fine, use the fpu | soft = soft float, software floating point | fixed = fixed point only, no floating point, floats banned, q15 arithmetic, no floats, floats not allowed, integer arithmetic only
power mode idle | deep sleep = deep sleep when idle, stop mode, standby mode, hibernates when idle | light sleep = light sleep, wfi in idle, idle sleep | awake = always awake, never sleeps, no sleep mode
power source | battery = battery powered, runs on battery, coin cell | mains = mains powered, wall powered, usb powered | poe = power over ethernet, poe powered | solar = solar powered
field bus | can = can bus, canopen, j1939 | modbus = modbus, rs-485, rs485 | ethercat = ethercat | profinet = profinet, profibus | lin = lin bus | ethernet = ethernet/ip, plain ethernet
can frame format | classic = classic can, can 2.0 | fd = can fd, can-fd
iot protocol | mqtt = mqtt, mqtt broker | coap = coap | http = http polling device, device posts over http | amqp = amqp | websocket = device websocket | opcua = opc ua
byte order | big = big endian, network byte order, msb first | little = little endian, lsb first
embedded linux build | yocto = yocto, bitbake | buildroot = buildroot | openwrt = openwrt | debian = debian image, raspberry pi os | ubuntu core = ubuntu core
c library embedded | newlib = newlib, newlib-nano | picolibc = picolibc | musl = musl | glibc = glibc | uclibc = uclibc
c compiler embedded | gcc = arm-none-eabi-gcc, gcc arm, gnu arm toolchain | iar = iar | keil = keil, armcc, mdk-arm | clang = clang for embedded, llvm embedded
compiler optimisation | size = optimise for size, -os, opt-level z | speed = optimise for speed, -o3, opt-level 3 | none = no optimisation, -o0, unoptimised
hal | vendor = vendor hal, stm32 hal, cube hal | registers = direct registers, register-level, bare registers | ll = low-layer drivers, ll drivers | own = own hal, custom hal | arduino = arduino core
coding standard embedded | misra = misra, misra-c | autosar = autosar c++ | cert = cert c | barr = barr-c | none = no coding standard
recursion | banned = no recursion, recursion is banned, recursion forbidden, iterative only | allowed = recursion allowed, recursive calls fine
device provisioning | factory = provisioned at factory, keys burned at production | first use = provisioned on first boot, claimed by user, onboarding via app
debug port | locked = jtag locked, debug port disabled in production, swd locked, readout protection | open = jtag left open, debug port open, swd accessible
settings storage firmware | eeprom = eeprom settings | nvs = nvs partition, flash nvs | fram = fram | file = littlefs settings, settings in filesystem
flash filesystem | littlefs = littlefs | spiffs = spiffs | fat = fatfs, fat filesystem | ubifs = ubifs, jffs2 | none = raw flash, no filesystem
game engine | unity = unity engine, unity project, made in unity | unreal = unreal engine, made in unreal, ue5 | godot = godot | bevy = bevy | custom = custom engine, own engine, in-house engine | phaser = phaser | gamemaker = gamemaker | love2d = love2d, love engine | monogame = monogame | pygame = pygame
unity scripting backend | il2cpp = il2cpp | mono = mono backend
unity render pipeline | urp = urp, universal render pipeline | hdrp = hdrp, high definition pipeline | builtin = built-in render pipeline, legacy render pipeline
godot scripting | gdscript = gdscript | csharp = godot c#, c# in godot | cpp = gdextension
unreal scripting | blueprints = unreal blueprints, blueprint only | cpp = unreal c++, c++ gameplay
graphics api | vulkan = vulkan | opengl = opengl, opengl es | metal = metal api, apple metal | d3d12 = directx 12, d3d12, dx12 | d3d11 = directx 11, d3d11, dx11 | webgpu = webgpu, wgpu | webgl = webgl, webgl2
rendering technique | forward = forward rendering, forward+ | deferred = deferred rendering, deferred shading | raytraced = ray traced, path tracing
coordinate handedness | left = left-handed coordinates, left handed | right = right-handed coordinates, right handed
up axis | y = y-up, y is up, y axis up | z = z-up, z is up, z axis up
matrix layout | row = row-major, row major | column = column-major, column major
angles | radians = radians, angles in radians | degrees = degrees, angles in degrees
colour space | linear = linear colour space, linear workflow | gamma = gamma colour space, gamma workflow
game loop step | fixed = fixed timestep, fixed update, deterministic tick | variable = variable timestep, delta time updates, frame-rate dependent
game entity model | ecs = entity-component-system, entity component system | objects = gameobject hierarchy, scene graph objects, oop entities
multiplayer authority | server = server authoritative, authoritative server, dedicated servers, server has authority | client = client authoritative, trusts the client, client has authority | p2p = peer-to-peer, p2p, host migration, no server peers only | lockstep = lockstep, deterministic lockstep | rollback = rollback netcode, ggpo
physics engine | box2d = box2d | physx = physx | bullet = bullet physics | jolt = jolt | rapier = rapier | havok = havok | custom = own physics, custom physics
game saving | autosave = autosaves progress, checkpoint autosave | manual = manual saves only, save points | none = no saving, permadeath no saves | cloud = cloud saves
vsync | on = vsync on, vsync enabled, v-sync by default | off = vsync off, vsync disabled, uncapped frame rate
game camera | first = first-person camera, first person | third = third-person camera, third person | top = top-down camera, top down view | side = side scroller, side view | isometric = isometric camera, isometric view
turn structure | turns = turn-based, turn based | realtime = real-time gameplay, real time combat
3d asset format | gltf = gltf, glb | fbx = fbx | obj = wavefront obj, .obj models | usd = usd, usdz | blend = .blend files directly
texture format | bc7 = bc7, dxt, block compressed textures | astc = astc | ktx2 = ktx2, basis universal | png = png textures | etc2 = etc2
shading language | hlsl = hlsl | glsl = glsl | wgsl = wgsl | msl = metal shading language | slang = slang shaders | graph = shader graph
game asset storage | lfs = git lfs, assets in lfs | perforce = perforce, p4 | s3 = assets in bucket | git = assets in plain git | svn = svn assets | plastic = plastic scm, unity version control
guest checkout | allowed = guest checkout, guests can place orders, order without account, buy without signing up, checkout without login, no account needed to buy, anonymous checkout, guests may order, shop without registering, checkout as guest, no sign-up to order, order as guest, purchase without account | account required = account required to order, account to check out, need account to check out, need an account to order, must have an account, must sign in to buy, login required for checkout, registered customers only, must register before ordering, sign up before purchase, no guest orders, guest checkout disabled, account needed to buy, customers must log in first, cannot order without account
anonymous access | allowed = anonymous access allowed, no login required, public without login, readable without account, viewable by anyone, open to visitors, guests can browse, open without signing in, no account needed, accessible without login, unauthenticated access ok | login required = login required, must be logged in, sign-in required, members only, only signed-in users, authenticated users only, behind login, no anonymous access, sign in to view, requires an account, unauthenticated requests rejected, login wall
registration | open = open registration, anyone can sign up, self-service signup, public sign-up, users register themselves, anybody can register, sign-up open to all, self sign-up | invite = invite only, invitation required, by invitation, invited users only, need an invite, invite link required, joining by invitation | admin = admins create accounts, accounts created by admin, no self-registration, admin provisions users, admin creates users, users added by admin | closed = registration closed, signups disabled, no new accounts, sign-up disabled, not accepting new users | waitlist = waitlist, waiting list signup
email verification | before use = verify email before use, email confirmation required, must confirm email first, unverified accounts blocked, email must be verified, must verify email, blocked until verified | later = verify email later, unverified users can use, email confirmation optional | none = no email verification, emails not verified, no confirmation email needed, skip email verification, no verification mail
login identifier | email = sign in with email, email as username, log in by email | username = log in with username, usernames for login, username login | phone = phone number login, log in by phone, sms login | sso = sso only login
login method | password = password login, email and password, log in with password, username and password | magic link = magic link, emailed link, passwordless email, login link | passkey = passkeys, webauthn login | sso = single sign-on only, sso only, saml only | social = social login only, google sign-in only, sign in with google | otp = one-time code by email, sms code login
two factor | mandatory = 2fa mandatory, mfa required, two-factor required, everyone must use mfa, enforced mfa, mfa enforced, mandatory mfa, second factor required, 2fa is required | optional = 2fa optional, mfa opt-in, two-factor optional, may enable mfa, users may enable 2fa, second factor optional | admins = mfa for admins only, 2fa required for admins, only admins need mfa | none = no 2fa, mfa not supported, no two-factor, no second factor, password alone is enough
password rotation | forced = passwords expire, forced password rotation, must change password regularly, password expiry, change password every, periodic password change | none = passwords never expire, no password rotation, no forced password change, passwords do not expire, no password expiry
password rules | length = length only rule, no composition rules, passphrases allowed | complex = complexity rules, must contain symbol, upper and lower and digit
session on password change | revoke = all sessions revoked, logs out everywhere, sessions killed on password change, other sessions are ended, signed out everywhere, invalidates all sessions | keep = sessions survive password change, stays logged in after change, other sessions stay valid, existing sessions remain
concurrent sessions | many = several devices at once, multiple sessions allowed, concurrent logins allowed, log in on several devices, any number of devices | one = one session per user, single session, second login kicks first, one device at a time, only one active session, one login at a time
remember me | default on = stay signed in by default, remember me on by default, persistent login default | default off = session ends with browser, remember me off by default, logged out on close
account lockout | locks = account locked after failures, lockout after failed attempts | throttle = throttled after failures, slowed down not locked, no account lockout
default visibility | private = private by default, hidden by default, visible only to owner, created as private, default visibility private, not public by default, only creator can see, starts out private, not visible until shared | public = public by default, visible to everyone by default, shared by default, default visibility public, open by default, everyone can see by default, starts out public, anyone can view it | team = visible to team by default, team-visible, workspace-visible by default
profile visibility | public = profiles are public, public profiles, anyone can see profiles | private = profiles are private, private profiles, profiles hidden | members = profiles visible to members, members see profiles
search engine indexing | indexed = indexed by google, pages indexable, allow indexing, in sitemap | noindex = noindex, robots disallow, not indexed, kept out of google
who can invite | anyone = any member can invite, everyone may invite, members invite others, all members can invite, invites open to members | admins = only admins can invite, admins invite, invitations by admins only, admin rights needed to invite, members cannot invite | owner = only the owner can invite, owner invites
who can create projects | anyone = anyone can create projects, every member may create, all users can create | admins = only admins create projects, project creation restricted, admins create workspaces
who can delete | owner = only the owner can delete, owner deletes, deletion by owner only, creator only may delete, only creators can delete | admins = only admins can delete, admins delete, deletion restricted to admins, admin rights needed to delete, members cannot delete | anyone = anyone can delete, every member can delete, all users may delete, all members can delete | nobody = nobody can delete, deletion not possible, cannot be deleted, deleting is impossible, no way to delete
who can edit | author = only the author can edit, authors edit their own, edit own only, others cannot edit, only creators can edit | anyone = anyone can edit, everyone may edit, wiki-style editing, all members can edit, everybody can edit | editors = editors only, only editors can edit, editor role needed | admins = only admins can edit, editing restricted to admins, admin rights needed to edit
who can export | everyone = everyone can export, any user may export, export for all users, all members can export | admins = only admins can export, admin-only export, exporting restricted to admins, members cannot export, export needs admin rights | nobody = no export, export not available, export disabled, exporting is impossible
who can comment | anyone = anyone can comment, anonymous comments, guests may comment | members = only members can comment, login to comment, signed-in users comment | nobody = comments disabled, no comments, comments turned off
who sees billing | owner = only owner sees billing, billing owner only | admins = admins see billing, admins manage billing | everyone = everyone sees billing, billing visible to members
support impersonation | allowed = support can impersonate, log in as user, impersonation allowed, staff may impersonate, support staff can act as, staff log in as customers | forbidden = no impersonation, support cannot log in as, impersonation forbidden, staff never act as customers, impersonation is not possible | consent = impersonation with consent, user grants support access
role model | fixed = fixed roles, predefined roles, built-in roles only, admin and member only, roles cannot be changed, hardcoded roles | custom = custom roles, roles are configurable, customers define roles, admins define roles, user-defined roles, roles can be created | none = no roles, everyone equal, all users have same rights
permission model | rbac = rbac, role-based, role based access | abac = abac, attribute-based | acl = per-object acl, access control lists, per-resource permissions | rebac = rebac, relationship-based, zanzibar | all or nothing = all or nothing access
permission default | deny = deny by default, default deny, closed by default, no access unless granted, allowlist | allow = allow by default, default allow, access unless denied, denylist, blocklist
roles per user | one = one role per user, single role, exactly one role | many = multiple roles per user, several roles, roles add up
accounts per email | one = one account per email, email is unique, unique email | many = several accounts per email, email not unique, same email many accounts
orgs per user | one = one organisation per user, single workspace per user, user belongs to one org | many = user in several organisations, multiple workspaces, users belong to many orgs
deletion | hard = hard delete, deleted permanently, removed for good, physically deleted, delete rows, cannot be restored, irreversible deletion, gone for good, really deleted, row is removed, deletes the row, wiped from database, deletion is final, erased completely, purged immediately | soft = soft delete, deleted_at, marked as deleted, flagged deleted, tombstoned, is_deleted flag, archived instead of deleted, moved to trash, recycle bin, trash first, restorable from bin, can be restored, only marked deleted, never physically removed, deleted rows stay, kept but hidden, deletion is recoverable, can be undeleted
account deletion | self service = users delete their own account, self-service deletion, delete account button, users can delete their account, delete in settings | request = deletion on request, contact support to delete, email us to delete, must write to support, support deletes accounts | impossible = accounts cannot be deleted, deactivate only, accounts only deactivated, no account deletion, accounts live forever
account deletion timing | immediate = deleted immediately, erased at once, immediate erasure, gone instantly, erased right away | grace = grace period before deletion, deleted after grace period, deletion can be cancelled, can be reactivated, recoverable for a while, waiting period before deletion
content after account deletion | anonymised = posts anonymised, kept as deleted user, content reassigned to ghost, author shown as deleted, comments become anonymous | removed = posts removed with account, content deleted with user, everything is deleted, all their posts disappear, user content is erased | kept = content stays attributed, posts stay
delete cascade | cascade = cascade delete, children deleted too, on delete cascade | restrict = deletion blocked when referenced, on delete restrict, cannot delete parent with children | null = set null on delete, children orphaned, on delete set null
undo | available = undo available, actions can be undone, undo toast, can be undone, revert your action, undo button | none = no undo, cannot be undone, actions are final, is irreversible, undo not supported
delete confirmation | typed = type the name to confirm, typed confirmation | dialog = confirmation dialog, confirm in dialog | none = deletes without confirmation, no confirmation dialog
saving | autosave = autosave, saved automatically, saves as you type, no save button, changes save themselves, auto-save, saves automatically, saved on every change, changes are saved instantly, saved continuously | explicit = explicit save, save button, must press save, manual save, unsaved until saved, click save, user has to save, press save, save by hand, nothing saved until
drafts | kept = drafts are kept, drafts saved, saved as draft, drafts persist, drafts are stored | none = no drafts, drafts discarded, published directly, drafts are not stored, drafts not supported
unsaved changes | warn = warn about unsaved changes, leave page warning | discard = unsaved changes discarded, lost on leave
new item state | draft = created as draft, starts as draft, draft by default, unpublished at first, not live until published | published = published immediately, live on create, goes live at once, published by default, visible immediately, appears right away
publishing | approval = needs approval before publishing, editor approves, approval required, published after review, must be approved first, editor sign-off, goes through approval, approved before publishing | direct = published without approval, no approval step, authors publish directly, self-publish, anyone can publish, published straight away, without editorial approval
moderation | pre = pre-moderated, reviewed before shown, held for moderation, moderated before publication, approved before appearing, comments held until approved, queue before publication | post = post-moderated, shown first reviewed later, published then moderated, appears immediately moderated later | reports = moderated on reports, only when reported, report-driven moderation | none = no moderation, unmoderated, nothing is moderated | automatic = automatic moderation, ai moderation, filter moderates
spam handling | delete = spam deleted automatically, spam dropped | hold = spam held for review, suspected spam queued | shadow = shadow ban, shadowbanned
banned users | hidden content = banned users' content hidden, ban hides posts | content stays = banned users' posts stay
edit history | kept = edit history kept, versions kept, revision history, every edit recorded, previous versions available, full revision history, old versions retained | not kept = no edit history, edits overwrite, previous versions lost, only latest version kept, old versions discarded
message editing | allowed = messages can be edited, edit after sending, editable messages | limited = editable for limited time, edit window | forbidden = messages cannot be edited, no editing after send, immutable messages
read receipts | on = read receipts shown, seen indicators, read receipts on by default | off = no read receipts, read receipts disabled, seen not shown | optional = read receipts optional, user toggles read receipts
email notifications default | on = email notifications on by default, opted in to email, emails sent by default, opt-out emails, email is on by default, users get emails by default | off = email notifications off by default, emails opt-in, no emails unless enabled, email is off by default, users must enable email
marketing email consent | opt in = marketing opt-in, explicit consent for marketing, unticked box, double opt-in, newsletter opt-in, must tick the box, users subscribe explicitly | opt out = marketing opt-out, subscribed by default, pre-ticked box, newsletter by default, everyone gets newsletter, box is pre-checked
notification delivery | digest = daily digest, batched notifications, weekly summary, digest email, one summary a day, collected into one email, bundled notifications | immediate = immediate notifications, notified right away, one email per event, instant emails, sent as it happens, sent instantly, an email per event, real-time alerts | none = no notifications, notifications removed
notification channel | email = email-only notifications, email notifications only | in app = in-app notifications only, notification bell, in-app only | push = push notifications only | sms = sms notifications, text messages | slack = slack notifications only
email format | html = html emails, designed emails | text = plain text emails, text-only emails | both = multipart emails, html with text fallback
email sender | noreply = no-reply address, noreply sender, replies ignored | replyable = replies go to support, replyable sender, reply to email works
email provider | sendgrid = sendgrid | ses = amazon ses, aws ses | postmark = postmark | mailgun = mailgun | resend = resend.com, resend api | smtp = own smtp, self-hosted smtp, postfix | mailchimp = mandrill, mailchimp transactional | brevo = brevo, sendinblue
unsubscribe | one click = one-click unsubscribe, unsubscribe without login | login = log in to unsubscribe, unsubscribe in settings only
quiet hours | respected = quiet hours respected, no notifications at night, do not disturb honoured | ignored = notifications around the clock, no quiet hours
search matching | fuzzy = fuzzy search, typo tolerant, tolerates typos, approximate match, misspellings still match, handles typos, finds near matches | exact = exact match only, exact search, no typo tolerance, must match exactly, misspellings find nothing | prefix = prefix search, starts-with search | substring = substring search, contains search, ilike search | full text = full-text search, stemmed search
search case | insensitive = case-insensitive search, case insensitive, ignores case, case is ignored, upper and lower equal | sensitive = case-sensitive search, case sensitive, case matters, case must match, distinguishes upper and lower
search term logic | and = all terms must match, and semantics, all words required | or = any term matches, or semantics, any word matches
search trigger | as you type = search as you type, instant search, live search, results while typing, results update while typing, searches on keystroke | submit = search on enter, search button, search after submit, press enter to search
search scope default | everything = searches everything, global search default | current = searches current folder, scoped to project, current project search
search engine | elasticsearch = elasticsearch | opensearch = opensearch | meilisearch = meilisearch | algolia = algolia | typesense = typesense | postgres = postgres full-text, tsvector | solr = solr | sqlite = sqlite fts5, fts5 | lunr = lunr, client-side search index, pagefind | lucene = embedded lucene, tantivy
search result order | relevance = sorted by relevance, relevance first, best match first | date = search sorted by date, newest results first | popularity = sorted by popularity, most popular first
list sort default | newest = newest first, most recent first, sorted by date descending, reverse chronological, latest on top, latest first, newest at the top, recent items first, descending by date | oldest = oldest first, chronological order, sorted by date ascending, earliest on top, oldest at the top, earliest first, ascending by date | alphabetical = alphabetical order, sorted by name, a to z, by name ascending, ordered by name | priority = sorted by priority, highest priority first | manual = manual order, drag to reorder, user-defined order
feed order | chronological = chronological feed, feed by time | ranked = ranked feed, algorithmic feed, personalised feed
deleted in search | hidden = archived items hidden from search, archived not searchable | shown = archived items searchable, search includes archived
empty search | all = empty query returns all, blank search lists everything | none = empty query returns nothing, blank search shows nothing
trial | card required = card required for trial, credit card up front, trial needs payment details, must enter card, payment method up front, trial asks for card | no card = no card required, trial without card, no credit card needed, try without card, no payment details needed, start without credit card | none = no free trial, no trial, trials discontinued, no trial period, pay from day one
trial end | converts = trial converts automatically, charged when trial ends, auto-converts to paid, becomes paid automatically, billed after trial | expires = trial simply expires, not charged after trial, downgraded after trial, falls to free plan, reverts to free, no charge after trial, trial lapses | locked = account locked after trial, read-only after trial
free plan | exists = free plan, free tier, freemium, free forever plan, free to use, there is a free version, basic plan is free | none = no free plan, paid only, no free tier, every plan is paid, no free version, only paid plans
pricing model | seat = per seat, per-user pricing, seat-based, charged per user | usage = usage-based, pay as you go, metered billing, pay per use | flat = flat fee, flat rate, fixed monthly price | tiered = tiered plans, tiers by feature | one off = one-time purchase, lifetime licence, pay once
billing time | advance = billed in advance, prepaid, charged up front, paid at start of period, pay up front, billed at start | arrears = billed in arrears, postpaid, invoiced at month end, charged afterwards, billed at the end, pay afterwards
subscription renewal | automatic = renews automatically, auto-renew, automatic renewal, renewed automatically, auto renewal, continues until cancelled | manual = manual renewal, does not auto-renew, must renew by hand, expires unless renewed, no automatic renewal
cancellation effect | immediate = cancels immediately, access ends at once, cancellation takes effect immediately, access stops immediately, cut off at cancellation | period end = access until period end, cancels at end of period, remains active until renewal date, keeps access until end, runs until period end, until the paid period ends
cancellation way | self service = cancel online, self-service cancel, cancel button | support = cancel through support, call to cancel, email to cancel
refunds | full = full refund, money back, money-back guarantee, refunded in full, get their money back, refund the whole amount, complete refund | prorated = prorated refund, pro rata refund, partial refund for unused, refund the unused part, proportional refund | none = no refunds, non-refundable, purchases are final, all sales final, never refund, refunds not offered, money is not returned, no money back | credit = store credit only, refunded as credit, credited to account, refund as voucher | discretion = refunds case by case, refunds at discretion
refund approval | automatic = refunds automatic, refunds without approval, instant refund | manual = refunds need approval, support approves refunds, manager approves refunds
plan upgrade charge | prorated = prorated on upgrade, pay the difference | next cycle = upgrade charged next cycle, new price from next period | full = full price on upgrade
plan downgrade | immediate = downgrade immediately, downgrades apply at once | period end = downgrade at period end, downgrades at renewal
failed payment | suspend = suspended on failed payment, access cut after failed payment | dunning = dunning emails, retry the card, smart retries, grace period after failed payment | downgrade = downgraded on failed payment
prices shown | incl tax = prices include vat, tax included, gross prices, vat inclusive, vat included, tax-inclusive prices | excl tax = prices exclude vat, plus tax, net prices, tax added at checkout, without vat, vat added later, tax-exclusive prices
currency | usd = us dollars only, usd only, priced in usd | eur = euros only, eur only, priced in euro | local = local currency, multi-currency, customer's currency | gbp = pounds only, gbp only
payment provider | stripe = stripe | paypal = paypal only, braintree | adyen = adyen | paddle = paddle billing, paddle checkout | mollie = mollie | square = square payments | lemonsqueezy = lemon squeezy, lemonsqueezy | chargebee = chargebee | razorpay = razorpay
payment capture | immediate = captured immediately, charge at order, charged when ordering | on shipment = authorise then capture, charge on shipment, captured when shipped
discount stacking | stackable = discounts stack, coupons can be combined, several coupons per order | exclusive = discounts do not stack, one coupon per order, coupons cannot be combined
stock handling | oversell = overselling allowed, backorders accepted, sells below zero, orders accepted without stock, stock may go negative | blocked = sold-out items cannot be ordered, no overselling, no backorders, cannot buy without stock, stock never negative
stock reservation | cart = reserved in cart, stock held when added, cart reserves stock | payment = reserved on payment, stock taken at checkout, cart does not reserve
cart persistence | persists = cart persists, cart saved across devices, cart kept after logout | session = cart lost on logout, cart per session, cart cleared on close
shipping cost | free = free shipping, shipping is free | charged = shipping charged, customer pays shipping | threshold = free shipping above threshold
order editing | allowed = orders editable until shipped, customers can change orders, order can be modified | forbidden = orders cannot be changed, orders are immutable, no order changes
order cancellation | customer = customers can cancel orders, self-service order cancellation | support = only support cancels orders, orders cancelled by support | none = orders cannot be cancelled, no order cancellation
reviews | verified = only verified buyers review, verified purchases only, buyers can review | anyone = anyone can review, open reviews | none = no reviews, reviews disabled
vendor approval | reviewed = sellers are vetted, seller approval required | open = any seller can list, sellers join freely
cookie consent | opt in = consent before cookies, no cookies before consent, cookie banner opt-in, reject by default, ask before setting cookies, cookies only after consent | opt out = cookies set by default, cookie notice only, implied consent, cookies without asking, cookies until declined | none = no cookie banner, no cookies, cookieless
analytics consent | opt in = analytics opt-in, analytics only after consent | opt out = analytics opt-out, analytics on unless declined, analytics enabled by default
data residency | eu = eu only hosting, data stays in eu, stored in europe, frankfurt region only | us = stored in us, us-hosted, us region only | customer region = customer chooses region, stored in customer region | anywhere = no data residency, any region
log data retention | limited = logs purged, logs deleted after, logs expire | forever = logs kept forever, logs kept indefinitely, logs never deleted
ip addresses | stored = ip addresses stored, ips logged, full ip kept, keep ip addresses, log client ip | anonymised = ips anonymised, truncated ip, hashed ip addresses | not stored = ips not stored, never log ips, no ip logging, ip addresses are discarded, no ip addresses
pii in logs | forbidden = no pii in logs, never log personal data, emails redacted in logs, pii scrubbed, personal data not logged, redact personal data, no emails in logs, strip pii from logs | allowed = pii in logs allowed, user emails logged, full payload logged, log full requests, log user emails
export delivery | download = direct download, exported in browser, immediate download | email = emailed link, export sent by email, link by mail when ready
real names | required = real names required, legal name required | pseudonyms = pseudonyms allowed, nicknames allowed, display names free
username change | allowed = usernames can be changed, username changeable, rename yourself, can change username, usernames are editable | fixed = usernames are permanent, username cannot change, fixed usernames, cannot change username, username is permanent
email change | allowed = users can change email, email changeable | forbidden = email cannot be changed, email is fixed
minimum age | adults = adults only, 18 plus | teens = 13 and over, teens allowed | none = no age check, all ages
file upload access | public = uploads are public, public bucket uploads, uploads world-readable | signed = signed urls, presigned urls, uploads private | proxied = uploads proxied through app
file upload path | direct = direct to s3, browser uploads to bucket, presigned upload | server = upload through server, uploaded via backend, proxied upload
upload scanning | scanned = uploads virus scanned, clamav, malware scan on upload | unscanned = uploads not scanned, no virus scan
file versioning | kept = file versions kept, every version retained | overwritten = upload replaces file, new upload overwrites, no file versions
sharing links | anyone = anyone with link, link sharing, public links, whoever has the link | restricted = only invited people, no public links, named users only, link requires login, recipients must log in, share with named people
link expiry | expires = share links expire, expiring links | permanent = share links never expire, permanent links
link preview | on = link previews on, links unfurled | off = no link previews, unfurling disabled
editing concurrency | live = real-time collaboration, simultaneous editing, google docs style, collaborative editing, several people edit together, edit at same time | lock = one editor at a time, edit lock, document locked while editing, checkout lock, only one person edits, locked for others | overwrite = last save wins, no edit locking
spreadsheet import errors | partial = valid rows imported, partial import, bad rows skipped on import | all or nothing = all-or-nothing import, whole import rejected, one bad row aborts
import duplicates | update = duplicates updated on import, import overwrites existing | skip = duplicates skipped on import, existing rows kept | create = duplicates created on import
time tracking unit | hours = tracked in hours, hours logged | days = tracked in days, days logged | none = no time tracking, time is not tracked
booking confirmation | instant = instant booking, booked instantly, confirmed automatically | manual = host confirms booking, booking request, manual confirmation
overbooking | allowed = overbooking allowed, double booking allowed, slots can be overbooked | blocked = no double booking, double bookings prevented, slots exclusive, one booking per slot, cannot be double-booked
onboarding | forced = onboarding mandatory, tour cannot be skipped | skippable = onboarding skippable, skip the tour | none = no onboarding, drops straight into app
first screen | dashboard = lands on dashboard, dashboard after login, home is dashboard | list = lands on list, inbox after login | last = last opened page, resumes where left off
keyboard shortcuts | enabled = keyboard shortcuts, hotkeys supported | none = no keyboard shortcuts, hotkeys removed
enter key in chat | sends = enter sends, enter submits message | newline = enter inserts newline, ctrl-enter sends
external links | new tab = open in new tab, target blank, links open new window | same tab = open in same tab, no target blank
sound | on = sound on by default, unmuted by default, autoplay with sound | off = muted by default, sound off by default, silent by default
autoplay | on = videos autoplay, autoplay enabled | off = no autoplay, click to play, autoplay disabled
ads | shown = ads shown, ad-supported, displays ads, we show ads, financed by ads | none = ad-free, no ads, never show ads, no advertising, without ads
beta features | opt in = beta opt-in, beta behind toggle | everyone = beta for everyone, beta on for all
multi tenancy | shared = shared database with tenant_id, tenant column, row-level tenancy, shared schema, one database for all tenants, tenants share tables | schema = schema per tenant, separate schema per customer | database = database per tenant, own database per customer, each tenant own database, separate database per tenant | instance = single-tenant, dedicated instance per customer, one deployment per customer, each customer own instance
customer customisation | none = no custom builds, same for all customers, no per-customer code | per customer = customer-specific builds, per-customer forks, custom code per client
docs location | repo = docs in repo, docs folder, docs/ directory, documentation lives with code, docs next to code, documentation in repository, docs live in repo, docs beside code | wiki = docs in wiki, github wiki, documented in wiki, documentation in the wiki | confluence = docs in confluence, confluence pages, documentation in confluence | notion = docs in notion, notion pages, documentation in notion | google docs = docs in google docs, google drive docs | sharepoint = docs in sharepoint | gitbook = gitbook | readme = readme only, everything in readme
docs format | markdown = docs in markdown, markdown files, .md files, written in markdown | rst = restructuredtext, .rst files, docs in rst | asciidoc = asciidoc, .adoc files | mdx = mdx docs | html = handwritten html docs | latex = latex docs | org = org-mode
docs generator | mkdocs = mkdocs, mkdocs-material | sphinx = sphinx, sphinx docs | docusaurus = docusaurus | vitepress = vitepress docs | hugo = hugo | jekyll = jekyll | mdbook = mdbook | starlight = starlight, astro starlight | nextra = nextra | antora = antora | typedoc = typedoc | doxygen = doxygen
docs hosting | readthedocs = read the docs, readthedocs | pages = github pages, gh-pages | netlify = netlify docs | vercel = vercel docs | gitlab = gitlab pages | internal = internal docs server | cloudflare = cloudflare pages docs
api docs source | generated = generated from code, api docs generated, autodoc, generated openapi, docs from annotations | handwritten = handwritten api docs, api docs written by hand, manually maintained reference
api spec direction | spec first = spec first, contract first, openapi first, schema first, design first | code first = code first, openapi from code, spec derived from code
graphql schema direction | schema first = sdl first, graphql sdl first | code first = code-first graphql, pothos, nexus graphql, type-graphql
docs language | english = documentation in english, english docs, docs written in english | german = documentation in german, german docs | french = documentation in french, french docs | japanese = documentation in japanese, japanese docs | bilingual = bilingual docs, docs in both languages | chinese = documentation in chinese, chinese docs | spanish = documentation in spanish, spanish docs
docs timing | same pr = docs in same pr, docs updated with code, no merge without docs, docs with the code, update docs in pr | later = docs afterwards, docs updated before release, docs catch up later, docs come later, documented after release
docs versions | versioned = versioned docs, docs per release, docs for each version | latest = docs for latest only, unversioned docs, single docs version
docs visibility | public = public docs, docs are public, documentation is public | internal = internal docs only, docs behind login, private docs, documentation is internal
diagrams | mermaid = mermaid | plantuml = plantuml | drawio = draw.io, drawio, diagrams.net | excalidraw = excalidraw | structurizr = structurizr, c4 dsl | ascii = ascii diagrams | lucidchart = lucidchart | miro = miro boards | graphviz = graphviz, dot files | d2 = d2 diagrams | visio = visio
architecture decisions | adr = adrs, adr files, architecture decision records, docs/adr, madr | rfc = rfc documents, rfc process, design docs | wiki = decisions on wiki page | none = decisions not recorded, no decision log | tickets = decisions in tickets
adr changes | superseded = superseded by new adr, adrs are immutable, never edit accepted adr | edited = adrs edited in place, update the existing adr
changelog | handwritten = changelog by hand, hand-written changelog, keep a changelog, edit changelog.md, changelog entry in every pr, changelog written by hand, manually maintained changelog | generated = generated changelog, changelog from commits, auto-generated changelog, conventional-changelog, git-cliff, release-please changelog, changelog is generated, built from commit messages, automatic changelog | fragments = towncrier, news fragments, changelog fragments, changesets | none = no changelog, changelog dropped, we keep no changelog | releases = github release notes only, release notes instead of changelog
changelog timing | per pr = changelog in every pr, entry with each change | release = changelog at release time, written when releasing
readme content | short = short readme, minimal readme | full = full manual in readme, long readme
code examples in docs | tested = docs examples tested, doctests run, examples executed in ci | untested = docs examples untested, examples not run
code review count | one = one approval, single reviewer, one reviewer enough, 1 approval, single approval, one approving review, one pair of eyes | two = two approvals, two reviewers, 2 approvals, second reviewer needed, two approving reviews, two pairs of eyes, two people approve | none = no review needed, no approvals, merge without review, self-merge without review, zero approvals, nobody has to approve
review requirement | required = review required, every change reviewed, no merge without review, pull requests must be reviewed, reviews mandatory, must be reviewed, all prs are reviewed, review before merge, approval before merging | optional = review optional, reviews on request, review only when asked, may merge unreviewed, review not required, merge without approval, reviews are optional | after = post-merge review, review after merge, review-after-commit
self merge | author = author merges, authors merge their own, you merge your own pr, self-merge allowed, author presses merge, merge your own pr | reviewer = reviewer merges, the approver merges, no self-merge, authors must not merge, reviewer presses merge | maintainer = maintainers merge, only maintainers merge, lead merges, maintainer presses merge, only leads merge | bot = bot merges, merge queue merges, mergify, bors, auto-merge
merge method | squash = squash merge, squash and merge, squashed on merge, one commit per pr, always squash, squash commits, squash on merge, squashed into one | merge = merge commit, merge commits, no-ff, --no-ff, preserve history with merge, true merge commits, never squash, keep all commits | rebase = rebase merge, rebase and merge, linear history by rebase, fast-forward only, ff-only, rebase before merging, linear history, no merge commits
history rewriting | forbidden = never force push, no force pushes, force push forbidden, history is never rewritten, do not force-push, do not rewrite history | allowed = force push allowed, rebase and force push, rewrite branch history, force-with-lease is fine, may force-push, force-push own branches
branch update | rebase = rebase onto main, rebase feature branches, git pull --rebase | merge = merge main into branch, merge main in, no rebasing
direct pushes | forbidden = no direct pushes to main, main is protected, never push to main, changes only through pr, main branch protected, everything goes through pr, main only via pr, nobody pushes to main, pull requests only | allowed = push directly to main, commit straight on main, direct commits to main allowed, main is unprotected, commit to main directly, straight to main, no pr needed
branch after merge | deleted = branches deleted after merge, delete branch on merge | kept = branches kept after merge, never delete branches
commit messages | conventional = conventional commits, feat and fix prefixes, feat: prefix, commitlint, semantic commit messages, type(scope) messages, conventional commit format, feat fix chore prefixes | plain = plain sentences, imperative sentence, free-form messages, no commit prefix, no conventional commits, ordinary commit messages, no prefixes in commits, plain english subject, one plain sentence | gitmoji = gitmoji, emoji commits | gnu = kernel style messages, subsystem prefix
commit message mood | imperative = imperative mood, add not added | past = past tense messages, added not add
commit message language | english = english commit messages, commits in english | german = german commit messages, commits in german | french = french commit messages, commits in french | japanese = commits in japanese | chinese = commits in chinese
commit size | small = small commits, atomic commits, one logical change per commit, commit often | big = one big commit, single large commit, everything in one commit
commit signing | required = signed commits required, gpg-signed, commits must be signed | not required = unsigned commits fine, no commit signing, signing not required
co-author trailers | added = co-authored-by trailer, credit the agent, ai co-author line | omitted = no co-authored-by, no ai attribution, never mention ai in commits
agent commits | allowed = agents may commit, agent commits itself, commit without asking, commit on your own, agent commits freely | ask = ask before committing, never commit unless asked, user commits, commits by humans only, do not commit, leave commits to user, user does commits
agent pushes | allowed = agent may push, push after commit, push when done | forbidden = agent must not push, never push, do not push, leave pushing to user, no pushing, pushing is user's job
wip commits | squashed = wip commits squashed, no wip commits | kept = wip commits fine, wip commits stay
pull request size | small = small pull requests, keep prs small, split large prs | large = large pull requests fine, one big pr, do not split prs
draft prs | used = open draft prs early, draft pull requests first | unused = no draft prs, open when ready only
stacked prs | used = stacked prs, graphite stacks, ghstack | unused = no stacked prs, avoid stacking
pairing | pair = pair programming, we pair, paired on everything, work in pairs, always pair | mob = mob programming, ensemble programming | solo = work alone, solo work with review, no pairing, work individually, no pair programming
estimates | points = story points, point estimates, fibonacci points, estimate in points | hours = estimates in hours, hour estimates, estimate in hours | days = estimates in days, ideal days, estimate in days | tshirt = t-shirt sizes, tshirt sizing | none = no estimates, noestimates, we do not estimate, estimation dropped, without estimates, stopped estimating, tasks not estimated
planning method | scrum = scrum, work in sprints, sprint planning | kanban = kanban, continuous flow, wip limits | shape up = shape up, six-week cycles, betting table | waterfall = waterfall, phase gates | scrumban = scrumban | none = no formal process, ad hoc planning
standup | daily = daily standup, standup every morning, daily stand-up, stand-up every day, meet every morning | async = async standup, written standup, standup in slack, standup bot, standup in writing, written updates | weekly = weekly sync instead, standup once a week | none = no standup, standups cancelled, standup abolished, no daily meeting, without standups
sprint start | monday = sprint starts monday | wednesday = sprint starts wednesday | thursday = sprint starts thursday | tuesday = sprint starts tuesday
retrospective | every sprint = retro every sprint, retro after each sprint | monthly = monthly retro, retro once a month | none = no retros, retros dropped | quarterly = quarterly retro
issue tracker | jira = jira, jira tickets, jira board | github = github issues, gh issues | linear = linear tickets, linear.app, linear issues | gitlab = gitlab issues | trello = trello | asana = asana | youtrack = youtrack | shortcut = shortcut stories, clubhouse | azure = azure boards, azure devops work items | bugzilla = bugzilla | redmine = redmine | notion = notion board, notion tasks | clickup = clickup | monday = monday.com | file = todo.md, backlog file in repo
ticket requirement | required = every change needs ticket, ticket required, no work without ticket, pr must link issue | optional = tickets optional, no ticket needed, small changes without ticket
bug priority | before features = bugs before features, bugs first, zero bug policy | scheduled = bugs prioritised with features, bugs go to backlog
stale issues | closed = stale bot closes, stale issues closed, auto-close inactive | kept = stale issues stay open, no stale bot, never auto-close
code hosting | github = code on github, github repository, hosted on github | gitlab = code on gitlab, gitlab repository, hosted on gitlab | bitbucket = bitbucket | azure = azure repos, azure devops git | gitea = gitea, forgejo | codeberg = codeberg | sourcehut = sourcehut, sr.ht | gerrit = gerrit | codecommit = codecommit
team chat | slack = slack, slack channel | teams = microsoft teams, ms teams, teams channel | discord = discord | mattermost = mattermost | zulip = zulip | matrix = matrix room, matrix chat, element chat | google chat = google chat | email = mailing list, by email only | rocket = rocket.chat | irc = irc channel | telegram = telegram group | whatsapp = whatsapp group
video calls | zoom = zoom | meet = google meet | teams = teams calls, teams meeting | jitsi = jitsi | webex = webex | around = slack huddles
communication style | async = async first, asynchronous communication, written first, default to async | sync = meetings first, synchronous communication, call instead of write
work location | remote = fully remote, remote only, work from home | office = in office, on-site, office only | hybrid = hybrid work, some days in office
release day | any = release any day, deploy any time, deploys every day | monday = release on monday, monday releases | tuesday = release on tuesday, tuesday releases | wednesday = release on wednesday, wednesday releases | thursday = release on thursday, thursday releases | friday = release on friday, friday releases
friday deploys | allowed = friday deploys allowed, deploy on fridays, fridays are fine, deploying on friday is ok, can ship on friday | forbidden = no friday deploys, never deploy on friday, no releases on friday, do not deploy fridays, no friday releases, nothing ships on friday
release cadence | continuous = continuous deployment, every merge ships, deploy on merge, released on every merge | daily = daily release, released every day | weekly = weekly release, release every week, release train weekly | biweekly = every two weeks, fortnightly release, release per sprint | monthly = monthly release, release once a month | quarterly = quarterly release, release every quarter | on demand = release when ready, on-demand release, no fixed cadence | yearly = annual release, once a year
release trigger | tag = release on tag, pushing tag releases, tag triggers release, tagging publishes, released from tags | merge = release on merge to main, merge triggers release, every merge is released, merging releases | manual = release by hand, manual release, release button, manual workflow dispatch, someone releases manually, released by hand | schedule = scheduled release, cron release
release automation | semantic-release = semantic-release | release-please = release-please | changesets = changesets release | goreleaser = goreleaser | manual = manual publish, publish by hand | cargo-release = cargo-release, release-plz | bumpversion = bumpversion, bump2version, bump-my-version
versioning scheme | semver = semver, semantic versioning | calver = calver, calendar versioning, date-based versions | sequential = build number versions, sequential versions | zero = zerover, stays 0.x | hash = commit hash as version
version source | tag = version from git tag, setuptools-scm, hatch-vcs, derived from tag | file = version in file, version in pyproject, __version__ constant, version in package.json, hardcoded version
package versions in monorepo | locked = lockstep versions, one version for all packages, fixed versioning | independent = independent versions, each package versioned separately
tag format | v prefix = v prefix tags, v1.2.3 tags, tags start with v | bare = tags without v, bare version tags
supported versions | latest only = only latest supported, fixes in latest only, no backports | lts = lts releases, long-term support, backport to lts | all = all versions supported
code freeze | exists = code freeze before release, freeze in december, holiday freeze, change freeze, changes are frozen, frozen before release, freeze week | none = no code freeze, no freeze, freeze abolished, no freeze period, never freeze
hotfix path | branch from tag = hotfix branch from release tag, hotfix from release branch | main = hotfix through main, fix forward on main | direct = patched on server, fix directly in production
bad release reaction | rollback = roll back first, rollback on failure, revert immediately, redeploy previous version, roll back immediately, go back to previous release, rollback first | forward = roll forward, fix forward, never roll back, forward fix only, ship a fix instead, always roll forward
revert policy | revert first = revert first ask later, revert breaking commits at once | fix = fix instead of revert, no reverts
on-call rotation | weekly = weekly on-call, on-call for a week, rotate weekly | daily = daily on-call, on-call changes daily | none = no on-call, nobody on call, best effort support | follow the sun = follow the sun | biweekly = two-week on-call
on-call hours | business = business hours only, office hours on-call, no night pages, only during office hours, working hours only | all day = 24/7 on-call, around the clock, paged at night, day and night, 24x7
on-call owners | developers = developers on call, build it and run it, engineers carry pager | ops = ops team on call, sre on call, dedicated ops handles pages
paging tool | pagerduty = pagerduty | opsgenie = opsgenie | victorops = splunk on-call, victorops | grafana = grafana oncall | incident.io = incident.io | rootly = rootly | email = alerts by email only
postmortems | every incident = postmortem for every incident, always write postmortem | major only = postmortem for major incidents, sev1 only postmortem | none = no postmortems
postmortem style | blameless = blameless, no blame postmortem | named = names the responsible, accountable person named
incident lead | commander = incident commander, ic role | on-call = on-call leads incident | manager = manager leads incident
status page | public = public status page, statuspage.io, status site | none = no status page | internal = internal status page
technical debt | dedicated = debt sprint, dedicated time for debt, twenty percent for debt | boy scout = boy scout rule, clean as you go, opportunistic refactoring | never = no refactoring, refactoring only with feature
refactoring in feature pr | separate = refactoring in separate pr, no mixed refactoring, refactor separately | mixed = refactor along the way, refactoring with feature fine
feature rollout | flag = behind feature flag, feature flagged, dark launch, flags for new features, hidden behind flag, toggled per customer, released dark | direct = shipped directly, no feature flags, live for all at once, flags not used, released to everyone, without feature flags
flag lifetime | removed = flags removed after rollout, short-lived flags, clean up flags | kept = flags stay, permanent flags, never remove flags
deprecation policy | warn first = deprecate first, deprecation warning for a release, deprecated before removal, one major cycle deprecated, deprecation period, mark deprecated first, warn before removing | immediate = removed without deprecation, removed right away, no deprecation period, breaking without notice, just remove it, delete without warning, remove immediately | never = never remove apis, nothing is ever removed
backward compatibility | kept = backward compatible, no breaking changes, never break clients, compatibility guaranteed, keep old callers working, must stay compatible, old clients keep working, compatibility is promised | broken freely = breaking changes allowed, breaking is fine, no compatibility promise, no backwards compatibility needed, no compat shims, may break callers, break compatibility freely, no need for compatibility
api stability | stable = api is stable, stable api, api frozen | unstable = api is unstable, experimental api, api may change
code ownership | codeowners = codeowners, strong ownership, owned by team | collective = collective ownership, everyone owns everything, anyone may change any code
cross-team changes | pr = inner source, send pr to other team | request = ask the owning team, owning team makes change, ticket to owning team
new code language | python = new services in python, python for new services | go = new services in go, go for new services | rust = new services in rust, rust for new services | java = new services in java, java for new services | typescript = new services in typescript, typescript for new services | kotlin = new services in kotlin, kotlin for new services
rewrite or evolve | rewrite = rewrite from scratch, big bang rewrite, greenfield rewrite | strangler = strangler fig, gradual migration, incremental rewrite, migrate piece by piece | keep = keep legacy system, no rewrite, leave legacy alone
legacy code status | maintained = legacy still maintained, old system supported | frozen = legacy frozen, feature freeze on legacy, bugfixes only on legacy | removed = legacy removed, old system shut down, legacy switched off, legacy deleted
project status | active = actively developed, under active development, still being developed | maintenance = maintenance mode, bugfixes only, feature complete, only bug fixes | archived = repo archived, archived repository, read-only repo, no longer maintained, unmaintained, abandoned, project is dead, not maintained any more
source openness | open = open source, public repository, publicly available code | closed = closed source, proprietary code, private repository, not open source | source available = source available, bsl licence, business source license | open core = open core
licence | mit = mit license, mit licensed, mit licence | apache = apache 2.0, apache-2.0, apache license | gpl = gpl, gplv3, gpl-3.0, gplv2 | agpl = agpl, agplv3 | bsd = bsd license, bsd-3-clause | mpl = mpl, mozilla public license | lgpl = lgpl | proprietary = proprietary license, all rights reserved | bsl = busl, business source licence | unlicense = unlicense, public domain, cc0 dedication
licence headers | required = license header in every file, spdx headers, copyright header required, licence headers required, every file has header, spdx in every file, files carry license header | none = no license headers, no copyright headers, header-free files, no headers in files, without license headers
header form | spdx = spdx-license-identifier, spdx line | full = full licence text header, long license header
copyright year | range = year range in header, copyright years updated | none = no year in copyright | fixed = first year only
contributor agreement | cla = cla, contributor license agreement, sign the cla, must sign cla, signed cla | dco = dco, signed-off-by, developer certificate of origin, sign-off, commits need sign-off, sign off commits | none = no cla, no dco, no contributor agreement, nothing to sign
copyleft dependencies | forbidden = no gpl dependencies, gpl is forbidden, no copyleft, permissive licences only | allowed = gpl dependencies allowed, copyleft is fine
external contributions | welcome = external contributions welcome, prs welcome, outside contributors accepted, accept outside pull requests, contributions are welcome | closed = no external contributions, contributions not accepted, prs from outside closed, no outside pull requests, do not accept contributions
ai generated code | allowed = ai code allowed, copilot allowed, ai assistants welcome, ai tools are allowed, may use copilot | forbidden = no ai-generated code, copilot forbidden, ai code banned, ai tools not allowed, no copilot | disclosed = ai use must be disclosed, label ai code
vulnerability reports | private = private disclosure, security@ email, report privately, security advisories | public = public issue for vulnerabilities, report in issues
security scanning | blocking = vulnerabilities block merge, security scan gates | advisory = security scan advisory, scan findings informational
secrets in repo | forbidden = never commit secrets, no secrets in git, secrets not in repo | encrypted = encrypted secrets in repo, sops, git-crypt, sealed secrets | plain = secrets committed, plain secrets in repo
env file | committed = .env committed, .env checked in | ignored = .env gitignored, .env never committed, only .env.example committed
code comments by agents | none = no comments unless asked, agents add no comments | explained = agents comment their code
dev environment | docker = dev in docker compose, develop in containers, docker compose for dev | devcontainer = devcontainer, dev containers, codespaces | native = run natively, local install, no docker in dev, bare metal dev | nix = nix shell, nix flake, devenv, flake.nix | vagrant = vagrant | remote = remote dev machines, gitpod, coder workspaces
local database | docker = postgres in docker locally, local database container | native = locally installed postgres, native postgres install | shared = shared dev database, common dev database | sqlite = sqlite locally, sqlite in development
developer os | mac = macs only, developers on mac, macos only development | linux = linux only development, developers on linux | windows = windows development, developers on windows | wsl = wsl2, develop in wsl | any = any os, os agnostic development
supported os | linux = linux only, runs only on linux | windows = windows only, runs only on windows | mac = macos only, runs only on mac | cross = cross-platform, all three platforms, linux mac and windows
windows support | supported = windows supported, works on windows | unsupported = windows not supported, no windows support, windows dropped
python 2 support | dropped = python 3 only, python 2 dropped, no python 2 | kept = python 2 supported, python 2.7 compatible, six compatibility
scripting language for tools | python = tooling in python, python scripts for tooling | bash = tooling in bash, shell scripts for tooling | node = tooling in node, node scripts for tooling | go = tooling in go
public api comments | required = public api documented, jsdoc on exports, godoc on exported | optional = api comments optional, undocumented exports fine
package publishing | public registry = published to public npm, on public pypi | private registry = private registry, internal artifactory, internal pypi, github packages | none = not published, private true, install from git
assets storage | repo = images in repo, assets committed | cdn = assets on cdn, served from cdn | bucket = assets in s3
large files | lfs = large files in lfs, git-lfs | annex = git-annex | bucket = large files in bucket, binaries outside git | forbidden = no large files, no binaries in git
meeting notes | written = minutes written, notes after each meeting | none = no meeting notes | recorded = meetings recorded
decision making | consensus = by consensus, everyone agrees | lead = tech lead decides, lead has final say | vote = majority vote, we vote | owner = product owner decides, product manager decides | bdfl = bdfl, benevolent dictator | committee = architecture board, steering committee decides
definition of done | deployed = done when deployed, done means in production | merged = done when merged, done means merged | accepted = done when accepted, product owner accepts
design review | required = design doc before coding, design review required, rfc before implementation | none = no design docs, code first design later
spike code | thrown away = spike code thrown away, prototypes discarded, never merge spikes | kept = prototype evolved, spike merged
experiment code place | branch = experiments on branches | folder = experiments folder, sandbox directory | repo = separate experiments repo
production access | developers = developers have production access, engineers can ssh production, devs may access prod, developers may access production, devs can ssh | ops = only ops access production, no developer access to prod, sre only access, developers have no access, only ops can ssh | nobody = no human production access, zero-touch production, nobody has production access, no one logs into production | break glass = break-glass access, temporary elevated access
production database edits | forbidden = no manual production sql, never hand-edit prod data, no ad hoc prod sql, no manual data changes, never touch prod data | allowed = manual fixes in prod database, ad hoc prod sql allowed, fix data by hand | reviewed = reviewed sql only, peer-reviewed data fixes
data migrations | with deploy = migrations run on deploy, automatic migrations at startup | manual = migrations run by hand, manual migration step | separate job = migration job before deploy, separate migration job
migration direction | reversible = down migrations required, reversible migrations | forward = forward-only migrations, no down migrations, no down scripts
migration edits | immutable = never edit applied migration, migrations are immutable | edited = migrations edited in place, squash and edit migrations
deployment approval | automatic = deploys without approval, automatic deploy to production, no deploy approval, goes live automatically, automatically deployed | manual = deploy needs approval, manual approval gate, someone clicks deploy, deploys approved manually, approval before deploy
roadmap | public = public roadmap, roadmap is public | internal = internal roadmap, roadmap not public
support language | english = support in english only | german = support in german | multi = multilingual support team
product audience | b2b = b2b, business customers, companies only | b2c = b2c, sold to consumers, consumer product, private individuals | internal = internal tool, employees only, in-house use
product stage | prototype = prototype stage, proof of concept | beta = in beta, public beta, closed beta | ga = generally available, general availability, launched publicly | sunset = being sunset, sunsetting, end of life, discontinued
hosting offer | saas = saas only, hosted only, cloud only, only as saas, cloud version only | self hosted = self-hosted only, on-premise only, customers host it, customers run it themselves, on-prem only | both = hosted and self-hosted
feature parity | parity = web and mobile same features, full parity | web first = web first, mobile lags | mobile first = mobile gets features first
"""

SAME = """\
sign in = log in = login = authenticate = sign on
sign out = log out = logout = sign off session
sign up = register = create an account = registration = signup
pull request = merge request = pr = mr
prod = production = live = live environment
staging = pre-production = preprod = stage environment
dev environment = development environment = local environment
repo = repository = git repo
env var = environment variable = env variable = envvar
db = database = data store
k8s = kubernetes
deps = dependencies = third-party packages = external packages
config = configuration = settings
config file = configuration file = settings file
creds = credentials = login details
spin up = start = bring up = boot up
nuke = delete = remove = drop = get rid of = wipe = erase = purge
fall back = revert to = fallback
kick off = trigger = launch = fire off
customer = user = client = end user
backend = server side = back end = server-side
frontend = client side = front end = client-side
timeout = time limit = deadline = time-out
retry = try again = attempt again = reattempt
must not = may not = is not allowed = is forbidden = never = not permitted = prohibited = forbidden = banned = disallowed = off limits = at no time = under no circumstances = not ever
have to = must = need to = required = mandatory = obligatory
can = may = is allowed to = is permitted to = is able to
optional = not required = not mandatory = voluntary
by default = unless told otherwise = out of the box = default behaviour
turn on = enable = switch on = activate
turn off = disable = switch off = deactivate
check out = checkout = place an order = complete a purchase = buy
order = purchase
guest = anonymous user = visitor = unauthenticated user = not signed in
account holder = registered user = member
signed in = logged in = authenticated
docs = documentation
spec = specification
repo root = top level = project root = root directory
folder = directory = dir
file name = filename
path = file path = filepath
admin = administrator
admins = administrators
auth = authentication = authn
authz = authorization = authorisation = access control
2fa = two-factor authentication = mfa = multi-factor authentication = two factor = second factor
sso = single sign-on = single sign on
pw = password = passwd
token = access token = api token
api key = apikey = access key
secret = sensitive value = confidential value
secrets manager = secret store = vault
ci = continuous integration = build pipeline = ci pipeline
cd = continuous deployment = continuous delivery
build = compile
ship = release = roll out = publish
deploy = push out = put live = go live with
deployment = rollout
roll back = rollback = revert = undo = back out
hotfix = emergency fix = urgent fix = quick fix
bug = defect = fault = error in code
fix = repair = correct = resolve = patch
broken = not working = does not work = busted = out of order
fails = breaks = errors out = goes wrong = blows up
crash = go down = die = fall over
outage = downtime = incident
unavailable = down = unreachable = offline
slow = sluggish = takes long = laggy
speed up = make faster = accelerate = optimise = optimize
cache = caching layer = cached copy
invalidate = bust = evict
queue = job queue = work queue = message queue
background job = worker job = async job = asynchronous job = task in background
worker = background worker = consumer process
scheduled job = scheduled task = cron job = timer job = cron
nightly = every night = each night = overnight
daily = every day = each day = once a day
weekly = every week = each week = once a week
hourly = every hour = each hour = once an hour
monthly = every month = each month = once a month
yearly = every year = annually = once a year = annual
quarterly = every quarter = each quarter
twice a week = two times a week
fortnightly = every two weeks = biweekly = every other week
every minute = once a minute = each minute
real time = real-time = realtime
immediately = at once = right away = straight away = instantly = without delay
later = afterwards = subsequently
before = prior to = ahead of = in advance of
after = following = once done
until = till
during = in the course of
always = every time = in all cases = without exception
sometimes = occasionally = from time to time
only = exclusively = solely = just
at least = no fewer than = minimum of = not less than
at most = no more than = maximum of = up to
more than = above = exceeds
less than = under = below = fewer than
max = maximum = upper limit = upper bound
min = minimum = lower limit = floor
limit = cap = ceiling = quota
rate limit = throttle = request limit = throttling
unlimited = no limit = without limit = uncapped = unbounded
approx = approximately = roughly = about = around
use = employ = utilise = utilize = rely on = go with
avoid = stay away from = steer clear of = do not use
prefer = favour = favor = would rather
choose = pick = select = opt for = decide on
replace = swap = substitute = switch out = exchange
replaced by = superseded by = swapped for
migrate = move = port = switch over = transition
upgrade = update = bump = move to newer version
downgrade = go back to older version = lower the version
install = put on the machine
uninstall = deinstall = take out
create = make = add = set up = generate
change = modify = alter = edit = adjust = amend
rename = change the name
copy = duplicate = clone = replicate
merge = combine = join = integrate
split = separate = break up = divide
store = save = persist
keep = retain = hold on to = preserve = kept = retained = preserved
discard = throw away = toss = throw out
load = read = fetch = pull in
send = transmit = dispatch = deliver
receive = get = obtain
return = give back = hand back = respond with
reply = respond = answer
request = req = http call
endpoint = route = api route = url
api = web api
rest api = restful api
rpc = remote procedure call
graphql = gql
ws = websocket = web socket = websockets
sse = server-sent events
plain http = unencrypted http
https = tls = ssl = encrypted connection
cert = certificate = tls certificate
encrypt = cipher = encipher
encrypted at rest = encryption at rest = stored encrypted
plain text = plaintext = unencrypted = in the clear = cleartext
digest = checksum
salt = random salt
pg = postgres = postgresql = psql
mysql = mariadb compatible
mongo = mongodb
elasticsearch = elastic search
redis cache = redis
sqlite = sqlite3
sql db = relational database = rdbms
nosql = non-relational = document store
primary key = pk
foreign key = fk
uuid = guid
id = identifier
auto-increment = autoincrement = serial id = sequential id
index = db index
schema = data model = table structure
migration = schema change = schema migration = db migration
table = relation
row = record = tuple = entry
column = field = attribute
null = none = nil = empty value
nullable = may be null = can be null = optional column
not null = non-null = required column
transaction = tx = atomic unit
commit = check in
mutex = mutual exclusion lock
deadlock = lock up
replica = read replica = secondary = follower
leader = main node = primary node
shard = partition
backup = back-up = dump
restore = recover = bring back = get back
soft delete = mark as deleted = logical delete = flag as deleted
hard delete = permanent delete = physical delete = delete for good
permanently = for good = irrevocably = irreversibly
indefinitely = forever = without end = no expiry = never expires
temporary = temp = short-lived = transient = ephemeral
expire = lapse = run out = become invalid
ttl = time to live = expiry time = lifetime
retention = how long kept = keeping period
archive = move to cold storage
log = log file = logging
logs = log output = log lines = log entries
log level = verbosity = logging level
stack trace = traceback = backtrace
exception = error = failure = err
throw = raise
catch = handle = rescue = trap
swallow = ignore silently = suppress
warn = warning = caution
panic = abort = hard crash
debug = troubleshoot = diagnose
monitor = watch = observe = keep an eye on
monitoring = observability
alert = page = alarm
metric = measurement
dashboard = overview page
trace = distributed trace
instrument = add metrics to
health check = healthcheck = liveness probe
uptime = availability
sla = service level agreement
slo = service level objective
on-call = on call = pager duty = standby
postmortem = post-mortem = incident review = retrospective of incident
runbook = playbook = operating procedure
vm = virtual machine
container = docker container
image = docker image = container image
compose = docker compose = docker-compose
helm chart = chart
pod = kubernetes pod
server = host = machine = box
cluster = kubernetes cluster
serverless = lambda = aws lambda = cloud function = faas
s3 = object storage = bucket = blob storage
cdn = content delivery network = edge cache
dns = name resolution
lb = load balancer
proxy = reverse proxy = gateway
firewall = network policy = security group
vpn = private network
vpc = virtual private cloud
iac = infrastructure as code
tf = terraform
gha = github actions = github workflow = actions workflow
gh = github
gl = gitlab
aws = amazon web services
gcp = google cloud = google cloud platform
azure = microsoft azure
on-prem = on premises = on-premise = in our own data centre = self-hosted
cloud = hosted
region = data centre location
autoscale = scale automatically = auto-scaling
scale up = add capacity = scale out = grow
scale down = reduce capacity = scale in = shrink
zero downtime = without downtime = no downtime = no interruption
canary = gradual rollout = staged rollout = phased rollout
blue green = blue-green = blue/green
feature flag = feature toggle = feature switch
behind a flag = feature flagged = toggled
ab test = a/b test = split test = experiment
microservice = micro service = service
microservices = service-oriented = many services
monolith = single application = one big app
monorepo = mono repo = single repository
polyrepo = multi-repo = separate repositories = multirepo
lib = library = package = module
framework = toolkit
sdk = client library
cli = command line = command-line tool = command line interface
gui = graphical interface
ui = user interface
ux = user experience
tui = terminal interface = text interface
terminal = console = shell
stdout = standard output = standard out
stderr = standard error
stdin = standard input
exit code = return code = exit status = status code of process
command-line flag = cli option = command line switch
arg = argument = parameter = param
args = arguments = parameters = params
func = function = fn
method = member function
var = variable
const = constant
ctor = constructor
dtor = destructor
impl = implementation
iface = interface type
enum = enumeration
struct = record type
bool = boolean
int = integer
str = string
dict = dictionary = map = hash map = hashmap
list = array
regex = regular expression = regexp
async = asynchronous = non-blocking
synchronous = blocking
concurrent = in parallel = simultaneously = parallel = at the same time
sequential = one after another = one at a time = serially = in sequence = serial
thread = os thread
event loop = main loop
race = race condition
idempotent = safe to repeat = repeatable without effect
deterministic = reproducible = repeatable
random = randomised = randomized = nondeterministic
rng seed = random seed
immutable = frozen = unchangeable = cannot be changed
mutable = changeable = can be changed = modifiable
read only = read-only = readonly = view only = no write access
read write = read-write = writable
public = publicly visible = open to everyone = visible to all = world readable
private = not visible to others = visible only to owner = only the owner sees
internal = in-house = inside the company
external = outside = third party = third-party
type hint = type annotation = typing = annotation
typed = annotated = with types
untyped = without types = no type hints = unannotated
ts = typescript
js = javascript
py = python
golang = go language
rb = ruby
c sharp = c# = csharp
cpp = c++ = cplusplus
rs = rust
kt = kotlin
dotnet = .net
nodejs = node.js
reactjs = react.js = react
vuejs = vue.js = vue
nextjs = next.js
rn = react native
tailwind = tailwindcss = tailwind css
sass = scss
lint = linter = static check = linting
format = formatter = code formatting
type check = type checker = static typing check = typecheck
style guide = code style = coding style = coding conventions
convention = rule = guideline = agreed practice
naming = naming convention = names
camelcase = camel case
snake_case = snake case
kebab-case = kebab case = dashed
pascalcase = pascal case = upper camel case
uppercase = upper case = capitals = all caps
lowercase = lower case = small letters
whitespace = blank space
indent = indentation
newline = line break = line feed
trailing comma = dangling comma
single quotes = single-quoted
double quotes = double-quoted
comment = code comment = remark
docstring = doc comment = documentation comment
todo = to do = fixme
dead code = unused code = unreachable code
duplicate code = copy-pasted code = repeated code
refactor = restructure = clean up = tidy up
rewrite = reimplement = redo = start from scratch
legacy = old = outdated = previous generation
deprecated = phased out = obsolete = on its way out
discouraged = not recommended
sunset = retire = end of life = discontinue
new = newly added = recently introduced
breaking change = incompatible change = breaks callers
backward compatible = backwards compatible = compatible with old clients = non-breaking
semver = semantic versioning = semantic version
calver = calendar versioning = date versions
version = release number
tag = git tag
branch = git branch
main branch = trunk = mainline = master = main = default branch
feature branch = topic branch = working branch
squash = squash merge = squash and merge
rebase = replay commits
cherry-pick = cherry pick = pick the commit
force push = force-push = push --force
commit message = commit text = commit subject
changelog = change log = release notes = list of changes
readme = read me = readme file
license = licence
cla = contributor license agreement = contributor agreement
dco = developer certificate of origin
open source = oss = open-source
proprietary = closed source = closed-source
code review = review = peer review
reviewer = approver
approve = sign off = give the ok = accept = green-light
reject = decline = refuse = turn down = deny
approval = sign-off = go-ahead
without approval = unapproved = no sign-off
reviewed by = checked by = looked at by
author = writer = creator
maintainer = owner = responsible person
assignee = assigned person
team lead = tech lead = lead
pm = product manager = product owner = po
qa = quality assurance = testers
ops = operations = sre = platform team
dev = developer = engineer = programmer
devs = developers = engineers = programmers
stakeholder = interested party
ticket = issue = task = story
backlog = to-do list = list of tickets
sprint = iteration
standup = stand-up = daily meeting = daily scrum
retro = retrospective
estimate = estimation = sizing
story points = points
milestone = target date
due date = cut-off = target day
eta = expected date
meeting = video call = sync meeting
async communication = in writing
pairing = pair programming
mob programming = ensemble programming
onboarding = getting started = first steps
handover = handoff = hand-off
freeze = code freeze = change freeze
release train = regular release
release day = day of release = ship day
weekend = saturday and sunday
business hours = office hours = working hours = work hours
business day = working day = workday = weekday
around the clock = 24/7 = day and night = all day
test suite = tests
unit test = unit-level test
integration test = integration-level test
e2e = end-to-end = end to end test = e2e test
smoke test = sanity check = sanity test
regression test = test for the bug
acceptance test = uat = user acceptance test
test double = mock = stub = fake
real service = actual service
fixture = test data = sample data
snapshot test = golden test = golden file test = approval test
coverage = test coverage = code coverage
flaky = unstable = intermittent = fails sometimes = nondeterministic test
skip = leave out = omit = ignore
quarantine = isolate = set aside
passes = succeeds = is green = works
is red = does not pass = failing
gate = prevent merge = block merge
required check = blocking check = must pass
optional check = non-blocking check = advisory check
tdd = test-driven development = test first
bdd = behaviour-driven = behavior driven
property-based = property based = generative tests
fuzz = fuzz testing = fuzzing
load test = stress test = performance test
benchmark = perf measurement
perf = performance
latency = response time = delay
throughput = requests per second = rps
p99 = 99th percentile
p95 = 95th percentile
disk = storage = hard drive
cpu = processor
gpu = graphics card
out of memory = oom = memory exhausted
leak = memory leak
allocate = reserve memory
heap = dynamic memory
malloc = dynamic allocation = heap allocation
gc = garbage collection = garbage collector
isr = interrupt handler = interrupt service routine
rtos = real-time operating system
mcu = microcontroller
fw = firmware
ota = over the air = over-the-air = remote update
bootloader = boot loader
watchdog = wdt = watchdog timer
fpu = floating point unit
floats = floating point = floating-point
fixed point = fixed-point
deep sleep = hibernate = low-power sleep
ble = bluetooth low energy = bluetooth le
bare metal = no os = without operating system
dma = direct memory access
serial port = uart = serial line
pcb = circuit board
fps = frame rate = frames per second
ecs = entity component system
shader = gpu program
multiplayer = online play
savegame = save game = saved game
npc = non-player character
ml = machine learning
ai = artificial intelligence
llm = large language model = language model
nn = neural network = neural net
train = train a model
retrain = train again = refit
fine-tune = finetune = fine tune
inference = prediction = scoring
predict = score = infer
eval = evaluation = evaluate
hyperparameter = hyper-parameter = tuning parameter
dataset = data set
train set = training set = training data
test set = holdout = held-out data
val set = validation set = dev set
cross-validation = cross validation = k-fold
label = ground truth
features = input variables = predictors
embedding = vector representation
vector db = vector database = vector store
rag = retrieval-augmented generation = retrieval augmented
quantise = quantize = quantization = quantisation
checkpoint = saved weights = model checkpoint
weights = model parameters
drift = data drift = distribution shift
notebook = jupyter notebook = ipynb
pipeline = workflow = data flow
etl = extract transform load
elt = extract load transform
batch = in bulk = bulk
streaming = stream processing = continuous processing
backfill = reprocess history = fill in the past
late data = late-arriving data = late events = late arrivals
dedupe = deduplicate = remove duplicates = dedup
duplicates = repeated entries = doubles
upsert = insert or update = merge into
append only = append-only = only ever added
overwrite = clobber = write over
full refresh = full reload = reload everything = complete reload
incremental = delta = only changes
cdc = change data capture
dwh = data warehouse = warehouse
data lake = lake = lakehouse
lineage = data provenance = where data comes from
catalog = catalogue = data catalog
pii = personal data = personally identifiable information = personal information
gdpr = dsgvo = data protection regulation
anonymise = anonymize = make anonymous
pseudonymise = pseudonymize
mask = redact = black out = obscure
consent = explicit permission
opt in = opt-in = must be enabled by user
opt out = opt-out = on unless disabled
cookie banner = consent banner = cookie notice
tracking = analytics = usage tracking
telemetry = usage data = usage statistics = phone home
privacy = data protection
newsletter = marketing email = mailing
unsubscribe = opt out of emails = leave the list
notify = notification = inform = let know
email = e-mail = mail
sms = text message
push notification = mobile notification
summary email = daily summary = digest email
inbox = message list
dm = direct message = private message
subscription = plan = recurring plan
free tier = free plan = free version
trial = free trial = trial period = test period
paid plan = premium = pro plan
upgrade plan = move to higher plan
cancel = end subscription = call off
renew = extend = prolong
refund = money back = reimburse = pay back
invoice = bill
billing = invoicing = charging
charge = debit
payment = money transfer
pay = make payment
credit card = card = payment card
voucher = coupon = discount code = promo code
discount = price reduction = rebate
price = cost = fee
vat = sales tax = tax
free of charge = at no cost = gratis
cart = basket = shopping cart
in stock = on hand
out of stock = sold out = unavailable item
ship goods = send the parcel = dispatch order
delivery = shipping = shipment
return goods = send back
seller = vendor = merchant
buyer = purchaser = shopper
product list = product range
profile = user profile = account page
avatar = profile picture = profile photo
username = user name = login name
display name = shown name = nickname
role = permission level
permission = right = privilege = access right
grant = give = allow
revoke = withdraw = take away
workspace = organisation = organization = org = tenant
team = group
multi-tenant = multitenant = shared by customers
single-tenant = dedicated instance
invite = invitation = ask to join
ban = block = suspend
moderate = review content
report = flag content
post = put up = publish content
draft = unpublished = not yet published
published = publicly available = public now
autosave = auto-save = save automatically = saved automatically
save button = explicit save = manual save
unsaved = not saved
take back = reverse an action
trash = recycle bin = bin = deleted items
search = look up = find
filter = narrow down
sort = order by = arrange
newest first = most recent first = latest first = reverse chronological
oldest first = earliest first = chronological
alphabetical = a to z = by name
case insensitive = case-insensitive = ignoring case = regardless of case
case sensitive = case-sensitive = case matters
fuzzy = approximate = typo tolerant
exact match = exact = verbatim match
full text search = full-text search = fts
pagination = paging = pages
infinite scroll = endless scroll = continuous scrolling
page size = items per page
modal = dialog = popup = pop-up
toast = snackbar = notification bubble
tooltip = hover text
dropdown = drop-down = select box
checkbox = tick box
form = input form
input field = form field = text box
placeholder = hint text
validate = check = verify
validation error = invalid input
sanitize = sanitise = clean input
escape = html-encode
upload = send a file
download = fetch a file
export = data export = take out data
import = bring in data
csv = comma separated values = comma-separated
xlsx = excel = excel file = spreadsheet
pdf = pdf document
json = json format
yaml = yml
toml = toml format
xml = xml format
md = markdown
rst = restructuredtext
dark mode = dark theme = night mode
light mode = light theme = day mode
theme = colour scheme = color scheme
colour = color
a11y = accessibility
i18n = internationalisation = internationalization
l10n = localisation = localization
translate = localise = localize
locale = language setting
rtl = right to left = right-to-left
timezone = time zone = tz
utc = gmt = universal time
local time = user's time zone
timestamp = point in time
iso date = iso 8601 = iso format
ssr = server-side rendering = server rendered = rendered on the server
csr = client-side rendering = rendered in browser
ssg = static site generation = statically generated
spa = single page app = single-page application
pwa = progressive web app
hydrate = hydration
bundle = bundler output
bundler = build tool
minify = minified = compress code
source map = sourcemap
polyfill = shim
component = ui component
state management = state handling = app state
state store = redux store
props = component properties
css in js = css-in-js
stylesheet = css file
responsive = adapts to screen size
mobile first = mobile-first
breakpoint = screen width
browser = web browser
local storage = localstorage = browser storage
session storage = sessionstorage
cookie = browser cookie
session = login session
csrf = xsrf = cross-site request forgery
xss = cross-site scripting
cors = cross-origin
csp = content security policy
offline first = offline-first = works offline = works without connection = usable offline
online only = needs internet = needs a connection = requires internet
synchronise = synchronize = keep in step
conflict = clash = collision
last write wins = latest edit wins = last writer wins
app store = apple store
play store = google play
apk = android package
ios = iphone = apple phone
native app = native application
cross platform = cross-platform = multi-platform
hybrid app = webview app
deep link = deeplink = app link
testflight = ios beta channel
desktop app = desktop application
installer = setup program
auto-update = self update = updates itself = automatic update
tray = system tray = menu bar icon
only one copy running = one instance only
confirm = ask first = confirmation = ask for confirmation = are you sure
without asking = unprompted = without confirmation = silently
prompt = ask = question the user
interactive = asks questions = with prompts
non-interactive = noninteractive = headless = unattended
dry run = dry-run = preview = simulate = no changes made
verbose = chatty = detailed output
quiet = silent = no output
colored output = coloured output = ansi colours
progress bar = progress indicator
override = take precedence = win over = trump = beat
precedence = priority = which wins
hardcoded = hard-coded = baked in = built in = fixed in code
configurable = adjustable = can be configured = customisable = customizable
default value = preset = default
magic number = unnamed constant
opinionated = fixed choice
hot reload = live reload = reload without restart
restart = reboot = start again = bounce
shut down = stop = terminate = halt = take down
kill = end process
graceful = cleanly = orderly
daemon = background service = service process
process = running program
startup = start-up = boot = launch time
idle = unused
busy = under load = occupied
stale = out of date = old copy
fresh = up to date = current
eventually consistent = eventual consistency = catches up later
strongly consistent = strong consistency = immediately consistent
at least once = at-least-once
exactly once = exactly-once
at most once = at-most-once
dlq = dead letter queue = dead-letter queue
backoff = back off = wait longer between tries
exponential backoff = growing delay = doubling delay
circuit breaker = breaker
fail fast = fail early = fail immediately = crash early
fail open = allow on failure = let through when down
fail closed = deny on failure = block when down
best effort = no guarantee = try but not guaranteed
degrade gracefully = graceful degradation = limp on
partial failure = some failed
all or nothing = atomic = either all or none
event driven = event-driven = event based
pub sub = publish subscribe = pubsub
message broker = broker = message bus
rabbit = rabbitmq = rabbit mq
kafka topic = message topic
consumer = subscriber = listener
producer = publisher = emitter
webhook = callback url = http callback
callback = handler
polling = poll = check repeatedly = ask regularly
push based = pushed
pull based = pulled
in memory = in-memory = kept in ram
on disk = on-disk = persisted to disk
per user = for each user = user-level
per tenant = for each tenant = tenant-level
per request = for each request = on every request
per file = for each file
global = system-wide = application-wide = everywhere
local = on the machine = on this machine
shared = common = used by all
dedicated = reserved for one = not shared
central = centralised = centralized = in one place
distributed = decentralised = spread out
manual = by hand = manually = hand-made
automatic = automated = automatically = on its own = by itself
generated = auto-generated = autogenerated = produced by tool
handwritten = hand-written = written by hand
vendored = checked in copy = bundled copy
committed = checked in = in git = under version control = tracked
gitignored = ignored by git = not committed = untracked = not checked in
generated code = codegen output = generated files
lockfile = lock file
pinned = fixed version = exact version = locked version
unpinned = floating = any version
latest = newest = most recent
pre-release = prerelease = alpha or beta
stable = production ready = mature
experimental = not production ready = preview quality
wip = work in progress = unfinished = in progress
done = finished = complete = completed
pending = waiting = outstanding
blocked = stuck = cannot proceed
postponed = deferred = put off = delayed = pushed back
dropped = abandoned = scrapped = given up = no longer planned
decided = agreed = settled = chosen
undecided = open question = not settled = tbd = to be decided = to be determined
asap = as soon as possible = urgently
fyi = for your information
lgtm = looks good to me
nit = minor remark = nitpick
rfc = request for comments = design proposal
adr = architecture decision record = decision record
design doc = design document = technical design
diagram = drawing = figure
poc = proof of concept = prototype = spike
mvp = minimum viable product = first version
scope = extent
out of scope = not covered = excluded = not part of
in scope = covered = included = part of
requirement = must-have = need
nice to have = optional extra
assumption = we assume
constraint = restriction = limitation
workaround = work-around = temporary fix = stopgap = hack
root cause = underlying cause = actual reason
because = due to = as a result of
reason = cause = rationale = why
so that = in order to
instead of = rather than = in place of = in lieu of
no longer = not any more = not anymore = any longer = used to
still = continues to = remains
already = by now
currently = at present = now = right now = at the moment = today
previously = formerly = in the past = earlier = before this
from now on = going forward = henceforth = in future = from here on
except = apart from = other than = with the exception of = save for
including = as well as = along with
without = lacking = with no
everyone = everybody = all users = anyone = all people
nobody = no one = no user = not anyone
some = a few
every = each = all
not any = zero of them
single = sole = only one
multiple = several = many = more than one
first = initial = earliest
last = final
primary = principal = chief
auxiliary = supplementary
additional = extra = further = more
big = large = huge = sizeable
small = tiny = little = compact
simple = easy = straightforward = plain
complex = complicated = involved
important = critical = crucial = essential
useless = pointless = of no use
dangerous = risky = unsafe = hazardous
safe = harmless = secure
allowed = permitted = ok = okay = fine = acceptable = legal
frowned upon = should be avoided
recommended = advised = suggested = encouraged
supported = works with = compatible with
unsupported = not supported = does not work with = incompatible with
enabled = active = turned on = switched on
disabled = inactive = turned off = switched off
visible = shown = displayed
hidden = not shown = invisible = concealed
show = display = present = render
hide = conceal = do not show
closed = shut = not accessible
lock account = account locked = locked out
whitelist = allowlist = allow list = permitted list
blacklist = denylist = block list = blocklist
master slave = primary replica = leader follower
sandbox = test environment = isolated environment
qa environment = testing environment
preview deploy = preview environment = review app
laptop = local machine = workstation
ide = editor = code editor
vscode = vs code = visual studio code
pre-commit = precommit = pre-commit hook = commit hook
git hook = hook
makefile = make target
script = shell script
sh = posix shell = bourne shell
cmd = command
util = utility = helper
misc = miscellaneous
info = information
doc = document
msg = message
response = resp
ctx = context
conn = connection
tmp = temporary file
src = source = source code
dest = destination = target
num = number = count
avg = average = mean
std lib = standard library = stdlib
di = dependency injection
ioc = inversion of control
orm = object-relational mapper = object relational mapping
dto = data transfer object
crud = create read update delete
mvc = model view controller
ddd = domain-driven design = domain driven
cqrs = command query responsibility segregation
oop = object-oriented = object oriented
fp = functional programming = functional style
composition = compose objects
inheritance = subclassing = extending classes
base class = parent class = superclass
subclass = child class = derived class
singleton = single instance = global instance
global variable = global state = globals
side effect = side-effect
pure function = no side effects = side-effect free
early return = guard clause = return early
exception handling = try catch = try except
result type = result object = either type
error code = failure code
assertion = assert
invariant = always true condition
precondition = required beforehand
incoming data = input data
output = result = outgoing data
payload = request body = message body
header = http header
query param = query parameter = query string
web page = webpage
site = website = web site
app = application
program = software
tool = utility program
service account = machine user = bot account
bot = automated account
agent = ai agent = coding agent = assistant
human = person
in person = face to face
remote = from home = distributed work
office = on site = on-site
holiday = vacation = time off = leave
slack = slack channel
teams = ms teams = microsoft teams
jira = jira ticket
confluence = confluence page
wiki = knowledge base
faq = frequently asked questions
howto = how-to = guide = tutorial
handbook = user guide = user manual
reference = api reference
example = sample = demo
template = boilerplate = scaffold
starter = skeleton project
produce = emit = create automatically
parse = interpret = read in
serialize = serialise = marshal
deserialize = deserialise = unmarshal
compress = zip = gzip
decompress = unzip = extract
utf8 = utf-8
ascii = plain ascii
crlf = windows line endings
lf = unix line endings
compile time = build time = at build
run time = runtime = at runtime
at startup = on start = when starting = on boot
on demand = when needed = as needed = lazily = on request
eagerly = up front = ahead of time = in advance
lazy = on first use
precompute = calculate in advance = precalculate
once = one time = a single time
twice = two times
half = fifty percent
percent = per cent
milliseconds = millis
sec = seconds
mins = minutes
hrs = hours
kb = kilobytes
mb = megabytes
gb = gigabytes
tb = terabytes
"""
