package variant

import (
	"bytes"
	"fmt"
	"strconv"
)

// PathError says that a step of a path meets a value that has no such parts: a
// name no object, an index no array. Depth is how many steps were taken.
type PathError struct{ Depth int }

func (e *PathError) Error() string {
	return fmt.Sprintf("step %d of the path does not fit the value there", e.Depth+1)
}

// IsRoot is whether the path is $ alone.
func (p *Path) IsRoot() bool { return len(p.steps) == 0 }

// Prefix writes the first n steps as a path.
func (p *Path) Prefix(n int) string {
	b := []byte("$")
	for _, st := range p.steps[:min(n, len(p.steps))] {
		switch {
		case st.name == nil:
			b = append(strconv.AppendInt(append(b, '['), int64(st.index), 10), ']')
		case len(st.name) > 0 && !bytes.ContainsAny(st.name, ".["):
			b = append(append(b, '.'), st.name...)
		case bytes.IndexByte(st.name, '\'') < 0:
			b = append(append(append(b, "['"...), st.name...), "']"...)
		default:
			b = append(append(append(b, `["`...), st.name...), `"]`...)
		}
	}
	return string(b)
}

// Delete appends v without what stands at the path; v as it is when nothing
// stands there. The path is not the root.
func (p *Path) Delete(b *Builder, v Value) {
	e := edit{b: b, path: p, op: opDelete, w: walk{left: len(v.value)}}
	if err := e.at(v, 0); err != nil {
		panic("bug: variant: a deletion fails: " + err.Error())
	}
}

// Insert appends v with x at the path: a new field, or an element before the
// one that stands there. What the path lacks is made. The error is a
// DuplicateError, a PathError or ErrSize.
func (p *Path) Insert(b *Builder, v, x Value) error { return p.put(b, v, x, opInsert) }

// Set appends v with x at the path, in the place of what stands there; create
// says that what the path lacks is made. The error is a PathError or ErrSize.
func (p *Path) Set(b *Builder, v, x Value, create bool) error {
	if create {
		return p.put(b, v, x, opSet)
	}
	return p.put(b, v, x, opReplace)
}

// Append appends v with x behind the last element of the array at the path; v
// as it is when the path leads nowhere. The error is a PathError or ErrSize.
func (p *Path) Append(b *Builder, v, x Value) error { return p.put(b, v, x, opAppend) }

func (p *Path) put(b *Builder, v, x Value, op editOp) error {
	if len(p.steps) > MaxDepth {
		return ErrSize
	}
	e := edit{b: b, path: p, op: op, x: x, w: walk{left: len(v.value)}}
	return e.at(v, 0)
}

type editOp uint8

const (
	opDelete editOp = iota
	opInsert
	opSet
	opReplace
	opAppend
)

// edit is one change of a value that is copied.
type edit struct {
	b    *Builder
	path *Path
	op   editOp
	x    Value
	w    walk
	// padded is how many nulls were made so far.
	padded int
}

// creates is whether parts that are absent are made.
func (e *edit) creates() bool { return e.op == opInsert || e.op == opSet }

// at appends v, which stands behind depth steps of the path, changed.
func (e *edit) at(v Value, depth int) error {
	if depth == len(e.path.steps) { // only Append gets here
		return e.extend(v, depth)
	}
	st := e.path.steps[depth]
	switch kind := v.Kind(); {
	case st.name != nil && kind == Object && e.w.enter(depth):
		return e.object(v, st.name, depth)
	case st.name == nil && kind == Array && e.w.enter(depth):
		return e.array(v, st.index, depth)
	case e.op == opDelete:
		e.b.copy(&e.w, v, depth)
		return nil
	}
	return &PathError{depth}
}

// extend appends the array v with the new value behind its elements.
func (e *edit) extend(v Value, depth int) error {
	if v.Kind() != Array {
		return &PathError{depth}
	}
	m := e.b.Array()
	l := v.layout()
	for i := range v.Len() {
		e.b.Element(m)
		e.b.copy(&e.w, v.element(l, i), depth+1)
	}
	e.b.Element(m)
	e.b.Value(e.x)
	e.b.EndArray(m)
	return nil
}

func (e *edit) object(v Value, name []byte, depth int) error {
	last := depth == len(e.path.steps)-1 && e.op != opAppend
	m := e.b.Object()
	l := v.layout()
	found := false
	for i := range v.Len() {
		field, key := v.element(l, i), v.name(l, i)
		if !bytes.Equal(key, name) {
			e.b.Field(m, key)
			e.b.copy(&e.w, field, depth+1)
			continue
		}
		found = true
		switch {
		case last && e.op == opDelete:
		case last && e.op == opInsert:
			return &DuplicateError{string(name)}
		case last:
			e.b.Field(m, key)
			e.b.Value(e.x)
		default:
			e.b.Field(m, key)
			if err := e.at(field, depth+1); err != nil {
				return err
			}
		}
	}
	if !found && e.creates() {
		e.b.Field(m, name)
		if err := e.make(depth + 1); err != nil {
			return err
		}
	}
	e.b.endObject(m)
	return nil
}

func (e *edit) array(v Value, index, depth int) error {
	last := depth == len(e.path.steps)-1 && e.op != opAppend
	m := e.b.Array()
	l := v.layout()
	for i := range v.Len() {
		x := v.element(l, i)
		switch {
		case i == index && last && e.op == opDelete:
			continue
		case i == index && last:
			e.b.Element(m)
			e.b.Value(e.x)
			if e.op != opInsert {
				continue
			}
		case i == index:
			e.b.Element(m)
			if err := e.at(x, depth+1); err != nil {
				return err
			}
			continue
		}
		e.b.Element(m)
		e.b.copy(&e.w, x, depth+1)
	}
	if index >= v.Len() && e.creates() {
		if err := e.pad(m, index-v.Len(), depth); err != nil {
			return err
		}
	}
	e.b.EndArray(m)
	return nil
}

// pad appends n nulls to the array m and then what the rest of the path makes.
func (e *edit) pad(m Mark, n, depth int) error {
	if e.padded += n; e.padded > MaxBytes/5 { // a null and its offset take five bytes in such an array
		return ErrSize
	}
	for range n {
		e.b.Element(m)
		e.b.Null()
	}
	e.b.Element(m)
	return e.make(depth + 1)
}

// make appends the new value inside of what the path from depth on asks for.
func (e *edit) make(depth int) error {
	if depth == len(e.path.steps) {
		e.b.Value(e.x)
		return nil
	}
	if st := e.path.steps[depth]; st.name == nil {
		m := e.b.Array()
		if err := e.pad(m, st.index, depth); err != nil {
			return err
		}
		e.b.EndArray(m)
	} else {
		m := e.b.Object()
		e.b.Field(m, st.name)
		if err := e.make(depth + 1); err != nil {
			return err
		}
		e.b.endObject(m)
	}
	return nil
}

// StripNulls appends v without the fields that are null, and without the
// elements that are when arrays says so. A null that stands alone stays.
func (b *Builder) StripNulls(v Value, arrays bool) {
	w := walk{left: len(v.value)}
	b.strip(&w, v, arrays, 0)
}

func (b *Builder) strip(w *walk, v Value, arrays bool, depth int) {
	kind := v.Kind()
	if kind != Object && kind != Array || !w.enter(depth) {
		b.copy(w, v, depth)
		return
	}
	l := v.layout()
	if kind == Object {
		m := b.Object()
		for i := range v.Len() {
			if x := v.element(l, i); x.Kind() != Null {
				b.Field(m, v.name(l, i))
				b.strip(w, x, arrays, depth+1)
			}
		}
		b.endObject(m)
		return
	}
	m := b.Array()
	for i := range v.Len() {
		if x := v.element(l, i); x.Kind() != Null || !arrays {
			b.Element(m)
			b.strip(w, x, arrays, depth+1)
		}
	}
	b.EndArray(m)
}
