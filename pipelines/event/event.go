package event

import "time"

// State is the state of a flow or an update.
type State string

// The states, in Spark's words.
const (
	Queued    State = "QUEUED"
	Planning  State = "PLANNING"
	Starting  State = "STARTING"
	Running   State = "RUNNING"
	Completed State = "COMPLETED"
	Failed    State = "FAILED"
	Skipped   State = "SKIPPED"
	Excluded  State = "EXCLUDED"
	Stopped   State = "STOPPED"
)

// Failure describes an error for users.
type Failure struct {
	Class    string `json:"class,omitempty"`
	SQLState string `json:"sqlstate,omitempty"`
	Message  string `json:"message"`
}

// UpdateChanged says that the whole update has a new state.
type UpdateChanged struct {
	Time     time.Time `json:"time"`
	Update   string    `json:"update"`
	Pipeline string    `json:"pipeline,omitempty"`
	State    State     `json:"state"`
	Error    *Failure  `json:"error,omitempty"`
}

// FlowChanged says that a flow has a new state.
type FlowChanged struct {
	Time    time.Time `json:"time"`
	Update  string    `json:"update"`
	Dataset string    `json:"dataset"`
	Flow    string    `json:"flow"`
	State   State     `json:"state"`
	// Attempt counts from 1; above 1 the flow was retried.
	Attempt int      `json:"attempt,omitempty"`
	Error   *Failure `json:"error,omitempty"`
	// Reason says why a flow was skipped or excluded.
	Reason string `json:"reason,omitempty"`
	// Expectations are the counts of a flow that failed: the rows that ended it
	// are in no epoch.
	Expectations []Expectation `json:"expectations,omitempty"`
}

// Expectation counts one expectation in an epoch.
type Expectation struct {
	Name string `json:"name"`
	// Dataset is the view whose expectation it is; "": the flow's target.
	Dataset string `json:"dataset,omitempty"`
	Action  string `json:"action"`
	Passed  int64  `json:"passed_records"`
	Failed  int64  `json:"failed_records"`
}

// Title names the expectation among those of its flow.
func (e Expectation) Title() string {
	if e.Dataset == "" {
		return e.Name
	}
	return e.Name + " of view " + e.Dataset
}

// Source counts one source in an epoch, in Spark's names.
type Source struct {
	Description   string `json:"description"`
	StartOffset   string `json:"startOffset,omitempty"`
	EndOffset     string `json:"endOffset,omitempty"`
	NumInputRows  int64  `json:"numInputRows"`
	RowsPerSecond int64  `json:"inputRowsPerSecond"`
}

// Operator counts one stateful operator, in Spark's names.
type Operator struct {
	Name      string `json:"operatorName"`
	Total     int64  `json:"numRowsTotal"`
	Updated   int64  `json:"numRowsUpdated"`
	Removed   int64  `json:"numRowsRemoved"`
	Late      int64  `json:"numRowsDroppedByWatermark"`
	StateSize int64  `json:"memoryUsedBytes"`
}

// FlowProgress reports one committed epoch, in Spark's names.
type FlowProgress struct {
	Time          time.Time        `json:"time"`
	Update        string           `json:"update"`
	Dataset       string           `json:"dataset"`
	Flow          string           `json:"flow"`
	BatchID       int64            `json:"batchId"`
	Timestamp     time.Time        `json:"timestamp"`
	NumInputRows  int64            `json:"numInputRows"`
	NumOutputRows int64            `json:"numOutputRows"`
	CorruptRows   int64            `json:"numCorruptRecords,omitempty"`
	DroppedRows   int64            `json:"numDroppedRecords,omitempty"`
	DurationMs    map[string]int64 `json:"durationMs"`
	Watermark     string           `json:"watermark,omitempty"`
	Sources       []Source         `json:"sources,omitempty"`
	Operators     []Operator       `json:"stateOperators,omitempty"`
	Expectations  []Expectation    `json:"expectations,omitempty"`
}

// Note is something the user should know that stops nothing.
type Note struct {
	Time    time.Time `json:"time"`
	Update  string    `json:"update"`
	Dataset string    `json:"dataset,omitempty"`
	Flow    string    `json:"flow,omitempty"`
	Message string    `json:"message"`
}
