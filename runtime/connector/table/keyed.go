package table

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"pipelines/runtime/budget"
	"pipelines/runtime/connector"
	"pipelines/sqlplan/funcs"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// The columns that SCD type 2 adds to a table.
const (
	StartColumn = "__START_AT"
	EndColumn   = "__END_AT"
)

// The values of the operation column of a change.
const (
	OpUpsert   = 0
	OpDelete   = 1
	OpTruncate = 2
)

// KeyedOptions configures a Keyed sink. Schema is that of the table's columns
// which are written: those of the rows, then, with History, StartColumn and
// EndColumn. A batch has the rows' columns and, with Changes, two more: the
// sequence and the operation (TINYINT; NULL is an upsert).
type KeyedOptions struct {
	SinkOptions
	// Name is the table's, for messages.
	Name string
	// Typed is its name as --full-refresh takes it.
	Typed string
	// Keys are the places of the key columns in Schema.
	Keys []int
	// Changes is set for AUTO CDC; nil keeps the last row of each key.
	Changes *ChangeOptions
	// Budget lends the memory of an epoch's rows and of what is staged with
	// them; nil lends all.
	Budget *budget.Budget
}

// ChangeOptions say how changes are applied.
type ChangeOptions struct {
	Sequence schema.Type
	// History keeps all versions of a row (SCD type 2), else the newest (type 1).
	History bool
	// Tracked are the places of the columns whose changes open a new version.
	Tracked []int
	// KeepOld has, for each column of a row, whether a NULL in an upsert keeps
	// the value before it (IGNORE NULL UPDATES); nil: no column.
	KeepOld []bool
	// Retention is how long a delete keeps older changes of its key out, by the
	// wall time of epochs; 0 is for ever.
	Retention time.Duration
	// Meaning is what the stored changes mean beyond their columns.
	Meaning string
}

// Keyed is a sink that replaces rows by key: the writer behind tables kept by
// AUTO CDC and by upsert. An epoch stages its new rows as data files and says
// which rows they replace; the commit takes those out of the files that hold
// them, in the version that the table has by then, so that the compaction of
// another process does not make a prepared epoch void.
type Keyed struct {
	*Sink
	o     KeyedOptions
	width int // columns of a row without StartColumn and EndColumn
	state keyedState
}

// NewKeyed returns a sink. The sink implements connector.Stateful if
// o.Changes is set: see Stateful.
func NewKeyed(o KeyedOptions) connector.Sink {
	k := &Keyed{Sink: NewSink(o.SinkOptions), o: o, width: len(o.Schema.Fields)}
	k.state = newKeyedState(k)
	if o.Changes == nil {
		return k
	}
	if o.Changes.History {
		k.width -= 2
	}
	return &changeSink{k}
}

// changeSink is a Keyed sink with state.
type changeSink struct{ *Keyed }

// StateID implements connector.Stateful.
func (*changeSink) StateID() string { return "auto_cdc" }

// Meaning implements connector.Stateful.
func (s *changeSink) Meaning() string { return s.o.Changes.Meaning }

// StartState implements connector.Stateful.
func (s *changeSink) StartState(r connector.StateReader) error { return s.state.start(r) }

// Changes implements connector.Stateful.
func (s *changeSink) Changes(put func(key, value []byte)) {
	for _, c := range s.state.changes {
		put(c.Key, c.Value)
	}
}

// Begin implements connector.Sink.
func (k *Keyed) Begin(_ context.Context, info connector.EpochInfo) (connector.Epoch, error) {
	k.state.drop()
	return &keyedEpoch{sink: k, info: info, files: newEpoch(k.Sink, info)}, nil
}

// identity are the places in Schema of the columns that tell the rows of the
// table apart.
func (k *Keyed) identity() []int {
	if k.o.Changes != nil && k.o.Changes.History {
		return append(slices.Clone(k.o.Keys), k.width)
	}
	return k.o.Keys
}

// rowFields are the columns of a row.
func (k *Keyed) rowFields() []schema.Field { return k.o.Schema.Fields[:k.width] }

func (k *Keyed) isKey(col int) bool { return slices.Contains(k.o.Keys, col) }

// badChange is the error for a change that cannot be applied.
func (k *Keyed) badChange(sub string, epoch int64, format string, args ...any) error {
	return funcs.NewError("AUTOCDC_MICROBATCH_VALIDATION."+sub,
		fmt.Sprintf("A change for table %s in batch %d cannot be applied: %s.", k.o.Name, epoch, fmt.Sprintf(format, args...)),
		map[string]string{"tableName": k.o.Name, "batchId": fmt.Sprint(epoch)})
}

// keyNames lists the key columns, for messages.
func (k *Keyed) keyNames() string {
	var out []string
	for _, c := range k.o.Keys {
		out = append(out, k.o.Schema.Fields[c].Name)
	}
	return strings.Join(out, ", ")
}

// newVectors makes empty flat vectors for fields.
func newVectors(p *column.Pool, fields []schema.Field) []*column.Vector {
	out := make([]*column.Vector, len(fields))
	for i, f := range fields {
		out[i] = p.Vector(f.Type)
	}
	return out
}
