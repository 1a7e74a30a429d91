package flow

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/operator"
	"pipelines/sqlplan/funcs"
	"pipelines/sqlplan/logical"
	"pipelines/tables/column"
)

// ErrChanged is returned when the query or its sources are not those that the
// checkpoint was written for.
var ErrChanged = errors.New("the flow was changed in a way that its checkpoint does not fit")

// What says which part of a flow a Change is about.
type What uint8

// The parts of a flow that its checkpoint holds.
const (
	Sources What = iota
	Operators
	State
	OutputMode
)

var modeNames = [...]string{logical.Append: "append", logical.Update: "update", logical.Complete: "complete"}

// Change is a difference between a flow and its checkpoint that would mix old
// and new meaning.
type Change struct {
	What   What
	Detail string
}

func (c *Change) Error() string {
	return [...]string{"the sources", "the stateful operators", "the state", "the output mode"}[c.What] + " changed (" + c.Detail + ")"
}

// Compare says how a query differs from what its checkpoint was written for,
// nil when it may go on from there. Nothing of it is opened; what the sink
// keeps is left to Run.
func Compare(plan logical.Node, s *funcs.Session, mode logical.OutputMode, snap checkpoint.Snapshot) (*Change, error) {
	env := operator.Env{Pool: column.NewPool(), Session: s, Lanes: 1, Output: func(int, *column.Batch) error { return nil }}
	p, err := operator.Build(plan, env)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	streams := map[string]bool{}
	for _, in := range p.Scans() {
		if in.Scan.Relation.Streaming {
			streams[in.Scan.Relation.ID] = true
		}
	}
	now, sinks := map[string]string{}, map[string]string{}
	for _, h := range p.State() {
		now[h.ID()] = h.Meaning()
	}
	if snap.Prepared != nil {
		for id, meaning := range snap.Prepared.Operators {
			if _, ok := now[id]; !ok && snap.Prepared.Sink == id {
				sinks[id] = meaning
			}
		}
	}
	maps.Copy(now, sinks)
	if c := changes(snap, streams, now, layouts(p)); c != nil {
		return c, nil
	}
	if c := swapped(snap, plan); c != nil {
		return c, nil
	}
	return modeChange(snap, len(p.State()) > 0, mode), nil
}

// modeChange: what state has shown already, and what it still has to show, is
// another thing in another output mode.
func modeChange(snap checkpoint.Snapshot, stateful bool, mode logical.OutputMode) *Change {
	if p := snap.Prepared; p != nil && stateful && p.Mode != "" && p.Mode != modeNames[mode] {
		return &Change{OutputMode, "from " + p.Mode + " to " + modeNames[mode]}
	}
	return nil
}

// alike says what is below the stateful operators of a plan that only the number
// in their ids tells apart.
func alike(plan logical.Node) map[string]string {
	count, states := map[string]int{}, logical.States(plan)
	kind := func(s *logical.StateInfo) string {
		return s.ID[:strings.LastIndexByte(s.ID, '#')+1] + s.Meaning
	}
	for _, s := range states {
		count[kind(s)]++
	}
	out := map[string]string{}
	for _, s := range states {
		if count[kind(s)] > 1 {
			out[s.ID] = s.Below
		}
	}
	return out
}

// swapped finds operators of one meaning that have taken each other's place in
// the query, and with it each other's state.
func swapped(snap checkpoint.Snapshot, plan logical.Node) *Change {
	if snap.Prepared == nil {
		return nil
	}
	old, now := snap.Prepared.Below, alike(plan)
	if !slices.Equal(slices.Sorted(maps.Values(old)), slices.Sorted(maps.Values(now))) {
		return nil
	}
	var moved []string
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if was, ok := old[id]; ok && was != now[id] {
			moved = append(moved, id)
		}
	}
	if len(moved) == 0 {
		return nil
	}
	return &Change{Operators, strings.Join(moved, " and ") + " have changed places in the query, and would go on with each other's state"}
}

// layouts are those of a plan's operators that have one.
func layouts(p *operator.Plan) map[string]string {
	out := map[string]string{}
	for _, h := range p.State() {
		if l, ok := h.(operator.LaidOut); ok && l.Layout() != "" {
			out[h.ID()] = l.Layout()
		}
	}
	return out
}

var numberType = regexp.MustCompile(`\b(tinyint|smallint|int|bigint|float|double|decimal\((\d+),(\d+)\))`)

// widened reports whether two meanings differ in number types alone, each wider
// in the new one.
func widened(old, now string) bool {
	a, b := numberType.FindAllStringSubmatch(old, -1), numberType.FindAllStringSubmatch(now, -1)
	if numberType.ReplaceAllString(old, "#") != numberType.ReplaceAllString(now, "#") || len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i][0] != b[i][0] && !wider(a[i], b[i]) {
			return false
		}
	}
	return true
}

var numberTypes = []string{"tinyint", "smallint", "int", "bigint"}

func wider(a, b []string) bool {
	switch {
	case a[2] != "": // decimals: more digits before the point
		return b[2] != "" && a[3] == b[3] && (len(a[2]) < len(b[2]) || len(a[2]) == len(b[2]) && a[2] < b[2])
	case a[0] == "float":
		return b[0] == "double"
	}
	i, j := slices.Index(numberTypes, a[0]), slices.Index(numberTypes, b[0])
	return i >= 0 && i < j
}

// zoneTag is how a meaning marks what was computed in a time zone other than
// UTC.
var zoneTag = regexp.MustCompile(`@\[([^\]]*)\]`)

func zoneOf(meaning string) string {
	if m := zoneTag.FindStringSubmatch(meaning); m != nil {
		return m[1]
	}
	return "UTC"
}

// sameOrder is the way out where only an order was changed.
const sameOrder = "; the state is laid out in the order of keys and aggregates: list them as they were, an outer SELECT may give the columns another order"

// reordered reports whether texts differ in the order of their parts alone.
func reordered(old, now []string) bool {
	a, b := parts(old), parts(now)
	return !slices.Equal(old, now) && slices.Equal(a, b)
}

// parts are the sorted parts of ids or meanings: what stands between commas and
// semicolons outside of parentheses, and in those of an id.
func parts(texts []string) []string {
	var out []string
	for _, s := range texts {
		if at := strings.IndexByte(s, '('); at > 0 && strings.Contains(s, ")#") && !strings.Contains(s, " over ") {
			end := strings.LastIndex(s, ")#")
			out = append(out, s[:at], s[end:])
			s = s[at+1 : end]
		}
		depth, from := 0, 0
		s = strings.ReplaceAll(strings.ReplaceAll(s, " over ", ","), ";", ",") + ","
		for i, c := range s {
			switch {
			case c == '(' || c == '<':
				depth++
			case c == ')' || c == '>':
				depth--
			case c == ',' && depth <= 0:
				out = append(out, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	slices.Sort(out)
	return out
}

var keptRowsTag = regexp.MustCompile(`^first (\d+) rows of `)

// keptRows is how many rows of each partition a layout is for, "" where it says
// nothing of that.
func keptRows(layout string) string {
	if m := keptRowsTag.FindStringSubmatch(layout); m != nil {
		return m[1]
	}
	return ""
}

// changes compares what the checkpoint was written for with sources by id and
// operators with what their entries mean and how they are laid out.
func changes[S any](snap checkpoint.Snapshot, streams map[string]S, now, laidOut map[string]string) *Change {
	if snap.Intent != nil {
		if what := differences(snap.Intent.To, streams); what != "" {
			return &Change{Sources, what}
		}
	}
	if snap.Prepared == nil {
		return nil
	}
	if what := differences(snap.Prepared.Operators, now); what != "" {
		if reordered(slices.Sorted(maps.Keys(snap.Prepared.Operators)), slices.Sorted(maps.Keys(now))) {
			what += sameOrder
		}
		return &Change{Operators, what}
	}
	for _, id := range slices.Sorted(maps.Keys(now)) {
		if old := snap.Prepared.Operators[id]; old != now[id] {
			if l := laidOut[id]; l != "" && l == snap.Prepared.Layouts[id] && widened(old, now[id]) {
				continue
			}
			if a, b := zoneOf(old), zoneOf(now[id]); a != b && zoneTag.ReplaceAllString(old, "") == zoneTag.ReplaceAllString(now[id], "") {
				return &Change{State, fmt.Sprintf("%s holds values that were computed in the session time zone %s, which is now %s: spark.sql.session.timeZone", id, a, b)}
			}
			what := fmt.Sprintf("%s holds %s and would have to hold %s", id, old, now[id])
			if reordered([]string{old}, []string{now[id]}) {
				what += sameOrder
			}
			return &Change{State, what}
		}
		if a, b := keptRows(snap.Prepared.Layouts[id]), keptRows(laidOut[id]); a != b && a != "" && b != "" {
			return &Change{State, fmt.Sprintf("%s holds the first %s rows of each partition and would have to hold the first %s", id, a, b)}
		}
	}
	return nil
}
