package record

import "bytes"

// WithoutCommas returns s without its commas, which a decimal in the locale
// en-US may have anywhere. The scratch buffer is used if there are any.
func WithoutCommas(s []byte, scratch *[]byte) []byte {
	if bytes.IndexByte(s, ',') < 0 {
		return s
	}
	*scratch = (*scratch)[:0]
	for _, c := range s {
		if c != ',' {
			*scratch = append(*scratch, c)
		}
	}
	return *scratch
}
