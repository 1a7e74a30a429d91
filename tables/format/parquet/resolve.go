package parquet

import (
	"fmt"
	"slices"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// readNode is one wanted value, tied to where it lies in the file.
type readNode struct {
	want schema.Type
	file *fileNode // nil: not in the file, so null
	kids []*readNode
	leaf *leafReader
	// first is a leaf at or below the node: its levels tell nulls and lengths.
	first *leafReader
}

// resolver finds wanted columns in a file.
type resolver struct {
	f             *file
	pool          *column.Pool
	codec         *codec
	caseSensitive bool
	verify        bool
	leaves        []*leafReader
}

// find returns the child of n called name: the exact name first.
func (s *resolver) find(n *fileNode, name string) (*fileNode, error) {
	var found *fileNode
	for _, k := range n.kids {
		if k.name == name {
			return k, nil
		}
		if !s.caseSensitive && strings.EqualFold(k.name, name) {
			if found != nil {
				return nil, fmt.Errorf("column name %q is ambiguous: %q and %q", name, found.name, k.name)
			}
			found = k
		}
	}
	return found, nil
}

// unknown calls fn with the fields of a struct that the declared type has not.
func (s *resolver) unknown(declared schema.Type, n *fileNode, path string, fn func(string)) {
	for _, k := range n.kids {
		i := slices.IndexFunc(declared.Fields, func(f schema.Field) bool {
			return f.Name == k.name || !s.caseSensitive && strings.EqualFold(f.Name, k.name)
		})
		switch {
		case i < 0:
			fn(path + k.name)
		case declared.Fields[i].Type.Kind == schema.Struct && k.leaf == nil && k.elemRep == 0:
			s.unknown(declared.Fields[i].Type, k, path+k.name+".", fn)
		}
	}
}

// resolve ties the wanted type to the file's node; n is nil when it is missing.
func (s *resolver) resolve(want schema.Type, n *fileNode) (*readNode, error) {
	r := &readNode{want: want, file: n}
	if n == nil || want.Kind == schema.Void {
		r.file = nil
		return r, nil
	}
	mismatch := fmt.Errorf("column %s: %s in the file cannot be read as %s", n.name, n.typ, want)
	isList := len(n.kids) == 1 && n.elemRep > 0
	isMap := len(n.kids) == 2 && n.elemRep > 0
	switch want.Kind {
	case schema.Struct:
		if n.leaf != nil || isList || isMap {
			return nil, mismatch
		}
		return r, s.resolveStruct(r)
	case schema.Array:
		if !isList {
			return nil, mismatch
		}
		return r, s.resolveKids(r, *want.Elem)
	case schema.Map:
		if !isMap {
			return nil, mismatch
		}
		return r, s.resolveKids(r, *want.Key, *want.Elem)
	}
	if n.leaf == nil {
		return nil, mismatch
	}
	emit, err := emitterFor(n, want)
	if err != nil {
		return nil, err
	}
	r.leaf = s.reader(n)
	r.leaf.emit = emit
	r.first = r.leaf
	return r, nil
}

func (s *resolver) reader(n *fileNode) *leafReader {
	l := &leafReader{f: s.f, node: n, codec: s.codec, pool: s.pool, verify: s.verify}
	s.leaves = append(s.leaves, l)
	return l
}

func (s *resolver) resolveStruct(r *readNode) error {
	for _, f := range r.want.Fields {
		n, err := s.find(r.file, f.Name)
		if err != nil {
			return err
		}
		kid, err := s.resolve(f.Type, n)
		if err != nil {
			return err
		}
		r.kids = append(r.kids, kid)
		if r.first == nil {
			r.first = kid.first
		}
	}
	return s.ensureFirst(r)
}

func (s *resolver) resolveKids(r *readNode, types ...schema.Type) error {
	for i, t := range types {
		kid, err := s.resolve(t, r.file.kids[i])
		if err != nil {
			return err
		}
		r.kids = append(r.kids, kid)
		if r.first == nil {
			r.first = kid.first
		}
	}
	return s.ensureFirst(r)
}

// ensureFirst reads the levels of some leaf of r when none below it is wanted.
func (s *resolver) ensureFirst(r *readNode) error {
	if r.first != nil {
		return nil
	}
	n := firstLeaf(r.file)
	if n == nil {
		return fmt.Errorf("column %s: a group without columns cannot be read", r.file.name)
	}
	r.first = s.reader(n)
	return nil
}

func firstLeaf(n *fileNode) *fileNode {
	if n.leaf != nil {
		return n
	}
	for _, k := range n.kids {
		if l := firstLeaf(k); l != nil {
			return l
		}
	}
	return nil
}
