package rewrite

import "pipelines/sqlplan/logical"

// Rule is one named rewriting.
type Rule struct {
	Name  string
	Apply func(*Context, logical.Node) logical.Node
	// Late rules look at the data: they run just before the plan does.
	Late bool
	// Needed rules cannot be switched off: operators rely on them.
	Needed bool
}

// rules is the list, in order.
var rules = []Rule{
	{Name: "decorrelate", Apply: decorrelate, Needed: true},
	{Name: "fold", Apply: fold},
	{Name: "pushdown", Apply: pushFilters, Needed: true},
	{Name: "joinkeys", Apply: joinKeys, Needed: true},
	{Name: "inference", Apply: infer},
	{Name: "distinct", Apply: distinct},
	{Name: "prune", Apply: prune},
	{Name: "collapse", Apply: collapse},
	{Name: "fields", Apply: pruneFields},
	{Name: "limits", Apply: limits},
	{Name: "top-n", Apply: topN},
	{Name: "window top-n", Apply: firstRows},
	{Name: "late materialisation", Apply: lateMaterialisation},
	{Name: "common subexpressions", Apply: commonExpressions},
	{Name: "shared scans", Apply: sharedScans},
	{Name: "statistics", Apply: fromStatistics, Late: true},
	{Name: "join order", Apply: joinOrder, Late: true},
}

// Rules returns the names of the rules in order.
func Rules() []string {
	out := make([]string, len(rules))
	for i, r := range rules {
		out[i] = r.Name
	}
	return out
}
