"""Approvals: policies, rules, grants and the queue where requests are decided."""
