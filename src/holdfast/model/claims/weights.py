"""The weights of the evidence, fitted by `bench/fit_conflicts.py`: from FROM on it counts."""

CONFLICT_FROM = 0.47
CONFLICT = """
adds: 0.39
alike: 0.85
all some: 0.61
another: -0.88
another only: -0.25
apart: -1.82
apart most: -1.69
bias: -1.51
changes: 0.95
changes alike: 0.57
common: 1.22
concord: -1.43
contrary: 0.23
contrary more: -0.19
denied outright: 0.66
deny both: -2.49
deny one: 0.01
deny one alike: 0.04
elsewhere: -0.46
excepts: -0.10
flip: -0.19
flip alike: -0.16
flip held: 0.77
flip names: 0.73
forbidden allowed: 0.14
held: -0.31
lean: 0.56
lean agrees: 0.16
lean alike: -0.47
lean flips: 0.47
lean more: 0.48
long: 2.44
modal: 0.85
must may: 1.06
must may alike: -0.49
names added: -0.44
names differ: 0.19
names shared: -0.49
no signal: -0.65
number: 0.62
number added: -1.07
number agrees: -2.36
number alike: 0.03
number all: -0.56
number common: -1.15
number held: -0.26
number loose: 0.49
number loose held: 0.48
number names: -0.67
number near: 1.46
number other time: -0.37
only: -0.73
only other: 0.82
opposed: 0.03
opposed alike: 0.37
opposed denied: -0.75
opposed held: 0.16
other value: 0.08
own least: 1.80
own most: -0.44
rare: 1.19
role: 0.23
role alike: 0.35
role common: -0.38
role flips: 1.00
role named: -0.36
role same: -0.53
rule modality: 2.22
rule negation: 1.69
rule number: 2.44
rule value: 2.37
same one: 0.20
sibling: -1.23
sibling most: -0.19
signals: -1.16
subject: -0.23
topic: 1.43
topic agrees: 0.23
topic alike: -0.66
topic flips: -0.36
topic flips alike: -0.34
topic held: 0.10
topics: -0.44
"""

TWIN_FROM = -2.00
TWIN = """
adds: 0.20
alike: 1.05
all some: -0.39
another: -0.93
another only: -0.83
apart: -0.38
apart most: -0.98
bias: -1.99
changes: 0.19
changes alike: -0.29
common: -0.20
concord: 1.86
contrary: -0.55
contrary more: -0.91
denied outright: -0.71
deny both: 2.41
deny one: 0.24
deny one alike: -0.30
elsewhere: -0.86
excepts: -1.25
flip: 0.36
flip alike: -0.08
flip held: 0.18
flip names: -0.35
forbidden allowed: -0.03
held: 1.46
lean: -0.81
lean agrees: 0.12
lean alike: 0.40
lean flips: -0.68
lean more: 0.24
long: 0.02
modal: -1.46
must may: 0.36
must may alike: 0.39
names added: -0.25
names differ: -0.63
names shared: 1.22
no signal: -0.91
number: -1.08
number added: 0.12
number agrees: 2.72
number alike: -0.59
number all: -0.19
number common: -0.16
number held: -0.12
number loose: -0.73
number loose held: 0.04
number names: 0.38
number near: -0.87
number other time: -0.06
only: 1.01
only other: -0.68
opposed: 0.80
opposed alike: -0.56
opposed denied: 2.14
opposed held: -0.87
other value: -0.53
own least: -1.59
own most: -0.32
rare: 0.06
role: -0.37
role alike: -0.08
role common: -0.22
role flips: -1.51
role named: 0.54
role same: 0.43
rule modality: -1.25
rule negation: -1.79
rule number: -1.12
rule value: -1.21
same one: -0.81
sibling: -0.20
sibling most: -0.61
signals: -0.16
subject: -1.00
topic: -1.28
topic agrees: 0.33
topic alike: 0.08
topic flips: 0.45
topic flips alike: 0.13
topic held: 0.16
topics: -0.70
"""
