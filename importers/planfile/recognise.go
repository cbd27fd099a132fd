package planfile

import (
	"slices"
	"strconv"

	"github.com/budgetplan/budgetplan/importers"
	"github.com/budgetplan/budgetplan/internal/yamlsrc"
	"github.com/budgetplan/budgetplan/model/diag"
)

// recognise reports whether every document of a file is a plan or a policy.
func recognise(src *importers.Source) bool {
	file, _ := src.YAML()
	return len(file.Docs) > 0 && !slices.ContainsFunc(file.Docs, func(doc *yamlsrc.Node) bool {
		return !isPlan(doc) && !isPolicy(doc)
	})
}

// foreign are keys at the top of other tools' files that have words in common with plans.
var foreign = []string{"apiVersion", "static_resources", "dynamic_resources", "resources", "networks", "volumes", "_format_version", "configs", "groups"}

// isPlan recognises a plan even where one of its keys is misspelt: by entrypoints, by services that look like ours, or
// by having nothing else at its top than keys of a plan.
func isPlan(doc *yamlsrc.Node) bool {
	known, misspelt, others := 0, 0, 0
	for _, p := range doc.Pairs() {
		switch name := p.Key.Text(); {
		case slices.Contains(foreign, name):
			return false
		case isUser(name):
		case planTable.find(name) != nil:
			known++
		case nearest(name, []string{"services", "entrypoints"}) != "" && likeOurs(p.Value):
			misspelt++
		default:
			others++
		}
	}
	version := doc.Get("version")
	ours := version == nil || version.Text() == "1"
	services := doc.Get("services")
	switch {
	case services != nil && !looksLikeServices(services):
		return false
	case misspelt > 0 && others == 0 && ours:
		return true
	case known == 0:
		return false
	case doc.Get("entrypoints").Kind() == yamlsrc.Map || services != nil && (ours || others == 0 && isWhole(version)):
		return true
	}
	// A version alone says nothing, unless it is ours and nothing is beside it.
	others += misspelt
	return ours && others == 0 || version.Text() == "1" && known > 1
}

// isWhole tells a version of ours, even one that does not exist, from those of others ("3.8").
func isWhole(version *yamlsrc.Node) bool {
	_, err := strconv.Atoi(version.Text())
	return err == nil && !version.Quoted()
}

// looksLikeServices tells the services of a plan from those of Compose and others: most of their keys are known, be it
// as those of a call that stands one level too far out.
func looksLikeServices(n *yamlsrc.Node) bool {
	if n.Kind() != yamlsrc.Map {
		return n.Kind() == yamlsrc.Null
	}
	known, others := 0, 0
	for _, service := range n.Pairs()[:min(50, len(n.Pairs()))] {
		for _, p := range service.Value.Pairs() {
			if name := p.Key.Text(); serviceTable.find(name) != nil || callTable.find(name) != nil || isUser(name) {
				known++
			} else {
				others++
			}
		}
	}
	return known >= others
}

// likeOurs recognises services or entrypoints by themselves: mappings in which somebody calls.
func likeOurs(n *yamlsrc.Node) bool {
	calls := func(p yamlsrc.Pair) bool { return p.Value.Get("calls") != nil || p.Value.Get("call") != nil }
	return n.Kind() == yamlsrc.Map && slices.ContainsFunc(n.Pairs(), calls)
}

// isPolicy recognises a file that is a policy alone: only keys of a policy at its top, with the shapes of a policy.
func isPolicy(doc *yamlsrc.Node) bool {
	keys := 0
	for _, p := range doc.Pairs() {
		name := p.Key.Text()
		switch {
		case isUser(name) || name == "version":
			continue
		case policyTable.find(name) == nil:
			return false
		case name == "rules" && !areRules(p.Value):
			return false
		}
		keys++
	}
	return keys > 0
}

func areRules(n *yamlsrc.Node) bool {
	return n.Kind() == yamlsrc.Map && slices.ContainsFunc(n.Pairs(), func(p yamlsrc.Pair) bool {
		_, ok := diag.ParseSeverity(p.Value.Text())
		return ok || codeText.MatchString(p.Key.Text())
	})
}
