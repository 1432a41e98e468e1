from apis.node.v1.runtime_class import Overhead, RuntimeClass, Scheduling

__all__ = ["Overhead", "RuntimeClass", "Scheduling"]
