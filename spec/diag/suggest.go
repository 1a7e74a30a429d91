package diag

import (
	"sort"
	"strings"
)

// Suggest returns the candidate that is most like name, or "" if none is
// close enough. Case is ignored; of equally close ones the first in order of
// the alphabet wins.
func Suggest(name string, candidates []string) string {
	if all := SuggestAll(name, candidates, 1); len(all) > 0 {
		return all[0]
	}
	return ""
}

// SuggestAll returns at most limit candidates that are like name, the closest
// first. A candidate is like name when at most about a third of its characters
// differ (swapping two neighbours counts once), or when one starts with the
// other.
func SuggestAll(name string, candidates []string, limit int) []string {
	type scored struct {
		text string
		dist int
	}
	var found []scored
	seen := map[string]bool{}
	low := []rune(strings.ToLower(name))
	for _, c := range candidates {
		if c == "" || c == name || seen[c] {
			continue
		}
		seen[c] = true
		cand := []rune(strings.ToLower(c))
		allowed := max(1, (max(len(low), len(cand))+2)/3)
		allowed = min(allowed, max(len(low), len(cand))-1) // not all of it
		d := distance(low, cand, allowed)
		if d > allowed && len(low) >= 3 && len(cand) >= 3 && (hasPrefix(cand, low) || hasPrefix(low, cand)) {
			d = allowed
		}
		if d <= allowed {
			found = append(found, scored{c, d})
		}
	}
	sort.Slice(found, func(i, j int) bool {
		if found[i].dist != found[j].dist {
			return found[i].dist < found[j].dist
		}
		return found[i].text < found[j].text
	})
	out := make([]string, 0, limit)
	for _, f := range found[:min(limit, len(found))] {
		out = append(out, f.text)
	}
	return out
}

// DidYouMean returns a hint that names the closest candidate, or "".
func DidYouMean(name string, candidates []string) string {
	if s := Suggest(name, candidates); s != "" {
		return `did you mean "` + s + `"?`
	}
	return ""
}

func hasPrefix(s, prefix []rune) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i, r := range prefix {
		if s[i] != r {
			return false
		}
	}
	return true
}

// distance is the optimal string alignment distance, cut off above limit.
func distance(a, b []rune, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || len(a) > 200 || len(b) > 200 {
		return limit + 1
	}
	before := make([]int, len(b)+1)
	prev := make([]int, len(b)+1)
	cur := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
