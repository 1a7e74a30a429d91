package commitlog

import (
	"strconv"
	"strings"
	"time"
)

// Names of table properties that are heeded here.
const (
	PropIsolation          = "delta.isolationLevel"
	PropAppendOnly         = "delta.appendOnly"
	PropCheckpointInterval = "delta.checkpointInterval"
	PropDeletedRetention   = "delta.deletedFileRetentionDuration"
)

// Isolation is the isolation level of a table.
type Isolation uint8

// The isolation levels.
const (
	Serializable Isolation = iota
	WriteSerializable
)

func (i Isolation) String() string {
	if i == WriteSerializable {
		return "WriteSerializable"
	}
	return "Serializable"
}

// IsolationOf returns the isolation level that the table asks for.
func IsolationOf(m *Metadata) Isolation {
	if strings.EqualFold(m.Configuration[PropIsolation], WriteSerializable.String()) {
		return WriteSerializable
	}
	return Serializable
}

// AppendOnly reports whether rows may only be added.
func AppendOnly(m *Metadata) bool { return strings.EqualFold(m.Configuration[PropAppendOnly], "true") }

// defaultRetention is Delta's: one week.
const defaultRetention = 7 * 24 * time.Hour

// Retention returns how long removed files are kept.
func Retention(m *Metadata) time.Duration {
	if d, ok := parseInterval(m.Configuration[PropDeletedRetention]); ok {
		return d
	}
	return defaultRetention
}

var units = map[string]time.Duration{
	"week": 7 * 24 * time.Hour, "day": 24 * time.Hour, "hour": time.Hour, "minute": time.Minute,
	"second": time.Second, "millisecond": time.Millisecond, "microsecond": time.Microsecond,
}

// parseInterval reads "interval 1 week 2 days", as table properties have it.
func parseInterval(s string) (time.Duration, bool) {
	words := strings.Fields(strings.ToLower(s))
	if len(words) > 0 && words[0] == "interval" {
		words = words[1:]
	}
	if len(words) == 0 || len(words)%2 != 0 {
		return 0, false
	}
	var sum time.Duration
	for i := 0; i < len(words); i += 2 {
		n, err := strconv.ParseInt(words[i], 10, 32)
		unit, ok := units[strings.TrimSuffix(words[i+1], "s")]
		if err != nil || !ok || n < 0 {
			return 0, false
		}
		sum += time.Duration(n) * unit
	}
	return sum, true
}

// defaultCheckpointInterval is Delta's.
const defaultCheckpointInterval = 10

// CheckpointInterval returns after how many commits a log checkpoint is due.
// Unless the table sets it, it grows with the size of the state, so that the
// work of checkpoints for each commit stays the same however large the table.
func CheckpointInterval(m *Metadata, size int) int64 {
	if n, err := strconv.ParseInt(m.Configuration[PropCheckpointInterval], 10, 64); err == nil && n > 0 {
		return n
	}
	return max(defaultCheckpointInterval, int64(size)/20)
}
