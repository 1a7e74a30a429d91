package simtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"pipelines/pipelines"
)

// TestContinuousKill kills a continuous update of a chain of tables again and
// again while files arrive, and compares at the end.
func TestContinuousKill(t *testing.T) {
	dir := folder(t)
	document(t, dir, "id BIGINT, k STRING", `streaming_tables:
  - {name: a, sql: "SELECT id, k FROM STREAM(raw)"}
  - name: b
    deduplicate: {keys: [id]}
    sql: SELECT id, k FROM STREAM(a) WHERE id % 2 = 0
materialized_views:
  - {name: m, sql: "SELECT k, count(*) AS n FROM b GROUP BY k"}
configuration:
  pipelines.commit.interval: 10 milliseconds
  pipelines.trigger.interval: 20 milliseconds
`)
	var a, b []string
	counts := map[string]int{}
	files := 0
	arrive := func() {
		var lines strings.Builder
		for range 5 {
			id := files*5/3 + len(a)%7
			k := string(rune('a' + id%3))
			fmt.Fprintf(&lines, `{"id":%d,"k":"%s"}`+"\n", id, k)
			r := fmt.Sprintf(`%d "%s"`, id, k)
			a = append(a, r)
			if id%2 == 0 && !strings.Contains(strings.Join(b, "\n")+"\n", "\n"+r+"\n") && (len(b) == 0 || b[0] != r) {
				b = append(b, r)
				counts[k]++
			}
		}
		put(t, dir, fmt.Sprintf("landing/%d.json", files), lines.String())
		files++
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 8 {
		arrive()
		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(15 * time.Millisecond):
					arrive()
				}
			}
		})
		at := borders[r.IntN(len(borders))].point
		ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
		childUntil(ctx, t, order{Dir: dir, Trigger: "continuous", Point: at, Nth: 1 + r.IntN(6), Lanes: 2})
		cancel()
		close(stop)
		wg.Wait()
	}
	run(t, dir, pipelines.RunOptions{})
	compare(t, "a", rows(t, dir, "a"), a)
	compare(t, "b", rows(t, dir, "b"), b)
	var m []string
	for k, n := range counts {
		m = append(m, fmt.Sprintf(`"%s" %d`, k, n))
	}
	compare(t, "m", rows(t, dir, "m"), m)
	t.Logf("%d files, %d rows", files, len(a))
}
