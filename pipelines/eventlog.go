package pipelines

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pipelines/pipelines/event"
	"pipelines/tables/catalog"
)

// keptUpdates is how many event logs of a pipeline are kept.
const keptUpdates = 100

// openLog starts the event log, and the status file, which passes share; the
// function it returns finishes the log.
func (u *update) openLog() (func() error, error) {
	dir := filepath.Join(u.st.root, "events")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, u.id+".jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if u.pass == 0 {
		dropLogs(dir, u.p.Name(), keptUpdates-1)
	}
	lines, failed := event.Log(f)
	if u.status == nil {
		u.status = newStatusFile(u)
	}
	u.listen = event.Tee(lines, u.status.listener(), u.o.Listener)
	return func() error { return errors.Join(failed(), f.Close()) }, nil
}

// dropLogs removes the logs of a pipeline, and those of nobody, that are older
// than its newest. What cannot be removed is left for the next update.
func dropLogs(dir, pipeline string, keep int) {
	names, err := logNames(dir)
	if err != nil || len(names) <= keep {
		return
	}
	for _, name := range names {
		owner, known := logOwner(dir, name)
		switch {
		case !known || owner != "" && owner != catalog.PathPart(pipeline):
		case keep > 0:
			keep--
		default:
			_ = os.Remove(filepath.Join(dir, name+".jsonl")) // see above
		}
	}
}

// logNames lists the updates that have a log, the newest first.
func logNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range slices.Backward(entries) {
		if name, isLog := strings.CutSuffix(e.Name(), ".jsonl"); isLog {
			out = append(out, name)
		}
	}
	return out, err
}

// logOwner is whose update a log tells of, as a part of a path; "" where it
// does not say, as old ones. It is not known before the first line is there.
func logOwner(dir, name string) (owner string, known bool) {
	f, err := os.Open(filepath.Join(dir, name+".jsonl"))
	if err != nil {
		return "", false
	}
	defer func() { _ = f.Close() }() // it was only read
	line, err := bufio.NewReader(f).ReadBytes('\n')
	var first struct {
		Event struct {
			Pipeline string `json:"pipeline"`
		} `json:"event"`
	}
	if err != nil || json.Unmarshal(line, &first) != nil {
		return "", false
	}
	if first.Event.Pipeline == "" {
		return "", true
	}
	return catalog.PathPart(first.Event.Pipeline), true
}

// EventLog returns the path of an update's event log; "" finds the pipeline's
// newest. ok is false when there is none.
func (r *Reader) EventLog(update string) (path string, ok bool, err error) {
	if !r.p.spec.Storage.IsSet() {
		return "", false, nil
	}
	dir := filepath.Join(r.p.spec.StorageDir(), "events")
	names, err := logNames(dir)
	if err != nil {
		return "", false, err
	}
	found := ""
	if slices.Contains(names, update) {
		found = update
	}
	for _, name := range names {
		if update != "" {
			break
		}
		owner, known := logOwner(dir, name)
		if known && owner == catalog.PathPart(r.Name()) {
			found = name
			break
		}
		if known && owner == "" && found == "" {
			found = name // of a time when logs did not say whose they are
		}
	}
	return filepath.Join(dir, found+".jsonl"), found != "", nil
}
