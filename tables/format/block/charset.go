package block

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"golang.org/x/text/transform"

	"pipelines/tables/codec/record"
)

// decode makes a reader give UTF-8; what is malformed becomes U+FFFD. A file
// is read from for Detect only.
func decode(r io.Reader, charset string) (io.Reader, error) {
	if charset == record.ASCII {
		return transform.NewReader(r, ascii{}), nil
	}
	e := encodingOf(charset)
	if charset == record.Detect {
		in := bufio.NewReader(r)
		first, err := in.Peek(4)
		if err != nil && err != io.EOF {
			return nil, err
		}
		r, e = in, detect(first)
	}
	if e == nil {
		return r, nil
	}
	return transform.NewReader(r, e.NewDecoder()), nil
}

// encodingOf is nil for UTF-8.
func encodingOf(charset string) encoding.Encoding {
	switch charset {
	case record.Latin1:
		return charmap.ISO8859_1
	case record.UTF16:
		return unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case record.UTF16BE:
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case record.UTF16LE:
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case record.UTF32:
		return utf32.UTF32(utf32.BigEndian, utf32.UseBOM)
	}
	return nil
}

// detect finds the encoding of a JSON value from its first bytes: by a mark, or
// by where its first two characters, which are of ASCII, have zeros.
func detect(b []byte) encoding.Encoding {
	is := func(pattern string) bool { // x: not zero
		for i := range pattern {
			if i >= len(b) || (pattern[i] == '0') != (b[i] == 0) {
				return false
			}
		}
		return true
	}
	switch {
	case bytes.HasPrefix(b, []byte{0, 0, 0xfe, 0xff}), is("000x"):
		return utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM)
	case bytes.HasPrefix(b, []byte{0xff, 0xfe, 0, 0}), is("x000"):
		return utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM)
	case bytes.HasPrefix(b, []byte{0xfe, 0xff}), is("0x0x"):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	case bytes.HasPrefix(b, []byte{0xff, 0xfe}), is("x0x0"):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	}
	return nil
}

// ascii decodes US-ASCII.
type ascii struct{ transform.NopResetter }

// Transform implements transform.Transformer.
func (ascii) Transform(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		if nDst+utf8.UTFMax > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		r := rune(src[nSrc])
		if r >= utf8.RuneSelf {
			r = utf8.RuneError
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc++
	}
	return nDst, nSrc, nil
}
