package diag

import (
	"slices"
	"strings"
)

// CodeInfo is what the list of codes says about one of them.
type CodeInfo struct {
	Code     Code
	SQLState string // "" for faults of the document, which have none
	Doc      string // one line
}

// SQLState returns the SQLSTATE of a code, or "" if the list has none. A
// subclass ("A.B") has the state of its class.
func (c Code) SQLState() string {
	info, _ := c.Lookup()
	return info.SQLState
}

// Lookup returns the entry of a code; for a subclass that is not listed
// itself, the entry of its class.
func (c Code) Lookup() (info CodeInfo, ok bool) {
	for {
		if i, found := slices.BinarySearchFunc(sortedCodes, c, func(in CodeInfo, c Code) int {
			return strings.Compare(string(in.Code), string(c))
		}); found {
			return sortedCodes[i], true
		}
		dot := strings.LastIndexByte(string(c), '.')
		if dot < 0 {
			return CodeInfo{}, false
		}
		c = c[:dot]
	}
}

// Codes returns the whole list, sorted by code.
func Codes() []CodeInfo { return slices.Clone(sortedCodes) }

// sortedCodes is codes in order, with each subclass given its class's state.
var sortedCodes = sortCodes(codes[:])

func sortCodes(list []CodeInfo) []CodeInfo {
	out := slices.Clone(list)
	slices.SortFunc(out, func(a, b CodeInfo) int { return strings.Compare(string(a.Code), string(b.Code)) })
	states := map[Code]string{}
	for i := range out {
		class, _, isSub := strings.Cut(string(out[i].Code), ".")
		if isSub && out[i].SQLState == "" {
			out[i].SQLState = states[Code(class)]
		}
		states[out[i].Code] = out[i].SQLState
	}
	return out
}
