package ast

// EachChild calls f for the direct children of n.
func EachChild(n Node, f func(Node)) {}

func isNil(n Node) bool { return n == nil }
