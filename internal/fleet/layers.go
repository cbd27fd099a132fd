package fleet

import (
	"bytes"
	"fmt"
)

// Layers gives, as a plan file, services in layers, each of which calls fan of the next layer: few calls, and as many
// paths as fan to the power of the layers. The calls of a service stand beside each other. The first layer has at most
// ten services, all entrypoints, which call all of the second.
func Layers(layers, width, fan int) []byte {
	first := min(width, 10)
	var b bytes.Buffer
	b.WriteString("version: 1\nentrypoints:\n")
	for i := range first {
		fmt.Fprintf(&b, "  in%d: {slo: 10s, timeout: 20s, call: s0-%d}\n", i, i)
	}
	b.WriteString("services:\n")
	for l := range layers {
		services, step, calls := width, 1, fan
		if l == 0 {
			services, step, calls = first, width/first, max(fan, width/first)
		}
		for i := range services {
			fmt.Fprintf(&b, "  s%d-%d:\n    local_work: 1ms\n", l, i)
			if l == layers-1 {
				continue
			}
			b.WriteString("    calls:\n      - parallel:\n")
			for k := range calls {
				fmt.Fprintf(&b, "          - {call: s%d-%d, timeout: %dms}\n", l+1, (i*step+k)%width, 20*(layers-l))
			}
		}
	}
	return b.Bytes()
}

// Hub gives, as a plan file, a service that n others call and that calls n others, most of it too slowly: whoever looks
// at all calls of a callee for each of its callers looks at n times n.
func Hub(n int) []byte {
	var b bytes.Buffer
	b.WriteString("version: 1\nentrypoints:\n  in: {slo: 1s, timeout: 2s, call: front}\nservices:\n  front:\n    calls:\n      - parallel:\n")
	for i := range n {
		fmt.Fprintf(&b, "          - {call: caller-%d, timeout: %dms, propagates: deadline}\n", i, 100+i%7)
	}
	for i := range n {
		fmt.Fprintf(&b, "  caller-%d:\n    honors: deadline\n    calls:\n      - {call: hub, timeout: %dms, retries: %d}\n", i, 50+i%11, i%3)
	}
	b.WriteString("  hub:\n    local_work: 1ms\n    calls:\n      - parallel:\n")
	for i := range n {
		fmt.Fprintf(&b, "          - {call: leaf-%d, timeout: %dms, latency: {p50: 3ms, p99: 40ms}}\n", i, 200+i%13)
	}
	for i := range n {
		fmt.Fprintf(&b, "  leaf-%d: {local_work: 2ms}\n", i)
	}
	return b.Bytes()
}
