package diag

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"
)

// GitHub returns workflow commands, one line for each diagnostic, that CI
// shows at the lines of a change.
func (l List) GitHub() string {
	level := [...]string{"error", "warning", "notice"}
	prop := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	var b strings.Builder
	for _, d := range l {
		b.WriteString("::" + level[d.Severity] + " ")
		if d.Span.File != "" {
			b.WriteString("file=" + prop.Replace(filepath.ToSlash(d.Span.File)) + ",")
		}
		if d.Span.IsValid() {
			fmt.Fprintf(&b, "line=%d,col=%d,endLine=%d,endColumn=%d,", d.Span.Start.Line, d.Span.Start.Column, d.Span.End.Line, d.Span.End.Column)
		}
		text := oneLine(d.Message)
		if d.Hint != "" {
			text += "\nhint: " + oneLine(d.Hint)
		}
		b.WriteString("title=" + prop.Replace(string(d.Code)) + "::" + data.Replace(text) + "\n")
	}
	return b.String()
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
	EndLine     int `json:"endLine"`
	EndColumn   int `json:"endColumn"`
}

type sarifLocation struct {
	Physical struct {
		Artifact struct {
			URI string `json:"uri"`
		} `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	} `json:"physicalLocation"`
	Message *sarifText `json:"message,omitempty"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
	Related   []sarifLocation `json:"relatedLocations,omitempty"`
}

type sarifRule struct {
	ID    string    `json:"id"`
	Short sarifText `json:"shortDescription"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

// SARIF returns the list as a SARIF 2.1.0 log of the tool with that version.
func (l List) SARIF(version string) []byte {
	level := [...]string{"error", "warning", "note"}
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "pipelines", Version: version, Rules: []sarifRule{}}
	seen := map[Code]bool{}
	for _, d := range l {
		if info, known := d.Code.Lookup(); known && !seen[d.Code] {
			seen[d.Code] = true
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{string(d.Code), sarifText{info.Doc}})
		}
		text := oneLine(d.Message)
		if d.Hint != "" {
			text += " (hint: " + oneLine(d.Hint) + ")"
		}
		r := sarifResult{RuleID: string(d.Code), Level: level[d.Severity], Message: sarifText{text}, Locations: sarifPlace(d.Span, "")}
		for _, rel := range d.Related {
			r.Related = append(r.Related, sarifPlace(rel.Span, rel.Note)...)
		}
		run.Results = append(run.Results, r)
	}
	out, err := json.MarshalIndent(sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}, "", "  ")
	if err != nil {
		panic("bug: SARIF: " + err.Error())
	}
	return append(out, '\n')
}

func sarifPlace(s Span, note string) []sarifLocation {
	if s.File == "" {
		return nil
	}
	var loc sarifLocation
	loc.Physical.Artifact.URI = filepath.ToSlash(s.File)
	if s.IsValid() {
		loc.Physical.Region = &sarifRegion{s.Start.Line, s.Start.Column, s.End.Line, max(s.End.Column, 1)}
	}
	if note != "" {
		loc.Message = &sarifText{oneLine(note)}
	}
	return []sarifLocation{loc}
}

type junitFailure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

type junitCase struct {
	Name     string         `xml:"name,attr"`
	Class    string         `xml:"classname,attr"`
	Failures []junitFailure `xml:"failure"`
	Out      string         `xml:"system-out,omitempty"`
}

type junitSuite struct {
	XMLName  xml.Name    `xml:"testsuite"`
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

// JUnit returns the list as a JUnit report: one case for each file that was
// checked (and each further file with a diagnostic), with its errors as
// failures and its warnings as output.
func (l List) JUnit(suite string, files []string) []byte {
	s := junitSuite{Name: suite}
	index := map[string]int{}
	at := func(file string) *junitCase {
		i, ok := index[file]
		if !ok {
			i = len(s.Cases)
			index[file] = i
			s.Cases = append(s.Cases, junitCase{Name: file, Class: suite})
		}
		return &s.Cases[i]
	}
	for _, f := range files {
		at(f)
	}
	for _, d := range l {
		c := at(d.Span.File)
		if d.Severity == Error {
			c.Failures = append(c.Failures, junitFailure{string(d.Code), oneLine(d.Message), Render(d)})
			continue
		}
		c.Out += Render(d)
	}
	s.Tests = len(s.Cases)
	for _, c := range s.Cases {
		if len(c.Failures) > 0 {
			s.Failures++
		}
	}
	out, err := xml.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("bug: JUnit: " + err.Error())
	}
	return append([]byte(xml.Header), append(out, '\n')...)
}
