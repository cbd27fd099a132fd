// Package release tests what is outside of the program and yet part of a release: the build and packaging
// configuration, the pre-commit hook and the GitHub Action. Each is read as its own tool reads it, and its commands are run.
package release
