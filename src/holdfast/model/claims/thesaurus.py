"""Words that engineers use for one another: one group a line, each known by its first word.

Looser than inflection: two people who write about one thing rarely choose the same word for it.
"""

_GROUPS = """
delete remove erase purge wipe discard destroy prune evict trash scrub strip drop
change modify edit alter update mutate adjust tweak amend overwrite rewrite
begin start launch boot initiate spin commence
finish end complete conclude
stop halt terminate cease quit suspend pause
cancel abort kill interrupt
timeout deadline patience cutoff
retry reattempt resend redo
fail crash break blow
limit cap ceiling quota bound restrict threshold
user customer visitor enduser member subscriber
developer engineer programmer contributor author committer coder
review approval approve signoff reviewer approver
suite spec
deploy rollout ship
server machine box vm
application program binary executable app
endpoint route handler resource url
row record tuple entry
field column attribute property
queue broker topic stream backlog
job task workitem
worker consumer processor daemon
secret credential
config setting option preference knob
size volume
fast quick rapid speedy
slow sluggish
parallel concurrent simultaneous
order sequence
hash digest checksum fingerprint
merge land integrate
trunk mainline
upgrade bump
documentation manual readme wiki guide handbook doc
raise throw
notify alert warn inform ping
monitor watch observe
region zone datacenter location site
money amount price currency
invoice bill
permission right privilege
admin administrator operator superuser
manual manually
automatic automated unattended
immediate instant straight
backup snapshot dump
restore recover
response reply answer result
request call invocation
reachable accessible available exposed
idle inactive dormant
expire lapse lifetime ttl valid validity
rotate renew
function method routine procedure
check verify validate inspect
test testing
log journal
encrypt cipher
identifier id
forward relay proxy pass
receive obtain accept
publish upload push
folder directory
picture photo
attachment upload
duplicate twice
batch bulk chunk
shared common joint
separate dedicated isolated individual
optional voluntary
error failure fault
typed annotated
fetch get retrieve load
reuse recycle
copy replicate mirror clone
build compile
customerdata pii
rename relabel
guess infer
explain describe
block stall hang freeze
"""


def groups() -> list[list[str]]:
    """The groups, each as its words."""
    return [line.split() for line in _GROUPS.strip().splitlines()]
