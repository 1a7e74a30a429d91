package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pipelines/pipelines"
)

func (a *app) checkpointCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "checkpoint", Short: "look at the checkpoints of flows: list, show, verify", Args: noSuchCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var output string
	add := func(use, short string, args cobra.PositionalArgs, run func(list []pipelines.CheckpointInfo, args []string) error) {
		sub := &cobra.Command{
			Use: use, Short: short, Args: args,
			RunE: func(cmd *cobra.Command, args []string) error {
				if err := checkOutput(output, "text", "json"); err != nil {
					return err
				}
				r, err := a.open(context.Background())
				if err != nil || r == nil {
					return err
				}
				list, err := r.Checkpoints(context.Background(), cmd.Name() != "list")
				if err != nil {
					return &pipelines.EnvironmentError{Err: err}
				}
				return run(list, args)
			},
		}
		sub.Flags().StringVar(&output, "output", "text", "text or json")
		c.AddCommand(sub)
	}
	add("list", "one line a flow", cobra.NoArgs, func(list []pipelines.CheckpointInfo, _ []string) error {
		return a.checkpointList(list, output)
	})
	add("show TABLE", "offsets, watermark and state of a table's flows", cobra.ExactArgs(1), func(list []pipelines.CheckpointInfo, args []string) error {
		return a.checkpointShow(list, args[0], output)
	})
	add("verify", "read every checkpoint whole; exit code 1 if one is damaged", cobra.NoArgs, func(list []pipelines.CheckpointInfo, _ []string) error {
		for _, x := range list {
			if !x.OK() {
				a.code = exitFailed
			}
		}
		return a.checkpointList(list, output)
	})
	return c
}

func (a *app) checkpointList(list []pipelines.CheckpointInfo, output string) error {
	if output == "json" {
		return document(a.stdout, struct {
			Schema      int                        `json:"schema"`
			Checkpoints []pipelines.CheckpointInfo `json:"checkpoints"`
		}{1, append([]pipelines.CheckpointInfo{}, list...)})
	}
	rows := [][]string{{"TABLE", "FLOW", "VERSION", "EPOCHS", "BYTES", "STATE"}}
	for _, x := range list {
		state := x.State
		if x.Pending && state == "ok" {
			state = "ok, an epoch is begun"
		}
		rows = append(rows, []string{x.Dataset, x.Flow, fmt.Sprint(x.Version), count(x.Epochs), count(x.Bytes), state})
	}
	return columns(a.stdout, rows)
}

func (a *app) checkpointShow(list []pipelines.CheckpointInfo, table, output string) error {
	low := strings.ToLower(table)
	list = slices.DeleteFunc(slices.Clone(list), func(x pipelines.CheckpointInfo) bool {
		return x.Dataset != low && !strings.HasSuffix(x.Dataset, "."+low)
	})
	if len(list) == 0 {
		return usageError{fmt.Errorf("there is no checkpoint of %q", table)}
	}
	if output == "json" {
		return a.checkpointList(list, output)
	}
	for _, x := range list {
		fmt.Fprintf(a.stdout, "%s, flow %s, version %d: %s\n  %s\n", x.Dataset, x.Flow, x.Version, x.State, x.Path)
		if x.At == nil {
			continue
		}
		fmt.Fprintf(a.stdout, "  %s committed, the newest of %s\n", plural(int(x.Epochs), "epoch"), x.At.Format("2006-01-02 15:04:05Z"))
		for _, id := range slices.Sorted(maps.Keys(x.Offsets)) {
			fmt.Fprintf(a.stdout, "  source %s: offset %s, %d ledger entries\n", id, x.Offsets[id], x.LedgerRows[id])
		}
		if x.Watermark != nil {
			fmt.Fprintf(a.stdout, "  watermark %s\n", x.Watermark.Format("2006-01-02T15:04:05.000Z"))
		}
		for _, o := range x.Operators {
			fmt.Fprintf(a.stdout, "  state %s: %s rows, %s bytes\n", o.ID, count(o.Rows), count(o.Bytes))
		}
	}
	return nil
}
