package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"pipelines/pipelines"
	"pipelines/spec/diag"
)

func (a *app) dryRunCommand() *cobra.Command {
	var output string
	var f selectFlags
	var showPlan bool
	c := &cobra.Command{
		Use: "dry-run", Short: "validate, then look at the world and say what run would do; writes nothing", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(output, "text", "json"); err != nil {
				return err
			}
			return a.dryRun(f, output, showPlan)
		},
	}
	f.add(c)
	c.Flags().StringVar(&output, "output", "text", "text or json")
	c.Flags().BoolVar(&showPlan, "plan", false, "show the plan of each query")
	return c
}

func (a *app) dryRun(f selectFlags, output string, showPlan bool) error {
	ctx, stop, code, done := signals(true)
	defer done()
	o, err := f.options()
	if err != nil {
		return err
	}
	steps, list, err := a.plan(stop, f, o)
	_ = ctx // nothing has to be finished
	if c := code(); c != exitOK {
		a.code = c
		return nil
	}
	if err != nil {
		return err
	}
	if list.HasErrors() {
		a.code = exitFindings
	}
	for _, s := range steps {
		if len(s.Errors) > 0 {
			a.code = exitFailed
		}
	}
	if output == "json" {
		return document(a.stdout, struct {
			Schema   int              `json:"schema"`
			Findings diag.List        `json:"findings"`
			Steps    []pipelines.Step `json:"steps"`
		}{1, list, append([]pipelines.Step{}, steps...)})
	}
	fmt.Fprint(a.stderr, list.Render())
	for _, s := range steps {
		fmt.Fprintf(a.stdout, "%s (%s): %s\n", s.Dataset, s.Kind, s.Action)
		for _, d := range s.Details {
			fmt.Fprintf(a.stdout, "  %s\n", d)
		}
		for _, e := range s.Errors {
			fmt.Fprintf(a.stdout, "  would fail: %s\n", e)
			fmt.Fprintf(a.stderr, "error: %s: %s\n", s.Dataset, e)
		}
		if showPlan && s.Plan != "" {
			fmt.Fprintf(a.stdout, "  %s\n", strings.ReplaceAll(strings.TrimSpace(s.Plan), "\n", "\n  "))
		}
	}
	return nil
}

// plan validates, then looks at the world.
func (a *app) plan(ctx context.Context, f selectFlags, o pipelines.RunOptions) ([]pipelines.Step, diag.List, error) {
	p, list, err := a.load(ctx, f.params, false)
	if err != nil || p == nil || list.HasErrors() {
		return nil, list, err
	}
	steps, more, err := p.DryRun(ctx, o)
	return steps, append(list, more...), err
}
