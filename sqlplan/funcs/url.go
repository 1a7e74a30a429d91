package funcs

import (
	"bytes"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
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
				s, part := string(args[0].Str(i)), string(args[1].Str(i))
				text, ok, valid := urlPart(s, part)
				if valid && len(args) == 3 {
					if ok = ok && part == "QUERY"; ok {
						text, ok = queryValue(c, args[2].Str(i), text, out, i)
					}
				}
				if !valid {
					failOrNull(c.Session, c, out, i, NewError("INVALID_URL", "The url is invalid: "+s+". Use `try_parse_url` to tolerate invalid URL and return NULL instead.",
						map[string]string{"url": s}))
					return b
				}
				if !ok {
					if out.Errs.At(i) == nil {
						out.SetNull(i)
					}
					return b
				}
				return append(b, text...)
			})
		},
	})
}

// queryValue finds the value of a key, which is a regular expression.
func queryValue(c *Ctx, key []byte, query string, out *vector, i int) (string, bool) {
	if !bytes.ContainsAny(key, `\.[]{}()*+?^$|`) {
		for pair := range strings.SplitSeq(query, "&") {
			if rest, found := strings.CutPrefix(pair, string(key)+"="); found {
				return rest, true
			}
		}
		return "", false
	}
	r := c.regexp(slices.Concat([]byte("(&|^)"), key, []byte("=([^&]*)")), "parse_url")
	if r.err != nil {
		c.Fail(out, i, r.err)
		return "", false
	}
	if r.at = r.m.find([]byte(query), 0, r.at); len(r.at) == 0 || r.at[4] < 0 {
		return "", false
	}
	return query[r.at[4]:r.at[5]], true
}

// validEscapes is whether each percent sign has its two digits.
func validEscapes(s string) bool {
	for i := strings.IndexByte(s, '%'); i >= 0; i = strings.IndexByte(s, '%') {
		if len(s) < i+3 {
			return false
		}
		if _, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err != nil {
			return false
		}
		s = s[i+3:]
	}
	return true
}

// isServer is whether Java takes a host for that of a server: an address, or
// labels of letters, digits and hyphens, the last of which begins with a letter.
func isServer(host string) bool {
	if strings.HasPrefix(host, "[") {
		return true
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Is4()
	}
	alpha := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
	alnum := func(c byte) bool { return alpha(c) || c >= '0' && c <= '9' }
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, l := range labels {
		if l == "" || !alnum(l[0]) || !alnum(l[len(l)-1]) {
			return false
		}
		for i := range len(l) {
			if !alnum(l[i]) && l[i] != '-' {
				return false
			}
		}
	}
	return alpha(labels[len(labels)-1][0])
}

// urlPart gives the raw text of a part, as Java's URI does.
func urlPart(s, part string) (text string, ok, valid bool) {
	u, err := url.Parse(s)
	if err != nil || strings.ContainsAny(s, " <>\"{}|\\^`") || !validEscapes(s) {
		return "", false, false
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
	if u.Opaque == "" && strings.ContainsAny(path, "[]") {
		return "", false, false
	}
	user, host, hasUser := strings.Cut(authority, "@")
	if !hasUser {
		user, host = "", authority
	}
	host = strings.TrimSuffix(strings.TrimSuffix(host, u.Port()), ":")
	if !isServer(host) { // a registry's name for all that Java knows
		host, hasUser = "", false
	}
	switch part {
	case "HOST":
		return host, host != "", true
	case "PATH":
		return path, u.Opaque == "", true
	case "QUERY":
		return query, hasQuery, true
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
