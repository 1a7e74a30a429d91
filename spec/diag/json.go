package diag

import "encoding/json"

type jsonPos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Offset int `json:"offset"`
}

type jsonSpan struct {
	File  string   `json:"file"`
	Start *jsonPos `json:"start,omitempty"`
	End   *jsonPos `json:"end,omitempty"`
}

type jsonRelated struct {
	Span *jsonSpan `json:"span,omitempty"`
	Note string    `json:"note"`
}

type jsonDiagnostic struct {
	Code     Code          `json:"code"`
	SQLState string        `json:"sqlstate,omitempty"`
	Severity string        `json:"severity"`
	Span     *jsonSpan     `json:"span,omitempty"`
	Inner    *jsonPos      `json:"inner,omitempty"`
	Message  string        `json:"message"`
	Hint     string        `json:"hint,omitempty"`
	Related  []jsonRelated `json:"related,omitempty"`
}

func toJSONPos(p Pos) *jsonPos {
	if !p.IsValid() {
		return nil
	}
	return &jsonPos{p.Line, p.Column, p.Offset}
}

func toJSONSpan(s Span) *jsonSpan {
	if s.File == "" && !s.IsValid() {
		return nil
	}
	return &jsonSpan{s.File, toJSONPos(s.Start), toJSONPos(s.End)}
}

// MarshalJSON returns the JSON form: the same fields as the text form.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	out := jsonDiagnostic{
		Code: d.Code, SQLState: d.SQLState, Severity: d.Severity.String(), Span: toJSONSpan(d.Span),
		Inner: toJSONPos(d.Inner), Message: d.Message, Hint: d.Hint,
	}
	for _, r := range d.Related {
		out.Related = append(out.Related, jsonRelated{toJSONSpan(r.Span), r.Note})
	}
	return json.Marshal(out)
}

// MarshalJSON returns a JSON array, [] for an empty list.
func (l List) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]Diagnostic(l))
}
