package json

import "pipelines/tables/codec/variant"

// variantParser makes variants of values as they stand in the text.
type variantParser struct {
	b    *variant.Builder
	p    *variant.Parser
	text []byte
}

// variantValue reads the value at i as a VARIANT; null is the null that is a
// variant.
func (d *Decoder) variantValue(nd *node, r, i int) (next int, ok bool) {
	depth := d.depth
	next = d.skip(i)
	if d.depth = depth; next < 0 {
		return -1, false
	}
	if d.variants == nil {
		b := variant.NewBuilder()
		d.variants = &variantParser{b: b, p: variant.NewParser(b)}
	}
	vp := d.variants
	vp.b.Reset()
	if vp.p.Parse(d.b[i:next]) != nil { // perhaps in a form that an option allows
		vp.text, _ = d.reprint(vp.text[:0], i)
		d.depth = depth
		vp.b.Reset()
		if vp.p.Parse(vp.text) != nil {
			return next, false
		}
	}
	nd.seek(r)
	for k, f := range nd.fields {
		f.seek(r)
		if k == 0 {
			f.v.Bytes = vp.b.AppendValue(f.v.Bytes)
		} else {
			f.v.Bytes = vp.b.AppendMetadata(f.v.Bytes)
		}
		f.v.Offsets = append(f.v.Offsets, int32(len(f.v.Bytes)))
		f.n = r + 1
	}
	nd.n = r + 1
	return next, true
}
