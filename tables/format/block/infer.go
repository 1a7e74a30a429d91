package block

import (
	"context"
	"io"

	"pipelines/tables/format"
	"pipelines/tables/schema"
)

// Inferrer looks at records to find their schema.
type Inferrer interface {
	// StartFile begins a file.
	StartFile()
	// AddLines looks at the lines of a block.
	AddLines(b []byte) error
	// AddRecord looks at what stands between two separators of the user's.
	AddRecord(rec []byte) error
	// AddWhole looks at a whole file.
	AddWhole(b []byte) error
	// Schema returns the columns seen.
	Schema() (schema.Schema, error)
}

// Infer shows the records of all files to inf.
func Infer(ctx context.Context, files []format.Input, layout Layout, inf Inferrer) (schema.Schema, error) {
	for _, in := range files {
		if err := ctx.Err(); err != nil {
			return schema.Schema{}, err
		}
		if err := inferFile(in, layout, inf); err != nil {
			return schema.Schema{}, err
		}
	}
	return inf.Schema()
}

func inferFile(in format.Input, layout Layout, inf Inferrer) (err error) {
	r, err := Open(in, layout.Charset)
	if err != nil {
		return err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	inf.StartFile()
	if layout.Whole {
		b, err := r.All()
		if err != nil {
			return err
		}
		return inf.AddWhole(b.Buf[b.From:b.End])
	}
	sep := []byte(layout.Sep)
	for {
		var rec []byte
		add := inf.AddLines
		if len(sep) > 0 {
			rec, _, err = r.Records(sep)
			add = inf.AddRecord
		} else {
			var b Block
			b, err = r.Lines()
			rec = b.Buf[b.From:b.End]
		}
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = add(rec)
		}
		if err != nil {
			return err
		}
	}
}
