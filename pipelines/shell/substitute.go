package shell

import (
	"regexp"
	"strings"

	"pipelines/spec/diag"
)

// variableMark matches ${key} as Spark's SQL shell replaces it before it parses.
var variableMark = regexp.MustCompile(`\$\{([^}\s:]+)\}`)

// valueOf is what a setting is at a place of a script: the last SET before it,
// else the session's value.
func valueOf(before, key string, conf map[string]string) string {
	set := regexp.MustCompile(`(?im)(?:^|;)\s*set\s+` + regexp.QuoteMeta(key) + `\s*=\s*([^;\n]*)`)
	if all := set.FindAllStringSubmatch(before, -1); all != nil {
		return strings.TrimSpace(all[len(all)-1][1])
	}
	return conf[key]
}

// Substitute replaces ${key} by the value of a setting, or by nothing, as
// Spark's SQL shell does; places stay those of the text as written.
func Substitute(text *diag.Text, conf map[string]string) *diag.Text {
	marks := variableMark.FindAllStringSubmatchIndex(text.Body, -1)
	if len(marks) == 0 {
		return text
	}
	var body strings.Builder
	var segments []diag.Segment
	at := 0
	for _, m := range marks {
		segments = append(segments, diag.Segment{Offset: body.Len(), FileOffset: at})
		body.WriteString(text.Body[at:m[0]])
		segments = append(segments, diag.Segment{Offset: body.Len(), FileOffset: m[0], FileEnd: m[1], Fixed: true})
		body.WriteString(valueOf(text.Body[:m[0]], text.Body[m[2]:m[3]], conf))
		at = m[1]
	}
	segments = append(segments, diag.Segment{Offset: body.Len(), FileOffset: at})
	body.WriteString(text.Body[at:])
	return diag.NewSubstituted(text.File(), body.String(), segments)
}
