package dialect

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

const ms = model.Millisecond

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   *Dialect
		text string
		want model.Duration
		err  string // a part of it, empty for none
	}{
		{Envoy, "15s", 15 * model.Second, ""},
		{Envoy, "0.250s", 250 * ms, ""},
		{Envoy, ".5s", 500 * ms, ""},
		{Envoy, "0s", 0, ""},
		{Envoy, "-0s", 0, ""},
		{Envoy, "0.000000001s", 1, ""},
		{Envoy, "99999999999999999999s", model.NoLimit, ""},
		{Envoy, "1500ms", 0, "write `1.5s`"},
		{Envoy, "1m", 0, "write `60s`"},
		{Envoy, "15", 0, "write `15s`"},
		{Envoy, "1.s", 0, "is not a duration"},
		{Envoy, "0.0000000001s", 0, "is not a duration"},
		{Envoy, "-1s", 0, "is negative"},
		{Envoy, "s", 0, "is not a duration"},
		{Envoy, "", 0, "is not a duration"},
		{GRPC, "0.1s", 100 * ms, ""},
		{GRPC, "100ms", 0, "write `0.1s`"},
		{Postgres, "250", 250 * ms, ""},
		{Postgres, "250ms", 250 * ms, ""},
		{Postgres, "1.5 s", 1500 * ms, ""},
		{Postgres, "1min", 60 * model.Second, ""},
		{Postgres, "400us", model.NoLimit, ""}, // rounded to 0, which is none
		{Postgres, "0", model.NoLimit, ""},
		{Postgres, "1m", 0, "the units are"},
		{Postgres, "1S", 0, "the units are"},
		{Postgres, "-5", 0, "is negative"},
		{Postgres, "25d", 0, "more than"},
		{Postgres, "soon", 0, "is not a time"},
	}
	for _, tt := range tests {
		got, err := tt.in.Parse(tt.text)
		if err == nil && tt.err != "" || err != nil && (tt.err == "" || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s %q: error %v, want %q", tt.in.Name, tt.text, err, tt.err)
		}
		if got != tt.want {
			t.Errorf("%s %q = %s, want %s", tt.in.Name, tt.text, got, tt.want)
		}
	}
}

func TestFormat(t *testing.T) {
	t.Parallel()
	tests := []struct {
		d                     model.Duration
		envoy, grpc, postgres string
	}{
		{250 * ms, "0.250s", "0.25s", "250ms"},
		{90 * model.Second, "90s", "90s", "90s"},
		{model.NoLimit, "0s", "", "0"},
		{model.Unknown, "0s", "", "0"},
		{1, "0.001s", "0.000000001s", "1ms"}, // never 0: that means something else
		{1500*ms + 700*model.Microsecond, "1.500s", "1.5007s", "1500ms"},
	}
	for _, tt := range tests {
		got := []string{Envoy.Format(tt.d), GRPC.Format(tt.d), Postgres.Format(tt.d)}
		if diff := cmp.Diff([]string{tt.envoy, tt.grpc, tt.postgres}, got); diff != "" {
			t.Errorf("%d ns: -want +got:\n%s", int64(tt.d), diff)
		}
	}
}

// TestRoundTrip writes any duration and reads it back, cut to the platform's granule.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := model.Duration(rapid.Int64Range(1, int64(24*3600*model.Second)).Draw(t, "d"))
		for _, dl := range All {
			got, err := dl.Parse(dl.Format(d))
			if want := cut(d, dl.Granule); err != nil || got != want {
				t.Fatalf("%s: %s reads as %s, %v, want %s", dl.Name, dl.Format(d), got, err, want)
			}
		}
	})
}

func TestEnvoyRetryOn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		tokens  string
		codes   []string
		want    string
		unknown string
		timeout bool // a per-try timeout is retried
	}{
		{"5xx", nil, "[5xx, connect, refused, reset, timeout]", "", true},
		{"gateway-error", nil, "[502, 503, 504, connect, refused, reset, timeout]", "", true},
		{"reset", nil, "[connect, refused, reset, timeout]", "", true},
		{"connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes", []string{"503"}, "[unavailable, cancelled, 503, connect, refused]", "", false},
		{"retriable-4xx", []string{"503"}, "[409]", "", false},
		{"5xx,retriable-status-codes", []string{"503", "429"}, "[5xx, 429, connect, refused, reset, timeout]", "", true},
		{"canceled,5XX", nil, "[]", "canceled,5XX", false},
	}
	for _, tt := range tests {
		f, unknown, listed := Envoy.Failures(strings.Split(tt.tokens, ","), tt.codes)
		if f.String() != tt.want || strings.Join(unknown, ",") != tt.unknown || f.Timeout() != tt.timeout {
			t.Errorf("%s = %s, unknown %v, timeout %v", tt.tokens, f, unknown, f.Timeout())
		}
		if listed != strings.Contains(tt.tokens, "retriable-status-codes") {
			t.Errorf("%s: listed %v", tt.tokens, listed)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in            *Dialect
		f             model.Failures
		tokens, codes string
		left          string
	}{
		{Envoy, model.Failures{Kinds: anyReset, Statuses: []string{"5xx"}}, "5xx", "", "[]"},
		{Envoy, model.Failures{Kinds: anyReset, Statuses: []string{"503"}}, "reset,retriable-status-codes", "503", "[]"},
		{Envoy, model.Failures{Kinds: model.OnConnect | model.OnRefused}, "connect-failure,refused-stream", "", "[]"},
		{Envoy, model.Failures{Kinds: model.OnTimeout}, "", "", "[timeout]"}, // no word retries a timeout alone
		{Envoy, model.Failures{Statuses: []string{"unavailable", "aborted"}}, "unavailable", "", "[aborted]"},
		{GRPC, model.Failures{Kinds: anyReset, Statuses: []string{"unavailable"}}, "UNAVAILABLE", "", "[timeout]"},
	}
	for _, tt := range tests {
		tokens, codes, left := tt.in.Tokens(tt.f)
		if strings.Join(tokens, ",") != tt.tokens || strings.Join(codes, ",") != tt.codes || left.String() != tt.left {
			t.Errorf("%s %s: %v %v left %s, want %s %s left %s", tt.in.Name, tt.f, tokens, codes, left, tt.tokens, tt.codes, tt.left)
		}
	}
}

// TestTokensRetryNothingMore reads back the words for any set of failures: with what they could not say, they are the
// set, and never more than it.
func TestTokensRetryNothingMore(t *testing.T) {
	t.Parallel()
	statuses := []string{"5xx", "502", "503", "504", "409", "429", "500", "unavailable", "internal"}
	rapid.Check(t, func(t *rapid.T) {
		f := model.Failures{
			Kinds:    model.FailureKind(rapid.IntRange(0, 31).Draw(t, "kinds")),
			Statuses: rapid.SliceOfNDistinct(rapid.SampledFrom(statuses), 0, 5, rapid.ID[string]).Draw(t, "statuses"),
		}
		for _, d := range All {
			tokens, codes, left := d.Tokens(f)
			said, unknown, _ := d.Failures(tokens, codes)
			if len(unknown) > 0 || !covers(f, said) || !covers(union(said, left), f) {
				t.Fatalf("%s: %s becomes %v %v, which is %s, left %s", d.Name, f, tokens, codes, said, left)
			}
		}
	})
}

func TestEnvoyBackoff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		base, most model.Duration
		want       []model.Duration
	}{
		{25 * ms, 0, []model.Duration{25 * ms, 75 * ms, 175 * ms, 250 * ms}},
		{25 * ms, 25 * ms, []model.Duration{25 * ms}},
		{7000 * ms, 480_000 * ms, []model.Duration{7000 * ms, 21_000 * ms, 49_000 * ms, 105_000 * ms, 217_000 * ms, 441_000 * ms, 480_000 * ms}},
		{1, 0, []model.Duration{ms, 3 * ms, 7 * ms, 10 * ms}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, EnvoyBackoff(tt.base, tt.most)); diff != "" {
			t.Errorf("base %s, most %s: -want +got:\n%s", tt.base, tt.most, diff)
		}
	}
	if waits := EnvoyBackoff(1, model.NoLimit); len(waits) > 64 || waits[len(waits)-1] != model.NoLimit {
		t.Errorf("a back-off without a maximum has %d waits", len(waits))
	}
}

// TestBackoffSums are the figures of the arithmetic that everything else rests on: the waits of three retries are
// 275ms, so 1 s × 4 are 4.275s.
func TestBackoffSums(t *testing.T) {
	t.Parallel()
	b := model.Backoff{Waits: EnvoyWaits.At(diag.Span{}), Jitter: EnvoyJitter.At(diag.Span{})}
	var low, high model.Duration
	for k := range int64(3) {
		lo, hi := b.Wait(k + 1)
		low, high = low.Add(lo), high.Add(hi)
	}
	if low != 0 || high != 275*ms {
		t.Errorf("three waits are %s to %s, want 0ms to 275ms", low, high)
	}
	g := model.Backoff{
		Base: model.At(100*ms, diag.Span{}), Max: model.At(150*ms, diag.Span{}), Jitter: GRPCJitter.At(diag.Span{}),
	}
	if lo, hi := g.Wait(2); lo != 120*ms || hi != 180*ms {
		t.Errorf("gRPC's second wait is %s to %s, want 120ms to 180ms", lo, hi)
	}
}

func TestGRPCStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text, name string
		exact, ok  bool
	}{
		{"UNAVAILABLE", "UNAVAILABLE", true, true},
		{"unavailable", "UNAVAILABLE", false, true},
		{"14", "UNAVAILABLE", true, true},
		{"CANCELED", "CANCELLED", false, true},
		{"17", "", false, false},
		{"-1", "", false, false},
		{"FINE", "", false, false},
	}
	for _, tt := range tests {
		if name, exact, ok := GRPCStatus(tt.text); name != tt.name || exact != tt.exact || ok != tt.ok {
			t.Errorf("%q = %q %v %v", tt.text, name, exact, ok)
		}
	}
}

// TestDialects checks what every dialect owes its readers.
func TestDialects(t *testing.T) {
	t.Parallel()
	if !slices.IsSortedFunc(All, func(a, b *Dialect) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the list is not sorted by name")
	}
	for _, d := range All {
		if Named(d.Name) != d || d.Title == "" || d.Version == "" || d.Granule <= 0 {
			t.Errorf("%s is not whole", d.Name)
		}
		for _, def := range d.Defaults {
			if def.Platform != d.Name || def.Field == "" || def.Value == "" || def.Source == "" {
				t.Errorf("%s: the default %+v is not whole", d.Name, *def)
			}
		}
		if name, ok := d.Field("retries"); ok != (d.RetriesKey != "") || ok && !strings.HasSuffix(name, d.RetriesKey) {
			t.Errorf("%s: retries are %q, the key is %q", d.Name, name, d.RetriesKey)
		}
		if _, ok := d.Field("no_such_key"); ok {
			t.Errorf("%s says anything", d.Name)
		}
	}
	if Named("nobody") != nil {
		t.Error("a dialect without a name")
	}
}
