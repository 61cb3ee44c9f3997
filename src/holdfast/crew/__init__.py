"""Agents that work from the memory: a plan, executors in work trees of their own, one merge lane, and proof.

The supervisor alone changes tasks. Workers are processes that take steps from the queue of the agents' store. What a
crew did is a journal in the same store, from which everything goes on after a crash. Nothing an agent says is
believed: a task is done when its checks passed on the merged tree.
"""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
