package operator

import (
	"encoding/binary"
	"errors"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// prepareState makes what sessions need to merge, store and restore.
func (s *sessions) prepareState() error {
	var types []schema.Type
	for _, c := range s.calls {
		if c.ordered != nil && s.n.Input.Streaming() {
			return errors.New("build plan: an aggregate with WITHIN GROUP cannot run over a stream")
		}
		s.ordered = s.ordered || c.ordered != nil
		if c.fn.Merge == nil && c.ordered == nil && c.distinct == nil {
			return errors.New("build plan: the aggregate " + c.fn.Fn.Name + " cannot be merged, so it cannot run over sessions")
		}
		for _, sc := range c.fn.State {
			types = append(types, sc.StoredType())
		}
		var set *setCodec
		if c.distinct != nil {
			c.distinct.chain = &chains{}
			set = newSetCodec(exprTypes(c.call.Args))
		}
		s.sets = append(s.sets, set)
	}
	s.codec = newRowCodec(types)
	return nil
}

// distinctArgs decodes the arguments of an entry of the set of call i. The
// vectors are valid until the next call.
func (s *sessions) distinctArgs(i int, entry int32) []*column.Vector {
	s.sets[i].load(s.calls[i].distinct.table, entry)
	return s.sets[i].cols
}

// ID names the operator in the checkpoint.
func (s *sessions) ID() string { return s.info.ID }

// Meaning says what the state means.
func (s *sessions) Meaning() string { return s.info.Meaning }

// put hands out the entry of a key: all its sessions, each as start, end, the
// states with their length and, for each distinct call, its arguments.
func (s *sessions) put(w *entryWriter, key int32) {
	s.buf = s.storedKey(s.buf[:0], key)
	n := len(s.buf)
	s.buf = s.idle.append(s.buf, key)
	var scratch []byte
	s.list.each(s.byKey[key], func(g int32) {
		s.buf = appendTimes(s.buf, s.list[g].start, s.list[g].end)
		s.codec.clear()
		at := 0
		for _, c := range s.calls {
			k := len(c.fn.State)
			c.st.Append(g, s.codec.cols[at:at+k])
			at += k
		}
		scratch = s.codec.encode(scratch[:0])
		s.buf = appendLong(s.buf, scratch)
		for i, c := range s.calls {
			if c.distinct == nil {
				continue
			}
			var entries []int32
			c.distinct.chain.each(g, func(e int32) { entries = append(entries, e) })
			s.buf = binary.AppendUvarint(s.buf, uint64(len(entries)))
			for _, e := range entries {
				s.distinctArgs(i, e)
				scratch = s.sets[i].encode(scratch[:0])
				s.buf = appendLong(s.buf, scratch)
			}
		}
	})
	w.write(s.buf, n)
}

func appendLong(dst, x []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(x))), x...)
}

// cutLong reads what appendLong wrote; ok is false when it is damaged.
func cutLong(src []byte) (x, rest []byte, ok bool) {
	n, w := binary.Uvarint(src)
	if w <= 0 || n > uint64(len(src)-w) {
		return nil, nil, false
	}
	return src[w : w+int(n)], src[w+int(n):], true
}

// Changes hands out what changed since the last call.
func (s *sessions) Changes(put Put) error {
	w := &entryWriter{put: put}
	s.log.flush(w, func(key int32) { s.put(w, key) })
	for _, c := range s.calls {
		if c.distinct != nil {
			c.distinct.made(func(_, _ int32) {})
		}
	}
	return s.cold.changes(w)
}

// Snapshot hands out all keys.
func (s *sessions) Snapshot(put Put) {
	w := &entryWriter{put: put}
	for key, root := range s.byKey {
		if root >= 0 {
			s.put(w, int32(key))
		}
	}
	s.cold.snapshot(w)
}

// Restore takes the sessions of one key.
func (s *sessions) Restore(key, value []byte) error {
	if len(key) < 1 {
		return errState(s.ID())
	}
	k, ok := s.table.restoreKey(key[1:])
	if !ok {
		return errState(s.ID())
	}
	for len(s.byKey) < s.table.groups {
		s.byKey = append(s.byKey, -1)
	}
	s.log.save(k)
	at, ok := s.set(k, value)
	if !ok {
		return errState(s.ID())
	}
	s.idle.restore(k, at)
	return nil
}

// set gives a key the sessions of an entry, and says when it was last used.
func (s *sessions) set(key int32, value []byte) (at int64, ok bool) {
	at, value, ok = s.idle.cut(value)
	if !ok {
		return 0, false
	}
	for len(value) > 0 {
		if value, ok = s.restoreSession(key, value); !ok {
			return 0, false
		}
	}
	return at, s.list.apart(s.byKey[key])
}

func (s *sessions) restoreSession(key int32, src []byte) ([]byte, bool) {
	if len(src) < 16 {
		return nil, false
	}
	start, end := int64(binary.LittleEndian.Uint64(src)), int64(binary.LittleEndian.Uint64(src[8:]))
	states, src, ok := cutLong(src[16:])
	if !ok || s.codec.decode(states) != nil {
		return nil, false
	}
	g := s.open(key, start, end)
	s.list[g].old = true
	at := 0
	for _, c := range s.calls {
		k := len(c.fn.State)
		c.st.Load(g, s.codec.cols[at:at+k], 0)
		at += k
	}
	for i, c := range s.calls {
		if c.distinct == nil {
			continue
		}
		n, w := binary.Uvarint(src)
		if w <= 0 {
			return nil, false
		}
		src = src[w:]
		for range n {
			var args []byte
			if args, src, ok = cutLong(src); !ok || s.sets[i].decode(args) != nil {
				return nil, false
			}
			c.distinct.first(s.sets[i].cols, []int32{0}, []int32{g})
		}
		c.distinct.made(func(_, _ int32) {})
	}
	return src, true
}
