"""The working memory of your own agents: SQLite in the private store, or Postgres for many machines.

Identity, cycles, memories, vectors, workspaces and a queue. What the project knows stays in git; a finished run
becomes a recorded run, and a lesson a candidate, by way of `project.agents`. SQLAlchemy and Alembic are imported here
and nowhere else.
"""

from holdfast.lazy_module import lazy_modules

lazy_modules(__name__)
