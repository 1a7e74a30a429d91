package block

import (
	"bytes"
	"testing"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"pipelines/tables/codec/record"
	"pipelines/tables/format"
)

// TestCharset reads one text in every charset, by name and by its first bytes.
func TestCharset(t *testing.T) {
	const text = "{\"a\": \"grün þ\"}\n[1]\n"
	encode := func(e interface{ Bytes([]byte) ([]byte, error) }) []byte {
		b, err := e.Bytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	latin := []byte("{\"a\": \"gr\xfcn \xfe\"}\n[1]\n")
	for _, c := range []struct {
		charset string
		data    []byte
		want    string
	}{
		{"", []byte(text), text},
		{record.UTF8, []byte("\xef\xbb\xbf" + text), text},
		{record.Latin1, latin, text},
		{record.ASCII, latin, "{\"a\": \"gr\ufffdn \ufffd\"}\n[1]\n"},
		{record.UTF16, encode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()), text},
		{record.UTF16, encode(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder()), text},
		{record.UTF16BE, encode(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder()), text},
		{record.UTF16LE, encode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()), text},
		{record.UTF32, encode(utf32.UTF32(utf32.LittleEndian, utf32.UseBOM).NewEncoder()), text},
		{record.UTF32, encode(utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM).NewEncoder()), text},
		{record.UTF16LE, []byte("a\x00\x00\xd8b\x00\n\x00"), "a\ufffdb\n"}, // half a pair
		{record.Detect, []byte(text), text},
		{record.Detect, []byte("1"), "1"},
		{record.Detect, nil, ""},
		{record.Detect, encode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()), text},
		{record.Detect, encode(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder()), text},
		{record.Detect, encode(utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM).NewEncoder()), text},
		{record.Detect, encode(utf32.UTF32(utf32.BigEndian, utf32.UseBOM).NewEncoder()), text},
	} {
		r, err := Open(format.Input{Name: "f", Object: object{bytes.NewReader(c.data), 3}}, c.charset)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.All()
		if got := string(b.Buf[b.From:b.End]); err != nil || got != c.want {
			t.Errorf("%s: %q read as %q, %v", c.charset, c.data, got, err)
		}
	}
}
