package state

// Compaction says which newest files of a chain to merge into one: those from
// chain[from] on. ok is false when the chain is fine as it is.
//
// A file is merged with the newer ones when it is not larger than they are
// together: sizes halve along the chain at least but for the newest few, so a
// chain has a logarithmic number of files and a byte is written again a
// logarithmic number of times.
func Compaction(chain []Ref) (from int, ok bool) {
	size := int64(0)
	from = len(chain)
	for i := len(chain) - 1; i >= 0; i-- {
		if from < len(chain) && chain[i].Bytes > size {
			break
		}
		size += chain[i].Bytes
		from = i
	}
	return from, len(chain)-from >= minMerge
}

// minMerge is the least number of files worth a merge.
const minMerge = 4
