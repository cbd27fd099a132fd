package prometheus

import (
	"bytes"
	"encoding/binary"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/budgetplan/budgetplan/model/diag"
)

// readProtobuf reads delimited messages, a metric family each. Families have no lines, so every place is the file's
// first. The lengths are checked here: the decoder takes memory for any length that a message claims.
func readProtobuf(s *scrape, src []byte) {
	at := diag.Span{File: s.file, Line: 1, Col: 1}
	seen := map[string]int32{}
	for offset, nth := 0, 1; offset < len(src); nth++ {
		size, n := binary.Uvarint(src[offset:])
		if n <= 0 || size > uint64(len(src)-offset-n) {
			s.syntax(at, "take the scrape again, whole", "message %d of `%s`, at byte %d, is longer than the file", nth, s.file, offset)
			return
		}
		end := offset + n + int(size)
		var f dto.MetricFamily
		if err := expfmt.NewDecoder(bytes.NewReader(src[offset:end]), utf8Protobuf).Decode(&f); err != nil {
			s.syntax(at, "take the scrape again, whole", "message %d of `%s`, at byte %d, cannot be read: %s", nth, s.file, offset, plain(err.Error()))
			return
		}
		offset = end
		name := f.GetName()
		s.families[name] = typeWord(&f)
		if f.GetUnit() != "" {
			s.units[name] = f.GetUnit()
		}
		if s.keeps(name) {
			for _, m := range f.GetMetric() {
				s.keep(&f, m, moments{noTime, seen[name]}, at)
			}
		}
		seen[name]++
	}
}

// utf8Protobuf takes names as they are, dots included.
var utf8Protobuf = expfmt.NewFormat(expfmt.TypeProtoDelim) + "; escaping=allow-utf-8"

// typeWord gives the word of the text format for a family's type.
func typeWord(f *dto.MetricFamily) string {
	switch f.GetType() {
	case dto.MetricType_HISTOGRAM:
		return "histogram"
	case dto.MetricType_SUMMARY:
		return "summary"
	case dto.MetricType_COUNTER:
		return "counter"
	case dto.MetricType_GAUGE:
		return "gauge"
	}
	return ""
}
