package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

func (a *app) statusCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "status", Short: "what the last or running update did: rows, watermark, state, expectations", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(output, "text", "json"); err != nil {
				return err
			}
			return a.status(output)
		},
	}
	c.Flags().StringVar(&output, "output", "text", "text or json")
	return c
}

func (a *app) status(output string) error {
	r, err := a.open(context.Background())
	if err != nil || r == nil {
		return err
	}
	s, err := r.Status()
	if err != nil {
		return &pipelines.EnvironmentError{Err: err}
	}
	if output == "json" {
		if s == nil {
			s = &pipelines.Status{Schema: 1, Pipeline: r.Name(), Flows: []*pipelines.FlowStatus{}}
		}
		return document(a.stdout, s)
	}
	if s == nil {
		_, err := fmt.Fprintf(a.stdout, "%s: no update has run yet\n", r.Name())
		return err
	}
	state := string(s.State)
	if s.Reason != "" {
		state += " (" + s.Reason + ")"
	}
	fmt.Fprintf(a.stdout, "%s: update %s is %s, started %s, last change %s ago\n", s.Pipeline, s.Update, state, s.Started.Format("2006-01-02 15:04:05Z"), age(s.Changed))
	rows := [][]string{{"FLOW", "STATE", "EPOCHS", "ROWS IN", "ROWS OUT", "WATERMARK", "STATE ROWS"}}
	for _, f := range s.Flows {
		rows = append(rows, []string{flowTitle(f.Dataset, f.Flow), string(f.State), count(f.Epochs), count(f.InputRows), count(f.OutputRows), orDash(f.Watermark), count(f.StateRows)})
	}
	if err := columns(a.stdout, rows); err != nil {
		return err
	}
	if s.Error != nil {
		fmt.Fprintf(a.stdout, "error: %s\n", s.Error.Message)
	}
	for _, f := range s.Flows {
		if f.CorruptRows+f.DroppedRows > 0 {
			fmt.Fprintf(a.stdout, "flow %s: %s\n", flowTitle(f.Dataset, f.Flow), malformed(f.CorruptRows, f.DroppedRows))
		}
		if f.LateRows > 0 {
			fmt.Fprintf(a.stdout, "flow %s: %s\n", flowTitle(f.Dataset, f.Flow), late(f.LateRows))
		}
		for _, e := range f.Expectations {
			of := "of"
			if e.Dataset != "" {
				of = "in"
			}
			fmt.Fprintf(a.stdout, "expectation %s %s %s (%s): %s rows passed, %s failed\n", e.Title(), of, f.Dataset, e.Action, count(e.Passed), count(e.Failed))
		}
		if f.Error != nil {
			fmt.Fprintf(a.stdout, "error: flow %s: %s\n", flowTitle(f.Dataset, f.Flow), f.Error.Message)
		}
		if f.Reason != "" && f.Reason != s.Reason && f.State != event.Completed {
			fmt.Fprintf(a.stdout, "flow %s: %s\n", flowTitle(f.Dataset, f.Flow), f.Reason)
		}
	}
	return nil
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
