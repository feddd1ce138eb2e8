"""What a study does about alarms in the metrics of its running trials."""
