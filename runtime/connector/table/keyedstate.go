package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"pipelines/runtime/budget"
	"pipelines/runtime/connector"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// The kinds of entries of the state, the first byte of their keys.
const (
	entryLayout = 'l' // + number -> the columns of stored rows, as JSON
	entryCut    = 't' // -> the greatest sequence of a truncate
	entryChange = 'k' // + key + sequence + operation -> layout, rows; or the time of a delete
)

// keyedState is what a sink of changes remembers: of each key the changes that
// can still matter for the table, however late others come. The table's rows
// of a key follow from its changes alone.
type keyedState struct {
	sink    *Keyed
	reader  connector.StateReader
	layouts []layout
	current int // the layout that is written; len(layouts) if it is new
	cut     *column.Vector
	changes []connector.Entry // of the epoch that was staged last
	arena   []byte            // what the changes are made of: its free rest counts
	mem     *budget.Reservation
	text    int // bytes of the changes
	key     []byte
	value   []byte
}

// layout is the columns of stored rows, which are those of the table without
// the keys.
type layout struct {
	fields []schema.Field
	// to has for each column its place in the row; from -1 cannot happen.
	to []int
	// same says that the columns are those of today.
	same bool
}

func newKeyedState(k *Keyed) keyedState {
	return keyedState{sink: k, mem: k.o.Budget.Reserve("changes of table " + k.o.Name)}
}

func (s *keyedState) ownLayout() layout {
	l := layout{same: true}
	for i, f := range s.sink.rowFields() {
		if !s.sink.isKey(i) {
			l.fields, l.to = append(l.fields, f), append(l.to, i)
		}
	}
	return l
}

// start reads what belongs to no key.
func (s *keyedState) start(r connector.StateReader) error {
	s.reader = r
	own := s.ownLayout()
	want := schema.Schema{Fields: own.fields}.JSON()
	s.layouts, s.current, s.cut = nil, -1, nil
	err := r.Prefixes([][]byte{{entryLayout}, {entryCut}}, func(i int, _, v []byte) error {
		if i == 1 {
			s.cut = column.New(s.sink.o.Changes.Sequence)
			rest, err := column.DecodeValue(v, s.cut)
			if err == nil && len(rest) > 0 {
				err = column.ErrEncoding
			}
			return err
		}
		l, err := s.readLayout(string(v), want)
		if l.same {
			s.current = len(s.layouts)
		}
		s.layouts = append(s.layouts, l)
		return err
	})
	if err != nil {
		return fmt.Errorf("state of table %s: %w", s.sink.o.Name, err)
	}
	if s.current < 0 {
		s.current = len(s.layouts)
	}
	return nil
}

func (s *keyedState) readLayout(text, want string) (layout, error) {
	if text == want {
		return s.ownLayout(), nil
	}
	old, err := schema.ParseJSON(text)
	if err != nil {
		return layout{}, err
	}
	l := layout{fields: old.Fields}
	now := schema.Schema{Fields: s.sink.rowFields()}
	for _, f := range old.Fields {
		to := now.Index(f.Name)
		if to < 0 || s.sink.isKey(to) {
			return l, s.unfit("column %s is no longer written", f.Name)
		}
		if !widens(f.Type, now.Fields[to].Type) {
			return l, s.unfit("column %s was %s and is %s", f.Name, f.Type, now.Fields[to].Type)
		}
		l.to = append(l.to, to)
	}
	return l, nil
}

func (s *keyedState) unfit(format string, args ...any) error {
	return fmt.Errorf("%w; a full refresh is needed: --full-refresh %s", &connector.StateError{What: fmt.Sprintf(format, args...)}, s.sink.o.Typed)
}

// widens reports whether values of one type are read as another.
func widens(from, to schema.Type) bool {
	wider := from.Kind == schema.Decimal && to.Kind == schema.Decimal && from.Scale == to.Scale && from.Precision <= to.Precision
	return wider || from.SameShape(to)
}

// load appends the stored changes of the keys of r, whose numbers are in
// order, and notes where they begin.
func (s *keyedState) load(r *keyedRows, order []int32) error {
	size := len(order)
	for _, id := range order {
		size += len(r.keys[id])
	}
	prefixes, text := make([][]byte, len(order)), make([]byte, 0, size)
	for i, id := range order {
		from := len(text)
		text = append(append(text, entryChange), r.keys[id]...)
		prefixes[i] = text[from:]
	}
	n := 0
	err := s.reader.Prefixes(prefixes, func(i int, k, v []byte) error {
		if n++; n%reserveEvery == 0 {
			if err := r.reserve(); err != nil {
				return err
			}
		}
		id := order[i]
		rest, err := column.DecodeValue(k[len(prefixes[i]):], r.seq)
		if err != nil || len(rest) != 1 {
			return errors.Join(err, column.ErrEncoding)
		}
		return s.loadRows(r, id, rest[0], v)
	})
	if err != nil {
		return fmt.Errorf("state of table %s: %w", s.sink.o.Name, err)
	}
	return r.bound()
}

// loadRows appends the rows of one entry; r.seq has its sequence already, once.
func (s *keyedState) loadRows(r *keyedRows, id int32, op uint8, value []byte) error {
	if op == OpDelete {
		for c, v := range r.cols {
			if !s.sink.isKey(c) {
				v.AppendNull()
			}
		}
		return s.loaded(r, id, op)
	}
	n, w := binary.Uvarint(value)
	if w <= 0 || n >= uint64(len(s.layouts)) {
		return column.ErrEncoding
	}
	value = value[w:]
	for first := true; first || len(value) > 0; first = false {
		if !first {
			column.AppendRow(r.seq, r.seq, r.seq.Len-1)
		}
		var err error
		if value, err = s.loadRow(r, &s.layouts[n], value); err != nil {
			return err
		}
		if err := s.loaded(r, id, op); err != nil {
			return err
		}
	}
	return nil
}

// loaded appends the key's columns and the rest of a loaded row.
func (s *keyedState) loaded(r *keyedRows, id int32, op uint8) error {
	key := []byte(r.keys[id])
	var err error
	for _, c := range s.sink.o.Keys {
		if key, err = column.DecodeValue(key, r.cols[c]); err != nil {
			return err
		}
	}
	r.op, r.key = append(r.op, op), append(r.key, id)
	return nil
}

func (s *keyedState) loadRow(r *keyedRows, l *layout, value []byte) ([]byte, error) {
	var err error
	if l.same {
		for _, to := range l.to {
			if value, err = column.DecodeValue(value, r.cols[to]); err != nil {
				return nil, err
			}
		}
		return value, nil
	}
	seen := slices.Clone(s.sink.o.Keys)
	for i, f := range l.fields {
		v := r.cols[l.to[i]]
		seen = append(seen, l.to[i])
		if f.Type.SameShape(v.Type) {
			if value, err = column.DecodeValue(value, v); err != nil {
				return nil, err
			}
			continue
		}
		old := column.New(f.Type)
		if value, err = column.DecodeValue(value, old); err != nil {
			return nil, err
		}
		column.AppendValue(v, column.At(old, 0)) // the unscaled value
	}
	for c, v := range r.cols {
		if !slices.Contains(seen, c) {
			v.AppendNull()
		}
	}
	return value, nil
}

// allKeys gives r the numbers of all keys in the state.
func (s *keyedState) allKeys(r *keyedRows) error {
	split := s.keySplitter()
	return s.reader.Prefixes([][]byte{{entryChange}}, func(_ int, k, _ []byte) error {
		key, _, err := split(k[1:])
		if err != nil {
			return err
		}
		if id := r.idOf(key); id%reserveEvery == 0 {
			return r.reserve()
		}
		return nil
	})
}

// put notes that an entry is written.
func (s *keyedState) put(key, value []byte) {
	s.changes = append(s.changes, connector.Entry{Key: s.copied(key), Value: s.copied(value)})
}

func (s *keyedState) remove(key []byte) {
	s.changes = append(s.changes, connector.Entry{Key: s.copied(key)})
}

// arenaBytes is the size of the pieces that small texts are copied into.
const arenaBytes = 64 << 10

// copied returns a copy, which is never nil.
func (s *keyedState) copied(b []byte) []byte {
	if cap(s.arena)-len(s.arena) < len(b) {
		s.arena = make([]byte, 0, max(arenaBytes, len(b)))
	}
	s.text += len(b)
	from := len(s.arena)
	s.arena = append(s.arena, b...)
	return s.arena[from:len(s.arena):len(s.arena)]
}

// entryKey makes the key of the entry that holds change i.
func (s *keyedState) entryKey(r *keyedRows, i int32) []byte {
	s.key = append(append(s.key[:0], entryChange), r.keys[r.key[i]]...)
	s.key = column.AppendKey(s.key, r.seq, int(i))
	s.key = append(s.key, r.op[i])
	return s.key
}

// entryValue makes the value of the entry that holds the changes.
func (s *keyedState) entryValue(r *keyedRows, rows []int32, now int64) []byte {
	s.value = s.value[:0]
	if r.op[rows[0]] == OpDelete {
		return binary.BigEndian.AppendUint64(s.value, uint64(now))
	}
	s.value = binary.AppendUvarint(s.value, uint64(s.current))
	for _, i := range rows {
		for c, v := range r.cols {
			if !s.sink.isKey(c) {
				s.value = column.AppendExact(s.value, v, int(i))
			}
		}
	}
	return s.value
}

// heads writes the entries that belong to no key.
func (s *keyedState) heads(cut *column.Vector) {
	if s.current == len(s.layouts) {
		own := s.ownLayout()
		s.put([]byte{entryLayout, byte(s.current)}, []byte(schema.Schema{Fields: own.fields}.JSON()))
		s.layouts = append(s.layouts, own)
	}
	if cut != nil {
		s.cut = column.New(cut.Type)
		column.AppendRow(s.cut, cut, 0)
		s.put([]byte{entryCut}, column.AppendKey(nil, s.cut, 0))
	}
}
