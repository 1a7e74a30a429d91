package operator

import (
	"errors"

	"pipelines/sqlplan/logical"
)

var errPending = errors.New("build plan: stateful operators over streams are not built yet")

func (bd *builder) streamJoin(n *logical.Join, out port, phase int) (int, *mark, error) {
	return 0, nil, errPending
}

func (bd *builder) streamWindow(n *logical.Window, out port) (port, watermarked, error) {
	return nil, nil, errPending
}
