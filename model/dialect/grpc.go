package dialect

import (
	"strconv"
	"strings"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

const (
	grpcGo     = "google.golang.org/grpc@v1.85.0 "
	grpcA6     = "grpc/proposal A6-client-retries.md"
	grpcConfig = grpcGo + "service_config.go"
)

// GRPC is the gRPC service config.
var GRPC = &Dialect{
	Name: "grpc", Title: "gRPC service config", Version: "1.85",
	Granule: model.Nanosecond, Zero: ZeroIsImmediate,
	Counts: Attempts, RetriesKey: "maxAttempts", MaxAttempts: GRPCMaxAttempts,
	Fields: []Field{
		{"timeout", "methodConfig.timeout"},
		{"retries", "retryPolicy.maxAttempts"},
		{"attempts", "retryPolicy.maxAttempts"},
		{"retry_on", "retryPolicy.retryableStatusCodes"},
		{"backoff", "retryPolicy.initialBackoff"},
		{"retry_budget", "retryThrottling"},
		{"hedge", "hedgingPolicy"},
		{"propagates", "grpc-timeout"},
	},
	Conditions: grpcConditions(),
	Defaults: []*diag.Default{
		&GRPCTimeout.Default, &GRPCNoRetry.Default, &GRPCJitter.Default, &GRPCConnect.Default, &GRPCHedgingDelay.Default,
	},
	Parse: parseProto,
	Format: func(d model.Duration) string {
		if !d.Finite() {
			return "" // `0s` would be a deadline that is already over
		}
		return formatSeconds(d, 1)
	},
}

// GRPCMaxAttempts is where clients silently clamp `maxAttempts`.
const GRPCMaxAttempts = 5

func grpcDefault[T any](v T, field, value, since, source string) Default[T] {
	return Default[T]{diag.Default{Platform: "grpc", Field: field, Value: value, Since: since, Source: source}, v}
}

// What gRPC does when nobody says.
var (
	// GRPCTimeout is no deadline at all.
	GRPCTimeout = grpcDefault(model.NoLimit, "methodConfig.timeout", "none", "1.0", grpcConfig)
	// GRPCNoRetry is one attempt, transparent retries of calls that never began aside.
	GRPCNoRetry = grpcDefault[int32](1, "methodConfig.retryPolicy", "none", "1.0", grpcConfig)
	// GRPCJitter spreads each wait a fifth to either side, after the cut at `maxBackoff`. Clients before the
	// proposal's update of 2024 drew between 0 and the wait.
	GRPCJitter = grpcDefault(model.Jitter{Kind: model.JitterShare, Share: 200_000}, "retryPolicy jitter", "20% either side", "A6 of 2024", grpcA6)
	// GRPCHedgingDelay sends all copies at once.
	GRPCHedgingDelay = grpcDefault[model.Duration](0, "hedgingPolicy.hedgingDelay", "0s", "A6", grpcA6)
	// GRPCConnect is the least time that a connection attempt is given.
	GRPCConnect = grpcDefault(20*model.Second, "minConnectTimeout", "20s", "1.0", grpcGo+"clientconn.go")
)

var grpcCodes = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE",
	"DATA_LOSS", "UNAUTHENTICATED",
}

// grpcConditions are the status names. UNAVAILABLE is also what a client says of a connection that failed, and
// DEADLINE_EXCEEDED is the whole call's: there is no limit of one attempt that could be retried.
func grpcConditions() []Condition {
	out := make([]Condition, 0, len(grpcCodes)-1)
	for _, name := range grpcCodes[1:] {
		c := Condition{Token: name, Means: model.Failures{Statuses: []string{strings.ToLower(name)}}}
		if name == "UNAVAILABLE" {
			c.Means.Kinds = model.OnConnect | model.OnRefused | model.OnReset
		}
		out = append(out, c)
	}
	return out
}

// GRPCStatus gives the name of a status that is written as a name in any case or as a number; exact is false
// where grpc-go, which takes upper case alone, would refuse it. ok is false for no status at all.
func GRPCStatus(text string) (name string, exact, ok bool) {
	if n, err := strconv.Atoi(text); err == nil {
		if n < 0 || n >= len(grpcCodes) {
			return "", false, false
		}
		return grpcCodes[n], true, true
	}
	upper := strings.ToUpper(text)
	if upper == "CANCELED" {
		upper = "CANCELLED"
	}
	for _, c := range grpcCodes {
		if c == upper {
			return c, c == text, true
		}
	}
	return "", false, false
}
