package operator

import (
	"errors"

	"pipelines/sqlplan/logical"
)

var errPending = errors.New("build plan: stateful operators over streams are not built yet")

func (bd *builder) streamWindow(n *logical.Window, out port) (port, watermarked, error) {
	return nil, nil, errPending
}
