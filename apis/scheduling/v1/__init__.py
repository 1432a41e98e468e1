from apis.scheduling.v1.priority_class import PriorityClass

__all__ = ["PriorityClass"]
