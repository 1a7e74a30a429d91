package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"pipelines/pipelines"
)

// sample is the project that init makes: NAME stands for its name, gitignore
// for .gitignore.
//
//go:embed sample
var sample embed.FS

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init NAME", Short: "make a small project that runs, with sample data", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return a.makeProject(args[0]) },
	}
}

// isProjectName reports names that are fine for a folder and a pipeline.
func isProjectName(s string) bool {
	ok, err := regexp.MatchString(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`, s)
	return ok && err == nil
}

// makeProject writes the sample in a new or empty folder.
func (a *app) makeProject(dir string) error {
	if dir == "" {
		return usageError{errors.New("the name of the project is empty")}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	name := filepath.Base(abs)
	if !isProjectName(name) {
		return usageError{fmt.Errorf("%q is no name for a project: use letters, digits, - and _", name)}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &pipelines.EnvironmentError{Err: err}
	}
	if len(entries) > 0 {
		return usageError{fmt.Errorf("the folder %s is not empty", dir)}
	}
	err = fs.WalkDir(sample, "sample", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(p, "sample")))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := sample.ReadFile(p)
		if err != nil {
			return err
		}
		switch d.Name() {
		case "gitignore":
			to = filepath.Join(filepath.Dir(to), ".gitignore")
		case "pipeline.yml":
			text = []byte(strings.Replace(string(text), "name: NAME", "name: "+quoteYAML(name), 1))
		}
		return os.WriteFile(to, text, 0o644)
	})
	if err != nil {
		return &pipelines.EnvironmentError{Err: err}
	}
	_, err = fmt.Fprintf(a.stdout, "made %s; now:\n  cd %s\n  pipelines run\n  pipelines sql -c 'SELECT * FROM daily ORDER BY day, country'\n", dir, dir)
	return err
}

// quoteYAML quotes a name that YAML would read as another type.
func quoteYAML(name string) string {
	if regexp.MustCompile(`^[0-9.]|^(?i:true|false|yes|no|on|off|null)$`).MatchString(name) {
		return `"` + name + `"`
	}
	return name
}
