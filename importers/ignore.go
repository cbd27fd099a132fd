package importers

import (
	"strings"

	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

const ignoreMark = "budgetplan:ignore"

// LineIgnores gives the comments `# budgetplan:ignore CODE reason` of a file, each at its line; several codes
// are joined by commas. What a comment leaves out is empty: whoever applies the ignores says so.
func LineIgnores(f *yamlsrc.File) []model.Ignore {
	var out []model.Ignore
	f.Comments(func(line int32, text string) {
		rest, found := strings.CutPrefix(text, ignoreMark)
		if !found || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
			return
		}
		codes, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
		for code := range strings.SplitSeq(codes, ",") {
			out = append(out, model.Ignore{
				Code: code, Reason: strings.TrimSpace(reason),
				At: diag.Span{File: f.Name, Line: line},
			})
		}
	})
	return out
}
