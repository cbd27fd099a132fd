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
