package funcs

import (
	"strconv"

	"pipelines/tables/schema"
)

// regexpCache keeps the compiled pattern of the last row.
type regexpCache struct {
	text string
	m    matcher
	err  *Error
	at   []int
	tmpl replacement
}

func (c *Ctx) regexp(pattern []byte, function string) *regexpCache {
	r, ok := c.Scratch.(*regexpCache)
	if !ok {
		r = &regexpCache{}
		c.Scratch = r
	}
	if (r.m != nil || r.err != nil) && r.text == string(pattern) {
		return r
	}
	r.text, r.err, r.tmpl = string(pattern), nil, replacement{}
	m, err := compileRegexp(r.text)
	if err != nil {
		r.m = nil
		r.err = errParam("PATTERN", "regexp", function, "'"+r.text+"'.", map[string]string{"value": "'" + r.text + "'"})
		return r
	}
	r.m = m
	return r
}

var regexpFunctions = []*Function{
	define("rlike", "predicate", "rlike(str, regexp)", "True when a part of the string matches a regular expression.", signature{
		params: []param{pString, pString}, result: tBool, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) {
				r := c.regexp(args[1].Str(i), "rlike")
				if r.err != nil {
					c.Fail(out, i, r.err)
					return
				}
				out.Bool[i] = r.m.test(args[0].Str(i))
			})
		},
	}).alias("regexp", "regexp_like").example("SELECT rlike('abc', '^a')", "true"),
	define("regexp_extract", "string", "regexp_extract(str, regexp[, idx])", "Group idx (1 by default) of the first match, or an empty string.", signature{
		params: []param{pString, pString, pInt}, min: 2, result: tString, canFail: true, kernel: regexpExtract,
	}).example("SELECT regexp_extract('100-200', '([0-9]+)-([0-9]+)', 1)", "100"),
	define("regexp_extract_all", "string", "regexp_extract_all(str, regexp[, idx])", "Group idx of all matches.", signature{
		params: []param{pString, pString, pInt}, min: 2, result: schema.ArrayOf(tString, true), canFail: true, kernel: regexpExtractAll,
	}).example("SELECT regexp_extract_all('100-200, 300-400', '([0-9]+)-([0-9]+)', 1)", `["100","300"]`),
	define("regexp_replace", "string", "regexp_replace(str, regexp, rep[, position])", "The string with all matches replaced.", signature{
		params: []param{pString, pString, pString, pInt}, min: 3, result: tString, canFail: true, kernel: regexpReplace,
		check: func(_ *Session, call string, args []Arg) error {
			if len(args) < 4 {
				return nil
			}
			n, ok := constInt(args[3])
			if !ok && args[3].Const == nil {
				return errNotFoldable(call, "position", tInt, args[3])
			}
			if ok && n < 1 {
				return errValueRange(call, "position", "(0, 2147483647]", strconv.FormatInt(n, 10))
			}
			return nil
		},
	}).example("SELECT regexp_replace('100-200', '([0-9]+)', 'num')", "num-num"),
	define("regexp_count", "string", "regexp_count(str, regexp)", "Number of matches.", signature{
		params: []param{pString, pString}, result: tInt, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) {
				r := c.regexp(args[1].Str(i), "regexp_count")
				if r.err != nil {
					c.Fail(out, i, r.err)
					return
				}
				n := int32(0)
				r.m.all(args[0].Str(i), func([]int) bool { n++; return true })
				out.I32[i] = n
			})
		},
	}).example("SELECT regexp_count('banana', 'an')", "2"),
	define("regexp_substr", "string", "regexp_substr(str, regexp)", "The first match, or NULL.", signature{
		params: []param{pString, pString}, result: tString, canFail: true, mayNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				r := c.regexp(args[1].Str(i), "regexp_substr")
				if r.err != nil {
					c.Fail(out, i, r.err)
					return b
				}
				s := args[0].Str(i)
				if r.at = r.m.find(s, 0, r.at); len(r.at) == 0 || r.at[0] == r.at[1] {
					out.SetNull(i)
					return b
				}
				return append(b, s[r.at[0]:r.at[1]]...)
			})
		},
	}).example("SELECT regexp_substr('hello 42', '[0-9]+')", "42"),
	define("regexp_instr", "string", "regexp_instr(str, regexp)", "Position of the first match, from 1; 0 when there is none.", signature{
		params: []param{pString, pString, pInt}, min: 2, result: tInt, canFail: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) {
				r := c.regexp(args[1].Str(i), "regexp_instr")
				if r.err != nil {
					c.Fail(out, i, r.err)
					return
				}
				s := args[0].Str(i)
				out.I32[i] = 0
				if r.at = r.m.find(s, 0, r.at); len(r.at) > 0 {
					out.I32[i] = int32(charCount(s[:r.at[0]])) + 1
				}
			})
		},
	}).example("SELECT regexp_instr('hello 42', '[0-9]+')", "7"),
	define("split", "string", "split(str, regex[, limit])", "The parts between the matches of a regular expression.", signature{
		params: []param{pString, pString, pInt}, min: 2, result: schema.ArrayOf(tString, false), canFail: true, kernel: splitKernel,
	}).example("SELECT split('oneAtwoBthreeC', '[ABC]', 2)", `["one","twoBthreeC"]`),
}

// regexpGroup reads the group argument; ok is false when the row failed.
func regexpGroup(c *Ctx, args []*vector, out *vector, i int, function string) (r *regexpCache, group int, ok bool) {
	r = c.regexp(args[1].Str(i), function)
	if r.err != nil {
		c.Fail(out, i, r.err)
		return r, 0, false
	}
	group = 1
	if len(args) == 3 {
		group = int(args[2].I32[args[2].Row(i)])
	}
	if group < 0 || group > r.m.groups() {
		c.Fail(out, i, errParam("REGEX_GROUP_INDEX", "idx", function, "Expects group index between 0 and "+strconv.Itoa(r.m.groups())+", but got "+strconv.Itoa(group)+".",
			map[string]string{"groupCount": strconv.Itoa(r.m.groups()), "groupIndex": strconv.Itoa(group)}))
		return r, 0, false
	}
	return r, group, true
}

func regexpExtract(c *Ctx, args []*vector, out *vector) {
	c.appendRows(out, func(i int, b []byte) []byte {
		s := args[0].Str(i)
		r := c.regexp(args[1].Str(i), "regexp_extract")
		if r.err == nil {
			if r.at = r.m.find(s, 0, r.at); len(r.at) == 0 {
				return b
			}
		}
		r, group, ok := regexpGroup(c, args, out, i, "regexp_extract")
		if !ok || r.at[2*group] < 0 {
			return b
		}
		return append(b, s[r.at[2*group]:r.at[2*group+1]]...)
	})
}

func regexpExtractAll(c *Ctx, args []*vector, out *vector) {
	c.appendLists(out, func(i int) {
		s := args[0].Str(i)
		r := c.regexp(args[1].Str(i), "regexp_extract_all")
		if r.err == nil && !r.m.test(s) {
			return
		}
		r, group, ok := regexpGroup(c, args, out, i, "regexp_extract_all")
		if !ok {
			return
		}
		r.m.all(s, func(at []int) bool {
			if at[2*group] < 0 {
				out.Children[0].AppendStr(nil)
			} else {
				out.Children[0].AppendStr(s[at[2*group]:at[2*group+1]])
			}
			return true
		})
	})
}

// replacement is a parsed replacement text: literals and group numbers.
type replacement struct {
	text   string
	ready  bool
	parts  []string
	groups []int // behind parts[i]; -1: none
	bad    bool
}

func parseReplacement(s string, groups int) replacement {
	r := replacement{text: s, ready: true}
	cur := []byte{}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			cur = append(cur, s[i])
		case s[i] == '\\':
			r.bad = true
		case s[i] == '$':
			n, k := 0, i+1
			for ; k < len(s) && s[k] >= '0' && s[k] <= '9'; k++ {
				next := 10*n + int(s[k]-'0')
				if k > i+1 && next > groups {
					break
				}
				n = next
			}
			if k == i+1 || n > groups {
				r.bad = true
				return r
			}
			r.parts, r.groups = append(r.parts, string(cur)), append(r.groups, n)
			cur = cur[:0]
			i = k - 1
		default:
			cur = append(cur, s[i])
		}
	}
	r.parts, r.groups = append(r.parts, string(cur)), append(r.groups, -1)
	return r
}

func regexpReplace(c *Ctx, args []*vector, out *vector) {
	c.appendRows(out, func(i int, b []byte) []byte {
		s := args[0].Str(i)
		r := c.regexp(args[1].Str(i), "regexp_replace")
		if r.err != nil {
			c.Fail(out, i, r.err)
			return b
		}
		from := 0
		if len(args) == 4 {
			from = charOffset(s, int64(args[3].I32[args[3].Row(i)])-1)
			b = append(b, s[:from]...)
			if s = s[from:]; from > 0 && len(s) == 0 {
				return b
			}
		}
		if rep := args[2].Str(i); !r.tmpl.ready || r.tmpl.text != string(rep) {
			r.tmpl = parseReplacement(string(rep), r.m.groups())
		}
		last, bad, start := 0, false, len(b)
		r.m.all(s, func(at []int) bool {
			if bad = r.tmpl.bad; bad || textRoom(b, start) <= 0 {
				return false
			}
			b = append(b, s[last:at[0]]...)
			for k, part := range r.tmpl.parts {
				b = append(b, part...)
				if g := r.tmpl.groups[k]; g >= 0 && at[2*g] >= 0 {
					b = append(b, s[at[2*g]:at[2*g+1]]...)
				}
			}
			last = at[1]
			return true
		})
		if bad {
			c.Fail(out, i, NewError("INVALID_REGEXP_REPLACE", "Could not perform regexp_replace for source = \""+string(args[0].Str(i))+"\", pattern = \""+r.text+
				"\", replacement = \""+r.tmpl.text+"\" and position = "+strconv.Itoa(from+1)+".",
				map[string]string{"source": string(args[0].Str(i)), "pattern": r.text, "replacement": r.tmpl.text, "position": strconv.Itoa(from + 1)}))
			return b
		}
		return append(b, s[last:]...)
	})
}

func splitKernel(c *Ctx, args []*vector, out *vector) {
	child := out.Children[0]
	c.appendLists(out, func(i int) {
		s, pattern, limit := args[0].Str(i), args[1].Str(i), -1
		if len(args) == 3 {
			limit = int(args[2].I32[args[2].Row(i)])
		}
		if len(pattern) == 0 {
			splitChars(child, s, limit)
			return
		}
		r := c.regexp(pattern, "split")
		if r.err != nil {
			c.Fail(out, i, r.err)
			return
		}
		last, n := 0, 1
		r.m.all(s, func(at []int) bool {
			if limit > 0 && n >= limit {
				return false
			}
			if at[1] == 0 { // an empty match at the start splits nothing
				return true
			}
			child.AppendStr(s[last:at[0]])
			last = at[1]
			n++
			return true
		})
		child.AppendStr(s[last:])
	})
}

// splitChars splits into characters, as Spark does for an empty pattern.
func splitChars(child *vector, s []byte, limit int) {
	n := 0
	for len(s) > 0 {
		k := charOffset(s, 1)
		if n++; limit > 0 && n >= limit {
			k = len(s)
		}
		child.AppendStr(s[:k])
		s = s[k:]
	}
	if n == 0 {
		child.AppendStr(nil)
	}
}
