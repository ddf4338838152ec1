"""The rules of the classic text format of metrics, as Go's expfmt.TextParser has them, which Telegraf calls.

The parser of Prometheus takes more: there a family may be declared twice or have lines apart.
"""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*),?\}})? (\S+)(?: -?\d+)?")
KINDS = {"counter": [""], "gauge": [""], "untyped": [""], "summary": ["", "_sum", "_count"],
         "histogram": ["_bucket", "_sum", "_count"]}


def faults_of(text):
    """What a page says that the parser refuses, or that makes two of one family."""
    faults = [] if text.endswith("\n") else ["the last line does not end"]
    kinds, helped, closed, seen, family = {}, set(), set(), set(), None

    def enter(name, line):
        nonlocal family
        if name == family:
            return
        closed.add(family)
        family = name
        if name in closed:
            faults.append("a family has lines apart: " + line)

    for line in text.splitlines():
        word = re.fullmatch(rf"# (HELP|TYPE) ({NAME}) (.*)", line)
        sample = SAMPLE.fullmatch(line)
        if word and word[1] == "TYPE":
            enter(word[2], line)
            if word[3] not in KINDS or word[2] in kinds or any(word[2] == name for name, _ in seen):
                faults.append("a kind that is unknown, or comes late or twice: " + line)
            kinds[word[2]] = word[3]
        elif word:
            enter(word[2], line)
            if word[2] in helped or not re.fullmatch(r"(?:[^\\]|\\[\\n])*", word[3]):
                faults.append("a help that comes twice, or an unknown escape: " + line)
            helped.add(word[2])
        elif sample:
            owner = [name for name, kind in kinds.items()
                     if sample[1] in [name + ending for ending in KINDS.get(kind, [""])]]
            enter(owner[0] if owner else sample[1], line)
            labels = re.findall(LABEL, sample[2] or "")
            key = (sample[1], tuple(sorted(labels)))
            if not owner or key in seen or len({label.split("=")[0] for label in labels}) < len(labels):
                faults.append("a value without a kind, or twice, or with a label twice: " + line)
            seen.add(key)
            try:
                float(sample[3])
            except ValueError:
                faults.append("no number: " + line)
        elif line and not line.startswith("#"):
            faults.append("no line of the format: " + line)
    return faults
