package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pipelines/pipelines"
	"pipelines/pipelines/event"
)

// selectFlags say what an update does; run and dry-run share them.
type selectFlags struct {
	trigger              string
	refresh, fullRefresh nameList
	all, cascade         bool
	params               []string
}

func (f *selectFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.trigger, "trigger", "", "available_now (in epochs that honour limits), triggered (one epoch a flow) or continuous (until it is stopped)")
	fl.Var(&f.refresh, "refresh", "update only these tables (a,b)")
	fl.Var(&f.fullRefresh, "full-refresh", "make these tables and sinks anew (a,b)")
	fl.BoolVar(&f.all, "full-refresh-all", false, "make all tables anew")
	fl.BoolVar(&f.cascade, "cascade", false, "also make anew the streaming tables that read what is made anew")
	fl.StringArrayVar(&f.params, "param", nil, "name=value of a parameter (repeatable)")
}

func (f *selectFlags) options() (pipelines.RunOptions, error) {
	f.trigger = strings.ReplaceAll(f.trigger, "-", "_")
	if f.trigger != "" && !slices.Contains(pipelines.Triggers(), f.trigger) {
		return pipelines.RunOptions{}, usageError{fmt.Errorf("unknown trigger %q: use one of %s", f.trigger, strings.Join(pipelines.Triggers(), ", "))}
	}
	// An empty shell variable must not become a run of everything.
	for flag, names := range map[string][]string{"refresh": f.refresh, "full-refresh": f.fullRefresh} {
		if names != nil && strings.Trim(strings.Join(names, ""), " ,") == "" {
			return pipelines.RunOptions{}, usageError{fmt.Errorf("--%s names no table", flag)}
		}
	}
	if f.cascade && len(f.fullRefresh) == 0 {
		return pipelines.RunOptions{}, usageError{errors.New("--cascade goes with --full-refresh")}
	}
	return pipelines.RunOptions{Trigger: f.trigger, Refresh: trimmed(f.refresh), FullRefresh: trimmed(f.fullRefresh), FullRefreshAll: f.all, Cascade: f.cascade}, nil
}

// trimmed are the names of a list without the blanks around them.
func trimmed(list []string) []string {
	var out []string
	for _, name := range list {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// nameList is a flag of names with commas between them, which may stand in
// backticks.
type nameList []string

// Set implements pflag.Value.
func (l *nameList) Set(text string) error {
	quoted, from := false, 0
	for i, c := range []byte(text) {
		switch {
		case c == '`':
			quoted = !quoted
		case c == ',' && !quoted:
			*l, from = append(*l, text[from:i]), i+1
		}
	}
	*l = append(*l, text[from:])
	return nil
}

// String implements pflag.Value.
func (l *nameList) String() string { return strings.Join(*l, ",") }

// Type implements pflag.Value.
func (l *nameList) Type() string { return "strings" }

type runFlags struct {
	selectFlags
	output, logLevel, logFormat string
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use: "run", Short: "run the graph: read what is new, write tables exactly once", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			for _, err := range []error{
				checkOutput(f.output, "text", "json"), checkWord("--log-level", f.logLevel, "debug", "info", "warn", "error"),
				checkWord("--log-format", f.logFormat, "text", "json"),
			} {
				if err != nil {
					return err
				}
			}
			return a.run(f)
		},
	}
	f.add(c)
	fl := c.Flags()
	fl.StringVar(&f.output, "output", "text", "text, or json: events as JSON lines on stdout and the result as the last; lines of console sinks then go to stderr")
	fl.StringVar(&f.logLevel, "log-level", "info", "debug (also what is queued), info, warn or error")
	fl.StringVar(&f.logFormat, "log-format", "text", "text or json, on stderr")
	return c
}

func checkWord(flag, v string, known ...string) error {
	if slices.Contains(known, v) {
		return nil
	}
	return usageError{fmt.Errorf("%s takes one of %s, not %q", flag, strings.Join(known, ", "), v)}
}

func (a *app) run(f runFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	ctx, stop, code, done := signals(false)
	defer done()
	p, list, err := a.load(ctx, f.params, false)
	if err != nil {
		return err
	}
	if a.findings(list) || p == nil {
		if p == nil {
			a.code = exitFindings
		}
		return nil
	}
	if pinned, err := p.Pin(); err != nil {
		return &pipelines.EnvironmentError{Err: err}
	} else if pinned != "" {
		fmt.Fprintf(a.stderr, "the columns found in files are pinned in %s: commit it\n", pinned)
	}
	progress, out, finish := a.progress(f)
	o.Listener, o.Out = progress, out
	res, more, err := p.Run(ctx, stop, o)
	finish()
	if a.findings(more) {
		return nil
	}
	if res != nil {
		if err := a.summary(res, f); err != nil {
			return err
		}
		if res.Failed() {
			a.code = exitFailed
		}
	}
	if c := code(); c != exitOK {
		a.code = c
		return nil
	}
	return err
}

// progress makes the listener that tells what happens, the writer of console
// sinks, and what ends both.
func (a *app) progress(f runFlags) (event.Listener, io.Writer, func()) {
	if f.output == "json" {
		// The lines of console sinks are data as well, but of another kind.
		l, _ := event.Log(a.stdout)
		return l, a.stderr, func() {}
	}
	if f.logFormat == "json" {
		l, _ := event.Log(a.stderr)
		return leveled(l, f.logLevel), a.stdout, func() {}
	}
	if width, height := terminal(a.stderr); width > 0 && f.logLevel == "info" {
		live := &liveLines{w: a.stderr, width: width, height: height}
		out := a.stdout
		if w, _ := terminal(a.stdout); w > 0 {
			out = liveOut{live, a.stdout}
		}
		return live.listener(), out, live.finish
	}
	return leveled(event.Text(a.stderr), f.logLevel), a.stdout, func() {}
}

// leveled leaves out what is below a level.
func leveled(l event.Listener, level string) event.Listener {
	rank := slices.Index([]string{"debug", "info", "warn", "error"}, level)
	out := l
	flow := func(e event.FlowChanged) {
		need := 1
		switch e.State {
		case event.Failed:
			need = 3
		case event.Skipped:
			need = 2
		case event.Queued, event.Planning, event.Starting, event.Excluded:
			need = 0
		}
		if need >= rank {
			l.OnFlow(e)
		}
	}
	out.FlowChanged = flow
	if rank > 1 {
		out.FlowProgress = nil
		out.UpdateChanged = func(e event.UpdateChanged) {
			if e.State == event.Failed {
				l.OnUpdate(e)
			}
		}
	}
	if rank > 2 {
		out.Note = nil
	}
	return out
}

// summary tells what an update did: rows, seconds, expectations and one error
// a flow.
func (a *app) summary(res *pipelines.Result, f runFlags) error {
	if f.output == "json" {
		return resultLine(a.stdout, res)
	}
	w := a.stderr
	counts := map[event.State]int{}
	rows := [][]string{}
	for _, x := range res.Flows {
		counts[x.State]++
		line := []string{"  " + flowTitle(x.Dataset, x.Flow), string(x.State), "", "", ""}
		if x.Epochs > 0 || x.InputRows > 0 || x.OutputRows > 0 {
			line[2], line[3], line[4] = plural(int(x.Epochs), "epoch"), count(x.InputRows)+" rows in", count(x.OutputRows)+" rows out"
		}
		if x.Reason != "" {
			line = append(line, x.Reason)
		}
		rows = append(rows, line)
	}
	fmt.Fprintf(w, "update %s: %s rows in %.3f s", res.Update, count(res.Rows), res.Finished.Sub(res.Started).Seconds())
	for _, s := range []event.State{event.Completed, event.Failed, event.Skipped, event.Stopped} {
		if counts[s] > 0 {
			fmt.Fprintf(w, ", %d %s", counts[s], strings.ToLower(string(s)))
		}
	}
	fmt.Fprintln(w)
	if err := columns(w, rows); err != nil {
		return err
	}
	for _, x := range res.Flows {
		if x.CorruptRows+x.DroppedRows > 0 {
			fmt.Fprintf(w, "  %s: %s\n", flowTitle(x.Dataset, x.Flow), malformed(x.CorruptRows, x.DroppedRows))
		}
		if x.LateRows > 0 {
			fmt.Fprintf(w, "  %s: %s\n", flowTitle(x.Dataset, x.Flow), late(x.LateRows))
		}
		for _, e := range x.Expectations {
			if e.Failed > 0 {
				fmt.Fprintf(w, "  %s: expectation %s (%s): %s of %s rows violate it\n", flowTitle(x.Dataset, x.Flow), e.Title(), e.Action, count(e.Failed), count(e.Failed+e.Passed))
			}
		}
	}
	for _, x := range res.Flows {
		if x.Err != nil {
			fmt.Fprintf(w, "error: flow %s: %s\n", flowTitle(x.Dataset, x.Flow), errorText(x.Err))
		}
	}
	return nil
}

// malformed tells of records that were not read as they stand.
func malformed(corrupt, dropped int64) string {
	return fmt.Sprintf("%s records could not be decoded fully, %s were left out", count(corrupt), count(dropped))
}

// late tells of rows that came after the watermark.
func late(rows int64) string {
	if rows == 1 {
		return "1 row came after the watermark and was dropped"
	}
	return count(rows) + " rows came after the watermark and were dropped"
}

// errorText keeps an error on one line, and says "bug" with its stack below.
func errorText(err error) string {
	s := err.Error()
	if strings.HasPrefix(s, "bug:") {
		return s
	}
	return strings.ReplaceAll(s, "\n", "; ")
}

func flowTitle(dataset, flow string) string {
	if flow == "" || flow == dataset || strings.HasSuffix(flow, "."+dataset) {
		return dataset
	}
	return dataset + "/" + flow
}

// resultLine writes the result as the last JSON line.
func resultLine(w io.Writer, res *pipelines.Result) error {
	type flowDoc struct {
		Dataset      string              `json:"dataset"`
		Flow         string              `json:"flow"`
		State        event.State         `json:"state"`
		Epochs       int64               `json:"epochs"`
		InputRows    int64               `json:"inputRows"`
		OutputRows   int64               `json:"outputRows"`
		CorruptRows  int64               `json:"corruptRecords,omitempty"`
		DroppedRows  int64               `json:"droppedRecords,omitempty"`
		LateRows     int64               `json:"lateRows,omitempty"`
		Expectations []event.Expectation `json:"expectations,omitempty"`
		Error        string              `json:"error,omitempty"`
		Reason       string              `json:"reason,omitempty"`
	}
	doc := struct {
		Schema  int       `json:"schema"`
		Type    string    `json:"type"`
		Update  string    `json:"update"`
		Rows    int64     `json:"rows"`
		Seconds float64   `json:"seconds"`
		Start   time.Time `json:"start"`
		Failed  bool      `json:"failed"`
		Flows   []flowDoc `json:"flows"`
	}{1, "result", res.Update, res.Rows, res.Finished.Sub(res.Started).Seconds(), res.Started.UTC(), res.Failed(), []flowDoc{}}
	for _, x := range res.Flows {
		d := flowDoc{x.Dataset, x.Flow, x.State, x.Epochs, x.InputRows, x.OutputRows, x.CorruptRows, x.DroppedRows, x.LateRows, x.Expectations, "", x.Reason}
		if x.Err != nil {
			d.Error = x.Err.Error()
		}
		doc.Flows = append(doc.Flows, d)
	}
	b, err := marshalLine(doc)
	if err != nil {
		return errors.Join(errors.New("result"), err)
	}
	_, err = w.Write(b)
	return err
}
