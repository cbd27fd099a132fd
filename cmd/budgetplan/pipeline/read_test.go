package pipeline

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

// TestWide tells UTF-16 and UTF-32, with a mark and without, from text and from binary files.
func TestWide(t *testing.T) {
	const plan = "version: 1\nservices: {gateway: {calls: [order]}}\n"
	encode := func(text string, order binary.AppendByteOrder) string {
		var b []byte
		for _, c := range utf16.Encode([]rune(text)) {
			b = order.AppendUint16(b, c)
		}
		return string(b)
	}
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"UTF-16 LE with its mark", encode("\ufeff"+plan, binary.LittleEndian), true},
		{"UTF-16 BE with its mark", encode("\ufeff"+plan, binary.BigEndian), true},
		{"UTF-16 LE", encode(plan, binary.LittleEndian), true},
		{"UTF-16 BE", encode(plan, binary.BigEndian), true},
		{"UTF-32", strings.ReplaceAll(encode("\ufeff"+plan, binary.LittleEndian), "\x00", "\x00\x00\x00"), true},
		{"UTF-8", plan, false},
		{"UTF-8 with a mark", "\ufeff" + plan, false},
		{"a byte 0 in a text", strings.Replace(plan, "order", "or\x00der", 1), false},
		{"an archive", "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\xe6", false},
		{"empty", "", false},
	} {
		if got := wide([]byte(c.text)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
