package prometheus

import (
	"bytes"
	"math"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/model"
)

// protobuf writes families as a scrape has them.
func protobuf(families ...*dto.MetricFamily) []byte {
	var b bytes.Buffer
	enc := expfmt.NewEncoder(&b, expfmt.NewFormat(expfmt.TypeProtoDelim))
	for _, f := range families {
		if err := enc.Encode(f); err != nil {
			return nil
		}
	}
	return b.Bytes()
}

func labelled(pairs ...string) []*dto.LabelPair {
	var out []*dto.LabelPair
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, &dto.LabelPair{Name: &pairs[i], Value: &pairs[i+1]})
	}
	return out
}

// nativeFamily has two series of one edge: buckets from 0.25 s to 1 s, one of them at twice the resolution.
func nativeFamily() *dto.MetricFamily {
	series := func(version string, h *dto.Histogram) *dto.Metric {
		return &dto.Metric{Label: labelled("client", "order", "server", "product", "version", version), Histogram: h}
	}
	return &dto.MetricFamily{
		Name: proto.String("traces_service_graph_request_client_seconds"), Type: dto.MetricType_HISTOGRAM.Enum(),
		Metric: []*dto.Metric{
			series("1", &dto.Histogram{
				SampleCount: proto.Uint64(8), Schema: proto.Int32(0), ZeroThreshold: proto.Float64(0.001), ZeroCount: proto.Uint64(1),
				PositiveSpan:  []*dto.BucketSpan{{Offset: proto.Int32(-1), Length: proto.Uint32(2)}},
				PositiveDelta: []int64{3, 1}, // 3 in (0.25, 0.5], 4 in (0.5, 1]
			}),
			series("2", &dto.Histogram{
				SampleCount: proto.Uint64(6), Schema: proto.Int32(1), ZeroThreshold: proto.Float64(0.001),
				PositiveSpan:  []*dto.BucketSpan{{Offset: proto.Int32(-1), Length: proto.Uint32(2)}},
				PositiveDelta: []int64{2, 2}, // 2 in (0.5, 0.707], 4 in (0.707, 1]
			}),
		},
	}
}

// TestProtobuf reads native histograms and classic ones from the same bytes, and sums two resolutions.
func TestProtobuf(t *testing.T) {
	t.Parallel()
	classic := &dto.MetricFamily{
		Name: proto.String("http_client_request_duration_seconds"), Type: dto.MetricType_HISTOGRAM.Enum(),
		Metric: []*dto.Metric{{
			Label: labelled("service_name", "order", "server_address", "cart"),
			Histogram: &dto.Histogram{
				SampleCount: proto.Uint64(100), Schema: proto.Int32(3),
				Bucket: []*dto.Bucket{
					{UpperBound: proto.Float64(0.1), CumulativeCount: proto.Uint64(50)},
					{UpperBound: proto.Float64(1), CumulativeCount: proto.Uint64(100)},
				},
			},
		}},
	}
	src := &importers.Source{File: "scrape.pb", Bytes: protobuf(nativeFamily(), classic)}
	if !Importer.Recognise(src) {
		t.Error("not recognised")
	}
	f, found := Importer.Import(src)
	if len(f.Calls) != 2 {
		t.Fatalf("%d calls, findings %v", len(f.Calls), found)
	}
	// 14 observations: 1, 3, and 10 in (0.5, 1]. The 7th is the third of those ten.
	want := model.Duration(math.Round(0.5 * math.Exp2(0.3) * 1e9))
	if p := f.Calls[0].Latency.Points[0]; p.P != 500_000 || p.V.V != want {
		t.Errorf("p50 of the native histograms is %v at %v, want %v", p.V.V, p.P, want)
	}
	if n := f.Calls[0].Latency.Samples.V; n != 14 {
		t.Errorf("%d samples, want 14", n)
	}
	// The bucket without an end is missing in protobuf, as its count says what it counts; the native part is empty.
	if p := f.Calls[1].Latency.Points[1]; p.P != 900_000 || p.V.V != 820*model.Millisecond {
		t.Errorf("p90 of the classic histogram is %v at %v, want 820ms", p.V.V, p.P)
	}
}

// TestProtobufIsBounded: a message that claims to be longer than its file takes no memory for it.
func TestProtobufIsBounded(t *testing.T) {
	t.Parallel()
	whole := protobuf(nativeFamily())
	for _, src := range [][]byte{
		append(bytes.Clone(whole), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f),
		append(bytes.Clone(whole), whole[:len(whole)/2]...),
		append(bytes.Clone(whole), 5, 1, 2, 3, 4, 5),
	} {
		f, found := Importer.Import(&importers.Source{File: "x", Bytes: src})
		if len(f.Calls) != 1 || len(found) != 1 || found[0].Code.ID != "BP001" {
			t.Errorf("%d calls, findings %v", len(f.Calls), found)
		}
	}
}

// TestNativeQuantiles are the expectations of Prometheus' own tests, promql/promqltest/testdata/native_histograms.test.
func TestNativeQuantiles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		zero   float64
		counts []float64
		offset int32
		q      map[float64]float64
	}{
		{"single", 0, []float64{1, 2, 1}, 0, map[float64]float64{0.5: 1.414213562373095}},
		{"many", 0, []float64{1, 12, 1}, 0, map[float64]float64{0.5: 1.414213562373095}},
		{"with zeros", 2, []float64{2, 3, 0, 1, 4}, 0, map[float64]float64{
			1: 16, 0.99: 15.67072476139083, 0.9: 12.99603834169977, 0.6: 4.594793419988138, 0.5: 1.5874010519681994, 0.1: 0.0006, 0: 0,
		}},
	} {
		h, err := newNative(0, 0.001, c.zero, []span{{c.offset, uint32(len(c.counts))}}, c.counts)
		if err != nil {
			t.Fatal(err)
		}
		for q, want := range c.q {
			if got, _ := h.quantile(q); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: quantile %v is %v, want %v", c.name, q, got, want)
			}
		}
	}
	if h, err := newNative(9, 0, 0, nil, nil); err == nil {
		t.Errorf("schema 9 gives %v", h)
	}
}
