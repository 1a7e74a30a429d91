package spec

import "strings"

// KeysMarkdown returns the key table for the docs: one section for each object.
func KeysMarkdown() string {
	var b strings.Builder
	seen := map[*object]bool{}
	var section func(o *object)
	section = func(o *object) {
		if seen[o] {
			return
		}
		seen[o] = true
		b.WriteString("## " + o.name + "\n\n" + o.doc + "\n\n| key | default | meaning |\n| --- | --- | --- |\n")
		for _, k := range o.keys {
			b.WriteString(keyRow(o, &k))
		}
		b.WriteByte('\n')
		for _, k := range o.keys {
			if k.object != nil {
				section(k.object)
			}
		}
	}
	section(pipelineObject)
	return b.String()
}

func keyRow(o *object, k *key) string {
	name := "`" + k.name + "`"
	for _, a := range k.aliases {
		name += " or `" + a + "`"
	}
	def := ""
	switch {
	case k.required:
		def = "required"
	case k.def != "":
		def = "`" + k.def + "`"
	}
	doc := k.doc
	if len(k.values) > 0 && k.kind != kindTrigger {
		doc += " One of: `" + strings.Join(available(o, k), "`, `") + "`."
	}
	if _, found := findLater(o.name, k.name, ""); found {
		doc += " Not available yet."
	}
	return "| " + name + " | " + def + " | " + doc + " |\n"
}
