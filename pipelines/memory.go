package pipelines

import (
	"os"
	"path/filepath"
	"runtime/debug"

	"pipelines/runtime/budget"
	"pipelines/spec"
	"pipelines/tables/catalog"
)

const (
	// defaultShare is the part of the machine's memory that a run may use.
	defaultShare = 0.6
	// operatorShare is the part of it that operators may hold; batches, readers,
	// writers and what the collector has not yet found take the rest.
	operatorShare = 0.5
	// leastLimit is what the program takes before it reads a row: a lower limit
	// would only make the collector run all the time.
	leastLimit = 48 << 20
)

// memoryOf returns the bytes that a process may use.
func memoryOf(m spec.Memory) int64 {
	if m.Bytes > 0 {
		return m.Bytes
	}
	share := defaultShare
	if m.Percent > 0 {
		share = m.Percent / 100
	}
	return int64(share * float64(MachineMemory()))
}

// newBudget makes the budget of the process. The collector is told the same
// bound, unless GOMEMLIMIT says another.
func newBudget(m spec.Memory, slots int) *budget.Budget {
	total := memoryOf(m)
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(max(total, leastLimit))
	}
	return budget.New(int64(operatorShare*float64(total)), slots)
}

// Budget makes the budget for queries of the project: what its memory key says.
func (r *Reader) Budget(slots int) *budget.Budget { return newBudget(r.p.spec.Memory, slots) }

// spillDir is where the operators of the project's runs put what memory does
// not hold: a folder of the checkpoints, for those are local. No dataset has a
// name with a plus. The run lock guards it.
func (u *update) spillDir() string {
	return filepath.Join(u.p.spec.CheckpointDir(), "+spill", catalog.PathPart(u.p.Name()))
}

// clearSpill removes what a run left, at its end and before the next.
func (u *update) clearSpill() error {
	dir := u.spillDir()
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	// What other pipelines have there keeps the folder above.
	_ = os.Remove(filepath.Dir(dir)) // see above
	return nil
}
