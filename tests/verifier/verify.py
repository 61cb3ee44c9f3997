"""Verifies a Holdfast log by docs/reference/log-format.md alone: nothing of Holdfast is imported.
`verify.py REPOSITORY [PRIVATE-STORE]` prints findings with file and line; exit 0 ok, 3 partial, 1 corrupt.
"""
import json, os, re, subprocess, sys  # noqa: E401, I001
from hashlib import sha256

ID, INT = "[A-Za-z0-9][A-Za-z0-9._-]{0,95}", r"(?:null|-?(?:0|[1-9]\d{0,15}))"
TS, HEX = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", "[0-9a-f]{64}"
PLAIN = rf'(?:{INT}|true|false|"[!#-\[\]-~]{{0,200}}")'
ADDED = rf'"[a-z][a-z0-9_]{{0,31}}":(?:{PLAIN}|\[(?:{PLAIN}(?:,{PLAIN}){{0,31}})?\])'
EVENT = re.compile(
    rf'{{"hash_self":"(?P<own>{HEX})","v":1,"ts":"(?P<ts>{TS})","kind":"(?P<kind>[a-z]{{1,16}})",'
    rf'"target":(?:null|"(?P<target>{ID})"),"line":"(?P<line>[a-z0-9-]{{1,64}})","writer":"[a-z0-9]{{1,64}}",'
    rf'"seq":(?:0|[1-9]\d{{0,15}}),"run_id":(?:null|"(?P<run>{ID})"),"parent_run_id":(?:null|"{ID}"),'
    rf'"head":(?:null|"(?:[0-9a-f]{{40}}|{HEX})"),"layer":(?:null|"[A-Za-z0-9][A-Za-z0-9._-]{{0,31}}"),'
    rf'"systemic_scale":{INT},"exit_status":{INT},"body":(?:null|"(?P<body>{HEX})"),(?:{ADDED},){{0,16}}'
    rf'"hash_prev":\[(?P<prev>(?:"{HEX}"(?:,"{HEX}"){{0,31}})?)\]}}', re.ASCII)
HEADER = re.compile(
    rf'{{"holdfast":"segment","v":1,"line":"([^"]+)","count":(\d+),"first_ts":"({TS})"(?:,{ADDED}){{0,16}}}}')
NEWER = re.compile(r'{"(?:hash_self":".{64}|holdfast":"segment)","v":(?:[2-9]|[1-9]\d+),')
PLACE = re.compile(r"100644 .*\t(\.holdfast/log/\d{4}/\d\d/\d\d/[0-9a-f]{32}\.jsonl)")
events, odd, worst = {}, [], [0]

def say(rank, where, number, why):
    worst[0] = max(worst[0], rank)
    print(("note", "partial", "corrupt")[rank], f"{where}:{number}", why)
def read(file):
    return open(file, "rb").read() if os.path.isfile(file) else None
def files(folder):
    return sorted(os.path.join(base, name) for base, _, names in os.walk(folder) for name in names)

def once(found):  # no key stands twice
    keys = json.loads(found[0], object_pairs_hook=list) if found else []
    return found if len(dict(keys)) == len(keys) else None
def load(where, data):
    lines = data.decode("latin-1").split("\n")
    lines[-1:] = [lines[-1] + "…"] if lines[-1] else []  # what follows the last LF is no line
    parsed = [None] * len(lines)
    for at, line in enumerate(lines):
        found = once(EVENT.fullmatch(line))
        parents = re.findall(HEX, found["prev"]) if found else []
        named = found and sha256(b"holdfast-event-1\n{" + line[80:].encode()).hexdigest() == found["own"]
        if named and parents == sorted(set(parents)):
            parsed[at] = {**found.groupdict(), "prev": parents, "where": where, "number": at + 1}
            events[found["own"]] = parsed[at]
    return lines, parsed

def segment(where, data):
    lines, (_, *parsed) = load(where, data or b"\n")
    head = once(HEADER.fullmatch(lines[0]))
    named = sha256(data).hexdigest()[:32] == os.path.basename(where)[:-6]
    if named and any(NEWER.match(line) for line in lines):
        say(1, where, 1, "comes from a newer version")
        return
    first = next(filter(None, parsed), {"line": head and head[1], "ts": head and head[3]})
    bad = {n for n, e in enumerate(parsed, 2) if not e or e["line"] != first["line"]}
    placed = head and len(data) <= 1 << 20 and (where[0] != "." or head[3][:10].replace("-", "/") in where)
    starts = head and head[1] == first["line"] and (head[3] == first["ts"] or 2 in bad)
    if not (placed and starts and (named or bad) and 0 < int(head[2]) == len(parsed) <= 1000):
        bad.add(1)
    for number in sorted(bad):
        say(2, where, number, "is not what was sealed")

def spool(where, data):
    lines, parsed = load(where, data)
    odd.extend((where, at + 1, lines[at], next(filter(None, parsed[at:]), None))
               for at, event in enumerate(parsed) if lines[at] and not event)

def tree(top):
    rows = subprocess.check_output(["git", "-C", top, "ls-tree", "-rz", "HEAD", ".holdfast/log"]).split(b"\0")
    for row in rows[:-1]:
        blob = subprocess.check_output(["git", "-C", top, "cat-file", "-p", row.split()[2]])
        path = row.split(b"\t")[1].decode()
        seen = read(f"{top}/{path}")
        for data in {blob, blob if seen is None else seen.replace(b"\r\n", b"\n")}:
            segment(path, data) if PLACE.fullmatch(row.decode()) else say(2, path, 1, "is no segment")

def body(store, event, erased):
    where, data = f"bodies/{event['body']}", read(f"{store}/bodies/{event['body']}")
    if data is None or sha256(b"holdfast-body-1\n" + data).hexdigest() != event["body"]:
        gone = event["kind"] != "erase" and erased & {event["own"], event["run"], event["target"]}
        if data is not None or not gone:
            say(2, where, 1, "is missing" if data is None else "does not match its name")
    elif event["kind"] == "run" and (root := json.loads(data[32:]).get("output_sha256")):
        top = f"{store}/runs/{event['run']}"
        rows = [f"{sha256(read(f)).hexdigest()}  {os.path.relpath(f, top)}\n".encode() for f in files(top)]
        sums = b"".join(sorted(r for r in rows if r[66:] not in (b"meta.json\n", b"MANIFEST\n")))
        if sha256(sums).hexdigest() != root or read(f"{top}/MANIFEST") != sums:
            say(2, f"runs/{event['run']}", 1, "is not what was sealed")

def main(top, store=None):
    tree(top)
    for kind, folder in ((segment, "sealed/log"), (spool, "spool")) if store else ():
        for file in files(f"{store}/{folder}"):
            kind(os.path.relpath(file, store), read(file))
    for where, number, line, after in odd:  # what nobody acknowledged is nobody's parent
        torn = not line.endswith("]}") and (not after or set(after["prev"]) <= set(events))
        say(0 if torn else 1 if NEWER.match(line) else 2, where, number, "is torn" if torn else "is no event")
    erased = {event["target"] for event in events.values() if event["kind"] == "erase"}
    for event in events.values():
        if not set(event["prev"]) <= set(events):
            say(1, event["where"], event["number"], "names a parent that is not here")
        if event["body"] and event["where"][0] != ".":  # only this clone's own events have bodies here
            body(store, event, erased)
    print(("ok", "partial", "corrupt")[worst[0]])
    sys.exit((0, 3, 1)[worst[0]])
main(*sys.argv[1:3])
