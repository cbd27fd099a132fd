package prometheus

import (
	"fmt"
	"github.com/budgetplan/budgetplan/model"
)

func show1(l model.Latency) string {
	s := ""
	for _, p := range l.Points {
		s += fmt.Sprintf(" %s=%s%v", p.P.Percentile(), p.V.V, p.AtLeast)
	}
	s += fmt.Sprint(" n=", l.Samples.V, " ", l.Caveats.V, " hist=", len(l.Histogram))
	return s
}
