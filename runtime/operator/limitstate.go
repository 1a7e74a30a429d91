package operator

import "encoding/binary"

// limitState is the count of a limit over a stream.
type limitState struct {
	explicit
	l      *limit
	id     string
	stored int64
}

func (bd *builder) addLimitState(l *limit) {
	bd.sites++
	bd.p.state = append(bd.p.state, &limitState{l: l, id: "limit-" + string(rune('0'+bd.sites))})
}

// ID names the operator.
func (s *limitState) ID() string { return s.id }

// Meaning says what the state means.
func (s *limitState) Meaning() string { return "rows passed" }

func (s *limitState) count() OperatorCount {
	c := OperatorCount{ID: s.id, StateRows: 1}
	if s.l.seen != s.l.before {
		c.Updated = 1
	}
	return c
}

// Changes hands out the count when it moved.
func (s *limitState) Changes(put Put) error {
	if s.l.seen != s.stored {
		s.stored = s.l.seen
		s.Snapshot(put)
	}
	return nil
}

// Snapshot hands out the count.
func (s *limitState) Snapshot(put Put) {
	put([]byte{0}, binary.LittleEndian.AppendUint64(nil, uint64(s.l.seen)))
}

// Parts is one.
func (s *limitState) Parts() int { return 1 }

// RestoreAll takes the count.
func (s *limitState) RestoreAll(e *Entries) error { return restoreEach(e, s.Restore) }

// Restore takes the count.
func (s *limitState) Restore(_, value []byte) error {
	if len(value) != 8 {
		return errState(s.id)
	}
	s.l.seen = int64(binary.LittleEndian.Uint64(value))
	s.stored = s.l.seen
	return nil
}

// Cut is Changes: there is nothing to leave.
func (l *limitState) Cut(put Put) (keys int, drain func(), err error) { return 0, nil, l.Changes(put) }
