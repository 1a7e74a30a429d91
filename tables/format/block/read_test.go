package block

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	"pipelines/tables/format"
)

type object struct {
	*bytes.Reader
	most int // bytes of one read
}

func (o object) Close() error { return nil }

func (o object) ReadAt(p []byte, off int64) (int, error) {
	return o.Reader.ReadAt(p[:min(len(p), o.most)], off)
}

func open(t *testing.T, data string, most int) *Reader {
	t.Helper()
	r, err := Open(format.Input{Name: "x", Object: object{bytes.NewReader([]byte(data)), most}}, "")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestLines joins the blocks again: nothing is lost, doubled or cut.
func TestLines(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, end := range []string{"\n", "\r\n", "\r"} {
		var want strings.Builder
		for want.Len() < 1<<20 {
			want.WriteString(strings.Repeat("é", r.Intn(200)*r.Intn(200)/10))
			want.WriteString(end)
		}
		for _, most := range []int{1 << 30, 1000} {
			rd := open(t, "\xef\xbb\xbf"+want.String(), most)
			var got strings.Builder
			for {
				b, err := rd.Lines()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				if b.Offset != int64(got.Len())+3 {
					t.Fatalf("offset %d, want %d", b.Offset, got.Len()+3)
				}
				if c := b.Buf[b.End-1]; c != '\n' && c != '\r' || len(b.Buf) < b.End+Padding {
					t.Fatalf("a block ends with %q", c)
				}
				got.Write(b.Buf[b.From:b.End])
			}
			if got.String() != want.String() {
				t.Errorf("%q, reads of %d: the text differs", end, most)
			}
		}
	}
}

func TestSmallFiles(t *testing.T) {
	for data, want := range map[string]string{"": "", "\xef\xbb\xbf": "", "\xef\xbb": "\xef\xbb\n", "a": "a\n", "\xef\xbb\xbfa": "a\n", "a\r": "a\r", "a\r\nb": "a\r\nb\n"} {
		var got string
		rd := open(t, data, 1)
		for {
			b, err := rd.Lines()
			if err != nil {
				break
			}
			got += string(b.Buf[b.From:b.End])
		}
		if got != want {
			t.Errorf("%q: %q", data, got)
		}
	}
}

func TestRecords(t *testing.T) {
	var data strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&data, "%d||", i)
	}
	rd := open(t, data.String()+"rest", 777)
	for i := 0; ; i++ {
		rec, _, err := rd.Records([]byte("||"))
		if err == io.EOF {
			if i != 100_001 {
				t.Error(i)
			}
			break
		}
		if want := fmt.Sprint(i); err != nil || string(rec) != want && string(rec) != "rest" {
			t.Fatal(i, string(rec), err)
		}
	}
}
