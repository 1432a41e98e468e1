"""The example group: one kind in two different versions."""

GROUP = "gadgets.example.io"
