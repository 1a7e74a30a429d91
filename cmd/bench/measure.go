package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// usage is what one run of the binary cost.
type usage struct {
	cpu, wall time.Duration
	rss       int64 // KiB
}

func (u usage) String() string {
	return fmt.Sprintf("%6.2f CPU s %6.2f wall s %4d MB", u.cpu.Seconds(), u.wall.Seconds(), u.rss/1024)
}

// call runs the binary in dir and measures it.
func call(bin, dir string, args ...string) (usage, []byte, error) {
	cmd := exec.Command(bin, args...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err := cmd.Run()
	u := usage{wall: time.Since(start)}
	if err != nil {
		return u, nil, fmt.Errorf("%s %v: %w\n%s", bin, args, err, errs.Bytes())
	}
	ru := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	u.cpu = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	u.rss = ru.Maxrss
	return u, out.Bytes(), nil
}

// query runs one statement and returns its first row as text.
func query(bin, dir, sql string) (string, error) {
	_, out, err := call(bin, dir, "sql", "--output", "jsonstrings", "-c", sql)
	if err != nil {
		return "", err
	}
	var doc struct{ Rows [][]*string }
	if err := json.Unmarshal(out, &doc); err != nil {
		return "", fmt.Errorf("%q: %w in %s", sql, err, out)
	}
	text := ""
	if len(doc.Rows) > 0 {
		for i, v := range doc.Rows[0] {
			if i > 0 {
				text += " "
			}
			if v == nil {
				text += "NULL"
			} else {
				text += *v
			}
		}
	}
	return text, nil
}

// median runs f n times on a fresh state and returns the run with the median
// CPU time.
func median(n int, f func() (usage, error)) (usage, error) {
	var all []usage
	for range n {
		u, err := f()
		if err != nil {
			return u, err
		}
		all = append(all, u)
	}
	for i := range all {
		for k := i; k > 0 && all[k].cpu < all[k-1].cpu; k-- {
			all[k], all[k-1] = all[k-1], all[k]
		}
	}
	return all[len(all)/2], nil
}

// fresh removes the state folder of a project.
func fresh(dir string) error { return os.RemoveAll(dir + "/state") }

// fresh gives the workload's project no state: the one before is removed, or
// set aside.
func (b *bench) fresh(w workload, dir string) error {
	if _, err := os.Stat(dir + "/state"); err != nil || !w.aside {
		return fresh(dir)
	}
	if err := os.MkdirAll(b.old(), 0o755); err != nil {
		return err
	}
	to, err := os.MkdirTemp(b.old(), "")
	if err != nil {
		return err
	}
	return os.Rename(dir+"/state", to+"/state")
}

// old is where states are set aside.
func (b *bench) old() string { return filepath.Join(b.dir, "old") }
