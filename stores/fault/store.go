package fault

import (
	"context"
	"fmt"

	"pipelines/stores"
)

type store struct {
	inner  stores.Store
	script *Script
}

// New wraps a store; the script decides what happens to its calls.
func New(inner stores.Store, script *Script) stores.Store { return &store{inner, script} }

// call runs one call under the script; torn runs it in part.
func (s *store) call(op, key string, do func() error, torn func(n int) error) error {
	r, err := s.script.decide(op, key)
	if err != nil {
		return fmt.Errorf("%s %s: %w", op, key, err)
	}
	if skip, err := s.script.before(r, op, key); skip {
		return err
	}
	if r != nil && r.act == actTorn {
		if torn != nil {
			if err := torn(r.bytes); err != nil {
				return err
			}
		}
		return r.failure(op, key)
	}
	return s.script.after(r, op, key, do())
}

func (s *store) Get(ctx context.Context, key string) (data []byte, err error) {
	err = s.call("get", key, func() error {
		data, err = s.inner.Get(ctx, key)
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	return data, nil
}

func (s *store) Open(ctx context.Context, key string) (stores.Object, error) {
	var o stores.Object
	err := s.call("open", key, func() (err error) {
		o, err = s.inner.Open(ctx, key)
		return err
	}, nil)
	if err != nil {
		if o != nil {
			_ = o.Close() // only read
		}
		return nil, err
	}
	return &object{o, s, key}, nil
}

func (s *store) Stat(ctx context.Context, key string) (info stores.ObjectInfo, err error) {
	err = s.call("stat", key, func() error {
		info, err = s.inner.Stat(ctx, key)
		return err
	}, nil)
	return info, err
}

func (s *store) List(ctx context.Context, opts stores.ListOptions, fn func(stores.ObjectInfo) bool) error {
	return s.call("list", opts.Prefix, func() error { return s.inner.List(ctx, opts, fn) }, nil)
}

func cut(data []byte, n int) []byte { return data[:min(max(n, 0), len(data))] }

func (s *store) Put(ctx context.Context, key string, data []byte) error {
	put := func(data []byte) error { return s.inner.Put(ctx, key, data) }
	return s.call("put", key, func() error { return put(data) }, func(n int) error { return put(cut(data, n)) })
}

func (s *store) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	put := func(data []byte) error { return s.inner.PutIfAbsent(ctx, key, data) }
	return s.call("absent", key, func() error { return put(data) }, func(n int) error { return put(cut(data, n)) })
}

func (s *store) Delete(ctx context.Context, key string) error {
	return s.call("delete", key, func() error { return s.inner.Delete(ctx, key) }, nil)
}

func (s *store) Create(ctx context.Context, key string) (stores.Upload, error) {
	var u stores.Upload
	err := s.call("create", key, func() (err error) {
		u, err = s.inner.Create(ctx, key)
		return err
	}, nil)
	if err != nil {
		if u != nil {
			_ = u.Abort() // the caller is told of a failure already
		}
		return nil, err
	}
	return &upload{u, s, key}, nil
}

type object struct {
	stores.Object
	store *store
	key   string
}

func (o *object) ReadAt(p []byte, off int64) (n int, err error) {
	err = o.store.call("read", o.key, func() error {
		n, err = o.Object.ReadAt(p, off)
		return err
	}, func(k int) error {
		n, err = o.Object.ReadAt(cut(p, k), off)
		return err
	})
	return n, err
}

type upload struct {
	stores.Upload
	store *store
	key   string
}

func (u *upload) Write(p []byte) (n int, err error) {
	err = u.store.call("write", u.key, func() error {
		n, err = u.Upload.Write(p)
		return err
	}, func(k int) error {
		n, err = u.Upload.Write(cut(p, k))
		return err
	})
	return n, err
}

// Commit of a torn upload stores what was written so far and then fails.
func (u *upload) Commit() error {
	return u.store.call("commit", u.key, u.Upload.Commit, func(int) error { return u.Upload.Commit() })
}
