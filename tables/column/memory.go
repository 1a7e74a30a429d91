package column

// Memory is about how many bytes the vector holds, those not in use included.
func (v *Vector) Memory() int64 {
	n := int64(cap(v.Bool)+cap(v.I8)+2*cap(v.I16)+4*cap(v.I32)+8*cap(v.I64)+16*cap(v.I128)) +
		int64(4*cap(v.F32)+8*cap(v.F64)+4*cap(v.Offsets)+cap(v.Bytes)+8*cap(v.Nulls)+4*cap(v.Index))
	for _, c := range v.Children {
		n += c.Memory()
	}
	return n
}

// Memory is about how many bytes the columns of the batch hold.
func (b *Batch) Memory() (n int64) {
	for _, v := range b.Cols {
		n += v.Memory()
	}
	return n
}
