package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// small is a project over small files, one epoch a file.
func small(name, source string) workload {
	return workload{
		name: name, check: "SELECT count(*), sum(id) FROM t",
		files: map[string]string{"pipeline.yml": fmt.Sprintf(`name: small
storage: ./state
sources:
  - name: rows
    format: json
    path: %s
    schema: "id BIGINT, name STRING, amount DECIMAL(12,2), ts TIMESTAMP"
    options: {maxFilesPerTrigger: "1"}
streaming_tables:
  - name: t
    sql: |
      SELECT id, name, amount, ts, date(ts) AS day FROM STREAM(rows)
`, source)},
	}
}

// keyed is small with state: the first row of each id, within a watermark that
// moves by 1,000 seconds an epoch.
func keyed(name, source string) workload {
	w := small(name, source)
	doc := w.files["pipeline.yml"]
	at := strings.Index(doc, "streaming_tables:")
	w.files["pipeline.yml"] = doc[:at] + `views:
  - name: moving
    sql: |
      SELECT id, name, amount, timestamp_seconds(1000000000 + id) AS t FROM STREAM(rows)
streaming_tables:
  - name: t
    deduplicate: {keys: [id], within_watermark: true}
    sql: |
      SELECT id, name, amount, t FROM STREAM(moving) WATERMARK t DELAY OF INTERVAL 10 SECONDS
`
	return w
}

// rows makes files of small rows once: n files of the given number of rows.
func (b *bench) rows(n, each int) (string, error) {
	dir := filepath.Join(b.dir, fmt.Sprintf("rows-%d-%d", n, each))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	tmp := dir + ".new"
	if err := os.RemoveAll(tmp); err != nil {
		return "", err
	}
	if err := os.MkdirAll(tmp, 0o755); err != nil {
		return "", err
	}
	var text strings.Builder
	for i := range n {
		text.Reset()
		for k := range each {
			id := i*each + k
			fmt.Fprintf(&text, `{"id":%d,"name":"row %d","amount":%d.25,"ts":"2026-01-02T03:%02d:05Z"}`+"\n", id, id, id%1000, id%60)
		}
		if err := os.WriteFile(filepath.Join(tmp, fmt.Sprintf("f%06d.json", i)), []byte(text.String()), 0o644); err != nil {
			return "", err
		}
	}
	return dir, os.Rename(tmp, dir)
}

func total(n int64) string { return fmt.Sprintf("%d %d", n, n*(n-1)/2) }

// epochs measures an epoch of 1,000 rows, without and with state.
func (b *bench) epochs() error {
	if !b.wanted("epoch") {
		return nil
	}
	err := b.epochsOf("epoch of 1,000 rows, file -> Delta", small)
	if err == nil {
		err = b.epochsOf("the same with state", keyed)
	}
	return errors.Join(err, os.RemoveAll(b.old()))
}

// epochsOf takes the slope between two numbers of epochs of one run.
func (b *bench) epochsOf(what string, project func(name, source string) workload) error {
	var us [2]usage
	ns := [2]int{b.epochsLarge / 10, b.epochsLarge}
	for i, n := range ns {
		data, err := b.rows(n, 1000)
		if err != nil {
			return err
		}
		w := project(fmt.Sprintf("%d epochs of 1,000 rows", n), data)
		rows := int64(n) * 1000
		w.answers = map[int64]string{rows: total(rows)}
		// For seconds after many files were removed ext4 takes 0.2 ms of CPU to
		// make one: it goes by the numbers that they had.
		w.aside = true
		if us[i], err = b.run(w, rows); err != nil {
			return err
		}
	}
	per := float64(ns[1] - ns[0])
	fmt.Printf("%-36s %10s  %.2f CPU ms %.2f wall ms an epoch, from the %d-th to the %d-th\n", what, "",
		(us[1].cpu-us[0].cpu).Seconds()*1e3/per, (us[1].wall-us[0].wall).Seconds()*1e3/per, ns[0], ns[1])
	return nil
}

// idle measures a run that finds nothing new among many known files.
func (b *bench) idle() error {
	if !b.wanted("idle") {
		return nil
	}
	const files = 100_000
	data, err := b.rows(files, 1)
	if err != nil {
		return err
	}
	w := small("idle", data)
	w.files["pipeline.yml"] = strings.Replace(w.files["pipeline.yml"], `    options: {maxFilesPerTrigger: "1"}`+"\n", "", 1)
	dir := filepath.Join(b.dir, "project", "idle")
	if err := w.write(dir); err != nil {
		return err
	}
	if err := fresh(dir); err != nil {
		return err
	}
	if _, _, err := call(b.bin, dir, "run"); err != nil {
		return err
	}
	if got, err := query(b.bin, dir, w.check); err != nil || got != total(files) {
		return fmt.Errorf("%d files: got %s, %w", files, got, err)
	}
	u, err := median(max(b.runs, 5), func() (usage, error) {
		u, _, err := call(b.bin, dir, "run")
		return u, err
	})
	if err != nil {
		return err
	}
	fmt.Printf("%-36s %10d  %s (whole process)\n", "idle run, known files", files, u)
	return nil
}

// disk returns the bytes of a table's data files.
func disk(dir string) (int64, error) {
	var n int64
	err := filepath.Walk(dir, func(p string, info os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(p, ".parquet") && !strings.Contains(p, "_delta_log") {
			n += info.Size()
		}
		return err
	})
	return n, err
}
