package planfile

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/model"
	"github.com/budgetplan/budgetplan/model/diag"
)

func readText(text string) (*model.Fragment, []diag.Finding) {
	return read(&importers.Source{File: "plan.yaml", Bytes: []byte(text)})
}

// show prints findings as people see them, without the file.
func show(findings []diag.Finding) string {
	var b strings.Builder
	place := func(s diag.Span) string { return fmt.Sprintf("%d:%d-%d", s.Line, s.Col, s.EndCol) }
	for _, f := range findings {
		fmt.Fprintf(&b, "%s %s", place(f.Place()), f.Code.ID)
		if f.Subject != "" {
			fmt.Fprintf(&b, " [%s]", f.Subject)
		}
		fmt.Fprintf(&b, " %s\n", f.Message)
		for _, n := range f.Notes {
			fmt.Fprintf(&b, "  note %s %s\n", place(n.At.Span()), n.Text)
		}
		if f.Help != "" {
			fmt.Fprintf(&b, "  help %s\n", f.Help)
		}
	}
	return b.String()
}

// dump prints every value of a fragment that somebody wrote, one a line, with its place.
func dump(f *model.Fragment) string {
	var b strings.Builder
	dumpValue(&b, "", reflect.ValueOf(*f))
	return b.String()
}

func dumpValue(b *strings.Builder, path string, v reflect.Value) {
	t := v.Type()
	switch {
	case !v.CanInterface() || v.IsZero() && t.Kind() != reflect.Struct:
		return
	case t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(1).Name == "From":
		if origin, ok := v.Field(1).Interface().(*diag.Origin); ok && origin != nil {
			fmt.Fprintf(b, "%s = %v @%d:%d-%d\n", path, v.Field(0).Interface(), origin.Line, origin.Col, origin.EndCol)
		}
		return
	}
	switch x := v.Interface().(type) {
	case diag.Span:
		if !x.Nowhere() {
			fmt.Fprintf(b, "%s @%d:%d\n", path, x.Line, x.Col)
		}
		return
	case time.Time:
		if !x.IsZero() {
			fmt.Fprintf(b, "%s = %s\n", path, x.Format(time.DateOnly))
		}
		return
	case model.FlowKind, model.Fraction:
		fmt.Fprintf(b, "%s = %v\n", path, x)
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		dumpValue(b, strings.TrimSuffix(path, ".Rare"), v.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			dumpValue(b, strings.TrimPrefix(path+"."+t.Field(i).Name, "."), v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			dumpValue(b, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			dumpValue(b, fmt.Sprintf("%s[%s]", path, k), v.MapIndex(k))
		}
	default:
		fmt.Fprintf(b, "%s = %v\n", path, v.Interface())
	}
}
