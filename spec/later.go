package spec

import "strings"

// later is one thing that the document may already say and that is refused,
// at its place, until its issue lands. To switch a feature on, remove its line.
type later struct {
	object string // object.name; "" for any object with the key
	key    string
	value  string // "" for the key with any value; "x*" for values that start with x
	what   string // starts the message
}

// laterThings is the whole list.
var laterThings = []later{
	{"pipeline", "notifications", "", "notifications"},
	{"pipeline", "targets", "", "targets"},
	{"pipeline", "alerts", "", "alerts"},
	{"pipeline", "schedule", "", "a schedule"},
	{"pipeline", "storage", "s3://*", "storage in an object store"},
	{"pipeline", "storage", "s3a://*", "storage in an object store"},
	{"pipeline", "storage", "gs://*", "storage in an object store"},
	{"pipeline", "storage", "abfss://*", "storage in an object store"},

	{"source", "bad_records", "", "a place for bad records"},
	{"source", "format", "kafka", "the kafka source"},
	{"source", "format", "avro", "the avro format"},
	{"source", "format", "orc", "the orc format"},
	{"source", "format", "xml", "the xml format"},
	{"source", "format", "binaryFile", "the binaryFile format"},

	{"watermark", "per_partition", "", "a watermark for each partition (only sources with partitions have one: it comes with the kafka source)"},
	{"", "cluster_by", "", "clustering"},
	{"", "location", "", "a location of its own"},
	{"", "depends_on", "", "an explicit dependency"},
	{"", "tags", "", "tags"},
	{"", "on_error", "quarantine", "quarantine"},
	{"expectation", "on_violation", "quarantine", "quarantine"},

	{"trigger", "real_time", "", "real-time running"},

	{"sink", "format", "kafka", "the kafka sink"},
	{"sink", "format", "delta", "a delta sink"},
	{"sink", "format", "json", "a json sink"},
	{"sink", "format", "csv", "a csv sink"},
	{"sink", "format", "parquet", "a parquet sink"},
	{"sink", "format", "text", "a text sink"},
}

// findLater returns what is refused about a key (value "") or about its value.
func findLater(object, key, value string) (what string, found bool) {
	for _, l := range laterThings {
		if l.key != key || l.object != "" && l.object != object {
			continue
		}
		prefix, isPrefix := strings.CutSuffix(l.value, "*")
		switch {
		case l.value == value,
			isPrefix && value != "" && strings.HasPrefix(strings.ToLower(value), prefix),
			l.value != "" && value != "" && strings.EqualFold(l.value, value):
			return l.what, true
		}
	}
	return "", false
}
