package commitlog

import (
	"fmt"
	"slices"
	"strings"

	"pipelines/tables/schema"
)

// UnsupportedError says which feature of a table is not supported. Its class
// is DELTA_UNSUPPORTED_FEATURES_FOR_READ or DELTA_UNSUPPORTED_FEATURES_FOR_WRITE.
type UnsupportedError struct {
	Feature string // Delta's name, or empty
	What    string // what was met
	Write   bool   // reading is possible
}

func (e *UnsupportedError) Error() string {
	verb := "read"
	if e.Write {
		verb = "written"
	}
	if e.Feature == "" {
		return fmt.Sprintf("the table cannot be %s here: %s", verb, e.What)
	}
	return fmt.Sprintf("the table cannot be %s here: it uses the table feature %s (%s)", verb, e.Feature, e.What)
}

// Class returns the error class.
func (e *UnsupportedError) Class() string {
	if e.Write {
		return "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"
	}
	return "DELTA_UNSUPPORTED_FEATURES_FOR_READ"
}

// support says what we do with a table that has a feature.
type support uint8

const (
	refuse    support = iota // neither read nor written
	readOnly                 // read, not written
	readWrite                // both
	ifUnused                 // both, unless the table makes use of it (see used)
	perFile                  // both, but files that make use of it are refused
)

// feature is one row of the table of protocol features.
type feature struct {
	name string
	// reader and writer are the legacy protocol versions that imply the
	// feature, 0 if only its name does.
	reader, writer int
	support        support
	// used reports whether the table makes use of it, and how; nil if that is
	// not to be seen in the metadata.
	used func(*Metadata) string
}

// features lists the features that are known. What is not listed is refused.
var features = []feature{
	{"appendOnly", 0, 2, readWrite, nil}, // checked by the transaction
	{"invariants", 0, 2, ifUnused, fieldKey("delta.invariants")},
	{"checkConstraints", 0, 3, ifUnused, property("delta.constraints.")},
	{"changeDataFeed", 0, 4, readWrite, nil}, // whole files come and go: readers derive the changes
	{"generatedColumns", 0, 4, ifUnused, fieldKey("delta.generationExpression")},
	{"columnMapping", 2, 5, ifUnused, columnMapping},
	{"identityColumns", 0, 6, ifUnused, fieldKey("delta.identity.")},
	{"allowColumnDefaults", 0, 0, ifUnused, fieldKey("CURRENT_DEFAULT")},
	{"timestampNtz", 0, 0, readWrite, nil},
	{"domainMetadata", 0, 0, readWrite, nil}, // kept as it is
	{"vacuumProtocolCheck", 0, 0, readOnly, nil},
	{"clustering", 0, 0, readOnly, nil},
	{"rowTracking", 0, 0, readOnly, nil},
	{"inCommitTimestamp", 0, 0, readOnly, nil},
	{"icebergCompatV1", 0, 0, readOnly, nil},
	{"icebergCompatV2", 0, 0, readOnly, nil},
	{"icebergCompatV3", 0, 0, readOnly, nil},
	{"checkpointProtection", 0, 0, readOnly, nil},
	{"coordinatedCommits-preview", 0, 0, refuse, nil},
	{"catalogManaged", 0, 0, refuse, nil},
	{"catalogOwned-preview", 0, 0, refuse, nil},
	{"materializePartitionColumns", 0, 0, readOnly, nil},
	{"deletionVectors", 0, 0, perFile, nil},
	{"v2Checkpoint", 0, 0, refuse, nil},
	{"typeWidening", 0, 0, ifUnused, fieldKey("delta.typeChanges")},
	{"typeWidening-preview", 0, 0, ifUnused, fieldKey("delta.typeChanges")},
	{"variantType", 0, 0, ifUnused, variantColumn},
	{"variantType-preview", 0, 0, ifUnused, variantColumn},
	{"variantShredding", 0, 0, ifUnused, variantColumn},
	{"variantShredding-preview", 0, 0, ifUnused, variantColumn},
}

func property(prefix string) func(*Metadata) string {
	return func(m *Metadata) string {
		for k := range m.Configuration {
			if strings.HasPrefix(k, prefix) {
				return "property " + k
			}
		}
		return ""
	}
}

func columnMapping(m *Metadata) string {
	if mode := m.Configuration["delta.columnMapping.mode"]; mode != "" && mode != "none" {
		return "property delta.columnMapping.mode=" + mode
	}
	return ""
}

func variantColumn(m *Metadata) string {
	for _, f := range m.Schema.Fields {
		if typeHasKind(&f.Type, schema.Variant) {
			return "column " + f.Name
		}
	}
	return ""
}

func fieldKey(prefix string) func(*Metadata) string {
	return func(m *Metadata) string { return findKey(m.Schema.Fields, prefix) }
}

// findKey looks for a field, nested ones too, whose metadata has a key.
func findKey(fields []schema.Field, prefix string) string {
	for _, f := range fields {
		for k := range f.Metadata {
			if strings.HasPrefix(k, prefix) {
				return "column " + f.Name
			}
		}
		for t := &f.Type; t != nil; t = t.Elem {
			if what := findKey(t.Fields, prefix); what != "" {
				return what
			}
			if t.Key != nil {
				if what := findKey(t.Key.Fields, prefix); what != "" {
					return what
				}
			}
		}
	}
	return ""
}

// Readable returns an *UnsupportedError unless the table can be read.
func (p *Protocol) Readable(m *Metadata) error {
	if p.MinReader > 3 || p.MinReader < 1 {
		return &UnsupportedError{What: fmt.Sprintf("reader version %d", p.MinReader)}
	}
	if p.MinReader == 3 {
		for _, name := range p.ReaderFeatures {
			f := findFeature(name)
			if f == nil || f.support == refuse {
				return &UnsupportedError{Feature: name, What: "listed in its protocol"}
			}
			if f.support == ifUnused {
				if what := f.used(m); what != "" {
					return &UnsupportedError{Feature: name, What: what}
				}
			}
		}
	}
	// Column mapping changes the meaning of data files: whatever the protocol
	// says, a table that uses it is not to be read by names.
	if what := columnMapping(m); what != "" {
		return &UnsupportedError{Feature: "columnMapping", What: what}
	}
	if what := variantColumn(m); what != "" {
		return &UnsupportedError{Feature: "variantType", What: what}
	}
	return nil
}

// Writable returns an *UnsupportedError unless the table can be read and
// written.
func (p *Protocol) Writable(m *Metadata) error {
	if err := p.Readable(m); err != nil {
		return err
	}
	if p.MinWriter > 7 {
		return &UnsupportedError{What: fmt.Sprintf("writer version %d", p.MinWriter), Write: true}
	}
	names := p.WriterFeatures
	if p.MinWriter < 7 {
		names = nil
		for i := range features {
			if w := features[i].writer; w > 0 && w <= p.MinWriter {
				names = append(names, features[i].name)
			}
		}
	}
	for _, name := range names {
		f := findFeature(name)
		if f == nil || f.support == refuse || f.support == readOnly {
			return &UnsupportedError{Feature: name, What: "listed in its protocol", Write: true}
		}
		if f.support == ifUnused {
			if what := f.used(m); what != "" {
				return &UnsupportedError{Feature: name, What: what, Write: true}
			}
		}
	}
	return nil
}

func findFeature(name string) *feature {
	for i := range features {
		if features[i].name == name {
			return &features[i]
		}
	}
	return nil
}

// ProtocolFor returns the least protocol for a new table.
func ProtocolFor(s schema.Schema) *Protocol {
	if !hasKind(s.Fields, schema.TimestampNTZ) {
		return &Protocol{MinReader: 1, MinWriter: 2}
	}
	return &Protocol{MinReader: 3, MinWriter: 7, ReaderFeatures: []string{"timestampNtz"}, WriterFeatures: []string{"timestampNtz"}}
}

// Upgrade returns the protocol that a table needs to take a new schema, or p
// itself if it does already. Going from a legacy version to feature lists, the
// features that the old version implied and that the table may rely on are
// listed.
func (p *Protocol) Upgrade(s schema.Schema) *Protocol {
	if !hasKind(s.Fields, schema.TimestampNTZ) || slices.Contains(p.ReaderFeatures, "timestampNtz") {
		return p
	}
	up := &Protocol{MinReader: 3, MinWriter: 7, ReaderFeatures: slices.Clone(p.ReaderFeatures), WriterFeatures: slices.Clone(p.WriterFeatures)}
	for _, f := range features {
		if f.writer > 0 && p.MinWriter < 7 && f.writer <= p.MinWriter {
			up.WriterFeatures = append(up.WriterFeatures, f.name)
		}
		if f.reader > 0 && p.MinReader < 3 && f.reader <= p.MinReader {
			up.ReaderFeatures = append(up.ReaderFeatures, f.name)
		}
	}
	up.ReaderFeatures = append(up.ReaderFeatures, "timestampNtz")
	up.WriterFeatures = append(up.WriterFeatures, "timestampNtz")
	return up
}

func hasKind(fields []schema.Field, k schema.Kind) bool {
	return slices.ContainsFunc(fields, func(f schema.Field) bool { return typeHasKind(&f.Type, k) })
}

func typeHasKind(t *schema.Type, k schema.Kind) bool {
	return t != nil && (t.Kind == k || hasKind(t.Fields, k) || typeHasKind(t.Elem, k) || typeHasKind(t.Key, k))
}
