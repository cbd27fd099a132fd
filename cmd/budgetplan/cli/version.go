package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version of budgetplan",
		Long:    "version shows the version, the commit that it was built from where the build knows it, and the Go version.",
		Example: "  budgetplan version",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionText())
			return err
		},
	}
}

func versionText() string {
	commit := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = " commit " + s.Value
			}
		}
	}
	return fmt.Sprintf("budgetplan %s%s %s %s/%s", versionNumber(), commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func versionNumber() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
