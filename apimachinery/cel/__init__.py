"""CEL: the expressions by which schemas say what their keywords cannot."""
