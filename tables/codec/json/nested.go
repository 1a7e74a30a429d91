package json

import "pipelines/tables/schema"

// value reads the value at i into row r of nd. next is behind the value, or
// -1 for a syntax error; ok is false when the value does not fit the type, and
// the row is left as a null not yet filled in.
func (d *Decoder) value(nd *node, r, i int) (next int, ok bool) {
	b := d.b
	c := b[i]
	if c <= ' ' || c == '/' {
		i = d.ws(i)
		c = b[i]
	}
	if nd.variant {
		return d.variantValue(nd, r, i)
	}
	switch c {
	case '"', '\'':
		var sp span
		if c == '"' {
			sp, next = d.str(i)
		} else {
			sp, next = d.singleQuoted(i)
		}
		if next < 0 {
			return -1, false
		}
		return next, d.textValue(nd, r, sp)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if nd.typ.Kind == schema.Int64 {
			if v, next, ok := d.whole(i); ok {
				return next, d.putI64(nd, r, v)
			}
		}
		return d.numberValue(nd, r, i)
	case '+', 'N', 'I':
		return d.numberValue(nd, r, i)
	case '{':
		return d.objectValue(nd, r, i)
	case '[':
		return d.arrayValue(nd, r, i)
	case 't', 'f':
		next = d.literal(i)
		if next < 0 {
			return -1, false
		}
		return next, d.boolValue(nd, r, c == 't')
	case 'n':
		if nd.n > r {
			nd.truncate(r)
		}
		return d.literal(i), true
	}
	return -1, false
}

// field reads the value of a struct's field; one that does not fit is null
// and makes the record partial.
func (d *Decoder) field(nd *node, e *entry, r, i int) int {
	next, ok := d.value(e.f, r, i)
	if !ok && next >= 0 {
		d.partial = true
		if e.f.n > r {
			e.f.truncate(r)
		}
		if d.rescue != nil {
			d.rescue.add(d, nd.path+e.name, i)
		}
	}
	return next
}

// object reads the fields of the object at i into row r of the children of nd.
func (d *Decoder) object(nd *node, r, i int) int {
	b := d.b
	i++
	if b[i] != '"' {
		if i = d.ws(i); b[i] == '}' {
			return i + 1
		}
	}
	if d.depth++; d.depth > maxDepth {
		return -1
	}
	prev := &nd.head
	for {
		var e *entry
		if p := prev.next; p != nil && p.at(b, i) {
			e = p
			i += len(p.text)
			if prev.trust < 3 {
				prev.trust++
			}
		} else if e, i = d.fieldName(nd, prev, i); i < 0 {
			return -1
		}
		prev = e
		switch {
		case e.f != nil:
			i = d.field(nd, e, r, i)
		case d.rescue != nil:
			i = d.rescueField(nd, e, i)
		case b[i] == '{' && e.skip != nil:
			i = d.skipKnown(e.skip, i)
		default:
			i = d.skip(i)
		}
		if i < 0 {
			return -1
		}
		c := b[i]
		if c <= ' ' || c == '/' {
			i = d.ws(i)
			c = b[i]
		}
		if c == ',' {
			if i++; b[i] != '"' {
				i = d.ws(i)
			}
			continue
		}
		if c != '}' {
			return -1
		}
		d.depth--
		return i + 1
	}
}

// skipKnown validates the object at i, none of whose fields is wanted, with the
// keys foreseen.
func (d *Decoder) skipKnown(nd *node, i int) int {
	b := d.b
	i++
	if b[i] != '"' {
		if i = d.ws(i); b[i] == '}' {
			return i + 1
		}
	}
	if d.depth++; d.depth > maxDepth {
		return -1
	}
	prev := &nd.head
	for {
		e := prev.next
		if e != nil && e.at(b, i) {
			i += len(e.text)
			if prev.trust < 3 {
				prev.trust++
			}
		} else if e, i = d.fieldName(nd, prev, i); i < 0 {
			return -1
		}
		prev = e
		if b[i] == '"' {
			end, high := run8(b, i+1)
			if b[end] == '"' && high&highs == 0 {
				i = end + 1
			} else {
				_, i = d.str(i)
			}
		} else if b[i] == '{' && e.skip != nil {
			i = d.skipKnown(e.skip, i)
		} else {
			i = d.skip(i)
		}
		if i < 0 {
			return -1
		}
		c := b[i]
		if c != ',' && c != '}' {
			i = d.ws(i)
			c = b[i]
		}
		if c == ',' {
			if i++; b[i] != '"' {
				i = d.ws(i)
			}
			continue
		}
		if c != '}' {
			return -1
		}
		d.depth--
		return i + 1
	}
}

// fieldName reads a key that was not foreseen, up to the value, and remembers
// that it followed prev.
func (d *Decoder) fieldName(nd *node, prev *entry, i int) (*entry, int) {
	start := i
	sp, i := d.key(i)
	if i < 0 {
		return nil, -1
	}
	if i = d.ws(i); d.b[i] != ':' {
		return nil, -1
	}
	i = d.ws(i + 1)
	e := nd.entries[string(d.b[start:i])]
	if e == nil {
		name := string(d.b[sp.from:sp.to])
		if sp.escaped {
			name = string(unescape(nil, d.b[sp.from:sp.to]))
		}
		e = newEntry(d.b[start:i], name, nd.known[name])
		if e.f == nil && d.unknown != nil && nd.declared != nil && !nd.declared[name] {
			d.unknown(nd.path + name)
		}
		if d.remembered >= maxEntries {
			return e, i
		}
		d.remembered++
		nd.entries[e.text] = e
		if e.f == nil && d.b[i] == '{' {
			e.skip = &node{entries: map[string]*entry{}}
		}
	}
	if prev.trust--; prev.trust < 0 {
		prev.next, prev.trust = e, 0
	}
	return e, i
}

// objectValue reads an object into a struct, a map or a text.
func (d *Decoder) objectValue(nd *node, r, i int) (int, bool) {
	switch {
	case nd.fields != nil || nd.known != nil:
		nd.seek(r)
		nd.n = r + 1
		return d.object(nd, r, i), true
	case nd.key != nil:
		return d.mapValue(nd, r, i)
	}
	return d.other(nd, r, i)
}

// arrayValue reads an array into an array or a text.
func (d *Decoder) arrayValue(nd *node, r, i int) (next int, ok bool) {
	if nd.elem == nil || nd.key != nil {
		return d.other(nd, r, i)
	}
	nd.seek(r)
	start := nd.children
	ok = true
	i = d.ws(i + 1)
	if d.b[i] == ']' {
		nd.endList(r)
		return i + 1, true
	}
	if d.depth++; d.depth > maxDepth {
		return -1, false
	}
	for {
		var fits bool
		if i, fits = d.value(nd.elem, nd.children, i); i < 0 {
			return -1, false
		}
		ok = ok && fits
		nd.children++
		if i = d.ws(i); d.b[i] == ',' {
			i++
			continue
		}
		if d.b[i] != ']' {
			return -1, false
		}
		d.depth--
		break
	}
	if !ok {
		nd.cutChildren(start)
		return i + 1, false
	}
	nd.endList(r)
	return i + 1, true
}

// endList ends row r of a list with the children read so far.
func (nd *node) endList(r int) {
	nd.v.Offsets = append(nd.v.Offsets, int32(nd.children))
	nd.n = r + 1
}

// mapValue reads an object into a map; of equal keys the last value stays, at
// the place of the first.
func (d *Decoder) mapValue(nd *node, r, i int) (next int, ok bool) {
	nd.seek(r)
	start, open := nd.children, i
	ok = true
	i = d.ws(i + 1)
	if d.b[i] == '}' {
		nd.endList(r)
		return i + 1, true
	}
	if d.depth++; d.depth > maxDepth {
		return -1, false
	}
	twice := false
	for {
		var sp span
		if sp, i = d.mapKey(i); i < 0 {
			return -1, false
		}
		row := nd.children
		d.appendText(nd.key, row, sp)
		nd.children++
		twice = twice || d.hasKey(nd, start, row)
		var fits bool
		if i, fits = d.value(nd.elem, row, i); i < 0 {
			return -1, false
		}
		ok = ok && fits
		if i = d.ws(i); d.b[i] == ',' {
			i = d.ws(i + 1)
			continue
		}
		if d.b[i] != '}' {
			return -1, false
		}
		d.depth--
		break
	}
	if !ok {
		nd.cutChildren(start)
		return i + 1, false
	}
	if twice {
		nd.cutChildren(start)
		d.lastOfEach(nd, open)
	}
	nd.endList(r)
	return i + 1, true
}

// mapKey scans a key and its colon.
func (d *Decoder) mapKey(i int) (sp span, next int) {
	if sp, i = d.key(i); i < 0 {
		return sp, -1
	}
	if d.b[i] != ':' {
		if i = d.ws(i); d.b[i] != ':' {
			return sp, -1
		}
	}
	return sp, i + 1
}

// hasKey reports whether the key in row is among those from start on.
func (d *Decoder) hasKey(nd *node, start, row int) bool {
	const few = 32
	keys := nd.key.v
	if row-start < few {
		for k := start; k < row; k++ {
			if string(keys.Str(k)) == string(keys.Str(row)) {
				return true
			}
		}
		return false
	}
	if row-start == few {
		d.keys = map[string]bool{}
		for k := start; k < row; k++ {
			d.keys[string(keys.Str(k))] = true
		}
	}
	name := string(keys.Str(row))
	if d.keys[name] {
		return true
	}
	if d.keys != nil { // a map inside the values may have taken it
		d.keys[name] = true
	}
	return false
}

// lastOfEach reads the object at i, which is valid, into the map again, each
// key once with its last value.
func (d *Decoder) lastOfEach(nd *node, i int) {
	type pair struct {
		key span
		at  int
	}
	var pairs []pair
	place := map[string]int{}
	for d.b[i] != '}' {
		sp, at := d.mapKey(d.ws(i + 1))
		name := string(d.b[sp.from:sp.to])
		if sp.escaped {
			name = string(unescape(nil, []byte(name)))
		}
		if p, ok := place[name]; ok {
			pairs[p].at = at
		} else {
			place[name] = len(pairs)
			pairs = append(pairs, pair{sp, at})
		}
		i = d.ws(d.skip(d.ws(at)))
	}
	for _, p := range pairs {
		d.appendText(nd.key, nd.children, p.key)
		d.value(nd.elem, nd.children, p.at)
		nd.children++
	}
}
