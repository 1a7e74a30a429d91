package commitlog

import (
	"strconv"
	"strings"
)

// PropertyFinding says what a table property is to us.
type PropertyFinding uint8

// The findings.
const (
	PropertyHonoured      PropertyFinding = iota // ours, or not Delta's and only kept
	PropertyWithoutEffect                        // kept for other writers of the table
	PropertyWrongValue                           // no value of the property
	PropertyUnavailable                          // asks for what is not done here
)

// PropertyCheck is what CheckProperty says.
type PropertyCheck struct {
	// Name is the property's name in Delta's spelling.
	Name    string
	Finding PropertyFinding
	// Wanted describes the values that are taken, for wrong ones.
	Wanted string
}

// deltaPrefix begins the names of Delta's own properties, in any case.
const deltaPrefix = "delta."

// known is one row of the table of Delta's properties.
type known struct {
	name   string // a trailing "." takes all names that begin so
	values values
	none   bool // nothing here depends on it
	// only is the value that asks for nothing beyond what is done; another is
	// not available. Empty: all values are fine.
	only string
}

// values are the values of a property.
type values struct {
	ok     func(string) bool
	wanted string
}

var (
	truth = values{func(s string) bool { return strings.EqualFold(s, "true") || strings.EqualFold(s, "false") }, "true or false"}
	count = values{func(s string) bool {
		n, err := strconv.ParseInt(s, 10, 32)
		return err == nil && n > 0
	}, "a whole number above 0"}
	columns = values{func(s string) bool {
		n, err := strconv.ParseInt(s, 10, 32)
		return err == nil && n >= -1
	}, "a number of columns, or -1 for all"}
	duration = values{func(s string) bool { _, ok := parseInterval(s); return ok }, "an interval of weeks or smaller units, such as 'interval 7 days'"}
	anyText  = values{func(string) bool { return true }, ""}
)

func oneOf(words ...string) values {
	return values{func(s string) bool {
		for _, w := range words {
			if strings.EqualFold(s, w) {
				return true
			}
		}
		return false
	}, strings.Join(words, " or ")}
}

// properties lists the properties of Delta that a table here may have. All
// others ask for something that is not done, and are unavailable.
var properties = []known{
	{name: PropIsolation, values: oneOf(Serializable.String(), WriteSerializable.String())},
	{name: PropAppendOnly, values: truth},
	{name: PropCheckpointInterval, values: count},
	{name: PropDeletedRetention, values: duration},

	{name: "delta.columnMapping.mode", values: oneOf("none", "id", "name"), only: "none"},
	{name: "delta.checkpointPolicy", values: oneOf("classic", "v2"), only: "classic"},
	{name: "delta.enableChangeDataFeed", values: truth, only: "false"},
	{name: "delta.enableDeletionVectors", values: truth, only: "false"},
	{name: "delta.enableIcebergCompatV1", values: truth, only: "false"},
	{name: "delta.enableIcebergCompatV2", values: truth, only: "false"},
	{name: "delta.enableInCommitTimestamps", values: truth, only: "false"},
	{name: "delta.enableRowTracking", values: truth, only: "false"},
	{name: "delta.enableTypeWidening", values: truth, only: "false"},
	{name: "delta.enableVariantShredding", values: truth, only: "false"},
	{name: "delta.compatibility.symlinkFormatManifest.enabled", values: truth, only: "false"},

	{name: "delta.autoOptimize", values: truth, none: true},
	{name: "delta.autoOptimize.", values: anyText, none: true},
	{name: "delta.targetFileSize", values: anyText, none: true},
	{name: "delta.tuneFileSizesForRewrites", values: truth, none: true},
	{name: "delta.dataSkippingNumIndexedCols", values: columns, none: true},
	{name: "delta.dataSkippingStatsColumns", values: anyText, none: true},
	{name: "delta.logRetentionDuration", values: duration, none: true},
	{name: "delta.enableExpiredLogCleanup", values: truth, none: true},
	{name: "delta.enableFullRetentionRollback", values: truth, none: true},
	{name: "delta.checkpointRetentionDuration", values: duration, none: true},
	{name: "delta.sampleRetentionDuration", values: duration, none: true},
	{name: "delta.checkpoint.writeStatsAsJson", values: truth, none: true},
	{name: "delta.checkpoint.writeStatsAsStruct", values: truth, none: true},
	{name: "delta.randomizeFilePrefixes", values: truth, none: true},
	{name: "delta.randomPrefixLength", values: count, none: true},
}

// CheckProperty judges one property of a table that is to be written here.
// Names of Delta's properties count in any case, as in Delta.
func CheckProperty(name, value string) PropertyCheck {
	if len(name) < len(deltaPrefix) || !strings.EqualFold(name[:len(deltaPrefix)], deltaPrefix) {
		return PropertyCheck{Name: name}
	}
	for _, p := range properties {
		switch {
		case strings.EqualFold(p.name, name):
			name = p.name
		case strings.HasSuffix(p.name, ".") && len(name) > len(p.name) && strings.EqualFold(name[:len(p.name)], p.name):
			name = p.name + name[len(p.name):]
		default:
			continue
		}
		out := PropertyCheck{Name: name}
		switch {
		case !p.values.ok(value):
			out.Finding, out.Wanted = PropertyWrongValue, p.values.wanted
		case p.none:
			out.Finding = PropertyWithoutEffect
		case p.only != "" && !strings.EqualFold(p.only, value):
			out.Finding, out.Wanted = PropertyUnavailable, p.only
		}
		return out
	}
	return PropertyCheck{Name: name, Finding: PropertyUnavailable}
}

// HonouredProperties lists the properties of Delta that have an effect here.
func HonouredProperties() []string {
	var out []string
	for _, p := range properties {
		if !p.none && p.only == "" {
			out = append(out, p.name)
		}
	}
	return out
}
