package state

// Held is how many bytes the changes hold, those kept for more included; Bytes
// is what a file of them takes.
func (c *Changes) Held() (n int64) {
	for _, o := range c.operators {
		for i := range o.groups {
			for _, b := range o.groups[i].blocks {
				n += int64(cap(b))
			}
		}
	}
	return n
}
