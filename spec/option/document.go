package option

import "strings"

// Markdown returns the options as a table for the docs.
func (s *Set) Markdown() string {
	var b strings.Builder
	b.WriteString("| option | type | default | meaning |\n| --- | --- | --- | --- |\n")
	for _, f := range s.fields {
		name := "`" + f.Name + "`"
		if f.Prefix {
			name = "`" + f.Name + "*`"
		}
		for _, a := range f.Aliases {
			name += ", `" + a + "`"
		}
		typ := f.Type.String()
		if f.Type == TypeEnum {
			typ = "`" + strings.Join(f.Values, "`, `") + "`"
		}
		def := ""
		if f.Default != "" {
			def = "`" + strings.ReplaceAll(f.Default, "|", `\|`) + "`"
		}
		if f.Required {
			def = "required"
		}
		doc := sentence(f.Doc)
		switch {
		case f.Later:
			doc += " Not available yet."
		case f.NoEffect != "":
			doc += " No effect here: " + f.NoEffect + "."
		}
		b.WriteString("| " + name + " | " + typ + " | " + def + " | " + strings.ReplaceAll(strings.TrimSpace(doc), "|", `\|`) + " |\n")
	}
	return b.String()
}

// sentence starts a doc with a capital and ends it with a full stop. A word
// that is a name (cleanSource) stays as it is.
func sentence(doc string) string {
	doc = strings.TrimSpace(doc)
	if doc == "" {
		return ""
	}
	if first, _, _ := strings.Cut(doc, " "); first == strings.ToLower(first) {
		doc = strings.ToUpper(doc[:1]) + doc[1:]
	}
	if !strings.HasSuffix(doc, ".") {
		doc += "."
	}
	return doc
}

// JSONSchema returns the options as a JSON Schema object that can be
// marshalled. All values are texts.
func (s *Set) JSONSchema() map[string]any {
	props, patterns := map[string]any{}, map[string]any{}
	var required []string
	for _, f := range s.fields {
		p := map[string]any{"type": "string", "description": strings.TrimSpace(f.Doc)}
		if f.Default != "" {
			p["default"] = f.Default
		}
		switch {
		case f.Later:
			p = map[string]any{"not": map[string]any{}, "description": "Not available yet: " + f.Doc}
		case f.Type == TypeEnum:
			p["examples"] = f.Values // case is ignored, so no closed enumeration
		case f.Type == TypeBool:
			p["pattern"] = `^([tT][rR][uU][eE]|[fF][aA][lL][sS][eE]|.*\$\{.*\}.*)$`
		case f.Type == TypeInt:
			p["pattern"] = `^\s*([+-]?[0-9]+|.*\$\{.*\}.*)\s*$`
		}
		if f.Prefix {
			patterns["^"+strings.ReplaceAll(f.Name, ".", `\.`)] = p
			continue
		}
		props[f.Name] = p
		for _, a := range f.Aliases {
			props[a] = p
		}
		if f.Required {
			required = append(required, f.Name)
		}
	}
	out := map[string]any{"type": "object", "properties": props}
	if len(patterns) > 0 {
		out["patternProperties"] = patterns
	}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}
