package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) graphCommand() *cobra.Command {
	var output string
	var params []string
	c := &cobra.Command{
		Use: "graph", Short: "show who reads whom: text, json, dot, mermaid", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(output, "text", "json", "dot", "mermaid"); err != nil {
				return err
			}
			return a.graph(output, params)
		},
	}
	c.Flags().StringVar(&output, "output", "text", "text, json, dot or mermaid")
	c.Flags().StringArrayVar(&params, "param", nil, "name=value of a parameter (repeatable)")
	return c
}

func (a *app) graph(output string, params []string) error {
	p, list, err := a.load(context.Background(), params, true)
	if err != nil {
		return err
	}
	if a.findings(list) || p == nil {
		return nil
	}
	g := p.Graph()
	text := ""
	switch output {
	case "json":
		b, err := g.JSON()
		if err != nil {
			return err
		}
		text = string(b) + "\n"
	case "dot":
		text = g.DOT()
	case "mermaid":
		text = g.Mermaid()
	default:
		text = g.Text()
	}
	_, err = fmt.Fprint(a.stdout, text)
	return err
}
