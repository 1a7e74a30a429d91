package funcs

import (
	"net/url"
	"strings"
)

var urlFunctions = []*Function{
	define("url_encode", "url", "url_encode(str)", "Text as application/x-www-form-urlencoded.", signature{
		params: []param{pString}, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				for _, x := range args[0].Str(i) {
					switch {
					case x == ' ':
						b = append(b, '+')
					case x >= 'a' && x <= 'z', x >= 'A' && x <= 'Z', x >= '0' && x <= '9', x == '-', x == '_', x == '.', x == '*':
						b = append(b, x)
					default:
						b = append(b, '%', upperHex[x>>4], upperHex[x&15])
					}
				}
				return b
			})
		},
	}).example("SELECT url_encode('https://spark.apache.org')", "https%3A%2F%2Fspark.apache.org"),
	urlDecode("url_decode", false).example("SELECT url_decode('https%3A%2F%2Fspark.apache.org')", "https://spark.apache.org"),
	urlDecode("try_url_decode", true).example("SELECT try_url_decode('a%zz')", "NULL"),
	parseURL("parse_url", false).example("SELECT parse_url('http://spark.apache.org/path?query=1', 'HOST')", "spark.apache.org"),
	parseURL("try_parse_url", true).example("SELECT try_parse_url('http://spark.apache.org/path?query=1', 'QUERY', 'query')", "1"),
}

func urlDecode(name string, try bool) *Function {
	return define(name, "url", name+"(str)", "Text of application/x-www-form-urlencoded.", signature{
		params: []param{pString}, result: tString, canFail: true, try: try,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				s := string(args[0].Str(i))
				r, err := url.QueryUnescape(s)
				if err != nil {
					c.Fail(out, i, NewError("CANNOT_DECODE_URL", "The provided URL cannot be decoded: "+s+". Please ensure that the URL is properly formatted and try again.",
						map[string]string{"url": s}))
					return b
				}
				return append(b, r...)
			})
		},
	})
}

func parseURL(name string, try bool) *Function {
	return define(name, "url", name+"(url, partToExtract[, key])", "Part of a URL.", signature{
		params: []param{pOnlyString, pOnlyString, pOnlyString}, min: 2, result: tString, canFail: true, mayNull: true, try: try,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				key := ""
				if len(args) == 3 {
					key = string(args[2].Str(i))
				}
				s := string(args[0].Str(i))
				part, ok, valid := urlPart(s, string(args[1].Str(i)), key, len(args) == 3)
				if !valid {
					failOrNull(c.Session, c, out, i, NewError("INVALID_URL", "The url is invalid: "+s+". Use `try_parse_url` to tolerate invalid URL and return NULL instead.",
						map[string]string{"url": s}))
					return b
				}
				if !ok {
					out.SetNull(i)
					return b
				}
				return append(b, part...)
			})
		},
	})
}

// urlPart gives the raw text of a part, as Java's URI does.
func urlPart(s, part, key string, keyed bool) (text string, ok, valid bool) {
	u, err := url.Parse(s)
	if err != nil || strings.ContainsAny(s, " <>\"{}|\\^`") {
		return "", false, false
	}
	if keyed && part != "QUERY" {
		return "", false, true
	}
	rest, fragment, hasFragment := strings.Cut(s, "#")
	if scheme, after, found := strings.Cut(rest, "://"); found && scheme == u.Scheme {
		rest = after
	} else if u.Scheme != "" {
		rest = strings.TrimPrefix(rest, u.Scheme+":")
	}
	path, query, hasQuery := strings.Cut(rest, "?")
	authority := ""
	if u.Host != "" || u.User != nil {
		at := strings.IndexByte(path, '/')
		if at < 0 {
			at = len(path)
		}
		authority, path = path[:at], path[at:]
	}
	user, host, hasUser := strings.Cut(authority, "@")
	if !hasUser {
		user, host = "", authority
	}
	switch part {
	case "HOST":
		host = strings.TrimSuffix(strings.TrimSuffix(host, u.Port()), ":")
		return host, host != "", true
	case "PATH":
		return path, u.Opaque == "", true
	case "QUERY":
		if !hasQuery || !keyed {
			return query, hasQuery, true
		}
		for _, pair := range strings.Split(query, "&") {
			if k, v, _ := strings.Cut(pair, "="); k == key {
				return v, true, true
			}
		}
		return "", false, true
	case "REF":
		return fragment, hasFragment, true
	case "PROTOCOL":
		return u.Scheme, u.Scheme != "", true
	case "FILE":
		if hasQuery {
			path += "?" + query
		}
		return path, true, true
	case "AUTHORITY":
		return authority, authority != "", true
	case "USERINFO":
		return user, hasUser, true
	}
	return "", false, true
}
