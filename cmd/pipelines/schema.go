package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"pipelines/pipelines"
)

func (a *app) schemaCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "schema", Short: "print the JSON Schema of pipeline.yml, for editors", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.stdout.Write(pipelines.JSONSchema())
			return err
		},
	}
	var params []string
	pull := &cobra.Command{
		Use: "pull", Short: "find the columns of sources without a schema and pin them in schemas.lock.yml", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.schemaPull(params) },
	}
	pull.Flags().StringArrayVar(&params, "param", nil, "name=value of a parameter (repeatable)")
	c.AddCommand(pull)
	return c
}

func (a *app) schemaPull(params []string) error {
	p, list, err := a.load(context.Background(), params, false)
	if err != nil {
		return err
	}
	if a.findings(list) || p == nil {
		return nil
	}
	path, err := p.Pin()
	if err != nil {
		return &pipelines.EnvironmentError{Err: err}
	}
	if path == "" {
		_, err = fmt.Fprintln(a.stdout, "nothing new to pin")
		return err
	}
	_, err = fmt.Fprintln(a.stdout, "pinned in "+path)
	return err
}
