"""Resource quotas: what objects use (`evaluators`), who may use it (`admission`), and the ledger.

`ledger.py` charges a quota before an object is stored, `recount.py` compares it with the objects
that are stored. docs/quotas.md explains why both together never admit too much and never leak.
"""
