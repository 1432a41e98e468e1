"""Priority and fairness: which request is executed next when there are more than can be.

    classification    a FlowSchema, hence a priority level and a flow, for each request
    work_estimation   how many seats a request takes, and for how long after its response
    queue_set         the seats and queues of one level: shuffle sharding and fair queuing
    priority_levels   the levels of a worker; they borrow seats from each other
    loop_pressure     fewer seats while the event loop is late
    request_fairness  all of this as the concurrency limit of a worker

The algorithms are those of Kubernetes. They are synchronous and take the time from a clock that the
caller passes; only `request_fairness` waits.
"""
