package format

import "fmt"

func (e *RecordError) Error() string {
	place := fmt.Sprintf("%s, byte %d", e.File, e.Offset)
	if e.Line > 0 {
		place = fmt.Sprintf("%s, line %d (byte %d)", e.File, e.Line, e.Offset)
	}
	return fmt.Sprintf("[%s] malformed record at %s: %v", e.Class, place, e.Err)
}

func (e *RecordError) Unwrap() error { return e.Err }
