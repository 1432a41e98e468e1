"""The policy group: budgets that limit voluntary disruptions of pods."""

GROUP = "policy"
