package bind

import "strings"

// The namespaces of what is no part of a catalog.
const (
	SessionSpace = "session" // temporary views, functions and variables
	BuiltinSpace = "builtin" // functions that are listed
)

// Qualifiers is how many parts in front of a name say that it is looked up in a
// namespace: session.a, system.session.a. A name alone is never one.
func Qualifiers(parts []string, space string) int {
	n := 0
	if len(parts) > 2 && strings.EqualFold(parts[0], "system") {
		n = 1
	}
	if len(parts) > n+1 && strings.EqualFold(parts[n], space) {
		return n + 1
	}
	return 0
}
