package operator

import (
	"errors"

	"pipelines/sqlplan/logical"
)

var errPending = errors.New("build plan: stateful operators over streams are not built yet")

func (bd *builder) sessionWindow(node logical.Node, out port) (port, watermarked, error) {
	return nil, nil, errPending
}
func (bd *builder) deduplicate(node logical.Node, out port) (port, watermarked, error) {
	return nil, nil, errPending
}
func (bd *builder) sessions(n *logical.Aggregate, s *logical.SessionWindow, out port) (port, watermarked, error) {
	return nil, nil, errPending
}
func (bd *builder) streamJoin(n *logical.Join, out port, phase int) (int, *mark, error) {
	return 0, nil, errPending
}

func sessionOf(n *logical.Aggregate) *logical.SessionWindow {
	var found *logical.SessionWindow
	for in := n.Input; ; {
		switch x := in.(type) {
		case *logical.SessionWindow:
			return x
		case *logical.Filter:
			in = x.Input
		case *logical.Project:
			in = x.Input
		default:
			return found
		}
	}
}

func (bd *builder) streamWindow(n *logical.Window, out port) (port, watermarked, error) {
	return nil, nil, errPending
}
