package checkpoint

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"

	"pipelines/runtime/stream"
)

// Renaming says what Rename changes: the dataset and flow ("": as they were),
// the ids of sources (old to new), and what the sink's entries mean (nil: as
// before).
type Renaming struct {
	Dataset, Flow string
	Sources       map[string]string
	Sink          func(meaning string) string
}

// Rename changes the names in the checkpoint at path, in one transaction. What
// has its new name already stays as it is.
func Rename(path string, r Renaming) (err error) {
	if _, err := checkFile(path, lockWait); err != nil {
		return err
	}
	db, err := Settings{}.openBolt(path)
	if err != nil {
		return err
	}
	d := &DB{path: path, bolt: db}
	defer func() { err = errors.Join(err, d.Close()) }()
	return d.update("rename", func(tx *bolt.Tx) error {
		if err := renameIdentity(tx, r.Dataset, r.Flow); err != nil {
			return err
		}
		if err := renameRecords(tx, r); err != nil {
			return err
		}
		for old, id := range r.Sources {
			if err := renameLedger(tx, old, id); err != nil {
				return err
			}
		}
		return nil
	})
}

func renameIdentity(tx *bolt.Tx, dataset, flow string) error {
	b := tx.Bucket(bucketMeta)
	if b == nil {
		return fmt.Errorf("%w: bucket %s is missing", ErrDamaged, bucketMeta)
	}
	text, err := unseal(keyIdentity, b.Get(keyIdentity))
	if err != nil {
		return err
	}
	var id Identity
	if err := json.Unmarshal(text, &id); err != nil {
		return fmt.Errorf("%w: identity: %w", ErrDamaged, err)
	}
	if dataset != "" {
		id.Dataset = dataset
	}
	if flow != "" {
		id.Flow = flow
	}
	if text, err = json.Marshal(id); err != nil {
		return err
	}
	return b.Put(keyIdentity, seal(keyIdentity, text))
}

// renameRecords renames the sources of the newest records; older ones are
// history.
func renameRecords(tx *bolt.Tx, r Renaming) error {
	h, err := readHead(tx)
	if err != nil || len(r.Sources) == 0 && r.Sink == nil {
		return err
	}
	var in Intent
	if ok, err := getEpoch(tx.Bucket(bucketIntent), h.intent, &in); err != nil {
		return err
	} else if ok {
		in.renameSources(r.Sources)
		if err := putEpoch(tx.Bucket(bucketIntent), in.Epoch, in); err != nil {
			return err
		}
	}
	var p Prepared
	if ok, err := getEpoch(tx.Bucket(bucketReady), h.prepared, &p); err != nil || !ok {
		return err
	}
	p.renameSources(r.Sources)
	if meaning, ok := p.Operators[p.Sink]; ok && r.Sink != nil {
		p.Operators[p.Sink] = r.Sink(meaning)
	}
	return putEpoch(tx.Bucket(bucketReady), p.Epoch, p)
}

// RenameSources gives sources their new ids (old to new), as Rename does in the
// file.
func (s *Snapshot) RenameSources(sources map[string]string) {
	if s.Intent != nil {
		s.Intent.renameSources(sources)
	}
	if s.Prepared != nil {
		s.Prepared.renameSources(sources)
	}
}

func (in *Intent) renameSources(sources map[string]string) {
	for _, m := range []map[string]stream.Offset{in.From, in.To} {
		for old, id := range sources {
			o, ok := m[old]
			if _, taken := m[id]; !ok || taken {
				continue
			}
			m[id] = o
			delete(m, old)
		}
	}
}

// renameSources changes the columns of the sources in what the operators'
// entries mean.
func (p *Prepared) renameSources(sources map[string]string) {
	for op, meaning := range p.Operators {
		for old, id := range sources {
			meaning = renameColumns(meaning, old+".", id+".")
		}
		p.Operators[op] = meaning
	}
}

// renameColumns replaces a prefix of names in a text, where it begins one.
func renameColumns(text, old, now string) string {
	var out strings.Builder
	for {
		i := strings.Index(text, old)
		if i < 0 {
			return out.String() + text
		}
		before := text[:i]
		begins := i == 0 || strings.HasSuffix(before, "batch:") || !strings.ContainsRune("_.:/-", rune(before[i-1])) && !isWord(before[i-1])
		out.WriteString(before)
		if begins {
			out.WriteString(now)
		} else {
			out.WriteString(old)
		}
		text = text[i+len(old):]
	}
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func renameLedger(tx *bolt.Tx, old, id string) error {
	parent := tx.Bucket(bucketLedger)
	b := parent.Bucket([]byte(old))
	if b == nil || parent.Bucket([]byte(id)) != nil {
		return nil
	}
	var entries []Entry
	err := b.ForEach(func(k, v []byte) error {
		entries = append(entries, Entry{Key: append([]byte(nil), k...), Value: append([]byte{}, v...)})
		return nil
	})
	if err != nil {
		return err
	}
	if err := putEntries(tx, bucketLedger, id, entries); err != nil {
		return err
	}
	if err := parent.DeleteBucket([]byte(old)); err != nil {
		return err
	}
	return tx.Bucket(bucketMeta).Delete(totalKey(bucketLedger, []byte(old)))
}
