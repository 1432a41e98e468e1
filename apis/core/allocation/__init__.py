"""Allocation of cluster IPs and node ports of services, where ServiceCIDRs are served."""
