package pipelines

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pipelines/pipelines/event"
	"pipelines/pipelines/graph"
	"pipelines/spec"
	"pipelines/spec/diag"
	"pipelines/tables"
)

// property is one table property as written.
type property struct{ key, value word }

// property takes a property of a dataset. One of Delta's that is not honoured
// is refused: the table would promise other writers what is not done here.
func (d *definer) property(out *dataset, p property) {
	if !out.isTable() {
		out.properties[p.key.value] = p.value.value
		return
	}
	c := tables.CheckProperty(p.key.value, p.value.value)
	switch c.Finding {
	case tables.PropertyHonoured:
	case tables.PropertyWithoutEffect:
		d.list = append(d.list, diag.AtSpan(out.file, p.key.place, "NOT_MEANINGFUL_HERE",
			fmt.Sprintf("the table property %s has no effect here: it is kept for other writers of %s", c.Name, out.shown())).Warn())
	case tables.PropertyWrongValue:
		d.fail(out.file, p.value.place, "INVALID_TABLE_PROPERTY", "the property %s of %s is '%s': it should be %s", c.Name, out.shown(), p.value.value, c.Wanted)
		return
	default:
		msg := fmt.Sprintf("the table property %s is not available", c.Name)
		hint := diag.DidYouMean(c.Name, tables.HonouredProperties())
		if c.Wanted != "" {
			msg, hint = fmt.Sprintf("%s = '%s' is not available", c.Name, p.value.value), "remove the property, or set it to "+c.Wanted
		}
		if hint == "" {
			hint = "remove it; Delta's properties that are honoured are " + strings.Join(tables.HonouredProperties(), ", ")
		}
		d.list = append(d.list, diag.AtSpan(out.file, p.key.place, "FEATURE_NOT_AVAILABLE", msg).WithHint(hint))
		return
	}
	out.properties[c.Name] = p.value.value
	if c.Name == tables.PropAppendOnly {
		out.appendOnly = diag.Span{}
		if strings.EqualFold(p.value.value, "true") {
			out.appendOnly = p.key.place
		}
	}
}

// changesRows says how the flows of a table take rows out of it, "" if they
// only append.
func changesRows(d *dataset) string {
	if d.kind == graph.MaterializedView {
		return "every run replaces the rows of a materialized view"
	}
	for _, f := range d.flows {
		switch {
		case f.cdc != nil:
			return "AUTO CDC updates and deletes rows"
		case f.mode == spec.Update:
			return "output_mode update replaces rows by their keys"
		}
	}
	return ""
}

// appendOnly refuses the property where it cannot hold.
func (a *analyzer) appendOnly() {
	for _, d := range a.project.datasets {
		if d.appendOnly == (diag.Span{}) {
			continue
		}
		if why := changesRows(d); why != "" {
			x := diag.AtSpan(d.file, d.appendOnly, "CONFLICTING_KEYS", fmt.Sprintf("%s cannot have %s = true: %s", d.shown(), tables.PropAppendOnly, why))
			a.list = append(a.list, x.WithHint("remove the property"))
		}
	}
}

// tableChange is what a changed definition sets in a stored table. What the
// definition no longer says stays in the table, as in Spark.
type tableChange struct {
	comment    *string
	properties map[string]string
	was        map[string]string // the stored properties
	wasComment string
}

func (c *tableChange) isSet() bool { return c.comment != nil || len(c.properties) > 0 }

// aboutOf compares a definition with a version of its table.
func aboutOf(d *dataset, snap *tables.Snapshot) tableChange {
	c := tableChange{was: snap.Properties(), wasComment: snap.Description(), properties: map[string]string{}}
	if d.comment != "" && d.comment != c.wasComment {
		c.comment = &d.comment
	}
	for k, v := range d.properties {
		if old, has := c.was[k]; !has || old != v {
			c.properties[k] = v
		}
	}
	return c
}

// details says what changes, for dry-run.
func (c *tableChange) details() []string {
	var out []string
	if c.comment != nil {
		out = append(out, fmt.Sprintf("the comment %q becomes %q", c.wasComment, *c.comment))
	}
	for _, k := range slices.Sorted(maps.Keys(c.properties)) {
		if old, has := c.was[k]; has {
			out = append(out, fmt.Sprintf("the property %s = '%s' becomes '%s'", k, old, c.properties[k]))
			continue
		}
		out = append(out, fmt.Sprintf("the property %s = '%s' is set", k, c.properties[k]))
	}
	return out
}

// compareAbout finds what the definition changes beside the columns, and
// refuses to take rows out of a table that was made for appends: the property
// stays when the definition no longer has it.
func (u *update) compareAbout(t *target) diag.List {
	d := t.d
	t.about = aboutOf(d, t.table.Known())
	only, changes := t.about.properties[tables.PropAppendOnly], changesRows(d)
	if only == "" {
		only = t.about.was[tables.PropAppendOnly]
	}
	if !strings.EqualFold(only, "true") {
		return nil
	}
	code, why := diag.Code("CONFLICTING_KEYS"), changes
	if changes == "" {
		if !u.fresh[d] && t.record.Extra[refreshing] == "" {
			return nil
		}
		code, why = "TABLE_NOT_RESETTABLE", "a full refresh removes rows"
	}
	x := diag.AtSpan(d.file, d.place, code, fmt.Sprintf("the stored table %s has %s = true, and %s", d.shown(), tables.PropAppendOnly, why))
	return diag.List{x.WithHint("set the property to false: a property that the definition no longer has stays in the table")}
}

// changeAbout brings the comment and the properties of a table up to its
// definition, before any flow starts. It compares again: after a crash there
// is nothing left to do, and a version without a change is never made.
func (u *update) changeAbout(ctx context.Context, t *target) error {
	tx, err := t.table.Begin(ctx)
	if err != nil {
		return err
	}
	c := aboutOf(t.d, tx.Snapshot())
	if !c.isSet() {
		return nil
	}
	if err := u.at("properties.begin"); err != nil {
		return err
	}
	if c.comment != nil {
		tx.SetDescription(*c.comment)
	}
	for k, v := range c.properties {
		tx.SetProperty(k, v)
	}
	tx.SetOperation("SET TBLPROPERTIES", nil)
	if _, err := tx.Commit(ctx); err != nil {
		return err
	}
	u.listen.OnNote(event.Note{Time: u.p.now(), Update: u.id, Dataset: t.d.shown(), Message: t.d.shown() + ": " + strings.Join(c.details(), "; ")})
	return u.at("properties.done")
}
