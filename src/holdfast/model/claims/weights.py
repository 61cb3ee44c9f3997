"""The weights of the evidence, fitted by `bench/fit_conflicts.py`: from FROM on it counts."""

CONFLICT_FROM = 0.57
CONFLICT = """
adds: 0.34
alike: 0.99
all some: 0.95
another: -1.05
another only: -0.45
apart: -1.55
apart most: -1.57
bias: -1.52
changes: 0.55
changes alike: 0.78
common: 1.45
concord: -0.88
contrary: 0.14
contrary more: 0.18
denied outright: 0.39
deny both: -2.70
deny one: -0.43
deny one alike: -0.14
elsewhere: -0.57
excepts: -0.46
flip: -0.58
flip alike: 0.33
flip held: 0.63
flip names: 1.53
forbidden allowed: 0.14
held: -0.70
lean: 0.81
lean agrees: 0.14
lean alike: -0.53
lean flips: 0.69
lean more: 0.53
long: 2.37
modal: 1.10
must may: 1.02
must may alike: -0.71
names added: -0.39
names differ: 0.17
names shared: -0.35
no signal: -0.54
number: 0.38
number added: -0.96
number agrees: -1.89
number alike: -0.20
number all: -0.10
number common: -0.73
number held: 0.01
number loose: 0.39
number loose held: 0.71
number names: -0.95
number near: 0.95
number other time: -0.39
only: -0.27
only other: 0.75
opposed: -0.19
opposed alike: 0.18
opposed denied: -1.16
opposed held: 0.17
other value: 0.28
own least: 1.43
own most: -0.41
rare: 1.09
role: -0.03
role alike: 0.23
role common: -0.35
role flips: 0.72
role named: -0.32
role same: -0.76
rule modality: 1.96
rule negation: 1.87
rule number: 2.59
rule value: 2.29
same one: 0.42
sibling: -1.24
sibling most: -0.02
signals: -0.44
subject: -0.16
topic: 1.31
topic agrees: 0.19
topic alike: -0.61
topic flips: -0.43
topic flips alike: -0.46
topic held: -0.14
topics: -0.53
"""

TWIN_FROM = -2.00
TWIN = """
adds: -0.74
alike: 1.02
all some: -0.54
another: -0.64
another only: -0.53
apart: -0.36
apart most: -0.92
bias: -1.74
changes: 0.41
changes alike: -0.29
common: -0.10
concord: 1.92
contrary: -0.60
contrary more: -0.75
denied outright: -0.13
deny both: 2.78
deny one: 0.28
deny one alike: -0.37
elsewhere: -0.84
excepts: -0.58
flip: 0.44
flip alike: -0.25
flip held: 0.06
flip names: -1.57
forbidden allowed: -0.10
held: 1.86
lean: -1.36
lean agrees: -0.21
lean alike: 0.01
lean flips: -0.64
lean more: 0.28
long: 0.06
modal: -0.84
must may: 0.33
must may alike: 0.30
names added: -0.43
names differ: -0.53
names shared: 0.53
no signal: -1.40
number: -1.26
number added: 0.24
number agrees: 2.74
number alike: -0.64
number all: -0.64
number common: -0.49
number held: -0.82
number loose: -0.80
number loose held: -0.44
number names: -0.16
number near: -0.76
number other time: -0.03
only: 0.96
only other: -0.62
opposed: 0.84
opposed alike: -0.62
opposed denied: 2.63
opposed held: -0.97
other value: -0.39
own least: -2.02
own most: 0.13
rare: -0.24
role: -0.35
role alike: -0.07
role common: -0.17
role flips: -1.12
role named: 0.49
role same: 0.58
rule modality: -1.21
rule negation: -1.68
rule number: -0.38
rule value: -1.00
same one: -0.89
sibling: -0.18
sibling most: -0.55
signals: -0.71
subject: -0.77
topic: -0.89
topic agrees: 0.33
topic alike: -0.13
topic flips: 0.27
topic flips alike: 0.03
topic held: 0.05
topics: -0.57
"""
