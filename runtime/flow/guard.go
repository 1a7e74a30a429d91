package flow

import (
	"fmt"
	"runtime/debug"
)

// Bug is the error of a panic: a fault of ours. It ends the flow or the query,
// not the program and what else runs in it.
type Bug struct {
	Value any // what the panic was called with
	Stack []byte
}

// Error says what the panic said, with its stack.
func (b *Bug) Error() string { return fmt.Sprintf("internal error: %v\n%s", b.Value, b.Stack) }

// Guard calls f and turns its panic into a *Bug. Whatever runs on a goroutine of
// its own goes through it: nobody above could recover.
func Guard(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &Bug{Value: r, Stack: debug.Stack()}
		}
	}()
	return f()
}
