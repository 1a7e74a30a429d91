package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pipelines/pipelines"
	"pipelines/pipelines/shell"
	"pipelines/spec/diag"
)

type sqlFlags struct {
	text    string
	file    string
	output  string
	outFile string
	goOn    bool
	params  []string
	noSpec  bool
	textSet bool
	fileSet bool
}

func (a *app) sqlCommand() *cobra.Command {
	var f sqlFlags
	c := &cobra.Command{
		Use: "sql [-c TEXT | -f FILE]", Short: "run SQL statements against the project's tables, or none",
		Long: "Runs SQL statements, one after another: queries on the project's tables (their latest version), on files\n" +
			"(json.`path`, parquet.`path`, csv.`path`, delta.`path`, read_files(...)) and on session views and tables.\n" +
			"A pipeline's tables are never written from here. --output parquet writes the result of one query as one\n" +
			"Parquet file, to --output-file or to stdout when that is no terminal. Without -c and -f the statements are read from stdin;\n" +
			"on a terminal with a prompt, history and completion (Tab).",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.textSet, f.fileSet = cmd.Flags().Changed("command"), cmd.Flags().Changed("file")
			return a.sql(f)
		},
	}
	fl := c.Flags()
	fl.StringVarP(&f.text, "command", "c", "", "the statements")
	fl.StringVarP(&f.file, "file", "f", "", "a file of statements; - is stdin")
	fl.StringVar(&f.output, "output", "table", "table, csv, json (one object a statement), jsonstrings or parquet")
	fl.StringVar(&f.outFile, "output-file", "", "write the results to this file, which is replaced when all went well")
	fl.BoolVar(&f.goOn, "continue-on-error", false, "go on after a failed statement")
	fl.StringArrayVar(&f.params, "param", nil, "name=value of a parameter of the project (repeatable)")
	fl.BoolVar(&f.noSpec, "no-project", false, "do not look for a project")
	return c
}

// input returns the text of the statements.
func (f sqlFlags) input() (*diag.Text, error) {
	switch {
	case f.textSet && f.fileSet:
		return nil, usageError{errors.New("use either -c or -f")}
	case f.textSet:
		return diag.NewText("-c", f.text), nil
	case f.fileSet && f.file != "-":
		b, err := os.ReadFile(f.file)
		if err != nil {
			return nil, &pipelines.EnvironmentError{Err: err}
		}
		return diag.NewText(f.file, string(b)), nil
	}
	b, err := io.ReadAll(os.Stdin)
	if err != nil {
		return nil, &pipelines.EnvironmentError{Err: err}
	}
	return diag.NewText("stdin", string(b)), nil
}

// reader opens the project, if there is one.
func (a *app) reader(ctx context.Context, f sqlFlags) (*pipelines.Reader, error) {
	params, err := parseParams(f.params)
	if err != nil {
		return nil, err
	}
	if !f.noSpec {
		path, list := pipelines.FindDocument(a.spec)
		if path != "" {
			r, list, err := pipelines.OpenReader(ctx, pipelines.LoadOptions{Path: path, Parameters: params, Env: os.LookupEnv})
			if err != nil {
				return nil, &pipelines.EnvironmentError{Err: err}
			}
			if list.HasErrors() {
				a.findings(list)
			}
			if r == nil {
				return nil, nil //nolint:nilnil // the findings were printed
			}
			a.code = exitOK // a view with errors is said when it is read
			return r, nil
		}
		if a.spec != "" {
			a.findings(list)
			return nil, nil //nolint:nilnil // the findings were printed
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, &pipelines.EnvironmentError{Err: err}
	}
	return pipelines.BareReader(ctx, dir, nil)
}

func (a *app) sql(f sqlFlags) error {
	interactive := !f.textSet && !f.fileSet && term.IsTerminal(int(os.Stdin.Fd()))
	if err := f.check(interactive); err != nil {
		return err
	}
	var text *diag.Text
	if !interactive {
		var err error
		if text, err = f.input(); err != nil {
			return err
		}
	}
	if f.outFile == "" {
		return a.sqlTo(a.stdout, f, text)
	}
	if st, err := os.Stat(f.outFile); err == nil && !st.Mode().IsRegular() {
		return usageError{fmt.Errorf("--output-file replaces a file, and %s is a folder or a device", f.outFile)}
	}
	tmp, err := os.CreateTemp(filepath.Dir(f.outFile), "."+filepath.Base(f.outFile)+".*")
	if err != nil {
		return &pipelines.EnvironmentError{Err: err}
	}
	err = a.sqlTo(tmp, f, text)
	if e := tmp.Close(); err == nil && e != nil {
		err = fmt.Errorf("output: %w", e)
	}
	if err != nil || a.code != exitOK && !f.goOn {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	if err := errors.Join(os.Chmod(tmp.Name(), 0o644), os.Rename(tmp.Name(), f.outFile)); err != nil {
		return &pipelines.EnvironmentError{Err: errors.Join(err, os.Remove(tmp.Name()))}
	}
	return nil
}

// check refuses flags that do not go together.
func (f sqlFlags) check(interactive bool) error {
	binary := shell.Format(f.output) == shell.Parquet
	switch {
	case interactive && (binary || f.outFile != ""):
		return usageError{errors.New("--output parquet and --output-file take a script: use -c, -f or stdin")}
	case binary && f.outFile == "" && term.IsTerminal(int(os.Stdout.Fd())):
		return usageError{errors.New("--output parquet does not write to a terminal: use --output-file, or send stdout to a file")}
	}
	return nil
}

// sqlTo runs the statements, or those that are typed when there is no text.
func (a *app) sqlTo(w io.Writer, f sqlFlags, text *diag.Text) error {
	out, err := shell.NewPrinter(shell.Format(f.output), w, a.stderr)
	if err != nil {
		return usageError{err}
	}
	interactive := text == nil
	ctx, stop, code, done := signals(true)
	defer done()
	_ = ctx // a query ends at the first signal
	if interactive {
		done() // each statement has its own
		stop = context.Background()
	}
	r, err := a.reader(stop, f)
	if err != nil || r == nil {
		return err
	}
	name := ""
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	s, err := shell.New(shell.Options{Reader: r, User: name})
	if err != nil {
		return usageError{err}
	}
	if interactive {
		return a.interactive(s, out)
	}
	if err := a.statements(stop, s, text, out, f.goOn); err != nil {
		return err
	}
	if c := code(); c != exitOK {
		a.code = c
	}
	return nil
}

// statements runs a script.
func (a *app) statements(ctx context.Context, s *shell.Session, text *diag.Text, out *shell.Printer, goOn bool) error {
	text = shell.Substitute(text, s.Settings().Conf)
	list := s.Parse(text)
	if err := out.Check(list); err != nil {
		return usageError{err}
	}
	for i := range list {
		st := &list[i]
		out.Begin(i+1, text.Span(st.At).Start.Line, s.Settings())
		f := s.Run(ctx, st, text, out.For(st))
		if err := out.End(f); err != nil {
			return fmt.Errorf("output: %w", err)
		}
		if f == nil {
			continue
		}
		a.code = exitFailed
		if f.Static() && !goOn {
			a.code = exitFindings
		}
		if !goOn || ctx.Err() != nil {
			break
		}
	}
	return nil
}
