package load

import (
	"os"
	"path/filepath"
	"strings"
)

// Relative gives the function that names a file by its path in the repository, with slashes, for formats that are read
// by whoever has the repository and not this folder. A file outside of it keeps its absolute path; without a
// repository, paths are relative to the working directory.
func Relative() func(file string) string {
	here, err := os.Getwd()
	if err != nil {
		return filepath.ToSlash
	}
	root := repository(here)
	return func(file string) string {
		path := file
		if !filepath.IsAbs(path) {
			path = filepath.Join(here, path)
		}
		within, err := filepath.Rel(root, path)
		if err != nil || within == ".." || strings.HasPrefix(within, ".."+string(filepath.Separator)) {
			return filepath.ToSlash(path)
		}
		return filepath.ToSlash(within)
	}
}

// repository is the nearest folder with .git, from a folder upwards; the folder itself where there is none.
func repository(from string) string {
	for dir := from; ; {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return from
		}
		dir = parent
	}
}
