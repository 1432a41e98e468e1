"""Webhook calls: how the server reaches webhooks, which groups call by `ServerParts.webhooks`."""
