"""Controllers of the group apps: what keeps the pods of workloads."""
