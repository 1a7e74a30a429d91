package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

func (a *app) eventsCommand() *cobra.Command {
	var output, update string
	c := &cobra.Command{
		Use: "events", Short: "the event log of the last update, or of one by its id", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(output, "text", "json"); err != nil {
				return err
			}
			return a.events(output, update)
		},
	}
	c.Flags().StringVar(&output, "output", "text", "text or json (JSON lines)")
	c.Flags().StringVar(&update, "update", "", "the id of an update (default: the newest)")
	return c
}

func (a *app) events(output, update string) (err error) {
	r, err := a.open(context.Background())
	if err != nil || r == nil {
		return err
	}
	path, ok, err := r.EventLog(update)
	if err != nil {
		return &pipelines.EnvironmentError{Err: err}
	}
	if !ok {
		if update != "" {
			return usageError{fmt.Errorf("there is no update %q", update)}
		}
		fmt.Fprintf(a.stderr, "%s: no update has run yet\n", r.Name())
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return &pipelines.EnvironmentError{Err: err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if output == "json" {
		_, err := io.Copy(a.stdout, f)
		return err
	}
	return printEvents(f, event.Text(a.stdout))
}

// printEvents hands the lines of a log to a listener; the cut last line of a
// killed update is left out.
func printEvents(r io.Reader, l event.Listener) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 1<<16), 1<<24)
	for s.Scan() {
		var line struct {
			Type  string          `json:"type"`
			Event json.RawMessage `json:"event"`
		}
		if json.Unmarshal(s.Bytes(), &line) != nil {
			continue
		}
		switch line.Type {
		case "update":
			give(line.Event, l.OnUpdate)
		case "flow":
			give(line.Event, l.OnFlow)
		case "progress":
			give(line.Event, l.OnProgress)
		case "note":
			give(line.Event, l.OnNote)
		}
	}
	return s.Err()
}

func give[T any](raw json.RawMessage, to func(T)) {
	var e T
	if json.Unmarshal(raw, &e) == nil {
		to(e)
	}
}
