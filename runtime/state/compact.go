package state

// Compaction says which newest files of a chain to merge into one: those from
// chain[from] on, none of which has more than most bytes. ok is false when the
// chain is fine as it is.
//
// A file is merged with the newer ones when it is not larger than they are
// together: sizes halve along the chain at least but for the newest few, so a
// chain has a logarithmic number of files and a byte is written again a
// logarithmic number of times. Large files wait until there are many (minLarge):
// that is cheaper than the reading of some more at a restart.
func Compaction(chain []Ref, most int64) (from int, ok bool) {
	size := int64(0)
	from = len(chain)
	for i := len(chain) - 1; i >= 0; i-- {
		if from < len(chain) && chain[i].Bytes > size || chain[i].Bytes > most {
			break
		}
		size += chain[i].Bytes
		from = i
	}
	least := minMerge
	if size > SmallMerge {
		least = minLarge
	}
	return from, len(chain)-from >= least
}

// SmallMerge is the size up to which files are merged at once and cost little.
const SmallMerge = 1 << 20

// minMerge is the least number of files worth a merge, and minLarge that of
// larger files: the more are merged at once, the seldomer a byte is written
// again, the more files are read at a restart.
const (
	minMerge = 4
	minLarge = 32
)
