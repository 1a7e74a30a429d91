package json

import (
	"testing"

	"pipelines/spec/option"
)

// TestFields decodes the option list with its defaults and with wrong values.
func TestFields(t *testing.T) {
	set := option.NewSet("format json", New().Fields()...)
	if _, list := set.Decode(nil, option.Context{}); len(list) > 0 {
		t.Error(list)
	}
	if _, list := set.Decode(option.FromMap(map[string]string{"encoding": "UTF-8", "COMPRESSION": "gzip"}), option.Context{}); len(list) > 0 {
		t.Error(list)
	}
	if _, list := set.Decode(option.FromMap(map[string]string{"nope": "1"}), option.Context{}); len(list) == 0 {
		t.Error("an unknown option is taken")
	}
	for _, f := range New().Fields() {
		if f.Doc == "" {
			t.Errorf("%s has no doc", f.Name)
		}
	}
}
