package spec

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"pipelines/spec/option"
)

func compileSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// yamlValue reads a document as a JSON library would.
func yamlValue(t *testing.T, src []byte) (any, bool) {
	t.Helper()
	var v any
	if err := yaml.Unmarshal(src, &v); err != nil {
		return nil, false
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, false
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	return value, true
}

// TestSchemaAgrees demands that what Parse accepts is valid by the schema, and
// that the schema refuses each fault that it can express.
func TestSchemaAgrees(t *testing.T) {
	s := compileSchema(t)
	var files []string
	for _, pattern := range []string{"testdata/bad/*.yml", "testdata/good/*.yml", "../testdata/conformance/pipelines/*/project-native/*.yml"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	inSchema := []string{"UNKNOWN_KEY", "MISSING_KEY", "DATA_SOURCE_NOT_FOUND", "FEATURE_NOT_AVAILABLE"}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		value, ok := yamlValue(t, src)
		if !ok {
			continue
		}
		_, list := Parse(f, src, Options{})
		err = s.Validate(value)
		if !list.HasErrors() && err != nil {
			t.Errorf("%s: Parse accepts it, the schema does not: %v", f, err)
		}
		for _, d := range list {
			if strings.Contains(d.Message, `"path"`) {
				continue // depends on the format
			}
			if err == nil && slices.Contains(inSchema, string(d.Code)) {
				t.Errorf("%s: the schema accepts it, Parse does not: %s", f, list.Render())
				break
			}
		}
	}
}

// TestSchemaSingle tries one key at a time in both.
func TestSchemaSingle(t *testing.T) {
	s := compileSchema(t)
	f := func(line string, good bool) {
		t.Helper()
		src := []byte("name: a\nstorage: b\n" + line + "\n")
		_, list := Parse("p.yml", src, Options{})
		value, _ := yamlValue(t, src)
		if err := s.Validate(value); list.HasErrors() == good || (err == nil) != good {
			t.Errorf("%s: want %v\n%s\n%v", line, good, list.Render(), err)
		}
	}
	f("trigger: triggered", true)
	f("trigger: sometimes", false)
	f("trigger: {processing_tim: 1 second}", false)
	f("max_concurrent_flows: 0", false)
	f("max_concurrent_flows: 4", true)
	f("catalog: [a]", false)
	f("configuration: {a: 1}", false)
	f("configuration: {a: '1'}", true)
	f("parameters: {p: {type: int, default: 3}}", true)
	f("parameters: {p: {default: 3}}", false)
	f("schedule: daily", false)
	f("views: [{name: v, sql: 'SELECT 1', on_error: drop}]", true)
	f("views: [{name: v, sql: 'SELECT 1', on_error: quarantine}]", false)
	f("views: [{name: v, sql: 'SELECT 1', deduplicate: {keys: [], within_watermark: true}}]", true)
	f("views: [{name: v, sql: 'SELECT 1', deduplicate: {keys: a}}]", false)
	f("flows: [{name: v, target: t, sql: 'SELECT 1', once: 'true'}]", false)
	f("streaming_tables: [{name: v, auto_cdc: {source: s, keys: [a], sequence_by: b, stored_as_scd_type: 2}}]", true)
}

// TestSchemaOptions demands that the options of a format are in the schema.
func TestSchemaOptions(t *testing.T) {
	set := option.NewSet("json", option.Field{Name: "multiLine", Type: option.TypeBool, Default: "false", Doc: "One record a file."})
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(JSONSchemaWith(map[string]*option.Set{"json": set}, nil)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s := c.MustCompile("schema.json")
	for text, good := range map[string]bool{"'true'": true, "maybe": false, "${env:X}": true} {
		value, _ := yamlValue(t, []byte("name: a\nstorage: b\nsources: [{name: s, format: json, path: p, options: {multiLine: \""+text+"\"}}]\n"))
		if text == "'true'" {
			value, _ = yamlValue(t, []byte("name: a\nstorage: b\nsources: [{name: s, format: json, path: p, options: {multiLine: 'true'}}]\n"))
		}
		if err := s.Validate(value); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestKeysHaveDocs demands a doc for each key and a place for each later line.
func TestKeysHaveDocs(t *testing.T) {
	all := map[string]*object{}
	var visit func(o *object)
	visit = func(o *object) {
		if all[o.name] != nil {
			return
		}
		all[o.name] = o
		for _, k := range o.keys {
			if k.doc == "" {
				t.Errorf("%s.%s has no doc", o.name, k.name)
			}
			if k.object != nil {
				visit(k.object)
			}
		}
	}
	visit(pipelineObject)
	for _, l := range laterThings {
		found := false
		for _, o := range all {
			if k := o.find(l.key); k != nil && (l.object == "" || l.object == o.name) {
				found = found || l.value == "" || len(k.values) == 0 || slices.Contains(k.values, l.value)
			}
		}
		if !found {
			t.Errorf("later.go: no such thing: %+v", l)
		}
	}
	if md := KeysMarkdown(); len(md) < 4000 {
		t.Errorf("the docs have %d bytes", len(md))
	}
}
