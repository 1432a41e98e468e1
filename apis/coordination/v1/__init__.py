from apis.coordination.v1.types import Lease, LeaseSpec

__all__ = ["Lease", "LeaseSpec"]
