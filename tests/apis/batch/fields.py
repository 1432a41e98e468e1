"""Every field of batch/v1 with its protobuf number."""

BATCH = {
    "CronJob": "metadata=1 spec=2 status=3",
    "CronJobSpec": (
        "schedule=1 startingDeadlineSeconds=2 concurrencyPolicy=3 suspend=4 jobTemplate=5 "
        "successfulJobsHistoryLimit=6 failedJobsHistoryLimit=7 timeZone=8"
    ),
    "CronJobStatus": "active=1 lastScheduleTime=4 lastSuccessfulTime=5",
    "Job": "metadata=1 spec=2 status=3",
    "JobCondition": "type=1 status=2 lastProbeTime=3 lastTransitionTime=4 reason=5 message=6",
    "JobSchedulingConfiguration": (
        "schedulingPolicy=1 schedulingConstraints=2 disruptionMode=3 resourceClaims=4"
    ),
    "JobSpec": (
        "parallelism=1 completions=2 activeDeadlineSeconds=3 selector=4 manualSelector=5 "
        "template=6 backoffLimit=7 ttlSecondsAfterFinished=8 completionMode=9 suspend=10 "
        "podFailurePolicy=11 backoffLimitPerIndex=12 maxFailedIndexes=13 "
        "podReplacementPolicy=14 managedBy=15 successPolicy=16 scheduling=17"
    ),
    "JobStatus": (
        "conditions=1 startTime=2 completionTime=3 active=4 succeeded=5 failed=6 "
        "completedIndexes=7 uncountedTerminatedPods=8 ready=9 failedIndexes=10 "
        "terminating=11"
    ),
    "JobTemplateSpec": "metadata=1 spec=2",
    "PodFailurePolicy": "rules=1",
    "PodFailurePolicyOnExitCodesRequirement": "containerName=1 operator=2 values=3",
    "PodFailurePolicyOnPodConditionsPattern": "type=1 status=2",
    "PodFailurePolicyRule": "action=1 onExitCodes=2 onPodConditions=3",
    "SuccessPolicy": "rules=1",
    "SuccessPolicyRule": "succeededIndexes=1 succeededCount=2",
    "TopologyConstraint": "key=1",
    "UncountedTerminatedPods": "succeeded=1 failed=2",
    "WorkloadPodGroupAllDisruptionMode": "",
    "WorkloadPodGroupBasicSchedulingPolicy": "",
    "WorkloadPodGroupDisruptionMode": "single=1 all=2",
    "WorkloadPodGroupGangSchedulingPolicy": "minCount=1",
    "WorkloadPodGroupResourceClaim": "name=1 resourceClaimName=2 resourceClaimTemplateName=3",
    "WorkloadPodGroupSchedulingConstraints": "topology=1",
    "WorkloadPodGroupSchedulingPolicy": "basic=1 gang=2",
    "WorkloadPodGroupSingleDisruptionMode": "",
}
