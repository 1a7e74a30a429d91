package sqlplan

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"pipelines/sqlplan/funcs"
	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Settings are what a session is made of.
type Settings struct {
	// Conf holds Spark settings by their full key.
	Conf map[string]string
	// Catalog, Database and User are what current_catalog() and the like say.
	Catalog, Database, User string
}

// NewSession reads the settings that SQL depends on: ANSI mode (on unless
// false), the time zone (UTC unless set), case sensitivity. The error names a
// bad value.
func NewSession(s Settings) (*Session, error) {
	out := funcs.Session{
		ANSI: true, Conf: map[string]string{}, Catalog: s.Catalog, Database: s.Database, User: s.User,
	}
	for k, v := range s.Conf {
		out.Conf[k] = v
	}
	if err := checkConf(out.Conf); err != nil {
		return nil, err
	}
	for k := range plain {
		if v := strings.ToLower(out.Conf[k]); v == "true" || v == "false" {
			out.Conf[k] = v
		}
	}
	out.ANSI = !strings.EqualFold(out.Conf["spark.sql.ansi.enabled"], "false")
	out.CaseSensitive = strings.EqualFold(out.Conf["spark.sql.caseSensitive"], "true")
	name := out.Conf["spark.sql.session.timeZone"]
	if name == "" {
		name = "UTC"
	}
	loc, err := text.LoadLocation(name)
	if err != nil {
		return nil, funcs.NewError("INVALID_CONF_VALUE.TIME_ZONE",
			"The value '"+name+"' in the config \"spark.sql.session.timeZone\" is invalid. Cannot resolve the given timezone.", nil)
	}
	conf := funcs.Session{Conf: out.Conf}
	out.DDL = func(ddl string) (schema.Type, *funcs.Error) { return parseDDL(&conf, ddl) }
	return out.ForZone(loc), nil
}

// CheckSetting says why a setting cannot have a value; nil when it can.
func CheckSetting(key, value string) *Error {
	_, err := NewSession(Settings{Conf: map[string]string{key: value}})
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok { //nolint:errorlint // NewSession gives it as it is
		return e
	}
	return NewError("INVALID_CONF_VALUE", err.Error())
}

// plain are the settings that take any value of a kind, by their defaults: true
// or false, a number, or a text.
var plain = map[string]string{
	"spark.sql.ansi.enabled":                                     "true",
	"spark.sql.ansi.doubleQuotedIdentifiers":                     "false",
	"spark.sql.caseSensitive":                                    "false",
	"spark.sql.crossJoin.enabled":                                "true",
	"spark.sql.decimalOperations.allowPrecisionLoss":             "true",
	"spark.sql.function.concatBinaryAsString":                    "false",
	"spark.sql.function.eltOutputAsString":                       "false",
	"spark.sql.groupByAliases":                                   "true",
	"spark.sql.groupByOrdinal":                                   "true",
	"spark.sql.jsonGenerator.ignoreNullFields":                   "true",
	"spark.sql.legacy.allowNullComparisonResultInArraySort":      "false",
	"spark.sql.legacy.allowParameterlessCount":                   "false",
	"spark.sql.legacy.allowStarWithSingleTableIdentifierInCount": "false",
	"spark.sql.legacy.negativeIndexInArrayInsert":                "false",
	"spark.sql.legacy.sizeOfNull":                                "true",
	"spark.sql.orderByOrdinal":                                   "true",
	"spark.sql.cteRecursionLevelLimit":                           "100",
	"spark.sql.cteRecursionRowLimit":                             "1000000",
	"spark.sql.columnNameOfCorruptRecord":                        "_corrupt_record",
	"spark.sql.session.timeZone":                                 "UTC",
}

// harmless are settings that say nothing to SQL, by an example of their values:
// one that is of another kind is a mistake all the same.
var harmless = map[string]string{
	"spark.sql.adaptive.enabled":                       "true",
	"spark.sql.files.ignoreCorruptFiles":               "false",
	"spark.sql.files.ignoreMissingFiles":               "false",
	"spark.sql.leafNodeDefaultParallelism":             "1",
	"spark.sql.pipelines.execution.maxConcurrentFlows": "16",
	"spark.sql.pipelines.maxFlowRetryAttempts":         "2",
	"spark.sql.shuffle.partitions":                     "200",
	"spark.sql.streaming.noDataMicroBatches.enabled":   "true",
	"spark.sql.streaming.schemaInference":              "false",
}

// choices are the settings with a few values, the default first; a value
// behind "!" is one of Spark's that is not available.
var choices = []struct {
	key    string
	values []string
}{
	{"spark.sql.mapKeyDedupPolicy", []string{"EXCEPTION", "LAST_WIN"}},
	{"spark.sql.timestampType", []string{"TIMESTAMP_LTZ", "TIMESTAMP_NTZ"}},
	{"spark.sql.storeAssignmentPolicy", []string{"ANSI", "!LEGACY", "!STRICT"}},
	{"spark.sql.binaryOutputStyle", []string{"UTF-8", "BASIC", "BASE64", "HEX", "HEX_DISCRETE"}},
	{"spark.sql.legacy.timeParserPolicy", []string{"CORRECTED", "!LEGACY", "!EXCEPTION"}},
	{"spark.sql.legacy.ctePrecedencePolicy", []string{"CORRECTED", "EXCEPTION", "!LEGACY"}},
	{"spark.sql.sources.partitionOverwriteMode", []string{"STATIC", "!DYNAMIC"}},
}

// Defaults are the values of settings that are not set, as far as they have
// one that SQL depends on.
func Defaults() map[string]string {
	out := maps.Clone(plain)
	for _, c := range choices {
		out[c.key] = c.values[0]
	}
	maps.Copy(out, fixed)
	return out
}

// checkConf refuses values that mean nothing, and those that would have to be
// ignored.
func checkConf(conf map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(plain)) {
		v, ok := conf[key]
		if kind := misfit(plain[key], v); ok && kind != "" {
			return funcs.NewError("INVALID_CONF_VALUE.TYPE_MISMATCH", "The value '"+v+"' in the config \""+key+"\" is invalid: it should be "+kind+".", nil)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(harmless)) {
		v, ok := conf[key]
		if kind := misfit(harmless[key], v); ok && kind != "" {
			return funcs.NewError("INVALID_CONF_VALUE.TYPE_MISMATCH", "The value '"+v+"' in the config \""+key+"\" is invalid: it should be "+kind+".", nil)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(fixed)) {
		if v, ok := conf[key]; ok && !strings.EqualFold(v, fixed[key]) {
			return funcs.NewError("FEATURE_NOT_AVAILABLE", key+"="+v+" is not available: only "+fixed[key]+".", nil)
		}
	}
	for _, c := range choices {
		v, ok := conf[c.key]
		upper := strings.ToUpper(v)
		switch {
		case !ok || slices.Contains(c.values, upper) && !strings.HasPrefix(v, "!"):
		case slices.Contains(c.values, "!"+upper):
			return funcs.NewError("FEATURE_NOT_AVAILABLE", c.key+"="+v+" is not available: only "+c.values[0]+".", nil)
		default:
			return funcs.NewError("INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS", "The value '"+v+"' in the config \""+c.key+"\" is invalid. It should be one of '"+
				strings.ReplaceAll(strings.Join(c.values, ", "), "!", "")+"'.", nil)
		}
	}
	return nil
}

// misfit says what a value should be that is not of the kind of a default.
func misfit(def, v string) string {
	if _, err := strconv.ParseBool(def); err == nil && len(def) > 1 {
		if strings.EqualFold(v, "true") || strings.EqualFold(v, "false") {
			return ""
		}
		return "a boolean"
	}
	if _, err := strconv.Atoi(def); err == nil {
		if _, err := strconv.Atoi(v); err != nil {
			return "an integer"
		}
	}
	return ""
}
