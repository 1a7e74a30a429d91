package csv

import (
	"encoding/json"
	"strconv"

	"pipelines/tables/schema"
)

// rescue gathers, for a column of its own, the values of a record that no
// column takes: those behind the declared columns, and those that do not fit
// their type.
type rescue struct {
	at    int      // among the wanted columns, -1 for none
	names []string // of the file's header
	// unknown, if set, tells the tokens that are of no declared column.
	unknown []bool
	file    string
	buf     []byte
}

func isRescued(f schema.Field, o Options) bool {
	return o.RescuedColumn != "" && f.Name == o.RescuedColumn && f.Type.Kind == schema.String
}

// SetFile names the file that rescued values tell (_file_path).
func (d *Decoder) SetFile(path string) { d.rescue.file = path }

func (r *rescue) add(name string, value []byte) {
	if len(r.buf) > 0 {
		r.buf = append(r.buf, ',')
	}
	r.text(name)
	r.buf = append(r.buf, ':')
	r.text(string(value))
}

func (r *rescue) text(s string) {
	b, err := json.Marshal(s)
	if err != nil {
		panic("bug: csv: " + err.Error())
	}
	r.buf = append(r.buf, b...)
}

// rescueRow writes what the record has left over.
func (d *Decoder) rescueRow(b []byte) {
	r := &d.rescue
	from := len(d.declared)
	if r.unknown != nil {
		from = 0
	}
	for k := from; k < len(d.tokens); k++ {
		if k < len(r.unknown) && !r.unknown[k] {
			continue
		}
		name := "_c" + strconv.Itoa(k)
		if k < len(r.names) {
			name = r.names[k]
		}
		if s := d.value(b, k); len(s) > 0 || d.tokens[k].quoted {
			r.add(name, s)
		}
	}
	if len(r.buf) == 0 {
		return
	}
	if r.file != "" {
		r.buf = append(r.buf, `,"_file_path":`...)
		r.text(r.file)
	}
	c := &d.cols[r.at]
	c.v.Cut(d.rows)
	c.v.AppendStr(append(append([]byte{'{'}, r.buf...), '}'))
	r.buf = r.buf[:0]
}
