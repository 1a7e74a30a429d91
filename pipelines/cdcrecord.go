package pipelines

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pipelines/spec/diag"
)

// keyedRecord is what the catalog remembers of a table kept by key: a change of
// it would mix old rows and new meaning.
type keyedRecord struct {
	Flow     string   `json:"flow"`
	SCD      int      `json:"scd,omitempty"` // 0: kept by upsert
	Keys     []string `json:"keys"`          // "name TYPE"
	Sequence string   `json:"sequence,omitempty"`
	Tracked  string   `json:"tracked,omitempty"`
	KeepOld  bool     `json:"ignoreNullUpdates,omitempty"`
	// Order is what the sequence is computed from, KeepColumns in which columns
	// NULL keeps the value before: "" in records of versions that noted neither.
	Order       string `json:"order,omitempty"`
	KeepColumns string `json:"ignoreNullColumns,omitempty"`
	Zone        string `json:"zone,omitempty"` // of keys or sequence computed in it
}

// keyedKey is where the record stands in a catalog record's Extra.
const keyedKey = "keyed"

// keyedOf describes a flow, nil unless it keeps its target by key.
func keyedOf(f *flow) *keyedRecord {
	k := f.keyed
	if k == nil {
		return nil
	}
	r := &keyedRecord{}
	for _, i := range k.keys {
		x := f.plan.Schema.Fields[i]
		r.Keys = append(r.Keys, strings.ToLower(x.Name)+" "+asNullable(x.Type).SQL())
	}
	if k.changes == nil {
		return r
	}
	r.Flow, r.SCD, r.Sequence, r.Tracked, r.KeepOld = f.name, 1, asNullable(k.changes.Sequence).SQL(), k.tracked, k.changes.KeepOld != nil
	r.Order, r.KeepColumns, r.Zone = k.changes.Order, k.keepOld, k.changes.Zone
	if k.history {
		r.SCD = 2
	}
	return r
}

func (r *keyedRecord) text() string {
	if r == nil {
		return ""
	}
	out, err := json.Marshal(r)
	if err != nil {
		panic("bug: pipelines: " + err.Error())
	}
	return string(out)
}

// meaning is the text that state is known by; what was not noted from the start
// is told apart earlier, by keyedDrift.
func (r *keyedRecord) meaning() string {
	k := *r
	k.Order, k.KeepColumns, k.Zone = "", "", ""
	return k.text()
}

// keepKeyOrder gives the keys the order that they were recorded in, if they are
// the same: how they are listed means nothing, and the state knows them by it.
func keepKeyOrder(t *target) {
	var was keyedRecord
	if json.Unmarshal([]byte(t.record.Extra[keyedKey]), &was) != nil {
		return
	}
	for _, f := range t.d.flows {
		now := keyedOf(f)
		if now == nil || len(now.Keys) != len(was.Keys) {
			continue
		}
		keys := make([]int, 0, len(was.Keys))
		for _, k := range was.Keys {
			if i := slices.Index(now.Keys, k); i >= 0 {
				keys = append(keys, f.keyed.keys[i])
			}
		}
		if len(keys) == len(was.Keys) {
			f.keyed.keys = keys
		}
	}
}

// keyedText describes how a table is kept, "" if rows are only appended.
func keyedText(d *dataset) string {
	for _, f := range d.flows {
		if r := keyedOf(f); r != nil {
			return r.text()
		}
	}
	return ""
}

// keyedDrift compares how a table is kept with how it was made. Known is false
// for a table that was never made.
func keyedDrift(t *target) diag.List {
	keepKeyOrder(t)
	d, now := t.d, keyedText(t.d)
	was := t.record.Extra[keyedKey]
	if was == now || !t.known || t.record.Flows == nil {
		return nil
	}
	var a, b keyedRecord
	if was != "" && json.Unmarshal([]byte(was), &a) != nil {
		was = ""
	}
	if now != "" && json.Unmarshal([]byte(now), &b) != nil {
		panic("bug: pipelines: keyed record")
	}
	fail := func(code diag.Code, format string, args ...any) diag.List {
		x := diag.AtSpan(d.file, d.place, code, d.shown()+": "+fmt.Sprintf(format, args...))
		return diag.List{x.WithHint("run with --full-refresh " + d.typed() + ", or undo the change")}
	}
	const class diag.Code = "AUTOCDC_INVALID_STATE"
	switch {
	case was == "" && b.SCD == 0: // appended rows are rows like others
		return nil
	case a.SCD == 0 && b.SCD == 0 && was != "" && now != "":
		return fail("KEYS_CHANGED", "the keys were (%s) and are now (%s)", strings.Join(a.Keys, ", "), strings.Join(b.Keys, ", "))
	case a.SCD == 0 && b.SCD == 0:
		return fail("KEYS_CHANGED", "the table was kept %s and would now be kept %s", a.how(was), b.how(now))
	case was == "" || now == "":
		return fail(class, "the table was kept %s and would now be kept %s", a.how(was), b.how(now))
	case a.SCD != b.SCD:
		return fail(class+".SCD_TYPE_DRIFT", "the table was kept %s and would now be kept %s", a.how(was), b.how(now))
	case !slices.Equal(a.Keys, b.Keys):
		return fail(class+".KEY_SCHEMA_DRIFT", "the keys were (%s) and are now (%s)", strings.Join(a.Keys, ", "), strings.Join(b.Keys, ", "))
	case a.Sequence != b.Sequence:
		return fail(class+".SEQUENCING_TYPE_DRIFT", "the sequence was of type %s and is now %s", a.Sequence, b.Sequence)
	case a.Order != b.Order && a.Order != "":
		return fail(class, "the sequence was %s and is now %s, which gives the changes another order", a.Order, b.Order)
	case a.Tracked != b.Tracked:
		return fail(class+".TRACK_HISTORY_DRIFT", "history was tracked for %s columns and is now for %s", a.Tracked, b.Tracked)
	case a.Zone != b.Zone && a.Zone != "" && b.Zone != "":
		return fail(class, "its keys or its sequence were computed in the time zone %s, which is now %s: spark.sql.session.timeZone", a.Zone, b.Zone)
	case a.Flow != b.Flow:
		return fail(class, "its changes were applied by flow %s and are now by %s, which knows none of them", a.Flow, b.Flow)
	case a.KeepOld != b.KeepOld:
		return fail(class, "IGNORE NULL UPDATES was changed")
	case a.KeepColumns != b.KeepColumns && a.KeepColumns != "":
		return fail(class, "NULL in an update was ignored in %s columns and is now in %s: IGNORE NULL UPDATES", a.KeepColumns, b.KeepColumns)
	}
	// What else differs was not noted by the version that wrote the record, or
	// is a zone that nothing is computed in any more.
	return nil
}

// noteKeyed notes in the record how the table is kept; it reports a change.
func noteKeyed(t *target) bool {
	now := keyedText(t.d)
	if t.record.Extra[keyedKey] == now {
		return false
	}
	t.record.Extra[keyedKey] = now
	if now == "" {
		delete(t.record.Extra, keyedKey)
	}
	return true
}

func (r keyedRecord) how(text string) string {
	switch {
	case text == "":
		return "by appending"
	case r.SCD == 0:
		return "by upsert"
	}
	return fmt.Sprintf("by AUTO CDC of SCD type %d", r.SCD)
}
