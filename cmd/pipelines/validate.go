package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pipelines/pipelines"
	"pipelines/spec/diag"
)

func (a *app) validateCommand() *cobra.Command {
	var output string
	var params []string
	c := &cobra.Command{
		Use: "validate [PATH...]", Short: "check specs and SQL offline: reads no data, needs no secret",
		Long: "Checks documents and their SQL and reports all faults at once. PATH is a document or its folder; ./... means\n" +
			"every document below the folder. Without PATH: --spec, or the nearest pipeline.yml.",
		RunE: func(_ *cobra.Command, args []string) error {
			if err := checkOutput(output, "text", "json", "junit", "sarif", "github"); err != nil {
				return err
			}
			return a.validate(args, params, output)
		},
	}
	c.Flags().StringVar(&output, "output", "text", "text, json, junit, sarif or github")
	c.Flags().StringArrayVar(&params, "param", nil, "name=value of a parameter (repeatable)")
	return c
}

// documents finds the documents that the arguments name.
func (a *app) documents(args []string) ([]string, diag.List, error) {
	if len(args) == 0 {
		path, list := pipelines.FindDocument(a.spec)
		if path == "" {
			return nil, list, nil
		}
		return []string{path}, nil, nil
	}
	var out []string
	for _, arg := range args {
		root, walk := strings.CutSuffix(arg, "/...")
		if arg == "..." {
			root, walk = ".", true
		}
		if !walk {
			path, list := pipelines.FindDocument(arg)
			if path == "" {
				return nil, list, nil
			}
			out = append(out, path)
			continue
		}
		found, err := walkDocuments(root)
		if err != nil {
			return nil, nil, err
		}
		out = append(out, found...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil, nil
}

func walkDocuments(root string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		switch d.Name() {
		case "pipeline.yml", "pipeline.yaml", "spark-pipeline.yml", "spark-pipeline.yaml":
			out = append(out, p)
		}
		return nil
	})
	if err != nil {
		return nil, &pipelines.EnvironmentError{Err: err}
	}
	return out, nil
}

// checked is what validate found.
type checked struct {
	Schema    int       `json:"schema"`
	Files     []string  `json:"files"`
	Errors    int       `json:"errors"`
	Warnings  int       `json:"warnings"`
	Findings  diag.List `json:"findings"`
	Unchecked []string  `json:"unchecked"`
	datasets  int
}

func (a *app) validate(args, params []string, output string) error {
	values, err := parseParams(params)
	if err != nil {
		return err
	}
	docs, list, err := a.documents(args)
	if err != nil {
		return err
	}
	c := checked{Schema: 1, Files: docs, Findings: list, Unchecked: []string{}}
	if len(docs) == 0 && len(list) == 0 {
		fmt.Fprintln(a.stderr, "no pipeline.yml or spark-pipeline.yml found")
	}
	for _, d := range docs {
		p, list, err := pipelines.Load(context.Background(), pipelines.LoadOptions{Path: d, Parameters: values, Offline: true, Env: os.LookupEnv})
		if err != nil {
			return &pipelines.EnvironmentError{Err: err}
		}
		c.Findings = append(c.Findings, list...)
		if p != nil {
			c.Unchecked = append(c.Unchecked, p.Unchecked...)
			c.datasets += len(p.Graph().Order())
		}
	}
	c.Errors, c.Warnings = c.Findings.Count()
	if c.Errors > 0 {
		a.code = exitFindings
	}
	return a.report(c, output)
}

func (a *app) report(c checked, output string) error {
	switch output {
	case "json":
		if c.Files == nil {
			c.Files = []string{}
		}
		return document(a.stdout, c)
	case "junit":
		_, err := a.stdout.Write(c.Findings.JUnit("pipelines validate", c.Files))
		return err
	case "sarif":
		_, err := a.stdout.Write(c.Findings.SARIF(version))
		return err
	case "github":
		_, err := fmt.Fprint(a.stdout, c.Findings.GitHub())
		return err
	}
	fmt.Fprint(a.stderr, c.Findings.Render())
	for _, u := range c.Unchecked {
		fmt.Fprintln(a.stderr, "not checked: "+u)
	}
	if c.Errors > 0 || c.Warnings > 0 {
		fmt.Fprintf(a.stderr, "%s, %s\n", plural(c.Errors, "error"), plural(c.Warnings, "warning"))
	}
	if c.Errors == 0 && len(c.Files) > 0 {
		_, err := fmt.Fprintf(a.stdout, "ok: %s, %s\n", plural(len(c.Files), "document"), plural(c.datasets, "node"))
		return err
	}
	return nil
}
