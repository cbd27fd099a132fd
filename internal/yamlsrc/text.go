package yamlsrc

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"sync"
	"unicode/utf8"

	"github.com/budgetplan/budgetplan/model/diag"
)

// Memory that a parsed value takes at its peak, and what Parse may take: perByte × input + spare.
const (
	bytesPerValue = 300
	bytesPerJSON  = 150
	bytesPerByte  = 60
	bytesSpare    = 56 << 20
)

// largeFrom is the size from which on memory is watched.
const largeFrom = 4 << 20

// held is how often the heap is held at this time, and the limit that was set before.
var held struct {
	sync.Mutex
	times  int
	before int64
}

// frugal holds the memory of parsing a large input to what Parse may take: the library's nodes are many times the
// text, and the collector would let the heap grow to twice that. It gives the function that ends this.
func frugal(size int) (end func()) {
	if size < largeFrom {
		return func() {}
	}
	return Frugal((bytesPerByte*int64(size) + bytesSpare) / 10 * 9) // a busy collector comes late
}

// Frugal holds the heap to what it has now and a number of bytes more, as far as the collector can. It gives the
// function that ends this. Where it is held twice, the larger limit counts, until both have ended.
func Frugal(more int64) (end func()) {
	held.Lock()
	defer held.Unlock()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	limit, now := int64(m.HeapAlloc)+more, debug.SetMemoryLimit(-1)
	if held.times++; held.times == 1 {
		held.before = now
	} else {
		limit = max(limit, now)
	}
	debug.SetMemoryLimit(min(held.before, limit))
	return func() {
		held.Lock()
		defer held.Unlock()
		if held.times--; held.times == 0 {
			debug.SetMemoryLimit(held.before)
		}
	}
}

// checkText refuses what is no text of a size and kind that can be parsed, and takes off the byte order mark.
func (p *parser) checkText() bool {
	f := p.file
	start := diag.Span{File: f.Name, Line: 1, Col: 1}
	switch src := f.src; {
	case len(src) > MaxBytes:
		p.fail(start, "the file has %d MB, more than the %d MB that are read", len(src)>>20, MaxBytes>>20)
		return false
	case bytes.HasPrefix(src, []byte("\xff\xfe\x00\x00")), bytes.HasPrefix(src, []byte("\x00\x00\xfe\xff")):
		p.fail(start, "the file is UTF-32").Help = "save it as UTF-8"
		return false
	case bytes.HasPrefix(src, []byte("\xff\xfe")), bytes.HasPrefix(src, []byte("\xfe\xff")), looksUTF16(src):
		p.fail(start, "the file is UTF-16").Help = "save it as UTF-8"
		return false
	case bytes.HasPrefix(src, []byte("\xef\xbb\xbf")):
		f.bom, f.src = 3, src[3:]
	}
	if i, what := badRune(f.src); what != "" {
		p.fail(f.place(i), "%s", what)
		return false
	}
	return true
}

// fits refuses a text with so many values that they would take more memory than Parse may.
func (p *parser) fits(values, bytesEach int) bool {
	size := len(p.file.src)
	if values <= (bytesPerByte*size+bytesSpare)/bytesEach {
		return true
	}
	p.fail(diag.Span{File: p.file.Name, Line: 1, Col: 1}, "the file packs about %d values into %d KB, more than can be read in the memory allowed", values, size>>10).
		Help = "split it into several files"
	return false
}

// looksUTF16 recognises UTF-16 without a byte order mark: in its first characters every other byte is 0.
func looksUTF16(src []byte) bool {
	head := src[:min(len(src), 64)&^1]
	var zeros [2]int
	for i, b := range head {
		if b == 0 {
			zeros[i&1]++
		}
	}
	return len(head) >= 8 && (zeros[0] == 0) != (zeros[1] == 0) && zeros[0]+zeros[1] > len(head)/4
}

// badRune finds the first byte that YAML does not allow, and says what it is.
func badRune(src []byte) (offset int, what string) {
	for i := 0; i < len(src); {
		b := src[i]
		if b < utf8.RuneSelf {
			switch {
			case b >= ' ' && b != 0x7f || b == '\n' || b == '\r' || b == '\t':
				i++
				continue
			case b == 0:
				return i, "the file has a NUL byte, it is no text"
			}
			return i, "the file has the control character U+00" + hex(b) + ", which YAML does not allow"
		}
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return i, "the byte 0x" + hex(b) + " is not UTF-8"
		case r == '\uFEFF':
			return i, "a byte order mark stands inside the file"
		case r < 0xA0 && r != 0x85:
			return i, "the file has the control character U+00" + hex(byte(r)) + ", which YAML does not allow"
		case r == 0xFFFE || r == 0xFFFF:
			return i, "the file has a character that YAML does not allow"
		}
		i += size
	}
	return 0, ""
}

func hex(b byte) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{digits[b>>4], digits[b&15]})
}

// countValues estimates the number of nodes from above, without parsing: each needs a mark of its own.
func countValues(src []byte) int {
	n, keyed := 1, false
	for i, b := range src {
		switch b {
		case '[', '{':
			n++
		case '?': // a key, a value that need not be there, and what the library keeps of it
			n += 3
		case ',':
			if !keyed {
				n += 2
			}
			keyed = false
		case ':':
			if blank(src[i+1:]) || i > 0 && (src[i-1] == '"' || src[i-1] == '\'') {
				n, keyed = n+2, true
			}
		case '-':
			if blank(src[i+1:]) {
				n++
			}
		}
	}
	return n
}

// lines gives the byte offset of every line. It breaks lines where the YAML library does.
func (f *File) lines() []int32 {
	if f.starts != nil {
		return f.starts
	}
	starts := make([]int32, 1, 1+bytes.Count(f.src, []byte("\n")))
	for i := 0; i < len(f.src); i++ {
		switch b := f.src[i]; {
		case b == '\n', b == '\r' && (i+1 == len(f.src) || f.src[i+1] != '\n'):
			starts = append(starts, int32(i+1))
		case b == 0xC2 && f.has(i+1, "\x85"):
			starts = append(starts, int32(i+2))
		case b == 0xE2 && (f.has(i+1, "\x80\xa8") || f.has(i+1, "\x80\xa9")):
			starts = append(starts, int32(i+3))
		}
	}
	f.starts = starts
	return starts
}

func (f *File) has(i int, s string) bool { return bytes.HasPrefix(f.src[i:], []byte(s)) }

// place turns an offset into a line and column.
func (f *File) place(offset int) diag.Span {
	starts := f.lines()
	lo, hi := 0, len(starts)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; int(starts[mid]) <= offset {
			lo = mid
		} else {
			hi = mid
		}
	}
	col := utf8.RuneCount(f.src[starts[lo]:offset]) + 1
	return diag.Span{File: f.Name, Line: int32(lo) + 1, Col: int32(col)}
}

// offset turns a line and column into an offset, the end of the text for places beyond it.
func (f *File) offset(line, col int32) int {
	starts := f.lines()
	if line < 1 {
		return 0
	}
	if int(line) > len(starts) {
		return len(f.src)
	}
	i := int(starts[line-1])
	for ; col > 1 && i < len(f.src); col-- {
		_, size := utf8.DecodeRune(f.src[i:])
		i += size
	}
	return i
}
