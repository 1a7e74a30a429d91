package checkpoint

import (
	"pipelines/runtime/state"
	"pipelines/runtime/stream"
)

// Identity says whose checkpoint this is.
type Identity struct {
	Format  int    `json:"format"`
	Dataset string `json:"dataset"`
	Flow    string `json:"flow"`
	Version int    `json:"version"`
	// AppID is the transaction id under which the sink knows this checkpoint.
	AppID string `json:"appId"`
}

// Intent is written before an epoch reads anything.
type Intent struct {
	Epoch int64 `json:"epoch"`
	// Now is the epoch's wall time in microseconds.
	Now int64 `json:"now"`
	// From and To are the offsets of each source by its id.
	From map[string]stream.Offset `json:"from"`
	To   map[string]stream.Offset `json:"to"`
	// Late and Evict are the epoch's global watermarks in microseconds.
	Late  int64 `json:"late"`
	Evict int64 `json:"evict"`
	// NoData marks an epoch without new rows.
	NoData bool `json:"noData,omitempty"`
	// Conf holds the settings that results depend on.
	Conf map[string]string `json:"conf,omitempty"`
}

// Prepared is written when the epoch's rows are staged and durable.
type Prepared struct {
	Epoch int64 `json:"epoch"`
	// Token is what the sink needs to commit, also in another process.
	Token []byte `json:"token"`
	// EventTimes is the greatest event time seen by each watermark node.
	EventTimes map[string]int64 `json:"eventTimes,omitempty"`
	// Heard is, for watermark nodes whose sources have an idle timeout, the wall
	// time of the newest epoch that brought an event time.
	Heard map[string]int64 `json:"heard,omitempty"`
	// Watermarks holds each stateful operator's own watermark.
	Watermarks map[string]int64 `json:"watermarks,omitempty"`
	// Operators holds the meaning of each stateful operator's entries by its
	// id: what the state may be restored into.
	Operators map[string]string `json:"operators,omitempty"`
	// Layouts holds, for those that have one, what of the types shows in their
	// entries: a widened type may leave it as it was.
	Layouts map[string]string `json:"layouts,omitempty"`
	// Below holds what chooses the rows of operators that only their order in the
	// query tells apart.
	Below map[string]string `json:"below,omitempty"`
	// Mode is the output mode of a flow with such operators.
	Mode string `json:"mode,omitempty"`
	// Sink is the id among them under which the sink keeps what is its own.
	Sink string `json:"sink,omitempty"`
	// State names the files that hold the operators' state, oldest first. The
	// content of inline ones stands in the checkpoint beside the record.
	State []state.Ref `json:"state,omitempty"`
	// Rows is the number of rows handed to the sink.
	Rows int64 `json:"rows"`
}

// Entry is one change of a source's ledger; a nil Value deletes the key.
type Entry struct {
	Key   []byte
	Value []byte
}

// StateChange is one change of a state that stays in the checkpoint and is
// looked up there (a sink's); a nil Value deletes.
type StateChange struct {
	Operator string
	Entry
}
