"""The example group: one kind, two versions that differ, written as any group can be."""

GROUP = "gadgets.example.io"
