package flow

import (
	"context"

	"pipelines/runtime/connector"
	"pipelines/sqlplan/logical"
)

// listedOnce is a relation whose splits are listed once, for its size is asked
// before the plan is built. One goroutine lists.
type listedOnce struct {
	connector.Bounded
	done        bool
	splits      []connector.Split
	fingerprint string
	err         error
}

// Whole lists the splits, or returns what was listed.
func (l *listedOnce) Whole(ctx context.Context) ([]connector.Split, string, error) {
	if !l.done {
		l.splits, l.fingerprint, l.err = l.Bounded.Whole(ctx)
		l.done = true
	}
	return l.splits, l.fingerprint, l.err
}

func listOnce(tables map[string]connector.Bounded) map[string]connector.Bounded {
	out := make(map[string]connector.Bounded, len(tables))
	for id, t := range tables {
		out[id] = &listedOnce{Bounded: t}
	}
	return out
}

// facts tells what is known of relations before they are read.
func facts(ctx context.Context, tables map[string]connector.Bounded) logical.Facts {
	return logical.Facts{Bytes: sizes(ctx, tables), Files: func(id string) []logical.FileFacts {
		l, ok := tables[id].(*listedOnce)
		if !ok {
			return nil
		}
		d, ok := l.Bounded.(connector.Described)
		if !ok {
			return nil
		}
		splits, _, err := l.Whole(ctx)
		if err != nil { // it comes up again when the relation is read
			return nil
		}
		return d.Describe(ctx, splits)
	}}
}

// sizes tells the bytes of relations as far as their splits do; an error of the
// listing comes up again when the relation is read.
func sizes(ctx context.Context, tables map[string]connector.Bounded) func(string) int64 {
	return func(id string) int64 {
		t, ok := tables[id]
		if !ok {
			return -1
		}
		splits, _, err := t.Whole(ctx)
		if err != nil {
			return -1
		}
		total := int64(0)
		for _, s := range splits {
			if s.Bytes <= 0 {
				return -1
			}
			total += s.Bytes
		}
		return total
	}
}
