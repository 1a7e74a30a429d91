package rate_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"pipelines/runtime/connector"
	"pipelines/runtime/connector/connectortest"
	"pipelines/runtime/connector/rate"
)

func TestContract(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	line := func(i int) string {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * 250 * time.Millisecond)
		return fmt.Sprintf(`"%s" %d`, at.Format("2006-01-02T15:04:05.000Z"), i)
	}
	c := connectortest.SourceCase{
		Open: func(*testing.T) connector.Source {
			return rate.New(rate.Options{RowsPerSecond: 4, Now: func() time.Time { return now }})
		},
		Spec: connector.ScanSpec{Columns: rate.Schema(), Fields: []int{0, 1}, Location: time.UTC},
		Add: func(*testing.T) (out []string) {
			now = now.Add(3 * time.Second)
			for i := 4; i < 12; i++ {
				out = append(out, line(i))
			}
			return out
		},
	}
	for i := range 4 {
		c.Rows = append(c.Rows, line(i))
	}
	connectortest.Source(t, c)
}

// TestClockGoesBack: rows that were made stay, and none is made twice.
func TestClockGoesBack(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := rate.New(rate.Options{RowsPerSecond: 1, Now: func() time.Time { return now }})
	ctx := context.Background()
	first, err := s.Plan(ctx, "", connector.PlanOptions{})
	if err != nil || first.Splits != 1 {
		t.Fatal(first, err)
	}
	now = now.Add(-time.Hour)
	p, err := s.Plan(ctx, first.To, connector.PlanOptions{})
	if err != nil || p.Splits != 0 || p.To != first.To {
		t.Errorf("%+v %v", p, err)
	}
}
