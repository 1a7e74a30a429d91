package operator

import "pipelines/tables/column"

// sessionList holds sessions by number. Those of a key, of which no two touch,
// are a search tree in order of time: a treap, with the hash of a session's
// number as its rank, so that any order in which they come gives a flat tree. A
// tree is named by its root, -1 for none.
type sessionList []session

func rankOf(g int32) uint64 { return column.HashUint64(0, uint64(g)) }

// insert adds session g, which has no children, to a tree and returns its root.
func (l sessionList) insert(root, g int32) int32 {
	switch {
	case root < 0:
		return g
	case rankOf(g) > rankOf(root):
		l[g].left, l[g].right = l.split(root, l[g].start)
		return g
	case l[g].start < l[root].start:
		l[root].left = l.insert(l[root].left, g)
	default:
		l[root].right = l.insert(l[root].right, g)
	}
	return root
}

// split divides a tree into the sessions that start before t and the others.
func (l sessionList) split(root int32, t int64) (before, others int32) {
	if root < 0 {
		return -1, -1
	}
	if l[root].start < t {
		l[root].right, others = l.split(l[root].right, t)
		return root, others
	}
	before, l[root].left = l.split(l[root].left, t)
	return before, root
}

// without takes session g out of a tree and returns its root.
func (l sessionList) without(root, g int32) int32 {
	switch {
	case root == g:
		return l.unite(l[g].left, l[g].right)
	case l[g].start < l[root].start:
		l[root].left = l.without(l[root].left, g)
	default:
		l[root].right = l.without(l[root].right, g)
	}
	return root
}

// unite makes one tree of two, of which the first comes before the second.
func (l sessionList) unite(a, b int32) int32 {
	switch {
	case a < 0:
		return b
	case b < 0:
		return a
	case rankOf(a) > rankOf(b):
		l[a].right = l.unite(l[a].right, b)
		return a
	}
	l[b].left = l.unite(a, l[b].left)
	return b
}

// endingFrom is the first session of a tree that ends at t or later, or -1.
func (l sessionList) endingFrom(root int32, t int64) int32 {
	found := int32(-1)
	for root >= 0 {
		if l[root].end >= t {
			found, root = root, l[root].left
		} else {
			root = l[root].right
		}
	}
	return found
}

// each calls f for the sessions of a tree in order of time.
func (l sessionList) each(root int32, f func(g int32)) {
	if root >= 0 {
		l.each(l[root].left, f)
		f(root)
		l.each(l[root].right, f)
	}
}

// apart says whether no two sessions of a tree touch.
func (l sessionList) apart(root int32) bool {
	last, ok := int32(-1), true
	l.each(root, func(g int32) {
		ok = ok && l[g].start < l[g].end && (last < 0 || l[last].end < l[g].start)
		last = g
	})
	return ok
}
