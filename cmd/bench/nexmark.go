package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const nexmarkFiles = "testdata/nexmark"

// nexmarkSize is the number of events, at the generator's own rate, of which
// the answers are known; those of other files belong to other rates.
const nexmarkSize = 1_000_000

// nexmarkQueries runs the Nexmark queries over the small size, in epochs of a
// file of 125,000 events, and prints the lines of the table in
// docs/performance.md.
func (b *bench) nexmarkQueries() error {
	answers, err := os.ReadFile(fmt.Sprintf("%s/answers-%d.txt", nexmarkFiles, nexmarkSize))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(answers)) {
		name, answer, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !b.wanted("nexmark " + name + " ") {
			continue
		}
		w, mode, err := b.nexmarkQuery(name, answer)
		if err != nil {
			return err
		}
		u, err := b.run(w, b.small)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %s | yes | %.2f | %.2f |\n", name, mode, u.cpu.Seconds(), float64(b.small)/u.cpu.Seconds()/1e6)
	}
	return nil
}

// nexmarkQuery reads a query's archive.
func (b *bench) nexmarkQuery(name, answer string) (w workload, mode string, err error) {
	archive, err := os.ReadFile(filepath.Join(nexmarkFiles, name+".txtar"))
	if err != nil {
		return w, "", err
	}
	common, err := os.ReadFile(filepath.Join(nexmarkFiles, "common.yml"))
	if err != nil {
		return w, "", err
	}
	data, err := b.data(b.small)
	if err != nil {
		return w, "", err
	}
	w = workload{name: "nexmark " + name + " ", answers: map[int64]string{nexmarkSize: answer}}
	tables := ""
	for _, part := range strings.Split("\n"+string(archive), "\n-- ")[1:] {
		member, text, _ := strings.Cut(part, " --\n")
		switch strings.TrimSuffix(member, " --") {
		case "mode":
			mode = text
		case "tables.yml":
			tables = text + "\n"
		case "check":
			w.check = strings.TrimSpace(text)
		case "closing":
			if data, err = b.closed(data); err != nil {
				return w, "", err
			}
		}
	}
	w.files = map[string]string{"pipeline.yml": strings.Replace(string(common), "path: data", "path: "+data, 1) + tables}
	return w, mode, nil
}

// closed is the data with a file more, whose rows close every window.
func (b *bench) closed(data string) (string, error) {
	dir := data + "-closing"
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	tmp := dir + ".new"
	if err := errors.Join(os.RemoveAll(tmp), os.MkdirAll(tmp, 0o755)); err != nil {
		return "", err
	}
	files, err := os.ReadDir(data)
	if err != nil {
		return "", err
	}
	for _, f := range files {
		if err := os.Link(filepath.Join(data, f.Name()), filepath.Join(tmp, f.Name())); err != nil {
			return "", err
		}
	}
	last, err := os.ReadFile(filepath.Join(nexmarkFiles, "closing.json"))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(tmp, "part-99999.json"), last, 0o644); err != nil {
		return "", err
	}
	return dir, os.Rename(tmp, dir)
}
