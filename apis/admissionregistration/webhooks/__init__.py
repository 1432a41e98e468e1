"""Webhooks: HTTP services of users that are asked before an object is written.

`configurations` follows the stored configurations, `mutating` and `validating` are the two plugins,
`webhook_review` calls one webhook, and `admission_review` has its documents.
"""
