// Package exam holds the product against figures that were worked out elsewhere: real incidents
// (testdata/exam) and the figures of the design (testdata/vectors). It has no code of its own, only tests,
// and sees the product as a user does: a plan goes in, the JSON of `budgetplan plan` comes out.
package exam

// What the examples, the README and the documents show of the tool is written anew.
//
//go:generate go test . -run ^(TestExamples|TestReadme)$ -update
