package solver

import (
	"slices"
	"strings"
)

// tidy drops the parts of an explanation that change nothing (a zero that nobody wrote, one time), and tells a value
// with a single part as that part.
func tidy(lines []Line) []Line {
	out, _ := tidyFrom(lines, 0)
	return out
}

// tidyFrom tidies the line at i with everything below it and all its later siblings.
func tidyFrom(lines []Line, i int) (out []Line, next int) {
	if i >= len(lines) {
		return nil, i
	}
	depth := lines[i].Depth
	for i < len(lines) && lines[i].Depth == depth {
		l := lines[i]
		var parts []Line
		if i++; i < len(lines) && lines[i].Depth > depth {
			parts, i = tidyFrom(lines, i)
		}
		out = append(out, l.merge(l.prune(parts))...)
	}
	return out, i
}

// prune drops neutral parts, but never all of them.
func (l Line) prune(parts []Line) []Line {
	var kept []Line
	drop, first := false, true
	for i, p := range parts {
		if p.Depth == l.Depth+1 {
			last := len(kept) == 0 && !slices.ContainsFunc(parts[i+1:], func(q Line) bool { return q.Depth == p.Depth })
			drop = !last && l.neutral(p, first)
			first = false
		}
		if !drop {
			kept = append(kept, p)
		}
	}
	return kept
}

// neutral reports whether a part changes nothing, and nobody wrote it.
func (l Line) neutral(p Line, first bool) bool {
	if p.See != "" || p.From.Written() && p.From.EndCol > 0 {
		return false
	}
	switch l.Op {
	case Sum:
		return p.Unit == Time && p.Time == 0
	case Minus:
		return !first && p.Time == 0
	case Product, Over:
		return p.Unit == Count && p.Count == 1
	}
	return false
}

// merge tells a line with a single part of the same value as that part.
func (l Line) merge(parts []Line) []Line {
	whole := l.Op == Sum || l.Op == Product || l.Op == Least || l.Op == Most || l.Op == Minus || l.Op == Over
	tops := 0
	for _, p := range parts {
		if p.Depth == l.Depth+1 {
			tops++
		}
	}
	if tops != 1 || !whole || parts[0].Unit != l.Unit || parts[0].Time != l.Time || parts[0].Count != l.Count {
		return append([]Line{l}, parts...)
	}
	one := parts[0]
	if one.Op == Given {
		// Of a chain of single parts, the first and the last say it all.
		l.Label += ": " + lastOf(one.Label)
	}
	l.Op, l.See = one.Op, one.See
	if l.From == nil {
		l.From = one.From
	}
	out := []Line{l}
	for _, p := range parts[1:] {
		p.Depth--
		out = append(out, p)
	}
	return out
}

// lastOf is what stands behind the last colon of a label that was merged before.
func lastOf(label string) string {
	if i := strings.LastIndex(label, ": "); i >= 0 {
		return label[i+2:]
	}
	return label
}
