package flow

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"pipelines/runtime/checkpoint"
	"pipelines/runtime/state"
)

// ReadState reads the state that a prepared epoch leads to, with all its
// checksums: fn gets each entry, valid during the call. path is that of the
// checkpoint's file.
func ReadState(path string, p *checkpoint.Prepared, fn func(operator string, key, value []byte) error) error {
	return state.Open(StateDir(path)).Restore(p.State, func(e state.Entry) error { return fn(e.Operator, e.Key, e.Value) })
}

// StateThere looks, without reading them, whether the files of that state are
// there and long enough.
func StateThere(path string, p *checkpoint.Prepared) error {
	for _, r := range slices.Backward(p.State) {
		file := filepath.Join(StateDir(path), r.Name)
		st, err := os.Stat(file)
		if err == nil && st.Size() < r.Bytes {
			err = fmt.Errorf("the state file %s has %d bytes, %d were written", file, st.Size(), r.Bytes)
		}
		if err != nil && !r.Inline {
			return err
		}
		if r.Base {
			break // nothing before it counts
		}
	}
	return nil
}
