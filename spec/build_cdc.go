package spec

import "pipelines/spec/diag"

// missingCDC are Spark's classes for keys of auto_cdc that are not there.
var missingCDC = map[string]diag.Code{
	"source": "AUTOCDC_MISSING_SOURCE", "keys": "AUTOCDC_EMPTY_KEYS", "sequence_by": "AUTOCDC_MISSING_SEQUENCE_BY",
}

func (w *walker) autoCDC(r *record) *AutoCDC {
	v := r.get("auto_cdc")
	if v == nil {
		return nil
	}
	c := v.rec
	out := &AutoCDC{
		Source: c.name("source"), Keys: c.strs("keys"), SequenceBy: w.sqlText(c, "sequence_by"),
		ApplyAsDeletes: w.sqlText(c, "apply_as_deletes"), ApplyAsTruncates: w.sqlText(c, "apply_as_truncates"),
		Columns: c.strs("columns"), ExceptColumns: c.strs("except_columns"), IgnoreNullUpdates: c.boolean("ignore_null_updates"),
		SCDType: Int{Value: 1}, TrackHistory: c.strs("track_history"), TrackHistoryExcept: c.strs("track_history_except"),
		HasTrackHistory: c.has("track_history"), Span: c.span,
	}
	if t := c.str("scd_type"); t.IsSet() {
		out.SCDType = Int{Value: int64(t.Value[0] - '0'), Span: t.Span}
	}
	if c.has("keys") && c.get("keys").given == 0 {
		w.add(w.errorf(c.get("keys").span, "AUTOCDC_EMPTY_KEYS", "`keys` of auto_cdc is empty").WithHint("name the columns that identify a row"))
	}
	w.exclusive(c, "columns", "except_columns", "AUTOCDC_BOTH_COLUMN_LIST_AND_EXCEPT_COLUMN_LIST")
	w.exclusive(c, "track_history", "track_history_except", "AUTOCDC_BOTH_TRACK_HISTORY_COLUMN_LIST_AND_EXCEPT_COLUMN_LIST")
	for _, k := range []string{"track_history", "track_history_except"} {
		if c.has(k) && out.SCDType.Value != 2 {
			w.add(w.errorf(c.keySpan(k), "CONFLICTING_KEYS", "%q needs scd_type 2", k).WithHint("add scd_type: 2"))
		}
	}
	if c.has("apply_as_truncates") && out.SCDType.Value == 2 {
		w.add(w.errorf(c.keySpan("apply_as_truncates"), "CONFLICTING_KEYS", `"apply_as_truncates" needs scd_type 1`))
	}
	return out
}

func (w *walker) exclusive(r *record, a, b string, code diag.Code) {
	if r.has(a) && r.has(b) {
		w.conflict(r, a, b)
		w.list[len(w.list)-1].Code = code
		w.list[len(w.list)-1].SQLState = code.SQLState()
	}
}
