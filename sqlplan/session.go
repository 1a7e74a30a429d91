package sqlplan

import (
	"strings"

	"pipelines/sqlplan/funcs"
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
	out.DDL = parseDDL
	return out.ForZone(loc), nil
}
