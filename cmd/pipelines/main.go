package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	_ "time/tzdata" // zones of SQL, also where the machine has none

	"github.com/spf13/cobra"

	"pipelines/pipelines"
	"pipelines/spec/diag"
)

// The exit codes.
const (
	exitOK          = 0
	exitFailed      = 1 // a flow or statement failed while running
	exitFindings    = 2 // findings in specs or SQL, usage errors
	exitEnvironment = 3 // nothing could start
	exitInterrupt   = 130
	exitTerminate   = 143
)

// app is what all commands share.
type app struct {
	stdout, stderr io.Writer
	spec           string // --spec
	code           int    // what the process exits with
}

// commands lists the commands in the order in which help shows them.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.initCommand(), a.validateCommand(), a.dryRunCommand(), a.runCommand(), a.sqlCommand(), a.tablesCommand(),
		a.graphCommand(), a.statusCommand(), a.eventsCommand(), a.checkpointCommand(), a.schemaCommand(), a.versionCommand(),
	}
}

func main() { os.Exit(realMain(os.Args[1:], os.Stdout, os.Stderr)) }

func realMain(args []string, stdout, stderr io.Writer) int {
	// Less collection for more memory; a limit set from outside still holds.
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(200)
	}
	out := &checkedOutput{Writer: stdout}
	a := &app{stdout: out, stderr: stderr}
	cobra.EnableCommandSorting = false // help shows them in the order of the work
	root := &cobra.Command{
		Use: "pipelines", Short: "Declarative data pipelines with Spark's SQL on one machine",
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.SetArgs(args)
	root.SetOut(out)
	root.SetErr(stderr)
	root.PersistentFlags().StringVar(&a.spec, "spec", "", "the pipeline document or its folder (default: the nearest pipeline.yml)")
	root.AddCommand(a.commands()...)
	root.SetHelpCommand(helpCommand(root))
	err := root.Execute()
	if err == nil && a.code == exitOK && out.err != nil {
		err = out.err // of a command that did not look
	}
	if err != nil {
		a.fail(err)
	}
	return a.code
}

// noSuchCommand refuses the arguments of a command that only has others.
func noSuchCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageError{fmt.Errorf("unknown command %q for %q", args[0], c.CommandPath())}
}

// helpCommand is the library's, but for names that no command has.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [command]", Short: "help about any command",
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usageError{fmt.Errorf("there is no command %q", strings.Join(args, " "))}
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// checkedOutput remembers the first error of writing.
type checkedOutput struct {
	io.Writer
	err error
}

func (w *checkedOutput) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// usageError is a mistake on the command line.
type usageError struct{ error }

// fail reports an error and sets the exit code.
func (a *app) fail(err error) {
	a.code = exitFailed
	_, env := errors.AsType[*pipelines.EnvironmentError](err)
	_, usage := errors.AsType[usageError](err)
	switch {
	case env:
		a.code = exitEnvironment
	case usage || isCobraUsage(err):
		a.code = exitFindings
		fmt.Fprintf(a.stderr, "error: %s\nrun `pipelines --help` for usage\n", err)
		return
	}
	fmt.Fprintf(a.stderr, "error: %s\n", err)
}

// isCobraUsage tells the library's complaints about arguments from ours: it
// has no type for them.
func isCobraUsage(err error) bool {
	for _, p := range []string{"unknown command", "unknown flag", "unknown shorthand", "accepts ", "requires ", "flag needs", "invalid argument", "bad flag", "if any flags", "required flag"} {
		if strings.HasPrefix(err.Error(), p) {
			return true
		}
	}
	return false
}

// findings prints a list on stderr and sets the exit code if it has errors; it
// reports whether it had.
func (a *app) findings(l diag.List) bool {
	if len(l) > 0 {
		fmt.Fprint(a.stderr, l.Render())
	}
	if !l.HasErrors() {
		return false
	}
	a.code = exitFindings
	return true
}

// grace is how long the second signal waits for an orderly end.
const grace = 2 * time.Second

// signals returns two contexts: stop ends at the first SIGINT or SIGTERM, ctx
// at the second, or at the first too when the work may be cut short anywhere.
// code is the exit code of the first signal, 0 if there was none.
func signals(short bool) (ctx, stop context.Context, code func() int, done func()) {
	ctx, cancel := context.WithCancel(context.Background())
	stop, stopNow := context.WithCancel(ctx)
	ch := make(chan os.Signal, 2)
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	var exit atomic.Int32
	quit := make(chan struct{})
	go func() {
		defer cancel()
		select {
		case s := <-ch:
			exit.Store(exitInterrupt)
			if s == syscall.SIGTERM {
				exit.Store(exitTerminate)
			}
			stopNow()
		case <-quit:
			return
		}
		if !short {
			select {
			case <-ch:
			case <-quit:
				return
			}
		}
		// Everything is told to end. What does not (a query in a long loop) is
		// ended with the process: recovery starts from what is durable.
		cancel()
		select {
		case <-time.After(grace):
			os.Exit(int(exit.Load()))
		case <-quit:
		}
	}()
	code = func() int { return int(exit.Load()) }
	done = sync.OnceFunc(func() {
		if code() == exitOK { // after a signal the process ends with our code, whatever comes
			signal.Stop(ch)
		}
		close(quit)
		stopNow()
	})
	return ctx, stop, code, done
}
