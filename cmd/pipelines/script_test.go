package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"pipelines": func() { os.Exit(realMain(os.Args[1:], os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the command line as users do: testdata/script/*.txtar. Some
// commands are ours: `code N prog args...` demands an exit code,
// `interrupt TEXT N SIGNALS prog args...` sends signals once the program has
// said TEXT, and `holding FILE N prog args...` holds a lock on FILE meanwhile.
func TestScripts(t *testing.T) {
	dir, err := filepath.Abs("../../testdata/script")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           dir,
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code": code, "interrupt": interrupt, "beside": beside, "holding": holding,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("CI", "1")
			e.Setenv("HOME", e.WorkDir)
			return nil
		},
	})
}

func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N prog args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		x, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = x.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// interrupt TEXT CODE SIGNAL[,SIGNAL] prog args...: the second signal follows
// at once.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: interrupt TEXT CODE SIGNALS prog args...")
	}
	signals := map[string][]os.Signal{
		"INT": {os.Interrupt}, "TERM": {syscall.SIGTERM}, "INT,INT": {os.Interrupt, os.Interrupt},
	}[args[2]]
	if signals == nil {
		ts.Fatalf("unknown signals %s", args[2])
	}
	exe, err := os.Executable()
	ts.Check(err)
	c := exec.Command(exe, args[4:]...)
	c.Args[0] = args[3] // the test binary is the program of this name
	c.Dir = ts.Getenv("WORK")
	c.Env = append(os.Environ(), "CI=1")
	out, err := os.Create(filepath.Join(c.Dir, "interrupted.out"))
	ts.Check(err)
	defer func() { ts.Check(out.Close()) }()
	c.Stdout, c.Stderr = out, out
	ts.Check(c.Start())
	await(ts, out.Name(), args[0])
	for _, s := range signals {
		ts.Check(c.Process.Signal(s))
		time.Sleep(20 * time.Millisecond)
	}
	err = c.Wait()
	got := 0
	if x, ok := errors.AsType[*exec.ExitError](err); ok {
		got = x.ExitCode()
	}
	if fmt.Sprint(got) != args[1] {
		ts.Fatalf("exit code %d, want %s", got, args[1])
	}
}

// beside TEXT CODE args...: while `pipelines run` is at work, and has said TEXT,
// another pipelines with args ends with CODE.
func beside(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: beside TEXT CODE args...")
	}
	exe, err := os.Executable()
	ts.Check(err)
	c := exec.Command(exe, "run")
	c.Args[0], c.Dir, c.Env = "pipelines", ts.Getenv("WORK"), append(os.Environ(), "CI=1")
	out, err := os.Create(filepath.Join(c.Dir, "beside.out"))
	ts.Check(err)
	defer func() { ts.Check(out.Close()) }()
	c.Stdout, c.Stderr = out, out
	ts.Check(c.Start())
	await(ts, out.Name(), args[0])
	defer func() {
		ts.Check(c.Process.Kill())
		_ = c.Wait() // it was killed
	}()
	code(ts, false, append([]string{args[1], "pipelines"}, args[2:]...))
}

// holding FILE CODE prog args...: while this process holds FILE as another runner
// would, the program ends with CODE.
func holding(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: holding FILE CODE prog args...")
	}
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer func() { ts.Check(f.Close()) }()
	ts.Check(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB))
	code(ts, false, args[1:])
}

func await(ts *testscript.TestScript, file, text string) {
	for range 1000 {
		if said, err := os.ReadFile(file); err == nil && strings.Contains(string(said), text) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	ts.Fatalf("%q was not said", text)
}
