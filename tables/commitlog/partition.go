package commitlog

import (
	"fmt"
	"strings"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

// hiveNull stands for NULL in folder names; as a value it reads as NULL.
const hiveNull = "__HIVE_DEFAULT_PARTITION__"

// PartitionText returns the text of row i of a partition column; nil is NULL,
// and also the word that stands for NULL in folder names, which readers cannot
// tell from it. The empty string is kept, as the tables of Spark's pipelines
// keep it (conformance case partitioned_tables): Spark reads it from our log
// as it was written. Spark's own Delta writer makes it NULL, and readers made
// with delta-rs take it for NULL.
func PartitionText(v *column.Vector, i int) *string {
	flat, row := flatRow(v, i)
	if v.IsNull(i) || flat.IsNull(row) {
		return nil
	}
	s := string(appendValue(nil, v, i))
	if s == hiveNull {
		return nil
	}
	return &s
}

// PartitionValue returns the constant vector of n rows of a partition column
// with the given text; nil and, except for strings, the empty text are NULL.
func PartitionValue(s *string, field schema.Field, n int) (*column.Vector, error) {
	v := column.New(field.Type)
	if s == nil || *s == hiveNull || *s == "" && field.Type.Kind != schema.String {
		v.AppendNull()
	} else if err := parseValue(v, *s); err != nil {
		return nil, fmt.Errorf("partition column %s: %w", field.Name, err)
	}
	v.SetConst(n)
	return v, nil
}

// PartitionFolder returns the folder of a partition by Hive's custom, with its
// final slash; "" without partition columns.
func PartitionFolder(columns []string, values map[string]*string) string {
	var b strings.Builder
	for _, c := range columns {
		hiveEscape(&b, c)
		b.WriteByte('=')
		if v := values[c]; v == nil || *v == "" {
			b.WriteString(hiveNull)
		} else {
			hiveEscape(&b, *v)
		}
		b.WriteByte('/')
	}
	return b.String()
}

// hiveEscape writes s with the characters that Hive escapes in folder names as
// %XX. A long name is shortened: the folder is for people, the log counts.
func hiveEscape(b *strings.Builder, s string) {
	const most = 100
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "")
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c < 0x20 || c == 0x7f || strings.IndexByte(`"#%'*/:=?\{[]^`, c) >= 0 {
			fmt.Fprintf(b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
}
