package logical

import "strings"

// HasState reports whether some operator of a plan keeps state.
func HasState(n Node) bool { return len(States(n)) > 0 }

// States are those of the operators of a plan.
func States(n Node) []*StateInfo {
	var out []*StateInfo
	WalkNode(n, func(n Node) bool {
		var s *StateInfo
		switch m := n.(type) {
		case *Aggregate:
			s = m.State
		case *Distinct:
			s = m.State
		case *Join:
			s = m.State
		case *Window:
			s = m.State
		case *Deduplicate:
			s = m.State
		}
		if s != nil {
			out = append(out, s)
		}
		return true
	})
	return out
}

// RenameState gives the stateful operators and watermarks of a plan, which are
// named after the dataset now, the names that they have after the dataset was.
func RenameState(n Node, now, was string) Node {
	rename := func(id string) string {
		if rest, ok := strings.CutPrefix(id, now+"/"); ok {
			return was + "/" + rest
		}
		return id
	}
	state := func(s *StateInfo) *StateInfo {
		if s == nil {
			return nil
		}
		k := *s
		k.ID = rename(s.ID)
		return &k
	}
	var down func(n Node) Node
	down = func(n Node) Node {
		switch m := n.(type) {
		case *Aggregate:
			k := *m
			k.State, n = state(m.State), &k
		case *Distinct:
			k := *m
			k.State, n = state(m.State), &k
		case *Join:
			k := *m
			k.State, n = state(m.State), &k
		case *Window:
			k := *m
			k.State, n = state(m.State), &k
		case *Deduplicate:
			k := *m
			k.State, n = state(m.State), &k
		case *Watermark:
			k := *m
			k.ID, n = rename(m.ID), &k
		}
		return MapInputs(n, down)
	}
	return down(n)
}
