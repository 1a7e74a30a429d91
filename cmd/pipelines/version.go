package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is the product's version.
const version = "0.1.0"

func (a *app) versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "version", Short: "print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(output, "text", "json"); err != nil {
				return err
			}
			commit := ""
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						commit = s.Value
					}
				}
			}
			if output == "json" {
				return document(a.stdout, map[string]any{"schema": 1, "version": version, "commit": commit, "go": runtime.Version()})
			}
			_, err := fmt.Fprintf(a.stdout, "pipelines %s %s %s/%s %s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH, commit)
			return err
		},
	}
	c.Flags().StringVar(&output, "output", "text", "text or json")
	return c
}
