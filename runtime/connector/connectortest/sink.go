package connectortest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"pipelines/runtime/connector"
	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// SinkCase is a sink to be tested. Its rows have two columns: BIGINT, STRING.
type SinkCase struct {
	// Open returns a new instance over the same target, as a restart does.
	Open func(t *testing.T) connector.Sink
	// Read returns what the target shows, each row as the JSON texts of its
	// columns with a blank between; nil where nothing can be read.
	Read func(t *testing.T) []string
	// Overwrites says that EpochInfo.Overwrite is honoured.
	Overwrites bool
}

// SinkSchema is the schema of the rows that Sink writes.
func SinkSchema() schema.Schema {
	return schema.Schema{Fields: []schema.Field{
		{Name: "id", Type: schema.Of(schema.Int64), Nullable: true},
		{Name: "k", Type: schema.Of(schema.String), Nullable: true},
	}}
}

type sinkTest struct {
	t    *testing.T
	c    SinkCase
	pool *column.Pool
	want []string
}

func info(app string, epoch int64) connector.EpochInfo {
	return connector.EpochInfo{AppID: app, Epoch: epoch, Info: map[string]string{"flow": "f"}}
}

// Sink runs the contract.
func Sink(t *testing.T, c SinkCase) {
	s := &sinkTest{t: t, c: c, pool: column.NewPool()}
	sink := c.Open(t)
	knows := s.held(sink, "app", -1)
	s.epoch(sink, sink, "app", 0, 5)
	s.held(sink, "app", 0)
	s.epoch(sink, c.Open(t), "app", 1, 7) // the token commits elsewhere
	s.held(c.Open(t), "app", 1)
	s.epoch(sink, sink, "app", 2, 0) // an epoch without rows counts
	s.held(c.Open(t), "app", 2)
	s.held(sink, "other", -1)
	s.aborted(sink, 3)
	s.crashed(3)
	s.epoch(sink, sink, "other", 0, 2)
	s.held(sink, "app", 4)
	s.again(sink, knows)
	if c.Overwrites {
		token := s.prepare(sink, connector.EpochInfo{AppID: "new", Epoch: 0, Overwrite: true}, 3, 100)
		s.shows("before an overwrite commits")
		s.want = nil
		s.commit(sink, connector.EpochInfo{AppID: "new", Epoch: 0, Overwrite: true}, token, 3, 100)
		s.held(sink, "app", 5)
		s.held(sink, "new", 0)
	}
	if v, b := s.pool.Live(); v != 0 || b != 0 {
		t.Errorf("%d vectors and %d batches are not given back", v, b)
	}
}

func (s *sinkTest) held(sink connector.Sink, app string, epoch int64) (knows bool) {
	s.t.Helper()
	h, err := sink.Held(context.Background(), app)
	if err != nil {
		s.t.Fatalf("held: %v", err)
	}
	if h.Knows && h.Epoch != epoch || !h.Knows && h.Epoch != -1 {
		s.t.Errorf("%s: held %+v, want epoch %d", app, h, epoch)
	}
	return h.Knows
}

func (s *sinkTest) shows(what string) {
	s.t.Helper()
	if s.c.Read != nil {
		same(s.t, what, sorted(s.c.Read(s.t)), sorted(s.want))
	}
}

func row(id int) string { return fmt.Sprintf(`%d "%c"`, id, 'a'+id%3) }

// prepare writes n rows from three lanes at once, in small batches that are
// spoilt after each write, and prepares.
func (s *sinkTest) prepare(sink connector.Sink, in connector.EpochInfo, n, from int) []byte {
	s.t.Helper()
	ep, err := sink.Begin(context.Background(), in)
	if err != nil {
		s.t.Fatalf("begin: %v", err)
	}
	s.write(ep, n, from)
	token, err := ep.Prepare(context.Background())
	if err != nil {
		s.t.Fatalf("prepare: %v", err)
	}
	return token
}

func (s *sinkTest) write(ep connector.Epoch, n, from int) {
	s.t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, 3)
	for lane := range 3 {
		wg.Go(func() {
			for i := lane; i < n; i += 3 {
				b := s.pool.Batch()
				id, k := s.pool.Vector(schema.Of(schema.Int64)), s.pool.Vector(schema.Of(schema.String))
				id.Resize(2)
				for n, x := range []int{-1, from + i} { // the first row is not selected
					id.I64[n] = int64(x)
					k.AppendStr([]byte{byte('a' + (x+3)%3)})
				}
				b.Len, b.Cols = 2, append(b.Cols, id, k)
				b.Sel = append(b.SelBuffer(), 1)
				errs[lane] = errors.Join(errs[lane], ep.Write(lane, b))
				b.Release()
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		s.t.Fatalf("write: %v", err)
	}
}

func (s *sinkTest) commit(sink connector.Sink, in connector.EpochInfo, token []byte, n, from int) {
	s.t.Helper()
	if err := sink.Commit(context.Background(), in, token); err != nil {
		s.t.Fatalf("commit: %v", err)
	}
	for i := range n {
		s.want = append(s.want, row(from+i))
	}
	s.shows("after a commit")
}

// epoch prepares in one instance and commits in another.
func (s *sinkTest) epoch(a, b connector.Sink, app string, epoch int64, n int) {
	s.t.Helper()
	from := len(s.want)
	token := s.prepare(a, info(app, epoch), n, from)
	s.shows("before the commit")
	s.commit(b, info(app, epoch), token, n, from)
}

// aborted writes and gives up.
func (s *sinkTest) aborted(sink connector.Sink, epoch int64) {
	s.t.Helper()
	ep, err := sink.Begin(context.Background(), info("app", epoch))
	if err != nil {
		s.t.Fatalf("begin: %v", err)
	}
	s.write(ep, 4, 500)
	if err := ep.Abort(); err != nil {
		s.t.Errorf("abort: %v", err)
	}
	s.shows("after an abort")
}

// crashed leaves a prepared epoch and one in the making, and cleans up.
func (s *sinkTest) crashed(epoch int64) {
	s.t.Helper()
	s.prepare(s.c.Open(s.t), info("app", epoch), 4, 600)
	ep, err := s.c.Open(s.t).Begin(context.Background(), info("app", epoch))
	if err != nil {
		s.t.Fatalf("begin: %v", err)
	}
	s.write(ep, 4, 700)
	sink := s.c.Open(s.t)
	if err := sink.Clean(context.Background(), "app"); err != nil {
		s.t.Errorf("clean: %v", err)
	}
	s.shows("after crashes")
	if err := ep.Abort(); err != nil {
		s.t.Errorf("abort after clean: %v", err)
	}
	s.epoch(sink, sink, "app", epoch, 3)
	s.want = append([]string(nil), s.want...)
	s.epoch(sink, sink, "app", epoch+1, 1)
	s.held(sink, "app", epoch+1)
}

// again commits an epoch that is there.
func (s *sinkTest) again(sink connector.Sink, knows bool) {
	s.t.Helper()
	from := len(s.want)
	token := s.prepare(sink, info("app", 5), 2, from)
	s.commit(sink, info("app", 5), token, 2, from)
	err := s.c.Open(s.t).Commit(context.Background(), info("app", 5), token)
	switch {
	case knows && !errors.Is(err, connector.ErrCommitted):
		s.t.Errorf("a second commit: %v", err)
	case !knows && err != nil:
		s.t.Errorf("a second commit: %v", err)
	case !knows:
		s.want = append(s.want, row(from), row(from+1))
	}
	s.shows("after a second commit")
}
