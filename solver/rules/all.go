package rules

// All has every rule, in the order of its code. A test compares it with the folder's files.
var All = []*Rule{
	invertedTimeout,
	attemptsDoNotFit,
	overBudget,
	missingTimeout,
	timeoutBelowLatency,
	infeasibleSLO,
	impossibleCall,
	ineffectiveTimeout,
	overriddenTimeout,
	// BP110 to BP112: waits outside one call's own clock.
	budgetExhausted,
	optionalHoldsResponse,
	missingServerLimit,
	// BP201 and on: retries, hedges, and what is left running.
	retryAmplification,
	nestedRetries,
	retryNotIdempotent,
	unreachableRetry,
	timeoutNotRetried,
	unsafeBackoff,
	retryOnDeadline,
}
