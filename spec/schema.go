package spec

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"pipelines/spec/option"
)

// JSONSchema returns the JSON Schema of pipeline.yml, made from the key table.
// Keys and words that are not available yet are refused by it too.
func JSONSchema() []byte { return JSONSchemaWith(nil, nil) }

// JSONSchemaWith returns the JSON Schema with the options of each source and
// sink format, by the format's name.
func JSONSchemaWith(sources, sinks map[string]*option.Set) []byte {
	s := schemaMaker{defs: map[string]any{}, options: map[*object]map[string]*option.Set{sourceObject: sources, sinkObject: sinks}}
	root := s.object(pipelineObject)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = "urn:pipelines:pipeline.yml"
	root["title"] = "pipeline.yml"
	root["$defs"] = s.defs
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic("bug: JSON Schema: " + err.Error())
	}
	return append(out, '\n')
}

// schemaMaker collects the objects as definitions.
type schemaMaker struct {
	defs map[string]any
	made map[*object]string

	options map[*object]map[string]*option.Set
}

// ref returns a reference to an object's definition, making it at first use.
func (s *schemaMaker) ref(o *object) map[string]any {
	if s.made == nil {
		s.made = map[*object]string{}
	}
	name, ok := s.made[o]
	if !ok {
		name = strings.ReplaceAll(o.name, " ", "_")
		for s.defs[name] != nil {
			name += "_" // tables' own flows and top-level flows have one name
		}
		s.made[o] = name
		s.defs[name] = true // keeps the name while it is being made
		s.defs[name] = s.object(o)
	}
	return map[string]any{"$ref": "#/$defs/" + name}
}

func (s *schemaMaker) object(o *object) map[string]any {
	props := map[string]any{}
	var required []string
	for i := range o.keys {
		k := &o.keys[i]
		v := s.value(o, k)
		for _, name := range append([]string{k.name}, k.aliases...) {
			props[name] = v
		}
		if k.required {
			required = append(required, k.name)
		}
	}
	out := map[string]any{"type": "object", "description": o.doc, "properties": props, "additionalProperties": false}
	if required != nil {
		out["required"] = required
	}
	var byFormat []any
	for _, format := range slices.Sorted(maps.Keys(s.options[o])) {
		byFormat = append(byFormat, map[string]any{
			"if":   map[string]any{"properties": map[string]any{"format": map[string]any{"const": format}}},
			"then": map[string]any{"properties": map[string]any{"options": s.options[o][format].JSONSchema()}},
		})
	}
	if byFormat != nil {
		out["allOf"] = byFormat
	}
	return out
}

func (s *schemaMaker) value(o *object, k *key) map[string]any {
	if _, found := findLater(o.name, k.name, ""); found {
		return map[string]any{"not": map[string]any{}, "description": "Not available yet. " + k.doc}
	}
	v := s.kind(o, k)
	v["description"] = k.doc
	if k.def != "" {
		v["default"] = defaultOf(k)
	}
	return v
}

// defaultOf returns the default as a value of the key's JSON type.
func defaultOf(k *key) any {
	if k.kind == kindBool || k.kind == kindInt {
		return json.RawMessage(k.def)
	}
	return k.def
}

//tidy:allow-long a flat switch over the kinds
func (s *schemaMaker) kind(o *object, k *key) map[string]any {
	str := map[string]any{"type": "string"}
	switch k.kind {
	case kindBool:
		return map[string]any{"type": "boolean"}
	case kindInt:
		return map[string]any{"type": "integer", "minimum": k.min, "maximum": k.max}
	case kindDuration:
		return map[string]any{"type": "string", "examples": []string{"10 seconds", "5 minutes"}}
	case kindScalar:
		v := map[string]any{"type": []string{"string", "number", "boolean"}}
		if len(k.values) > 0 {
			v["pattern"] = "^(" + strings.Join(k.values, "|") + ")$"
		}
		return v
	case kindTexts, kindColumns:
		return map[string]any{"type": "array", "items": str}
	case kindSettings, kindOptions:
		return map[string]any{"type": "object", "additionalProperties": str}
	case kindObject:
		return map[string]any{"allOf": []any{s.ref(k.object)}}
	case kindObjects:
		return map[string]any{"type": "array", "items": s.ref(k.object)}
	case kindNamed:
		return map[string]any{"type": "object", "additionalProperties": s.ref(k.object)}
	case kindTrigger:
		object := s.object(k.object)
		object["minProperties"], object["maxProperties"] = 1, 1
		return map[string]any{"oneOf": []any{map[string]any{"enum": available(o, k)}, object}}
	case kindAny:
		return map[string]any{}
	}
	if len(k.values) > 0 {
		return map[string]any{"type": "string", "enum": available(o, k)}
	}
	if k.kind != kindText {
		str["minLength"] = 1
	}
	return str
}

// available lists the words of a key without those that come later.
func available(o *object, k *key) []string {
	var out []string
	for _, v := range k.values {
		if _, found := findLater(o.name, k.name, v); !found {
			out = append(out, v)
		}
	}
	return out
}
