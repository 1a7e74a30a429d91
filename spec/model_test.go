package spec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"pipelines/spec/diag"
	"pipelines/spec/option"
)

// dump turns the model into plain JSON values for golden files: places are
// left out except those of texts, and unset values are not shown.
func dump(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case String:
		return x.Value
	case Bool:
		return x.Value
	case Int:
		return x.Value
	case Duration:
		return x.Value.String()
	case Name:
		return x.String()
	case option.Value:
		return x.String()
	case *diag.Text:
		if x == nil {
			return nil
		}
		return x.Span(diag.Range{Start: 0, End: 1}).String() + " " + x.Body
	case diag.Span, *diag.File:
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return dump(v.Elem())
	case reflect.Slice:
		out := []any{}
		for i := range v.Len() {
			out = append(out, dump(v.Index(i)))
		}
		return out
	case reflect.Struct:
		out := map[string]any{}
		for i := range v.NumField() {
			f := v.Field(i)
			if f.IsZero() && f.Kind() != reflect.Uint8 {
				continue
			}
			if d := dump(f); d != nil {
				out[v.Type().Field(i).Name] = d
			}
		}
		return out
	case reflect.Uint8:
		if s, ok := v.Interface().(interface{ String() string }); ok {
			return s.String()
		}
	}
	return v.Interface()
}

func dumpJSON(t testing.TB, p *Pipeline) string {
	t.Helper()
	out, err := json.MarshalIndent(dump(reflect.ValueOf(p)), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out) + "\n"
}

// TestModel runs testdata/model: parse FILE prints the model, faults the list.
func TestModel(t *testing.T) {
	datadriven.RunTest(t, "testdata/model", func(t *testing.T, d *datadriven.TestData) string {
		name := "p.yml"
		src := []byte(d.Input)
		if d.HasArg("file") {
			d.ScanArgs(t, "file", &name)
			var err error
			if src, err = os.ReadFile(filepath.Join("testdata", name)); err != nil {
				t.Fatal(err)
			}
		}
		if d.HasArg("spark") {
			name = "spark-pipeline.yml"
		}
		opts := Options{}
		if d.HasArg("param") {
			var kv string
			d.ScanArgs(t, "param", &kv)
			k, v, _ := strings.Cut(kv, ":")
			opts.Parameters = map[string]string{k: v}
		}
		p, list := Parse(name, src, opts)
		if d.Cmd == "faults" {
			return list.Render()
		}
		return list.Render() + dumpJSON(t, p)
	})
}
