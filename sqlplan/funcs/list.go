package funcs

import (
	"sort"
	"strings"
)

// The lists of what exists, one a file.
var (
	scalarLists = [][]*Function{
		arithmeticFunctions, comparisonFunctions, stringFunctions, concatFunctions, mathFunctions,
		conditionalFunctions, likeFunctions, regexpFunctions, datetimeFunctions, datetimeTextFunctions, bitwiseFunctions, hashFunctions, nestedFunctions, arrayFunctions, arraySetFunctions, sequenceFunctions, mapFunctions, lambdaFunctions, lambdaMapFunctions, datetimeMakeFunctions, aesFunctions, javaFunctions, jsonFunctions, csvFunctions, variantFunctions, variantEditFunctions, timeBucketFunctions, hmacFunctions, similarityFunctions, base32Functions, collateFunctions, miscFunctions, encodeFunctions, urlFunctions, formatFunctions, numberFormatFunctions, bitmapFunctions, vectorFunctions,
	}
	aggregateLists = [][]*Aggregate{basicAggregates, statAggregates, collectAggregates, listAggregates, distinctAggregates, bitmapAggregates, histogramAggregates, sketchAggregates, variantAggregates, topAggregates, vectorAggregates}
	generatorLists = [][]*Generator{generators, nestedGenerators, listingGenerators}
	windowLists    = [][]*WindowFunction{windowFunctions, counterFunctions}
)

// index holds the functions by each of their names.
type index struct {
	scalar     map[string]*Function
	aggregates map[string]*Aggregate
	generators map[string]*Generator
	windows    map[string]*WindowFunction
	names      []string
}

var byName = makeIndex()

func makeIndex() *index {
	x := &index{map[string]*Function{}, map[string]*Aggregate{}, map[string]*Generator{}, map[string]*WindowFunction{}, nil}
	for _, l := range scalarLists {
		for _, f := range l {
			for _, n := range append([]string{f.Name}, f.Aliases...) {
				add(x, x.scalar, n, f)
			}
		}
	}
	for _, l := range aggregateLists {
		for _, f := range l {
			for _, n := range append([]string{f.Name}, f.Aliases...) {
				add(x, x.aggregates, n, f)
			}
		}
	}
	for _, l := range generatorLists {
		for _, f := range l {
			add(x, x.generators, f.Name, f)
		}
	}
	for _, l := range windowLists {
		for _, f := range l {
			add(x, x.windows, f.Name, f)
		}
	}
	sort.Strings(x.names)
	return x
}

func add[T any](x *index, m map[string]T, name string, f T) {
	if _, twice := m[name]; twice {
		panic("bug: funcs: " + name + " is listed twice")
	}
	m[name] = f
	if c := name[0]; c >= 'a' && c <= 'z' {
		x.names = append(x.names, name)
	}
}

// Lookup returns the scalar function (or operator) of a name in any case, or
// nil.
func Lookup(name string) *Function { return byName.scalar[strings.ToLower(name)] }

// LookupAggregate returns the aggregate function of a name, or nil.
func LookupAggregate(name string) *Aggregate { return byName.aggregates[strings.ToLower(name)] }

// LookupGenerator returns the generator of a name, or nil. The _outer forms
// are not listed: they are the generator without the suffix.
func LookupGenerator(name string) *Generator { return byName.generators[strings.ToLower(name)] }

// LookupWindow returns the window function of a name, or nil.
func LookupWindow(name string) *WindowFunction { return byName.windows[strings.ToLower(name)] }

// Names returns all names, sorted, for suggestions.
func Names() []string { return byName.names }

// Scalars returns all scalar functions, in the order of their lists.
func Scalars() []*Function {
	var out []*Function
	for _, l := range scalarLists {
		out = append(out, l...)
	}
	return out
}

// Aggregates returns all aggregate functions.
func Aggregates() []*Aggregate {
	var out []*Aggregate
	for _, l := range aggregateLists {
		out = append(out, l...)
	}
	return out
}
