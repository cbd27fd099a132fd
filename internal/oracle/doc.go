// Package oracle holds the product's output against other people's programs: the parsers, schemas and validators of those
// who will read it. It is a module of its own, so that none of them is a dependency of the product.
package oracle
