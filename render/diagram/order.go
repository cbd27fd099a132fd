package diagram

import (
	"cmp"
	"slices"
)

// order puts the items of every column, and the elements of groups whose order is free, so that few wires cross: by
// the mean place of what they are connected with, sweeping over the columns, the best sweep kept.
func (l *layout) order() {
	const sweeps = 12
	l.stackAll()
	best, least := l.remember(), l.crossings()
	for i := 0; i < sweeps && least > 0; i++ {
		if i%2 == 0 {
			for c := 1; c < len(l.columns); c++ {
				l.sort(c, l.left)
			}
		} else {
			for c := len(l.columns) - 2; c >= 0; c-- {
				l.sort(c, l.right)
			}
		}
		if n := l.crossings(); n < least {
			best, least = l.remember(), n
		}
	}
	best()
	l.stackAll()
}

// stack puts the items of a column below each other.
func (l *layout) stack(c int) {
	y := 0
	for _, i := range l.columns[c] {
		l.items[i].y = y
		y += l.items[i].h + itemGap
	}
}

func (l *layout) stackAll() {
	for c := range l.columns {
		l.stack(c)
	}
	l.spread()
}

// sort orders a column by the mean place of the other ends of the wires on one side.
func (l *layout) sort(c int, side [][]int) {
	key := make(map[int]int, len(l.columns[c]))
	for _, i := range l.columns[c] {
		key[i] = l.middle(i)
		if len(side[i]) > 0 {
			key[i] = l.mean(side[i], i)
		}
	}
	slices.SortStableFunc(l.columns[c], func(a, b int) int { return cmp.Compare(key[a], key[b]) })
	for _, i := range l.columns[c] {
		if calls := l.items[i].calls; calls != nil {
			l.sortBlocks(calls)
			calls.settle(0, 0)
		}
	}
	l.stack(c)
	for _, i := range l.columns[c] {
		l.spreadAt(i)
	}
}

func (l *layout) middle(i int) int { return l.items[i].y + l.items[i].h/2 }

// mean gives the mean place of the ends of wires that are not at the item.
func (l *layout) mean(wires []int, i int) int {
	sum := 0
	for _, w := range wires {
		if x := &l.wires[w]; x.to == i {
			sum += l.startY(x)
		} else {
			sum += l.endY(x)
		}
	}
	return sum / len(wires)
}

// sortBlocks orders the elements of free groups by where their calls lead. An element that leads nowhere stays behind
// the one before it.
func (l *layout) sortBlocks(b *block) {
	for _, o := range b.of {
		l.sortBlocks(o)
	}
	if !b.free || len(b.of) < 2 {
		return
	}
	key, last := make(map[*block]int, len(b.of)), 0
	for _, o := range b.of {
		sum, n := 0, 0
		o.walk(func(call *block) {
			for _, w := range call.wires {
				sum += l.endY(&l.wires[w])
				n++
			}
		})
		if n > 0 {
			last = sum / n
		}
		key[o] = last
	}
	y := b.of[0].y
	for _, o := range b.of {
		y = min(y, o.y)
	}
	slices.SortStableFunc(b.of, func(a, c *block) int { return cmp.Compare(key[a], key[c]) })
	for _, o := range b.of {
		o.y = y
		y += o.h + blockGap
	}
}

// crossings counts the pairs of wires that cross between neighbouring columns.
func (l *layout) crossings() int {
	byColumn := make([][]int, len(l.columns))
	for w := range l.wires {
		c := l.items[l.wires[w].from].column
		byColumn[c] = append(byColumn[c], w)
	}
	sum := 0
	for _, wires := range byColumn {
		slices.SortStableFunc(wires, func(a, b int) int {
			x, y := &l.wires[a], &l.wires[b]
			return cmp.Or(cmp.Compare(l.startY(x), l.startY(y)), cmp.Compare(l.endY(x), l.endY(y)))
		})
		ends := make([]int, len(wires))
		for i, w := range wires {
			ends[i] = l.endY(&l.wires[w])
		}
		sum += inversions(ends, make([]int, len(ends)))
	}
	return sum
}

// inversions counts the pairs that are out of order, sorting on the way.
func inversions(a, tmp []int) int {
	if len(a) < 2 {
		return 0
	}
	half := len(a) / 2
	n := inversions(a[:half], tmp[:half]) + inversions(a[half:], tmp[half:])
	copy(tmp, a)
	for i, j, k := 0, half, 0; k < len(a); k++ {
		if j == len(a) || i < half && tmp[i] <= tmp[j] {
			a[k] = tmp[i]
			i++
		} else {
			a[k] = tmp[j]
			n += half - i
			j++
		}
	}
	return n
}

// remember gives what puts the present order back.
func (l *layout) remember() func() {
	columns := make([][]int, len(l.columns))
	for c := range columns {
		columns[c] = slices.Clone(l.columns[c])
	}
	type state struct {
		b  *block
		of []*block
		ys []int
	}
	var states []state
	var save func(b *block)
	save = func(b *block) {
		s := state{b: b, of: slices.Clone(b.of)}
		for _, o := range b.of {
			s.ys = append(s.ys, o.y)
			save(o)
		}
		if b.of != nil {
			states = append(states, s)
		}
	}
	for i := range l.items {
		if l.items[i].calls != nil {
			save(l.items[i].calls)
		}
	}
	return func() {
		copy(l.columns, columns)
		for _, s := range states {
			s.b.of = s.of
			for k, o := range s.of {
				o.y = s.ys[k]
			}
		}
		for i := range l.items {
			if l.items[i].calls != nil {
				l.items[i].calls.settle(0, 0)
			}
		}
	}
}

// place gives every item its coordinates: columns side by side, and in each column every item as near to what it is
// connected with as its neighbours let it be.
func (l *layout) place() {
	const rounds = 10
	for range rounds {
		for c := 1; c < len(l.columns); c++ {
			l.pull(c, l.left)
		}
		for c := len(l.columns) - 2; c >= 0; c-- {
			l.pull(c, l.right)
		}
	}
	top := 0
	for i := range l.items {
		if i == 0 || l.items[i].y < top {
			top = l.items[i].y
		}
	}
	for i := range l.items {
		l.items[i].y -= top
	}
	l.across()
}

// across gives the columns their places, and room between them for wires that climb.
func (l *layout) across() {
	width, climb := make([]int, len(l.columns)), make([]int, len(l.columns))
	for i := range l.items {
		width[l.items[i].column] = max(width[l.items[i].column], l.items[i].w)
	}
	for w := range l.wires {
		c := l.items[l.wires[w].from].column
		climb[c] = max(climb[c], max(l.startY(&l.wires[w])-l.endY(&l.wires[w]), l.endY(&l.wires[w])-l.startY(&l.wires[w])))
	}
	x := 0
	for c, items := range l.columns {
		for _, i := range items {
			l.items[i].x = x
			if l.items[i].kind == passItem {
				l.items[i].w = width[c]
			}
		}
		x += width[c] + min(120, 36+climb[c]/8)
	}
}

// pull moves the items of a column to the mean of what is on one side, keeping their order and their distance: the
// least squares under these conditions, by pooling neighbours that would overlap.
func (l *layout) pull(c int, side [][]int) {
	type pool struct{ sum, weight, items int }
	var pools []pool
	offset := 0
	for _, i := range l.columns[c] {
		it := &l.items[i]
		want, weight := it.y, 1
		if n := len(side[i]); n > 0 {
			weight = 4 * n
			want = it.y + l.mean(side[i], i) - l.own(side[i], i)
		}
		pools = append(pools, pool{(want - offset) * weight, weight, 1})
		for n := len(pools); n > 1 && pools[n-2].sum*pools[n-1].weight >= pools[n-1].sum*pools[n-2].weight; n-- {
			last := pools[n-1]
			pools = pools[:n-1]
			pools[n-2].sum += last.sum
			pools[n-2].weight += last.weight
			pools[n-2].items += last.items
		}
		offset += it.h + itemGap
	}
	at, k := 0, 0
	offset = 0
	for _, i := range l.columns[c] {
		if at == pools[k].items {
			at, k = 0, k+1
		}
		at++
		l.items[i].y = floorDiv(pools[k].sum, pools[k].weight) + offset
		offset += l.items[i].h + itemGap
	}
	for _, i := range l.columns[c] {
		l.spreadAt(i)
	}
}

// own gives the mean place of the ends of wires that are at the item.
func (l *layout) own(wires []int, i int) int {
	sum := 0
	for _, w := range wires {
		if x := &l.wires[w]; x.to == i {
			sum += l.endY(x)
		} else {
			sum += l.startY(x)
		}
	}
	return sum / len(wires)
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
