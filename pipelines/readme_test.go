package pipelines_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The README's tour is run as printed: each sh block in one shell, in order,
// and its output compared with the text block that follows it.

// tourStep is one sh block of the tour and what it should print.
type tourStep struct {
	line         int // of the block in the README
	script, want string
}

var fence = regexp.MustCompile("(?ms)^```(sh|text)\n(.*?)^```$")

func tour(t *testing.T) []tourStep {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), "<!-- tour -->")
	part, _, end := strings.Cut(rest, "<!-- end of tour -->")
	if !ok || !end {
		t.Fatal("README.md has no tour between its two comments")
	}
	var steps []tourStep
	for _, m := range fence.FindAllStringSubmatchIndex(part, -1) {
		kind, body := part[m[2]:m[3]], part[m[4]:m[5]]
		switch {
		case kind == "sh":
			steps = append(steps, tourStep{line: 1 + strings.Count(before+part[:m[0]], "\n"), script: body})
		case len(steps) == 0 || steps[len(steps)-1].want != "":
			t.Fatal("a text block without commands before it")
		default:
			steps[len(steps)-1].want = body
		}
	}
	return steps
}

var (
	progressLine = regexp.MustCompile(`(?m)^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d: .*\n`)
	varying      = []struct {
		re   *regexp.Regexp
		with string
	}{
		{regexp.MustCompile(`\d{8}T\d{6}-[0-9a-f]{8}`), "UPDATE"},
		{regexp.MustCompile(`\d+\.\d+ s\b`), "N s"},
		{regexp.MustCompile(`(?m)[ \t]+$`), ""},
	}
)

// steady leaves out what differs from run to run.
func steady(s string) string {
	s = progressLine.ReplaceAllString(s, "")
	for _, v := range varying {
		s = v.re.ReplaceAllString(s, v.with)
	}
	return s
}

// binary builds the command for the tests that run it. It stays in bin/, so
// that only a change links it again.
func binary(t *testing.T) string {
	t.Helper()
	bin, err := filepath.Abs("../bin/test/pipelines")
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-o", bin, "../cmd/pipelines").CombinedOutput()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return bin
}

func TestReadmeTour(t *testing.T) {
	steps := tour(t)
	if len(steps) < 5 {
		t.Fatalf("the tour has %d steps", len(steps))
	}
	bin := binary(t)
	var script strings.Builder
	for i, s := range steps {
		fmt.Fprintf(&script, "{ :\n%s} 2>&1\necho '<<<%d>>>'\n", s.script, i)
	}
	cmd := exec.Command("sh", "-c", script.String())
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(bin)+":"+os.Getenv("PATH"), "NO_COLOR=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := string(out)
	for i, s := range steps {
		var got string
		got, rest, _ = strings.Cut(rest, fmt.Sprintf("<<<%d>>>\n", i))
		if steady(got) != steady(s.want) {
			t.Errorf("README.md:%d: the commands\n%s\nprint\n%s\nand the README says\n%s", s.line, s.script, got, s.want)
		}
	}
}

// TestReadmeDependencies: each module that the product imports is named in the
// README with its reason.
func TestReadmeDependencies(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "## Dependencies")
	section, _, _ = strings.Cut(section, "\n## ")
	seen := map[string]bool{}
	for _, s := range sources(t) {
		for _, im := range s.file.Imports {
			p := strings.Trim(im.Path.Value, `"`)
			parts := strings.Split(p, "/")
			if !strings.Contains(parts[0], ".") {
				continue
			}
			module := strings.Join(parts[:min(len(parts), 3)], "/")
			if strings.Contains(parts[0], "gopkg.in") || parts[0] == "go.etcd.io" || parts[0] == "pgregory.net" || parts[0] == "go.uber.org" {
				module = strings.Join(parts[:2], "/")
			}
			if !seen[module] && !strings.Contains(section, module) {
				t.Errorf("%s imports %s, which README's list of dependencies lacks", s.path, module)
			}
			seen[module] = true
		}
	}
}

// TestReadmeCommands: the README lists the commands that the binary has.
func TestReadmeCommands(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "## Commands")
	section, _, _ = strings.Cut(section, "\n## ")
	help, err := exec.Command(binary(t), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(help), "Available Commands:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for _, line := range strings.Split(list, "\n") {
		name := strings.Fields(line)[0]
		if name != "help" && !strings.Contains(section, "`"+name) {
			t.Errorf("README's table of commands lacks %s", name)
		}
	}
}
