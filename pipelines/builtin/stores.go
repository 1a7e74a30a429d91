package builtin

import (
	"pipelines/stores"
	"pipelines/stores/local"
)

// OpenStore opens a folder for reading and writing; it is made unless it
// exists.
func OpenStore(root string) (stores.Store, error) { return local.Open(root, local.Options{}) }

// ReadStore opens a folder for reading.
func ReadStore(root string) (stores.Reader, error) {
	return local.Open(root, local.Options{ReadOnly: true})
}

// ViewStore opens a folder of tables that will only be read: it is not made,
// and nothing in it is touched.
func ViewStore(root string) (stores.Store, error) {
	return local.Open(root, local.Options{ReadOnly: true})
}
