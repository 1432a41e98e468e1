"""The autoscaling group: autoscalers in two versions, one of which keeps most in annotations."""

GROUP = "autoscaling"
