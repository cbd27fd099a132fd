package planfile

import "strings"

// Nearest gives the known name that a slip of the pen may have meant, empty when there is none.
func Nearest(word string, known []string) string { return nearest(word, known) }

// nearest gives the known word that a slip of the pen may have meant: the same but for case and separators, or a
// few letters away. Empty when there is none.
func nearest(word string, known []string) string {
	plain := squash(word)
	best, least := "", max(1, min(3, len(plain)/3))+1
	for _, k := range known {
		if squash(k) == plain {
			return k
		}
		if len(plain)-len(k) > least || len(k)-len(plain) > least {
			continue
		}
		// Two slips and a wrong first letter are rather another word.
		d := distance(plain, squash(k))
		if d < least && (d == 1 || plain != "" && plain[0] == k[0]) {
			best, least = k, d
		}
	}
	return best
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

func squash(s string) string { return strings.ToLower(separators.Replace(s)) }

// distance counts the letters to insert, drop, change or swap with a neighbour.
func distance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next := make([]int, len(b)+1)
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(row[j]+1, next[j-1]+1, row[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
