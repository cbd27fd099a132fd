package diagram

import "strings"

// widths are the advances of the printable ASCII characters in thousandths of the font size: the larger of DejaVu Sans
// 2.37 and Liberation Sans 2.1 (which has Helvetica's metrics), so that a text is never wider than it is taken for.
var widths = [...]int{
	318, 401, 460, 838, 637, 951, 780, 275, 391, 391, 500, 838, 318, 361, 318, 337, 637, 637, 637, 637, 637, 637, 637, 637,
	637, 637, 337, 337, 838, 838, 838, 557, 1016, 685, 687, 723, 771, 667, 611, 778, 752, 295, 500, 667, 558, 863, 749, 788,
	667, 788, 723, 667, 611, 732, 685, 989, 686, 667, 686, 391, 337, 391, 838, 557, 500, 613, 635, 550, 635, 616, 353, 635,
	634, 278, 278, 580, 278, 975, 634, 612, 635, 635, 412, 521, 393, 634, 592, 818, 592, 592, 525, 637, 337, 637, 838,
}

// wide is the advance of a character that the table does not have.
const wide = 1050

// textWidth gives an upper bound of the width of a line in px, for a font size in px.
func textWidth(text string, size int) int {
	sum := 0
	for _, r := range text {
		if i := int(r) - ' '; i >= 0 && i < len(widths) {
			sum += widths[i]
		} else {
			sum += wide
		}
	}
	return (sum*size + 999) / 1000
}

// lineHeight gives the distance of two lines in px.
func lineHeight(size int) int { return size*13/10 + 1 }

// textSize gives the extent of lines in px.
func textSize(lines []string, size int) (w, h int) {
	for _, line := range lines {
		w = max(w, textWidth(line, size))
	}
	return w, len(lines) * lineHeight(size)
}

// longest is how many characters of a name a picture shows: a name of a million would make it unreadable.
const longest = 60

// clean makes text that XML can hold and one line of a picture can show: one line, no control characters, not too long.
func clean(text string) string {
	runes := []rune(strings.ToValidUTF8(text, "\ufffd"))
	if len(runes) > longest {
		runes = append(runes[:longest-1], '…')
	}
	for i, r := range runes {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			runes[i] = ' '
		case r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0xfffe || r == 0xffff:
			runes[i] = '\ufffd'
		}
	}
	return string(runes)
}

func cleanAll(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = clean(line)
	}
	return out
}
