package text

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
)

// BinaryStyle is how bytes are printed (spark.sql.binaryOutputStyle).
type BinaryStyle string

// The styles; the empty one is BinaryText.
const (
	BinaryText     BinaryStyle = "UTF-8"        // as they are
	BinaryBasic    BinaryStyle = "BASIC"        // [83, 112]
	BinaryBase64   BinaryStyle = "BASE64"       // without padding
	BinaryHex      BinaryStyle = "HEX"          // 5370
	BinaryDiscrete BinaryStyle = "HEX_DISCRETE" // [53 70]
)

// Append appends bytes in the style.
func (s BinaryStyle) Append(dst, b []byte) []byte {
	switch s {
	case BinaryBase64:
		return base64.RawStdEncoding.AppendEncode(dst, b)
	case BinaryHex:
		return appendHex(dst, b)
	case BinaryBasic, BinaryDiscrete:
		dst = append(dst, '[')
		for i, c := range b {
			switch {
			case s == BinaryDiscrete && i > 0:
				dst = append(dst, ' ')
			case i > 0:
				dst = append(dst, ", "...)
			}
			if s == BinaryDiscrete {
				dst = appendHex(dst, b[i:i+1])
				continue
			}
			dst = strconv.AppendInt(dst, int64(int8(c)), 10)
		}
		return append(dst, ']')
	default:
		return append(dst, b...)
	}
}

// appendHex appends bytes as upper-case hexadecimal digits.
func appendHex(dst, b []byte) []byte {
	from := len(dst)
	dst = hex.AppendEncode(dst, b)
	for i := from; i < len(dst); i++ {
		if dst[i] >= 'a' {
			dst[i] -= 'a' - 'A'
		}
	}
	return dst
}
