package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pipelines/pipelines"
)

func (a *app) tablesCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "tables", Short: "list tables: version, rows, bytes, age, path", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := checkOutput(output, "text", "json", "duckdb"); err != nil {
				return err
			}
			return a.tables(output)
		},
	}
	c.Flags().StringVar(&output, "output", "text", "text, json, or duckdb: views that read the tables there")
	return c
}

type tableDoc struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Comment  string `json:"comment,omitempty"`
	Owner    string `json:"owner,omitempty"`
	Stored   bool   `json:"stored"`
	Version  *int64 `json:"version,omitempty"`
	Rows     *int64 `json:"rows,omitempty"`
	Files    *int   `json:"files,omitempty"`
	Bytes    *int64 `json:"bytes,omitempty"`
	Modified string `json:"modified,omitempty"`
	Path     string `json:"path,omitempty"`
}

func (a *app) tables(output string) error {
	ctx := context.Background()
	r, err := a.open(ctx)
	if err != nil || r == nil {
		return err
	}
	list, err := r.Tables(ctx)
	if err != nil {
		return &pipelines.EnvironmentError{Err: err}
	}
	catalog, database := r.Namespace()
	switch output {
	case "json":
		docs := []tableDoc{}
		for _, t := range list {
			docs = append(docs, tableDocument(t))
		}
		return document(a.stdout, struct {
			Schema int        `json:"schema"`
			Tables []tableDoc `json:"tables"`
		}{1, docs})
	case "duckdb":
		return a.duckdb(list, database)
	}
	rows := [][]string{{"TABLE", "KIND", "VERSION", "ROWS", "FILES", "BYTES", "AGE", "PATH"}}
	for _, t := range list {
		line := []string{shortName(t.Name, catalog, database), t.Kind, "-", "-", "-", "-", "-", ""}
		if t.Stored {
			line = []string{line[0], t.Kind, fmt.Sprint(t.Version), rowsOf(t), count(int64(t.Files)), count(t.Bytes), age(t.Modified), t.Path}
		}
		rows = append(rows, line)
	}
	return columns(a.stdout, rows)
}

func rowsOf(t pipelines.TableInfo) string {
	if t.Rows < 0 {
		return "?"
	}
	return count(t.Rows)
}

// shortName leaves out the project's own catalog and database.
func shortName(parts []string, catalog, database string) string {
	if len(parts) == 3 && strings.EqualFold(parts[0], catalog) {
		if parts = parts[1:]; strings.EqualFold(parts[0], database) {
			parts = parts[1:]
		}
	}
	return strings.Join(parts, ".")
}

func age(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	d := time.Since(t)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

func tableDocument(t pipelines.TableInfo) tableDoc {
	d := tableDoc{Name: strings.Join(t.Name, "."), Kind: t.Kind, Comment: t.Comment, Owner: t.Owner, Stored: t.Stored}
	if t.Stored {
		d.Version, d.Files, d.Bytes, d.Path = &t.Version, &t.Files, &t.Bytes, t.Path
		if t.Rows >= 0 {
			d.Rows = &t.Rows
		}
		if !t.Modified.IsZero() {
			d.Modified = t.Modified.UTC().Format(time.RFC3339Nano)
		}
	}
	return d
}

// duckdb writes a view for each stored table, for `duckdb < FILE`.
func (a *app) duckdb(list []pipelines.TableInfo, database string) error {
	var b strings.Builder
	b.WriteString("INSTALL delta;\nLOAD delta;\n")
	made := map[string]bool{}
	for _, t := range list {
		if !t.Stored {
			continue
		}
		name := quoteSQL(t.Name[2])
		if !strings.EqualFold(t.Name[1], database) {
			db := quoteSQL(t.Name[1])
			if !made[db] {
				b.WriteString("CREATE SCHEMA IF NOT EXISTS " + db + ";\n")
				made[db] = true
			}
			name = db + "." + name
		}
		fmt.Fprintf(&b, "CREATE OR REPLACE VIEW %s AS SELECT * FROM delta_scan('%s');\n", name, strings.ReplaceAll(t.Path, "'", "''"))
	}
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}

func quoteSQL(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
