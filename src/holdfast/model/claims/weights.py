"""The weights of the evidence, fitted by `bench/fit_conflicts.py`: from FROM on it counts."""

CONFLICT_FROM = 0.48
CONFLICT = """
adds: 0.39
alike: 0.85
all some: 0.60
another: -0.89
another only: -0.28
apart: -1.83
apart most: -1.70
bias: -1.50
changes: 0.94
changes alike: 0.58
common: 1.22
concord: -1.42
contrary: 0.21
contrary more: -0.17
denied outright: 0.65
deny both: -2.50
deny one: -0.01
deny one alike: 0.04
elsewhere: -0.48
excepts: -0.10
flip: -0.21
flip alike: -0.15
flip held: 0.77
flip names: 0.71
forbidden allowed: 0.15
held: -0.31
lean: 0.58
lean agrees: 0.15
lean alike: -0.32
lean flips: 0.46
lean more: 0.43
long: 2.46
modal: 0.85
must may: 1.06
must may alike: -0.49
names added: -0.43
names differ: 0.19
names shared: -0.44
no signal: -0.68
number: 0.61
number added: -1.06
number agrees: -2.36
number alike: 0.03
number all: -0.57
number common: -1.15
number held: -0.26
number loose: 0.49
number loose held: 0.48
number names: -0.69
number near: 1.46
number other time: -0.37
only: -0.73
only other: 0.85
opposed: 0.06
opposed alike: 0.37
opposed denied: -0.75
opposed held: 0.17
other value: -0.01
own least: 1.80
own most: -0.42
rare: 1.18
role: 0.25
role alike: 0.34
role common: -0.40
role flips: 0.99
role named: -0.36
role same: -0.52
rule modality: 2.23
rule negation: 1.68
rule number: 2.42
rule value: 2.38
same one: 0.19
sibling: -1.23
sibling most: -0.20
signals: -1.14
subject: -0.21
topic: 1.45
topic agrees: 0.24
topic alike: -0.65
topic flips: -0.36
topic flips alike: -0.32
topic held: 0.19
topics: -0.47
"""

TWIN_FROM = -2.00
TWIN = """
adds: 0.22
alike: 1.05
all some: -0.39
another: -0.91
another only: -0.80
apart: -0.38
apart most: -0.96
bias: -1.90
changes: 0.18
changes alike: -0.30
common: -0.21
concord: 1.85
contrary: -0.55
contrary more: -0.94
denied outright: -0.70
deny both: 2.39
deny one: 0.23
deny one alike: -0.32
elsewhere: -0.85
excepts: -1.26
flip: 0.38
flip alike: -0.09
flip held: 0.17
flip names: -0.36
forbidden allowed: -0.03
held: 1.48
lean: -1.05
lean agrees: 0.11
lean alike: 0.33
lean flips: -0.66
lean more: 0.04
long: -0.01
modal: -1.45
must may: 0.36
must may alike: 0.38
names added: -0.25
names differ: -0.62
names shared: 1.21
no signal: -0.96
number: -1.11
number added: 0.11
number agrees: 2.74
number alike: -0.59
number all: -0.20
number common: -0.17
number held: -0.13
number loose: -0.73
number loose held: 0.03
number names: 0.38
number near: -0.87
number other time: -0.07
only: 0.99
only other: -0.70
opposed: 0.73
opposed alike: -0.59
opposed denied: 2.13
opposed held: -0.91
other value: -0.36
own least: -1.56
own most: -0.34
rare: 0.05
role: -0.39
role alike: -0.08
role common: -0.24
role flips: -1.52
role named: 0.54
role same: 0.43
rule modality: -1.24
rule negation: -1.79
rule number: -1.12
rule value: -1.18
same one: -0.81
sibling: -0.19
sibling most: -0.60
signals: -0.19
subject: -1.02
topic: -1.24
topic agrees: 0.32
topic alike: 0.03
topic flips: 0.44
topic flips alike: 0.14
topic held: 0.09
topics: -0.66
"""
