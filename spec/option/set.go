package option

import (
	"strings"
	"time"

	"pipelines/spec/diag"
)

// Set is the list of options of one format or connector.
type Set struct {
	owner  string
	fields []Field
}

// NewSet makes a set. owner names the format or connector in messages. A
// declaration that contradicts itself is a bug and panics.
func NewSet(owner string, fields ...Field) *Set {
	s := &Set{owner: owner}
	return s.With(fields...)
}

// With returns a set that has these fields too.
func (s *Set) With(fields ...Field) *Set {
	out := &Set{owner: s.owner, fields: append([]Field(nil), s.fields...)}
	for _, f := range fields {
		if f.Name == "" || out.find(f.Name) != nil && !f.Prefix || f.Type == TypeEnum && len(f.Values) == 0 {
			panic("bug: option " + f.Name + " of " + s.owner + " is declared wrongly")
		}
		if f.Default != "" {
			it := item{text: NewSecret(f.Default)}
			if err := f.decode(&it); err != nil {
				panic("bug: default of option " + f.Name + " of " + s.owner + ": " + err.Error())
			}
		}
		out.fields = append(out.fields, f)
	}
	return out
}

// Named returns the same set under another owner's name.
func (s *Set) Named(owner string) *Set { return &Set{owner: owner, fields: s.fields} }

// Fields returns the declarations in order. Callers must not change them.
func (s *Set) Fields() []Field { return s.fields }

// Names returns the names that are allowed, for suggestions.
func (s *Set) Names() []string {
	var out []string
	for _, f := range s.fields {
		out = append(append(out, f.Name), f.Aliases...)
	}
	return out
}

// find returns the field of an option's name; whole names go before prefixes.
func (s *Set) find(name string) *Field {
	var prefix *Field
	for i := range s.fields {
		f := &s.fields[i]
		if !f.matches(name) {
			continue
		}
		if !f.Prefix {
			return f
		}
		prefix = f
	}
	return prefix
}

// Context says where options stand and whether secrets can be resolved.
type Context struct {
	File *diag.File // for the source line in messages; may be nil
	Span diag.Span  // of what owns the options: where a missing one is reported

	// Resolver finds secrets. nil means that nothing runs: a value with a
	// secret counts as given and is not checked.
	Resolver *Resolver
}

// Decode checks the entries against the set. The values hold what is well, and
// defaults for all that is not given.
func (s *Set) Decode(entries []Entry, ctx Context) (*Values, diag.List) {
	v := &Values{set: s, items: map[string]*item{}, prefixed: map[string][]Entry{}}
	var list diag.List
	for i := range s.fields {
		f := &s.fields[i]
		it := &item{}
		if f.Default != "" {
			it.text = NewSecret(f.Default)
			_ = f.decode(it) // checked by With
		}
		v.items[f.Name] = it
	}
	for _, e := range entries {
		list = append(list, s.take(v, e, ctx)...)
	}
	for _, f := range s.fields {
		if f.Required && !v.items[f.Name].set {
			list = append(list, diag.AtSpan(ctx.File, ctx.Span, "MISSING_OPTION", s.owner+" needs the option "+f.Name).
				WithHint("add "+f.Name+": "+f.Doc))
		}
	}
	return v, list
}

// take checks one entry and stores it.
func (s *Set) take(v *Values, e Entry, ctx Context) diag.List {
	f := s.find(e.Name)
	if f == nil {
		hint := diag.DidYouMean(e.Name, s.Names())
		if hint == "" {
			hint = "known options: " + strings.Join(s.Names(), ", ")
		}
		return diag.List{diag.AtSpan(ctx.File, e.NameSpan, "UNKNOWN_OPTION", s.owner+" has no option \""+e.Name+"\"").WithHint(hint)}
	}
	if f.Later {
		return diag.List{diag.AtSpan(ctx.File, e.NameSpan, "FEATURE_NOT_AVAILABLE", "not available yet: the option "+f.Name+" of "+s.owner)}
	}
	if f.Prefix {
		v.prefixed[f.Name] = append(v.prefixed[f.Name], e)
		return nil
	}
	it := v.items[f.Name]
	if it.set {
		return diag.List{diag.AtSpan(ctx.File, e.NameSpan, "DUPLICATE_KEY", "the option "+f.Name+" is given twice; names ignore case").
			WithRelated(it.entry.NameSpan, "the first one")}
	}
	var list diag.List
	if f.NoEffect != "" {
		list = append(list, diag.AtSpan(ctx.File, e.NameSpan, "NOT_MEANINGFUL_HERE", "the option "+f.Name+" has no effect: "+f.NoEffect).Warn())
	}
	next := &item{set: true, entry: e}
	switch text, plain := e.Value.Text(); {
	case plain:
		next.text = NewSecret(text)
	case ctx.Resolver == nil:
		v.items[f.Name] = next
		return list
	default:
		secret, err := e.Value.Resolve(*ctx.Resolver)
		if err != nil {
			return append(list, diag.AtSpan(ctx.File, e.Span, "UNSET_SECRET", err.Error()))
		}
		next.text = secret
	}
	if err := f.decode(next); err != nil {
		v.items[f.Name].set = true
		v.items[f.Name].entry = e
		return append(list, s.badValue(f, e, err, ctx))
	}
	v.items[f.Name] = next
	return list
}

// badValue words the fault. The value is shown only if it is no secret.
func (s *Set) badValue(f *Field, e Entry, err error, ctx Context) diag.Diagnostic {
	msg := "the option " + f.Name + ": " + err.Error()
	if text, plain := e.Value.Text(); plain && f.Type != TypeSecret {
		msg += ", not \"" + text + "\""
	}
	d := diag.AtSpan(ctx.File, e.Span, "INVALID_OPTION", msg)
	if text, plain := e.Value.Text(); plain && f.Type == TypeEnum {
		d = d.WithHint(diag.DidYouMean(text, f.Values))
	}
	return d
}

// Values are decoded options. Asking for a name that the set does not declare,
// or with another type than declared, is a bug and panics.
type Values struct {
	set      *Set
	items    map[string]*item
	prefixed map[string][]Entry
}

func (v *Values) item(name string, types ...Type) *item {
	for i := range v.set.fields {
		f := &v.set.fields[i]
		if f.Name != name {
			continue
		}
		for _, t := range types {
			if f.Type == t {
				return v.items[name]
			}
		}
		if len(types) == 0 {
			return v.items[name]
		}
	}
	panic("bug: " + v.set.owner + " declares no such option: " + name)
}

// IsSet reports whether the user gave the option.
func (v *Values) IsSet(name string) bool { return v.item(name).set }

// Span returns the place of the option's value, if the user gave it.
func (v *Values) Span(name string) diag.Span { return v.item(name).entry.Span }

// Known reports whether the value is there: false while it holds a secret that
// is not resolved.
func (v *Values) Known(name string) bool { return v.item(name).ready }

// String returns a text or enumeration; "" if there is neither value nor
// default.
func (v *Values) String(name string) string {
	return v.item(name, TypeString, TypeEnum).text.Reveal()
}

// Bool returns a truth value.
func (v *Values) Bool(name string) bool { return v.item(name, TypeBool).flag }

// Int returns a whole number or a number of bytes.
func (v *Values) Int(name string) int64 { return v.item(name, TypeInt, TypeBytes).number }

// Number returns a number.
func (v *Values) Number(name string) float64 { return v.item(name, TypeNumber).float }

// Duration returns a length of time.
func (v *Values) Duration(name string) time.Duration { return v.item(name, TypeDuration).length }

// Interval returns an interval.
func (v *Values) Interval(name string) Interval { return v.item(name, TypeInterval).period }

// Secret returns a secret.
func (v *Values) Secret(name string) Secret { return v.item(name, TypeSecret).text }

// WithPrefix returns the options that a prefix field took, in their order,
// with full names.
func (v *Values) WithPrefix(name string) []Entry {
	v.item(name)
	return v.prefixed[name]
}
