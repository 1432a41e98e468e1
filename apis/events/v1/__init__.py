from apis.events.v1.types import Event, EventSeries

__all__ = ["Event", "EventSeries"]
