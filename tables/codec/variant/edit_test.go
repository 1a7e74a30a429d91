package variant

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestEdit compares the edits with the same edits of trees of Go values.
func TestEdit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	b := NewBuilder()
	for range 20000 {
		tree, path := randomTree(r, 3), randomPath(r)
		p, ok := ParsePath(path)
		if !ok || p.Prefix(len(p.steps)) != path {
			t.Fatalf("path %s: %v", path, ok)
		}
		v := valueOf(t, tree)
		x := valueOf(t, "new")
		var err error
		op := editOp(r.IntN(5))
		b.Reset()
		switch op {
		case opDelete:
			p.Delete(b, v)
		case opInsert:
			err = p.Insert(b, v, x)
		case opSet, opReplace:
			err = p.Set(b, v, x, op == opSet)
		default:
			err = p.Append(b, v, x)
		}
		want, wantErr := plainEdit(tree, p.steps, op, 0)
		what := fmt.Sprintf("op %d of %s at %s", op, asJSON(t, tree), path)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Fatalf("%s: error %v, want %v", what, err, wantErr)
		}
		if err == nil {
			checkBuilt(t, b, what, want)
		}
		arrays := r.IntN(2) == 0
		b.Reset()
		b.StripNulls(v, arrays)
		checkBuilt(t, b, fmt.Sprintf("strip %t of %s", arrays, asJSON(t, tree)), plainStrip(tree, arrays))
	}
}

func checkBuilt(t *testing.T, b *Builder, what string, want any) {
	t.Helper()
	value, metadata := b.AppendValue(nil), b.AppendMetadata(nil)
	if !Valid(value, metadata) {
		t.Fatalf("%s: not valid", what)
	}
	if got := string(AppendJSON(nil, value, metadata, nil)); got != asJSON(t, want) {
		t.Fatalf("%s gives %s, want %s", what, got, asJSON(t, want))
	}
}

// TestEditTooLarge shows that an index far behind the end is refused before
// memory is used for it.
func TestEditTooLarge(t *testing.T) {
	p, _ := ParsePath("$.a[2147483647]")
	if err := p.Set(NewBuilder(), valueOf(t, map[string]any{}), valueOf(t, 1), true); !errors.Is(err, ErrSize) {
		t.Error(err)
	}
}

func valueOf(t *testing.T, tree any) Value {
	value, metadata := encode(t, asJSON(t, tree))
	return Of(value, metadata)
}

func asJSON(t *testing.T, tree any) string {
	t.Helper()
	b, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func randomTree(r *rand.Rand, depth int) any {
	switch k := r.IntN(4); {
	case k == 0 || depth == 0:
		return []any{nil, 1, "s", true}[r.IntN(4)]
	case k == 1:
		a := []any{}
		for range r.IntN(4) {
			a = append(a, randomTree(r, depth-1))
		}
		return a
	}
	m := map[string]any{}
	for range r.IntN(4) {
		m[string(rune('a'+r.IntN(4)))] = randomTree(r, depth-1)
	}
	return m
}

func randomPath(r *rand.Rand) string {
	path := "$"
	for range 1 + r.IntN(3) {
		if r.IntN(3) == 0 {
			path += fmt.Sprintf("[%d]", r.IntN(5))
		} else {
			path += []string{".a", ".b", ".c", "['x.y']"}[r.IntN(4)]
		}
	}
	return path
}

// plainEdit is the reference: it changes trees of Go values.
func plainEdit(v any, steps []step, op editOp, depth int) (any, error) {
	if depth == len(steps) && op == opAppend {
		a, ok := v.([]any)
		if !ok {
			return nil, &PathError{depth}
		}
		return append(a[:len(a):len(a)], "new"), nil
	}
	if depth == len(steps) {
		return "new", nil
	}
	last, creates := depth == len(steps)-1, op == opInsert || op == opSet
	if st := steps[depth]; st.name != nil {
		old, ok := v.(map[string]any)
		if !ok {
			return mismatch(v, op, depth)
		}
		m := map[string]any{}
		for k, x := range old {
			m[k] = x
		}
		name := string(st.name)
		x, there := m[name]
		switch {
		case there && last && op == opDelete:
			delete(m, name)
			return m, nil
		case there && last && op == opInsert:
			return nil, &DuplicateError{name}
		case !there && !creates:
			return m, nil
		case !there:
			x = emptyFor(steps, depth+1)
		}
		y, err := plainEdit(x, steps, op, depth+1)
		m[name] = y
		return m, err
	}
	old, ok := v.([]any)
	if !ok {
		return mismatch(v, op, depth)
	}
	a := append([]any{}, old...)
	i := steps[depth].index
	switch {
	case i >= len(a) && !creates:
		return a, nil
	case last && op == opDelete:
		return append(a[:i], a[i+1:]...), nil
	case i < len(a) && last && op == opInsert:
		return append(a[:i:i], append([]any{"new"}, a[i:]...)...), nil
	}
	for len(a) < i {
		a = append(a, nil)
	}
	if len(a) == i {
		a = append(a, emptyFor(steps, depth+1))
	}
	y, err := plainEdit(a[i], steps, op, depth+1)
	a[i] = y
	return a, err
}

func emptyFor(steps []step, depth int) any {
	switch {
	case depth == len(steps):
		return nil
	case steps[depth].name != nil:
		return map[string]any{}
	}
	return []any{}
}

func mismatch(v any, op editOp, depth int) (any, error) {
	if op == opDelete {
		return v, nil
	}
	return nil, &PathError{depth}
}

func plainStrip(v any, arrays bool) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for k, x := range v {
			if x != nil {
				m[k] = plainStrip(x, arrays)
			}
		}
		return m
	case []any:
		a := []any{}
		for _, x := range v {
			if x != nil || !arrays {
				a = append(a, plainStrip(x, arrays))
			}
		}
		return a
	}
	return v
}
