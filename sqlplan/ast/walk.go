package ast

// Walk calls visit for n and then for the nodes below it, in the order of the
// text as far as the nodes keep it. If visit returns false the nodes below n are
// skipped. Walk must not meet trees of statements with errors.
func Walk(n Node, visit func(Node) bool) {
	if n == nil || !visit(n) {
		return
	}
	EachChild(n, func(c Node) { Walk(c, visit) })
}
