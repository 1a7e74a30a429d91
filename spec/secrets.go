package spec

import (
	"pipelines/spec/diag"
	"pipelines/spec/option"
)

// CheckSecrets returns a warning for every option whose secrets cannot be
// found now. It resolves them and keeps nothing.
func (p *Pipeline) CheckSecrets(r option.Resolver) diag.List {
	var list diag.List
	check := func(file *diag.File, entries []option.Entry) {
		for _, e := range entries {
			if !e.Value.HasSecret() {
				continue
			}
			if _, err := e.Value.Resolve(r); err != nil {
				list = append(list, diag.AtSpan(file, e.Span, "UNSET_SECRET", err.Error()).Warn().
					WithHint("set it where the pipeline runs"))
			}
		}
	}
	for _, s := range p.Sources {
		check(s.File, s.Options)
	}
	for _, s := range p.Sinks {
		check(s.File, s.Options)
	}
	return list
}
