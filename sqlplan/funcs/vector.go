package funcs

import (
	"math"
	"strconv"

	"pipelines/tables/schema"
	"pipelines/tables/text"
)

// Vectors are ARRAY<FLOAT>. All sums are of FLOAT, one element after the other.

var tFloats = schema.ArrayOf(typ(schema.Float32), true)

var vectorFunctions = []*Function{
	vectorPair("vector_inner_product", "Inner product of two vectors.", func(a, b []float32) (float32, bool) {
		return dot(a, b), true
	}).example("SELECT vector_inner_product(array(1.0F, 2.0F), array(3.0F, 4.0F))", "11.0"),
	vectorPair("vector_l2_distance", "Euclidean distance of two vectors.", func(a, b []float32) (float32, bool) {
		var sum float32
		for i, x := range a {
			d := x - b[i]
			sum += d * d
		}
		return float32(math.Sqrt(float64(sum))), true
	}).example("SELECT vector_l2_distance(array(1.0F, 2.0F), array(4.0F, 6.0F))", "5.0"),
	vectorPair("vector_cosine_similarity", "Cosine of the angle between two vectors; NULL where one has no length.", func(a, b []float32) (float32, bool) {
		n := float32(math.Sqrt(float64(dot(a, a) * dot(b, b))))
		return dot(a, b) / n, n != 0
	}).example("SELECT vector_cosine_similarity(array(1.0F, 2.0F), array(2.0F, 4.0F))", "1.0"),
	vectorNormed("vector_norm", "Length of a vector by a degree: 1.0, 2.0 or infinity.", typ(schema.Float32)).
		example("SELECT vector_norm(array(3.0F, 4.0F))", "5.0"),
	vectorNormed("vector_normalize", "The vector divided by its length of a degree; NULL where it has none.", tFloats).
		example("SELECT vector_normalize(array(3.0F, 4.0F))", "[0.6,0.8]"),
}

func dot(a, b []float32) (sum float32) {
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}

func isVector(t schema.Type) bool {
	return t.Kind == schema.Array && t.Elem.Kind == schema.Float32
}

// floatsAt is row i of an ARRAY<FLOAT>; ok is false where an element is null.
func floatsAt(v *vector, i int) (x []float32, ok bool) {
	from, to := v.List(i)
	child := v.Children[0]
	for k := from; k < to; k++ {
		if child.IsNull(k) {
			return nil, false
		}
	}
	return child.F32[from:to], true
}

func errDimension(name string, a, b int) *Error {
	return NewError("VECTOR_DIMENSION_MISMATCH", "Vectors passed to `"+name+"` must have the same dimension, but got "+strconv.Itoa(a)+" and "+strconv.Itoa(b)+".",
		map[string]string{"functionName": "`" + name + "`", "leftDim": strconv.Itoa(a), "rightDim": strconv.Itoa(b)})
}

// vectorPair is a function of two vectors of one dimension.
func vectorPair(name, doc string, f func(a, b []float32) (float32, bool)) *Function {
	return custom(name, "vector", name+"(array1, array2)", doc, func(_ *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 2, 2, len(args)); err != nil {
			return nil, err
		}
		for i, a := range args {
			if !isVector(a.Type) {
				return nil, errInputType(callText(name, args), i, quoteType(tFloats), a)
			}
		}
		b := &Bound{Args: argTypes(args), Result: typ(schema.Float32), Nullable: true, CanFail: true}
		b.Kernel = func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) {
				x, ok := floatsAt(args[0], i)
				y, ok2 := floatsAt(args[1], i)
				if ok && ok2 && len(x) != len(y) {
					c.Fail(out, i, errDimension(name, len(x), len(y)))
					return
				}
				if ok = ok && ok2; ok {
					out.F32[i], ok = f(x, y)
				}
				if !ok {
					out.SetNull(i)
				}
			})
		}
		return b, nil
	})
}

// norm is the length of a vector; ok is false for a degree that is none.
func norm(x []float32, degree float32) (n float32, ok bool) {
	switch {
	case degree == 1:
		for _, e := range x {
			n += float32(math.Abs(float64(e)))
		}
	case degree == 2:
		n = float32(math.Sqrt(float64(dot(x, x))))
	case math.IsInf(float64(degree), 1):
		for _, e := range x {
			if a := float32(math.Abs(float64(e))); a > n {
				n = a
			}
		}
	default:
		return 0, false
	}
	return n, true
}

// vectorNormed gives the length (a FLOAT) or the vector divided by it.
func vectorNormed(name, doc string, result schema.Type) *Function {
	f := custom(name, "vector", name+"(vector[, degree])", doc, func(_ *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 1, 2, len(args)); err != nil {
			return nil, err
		}
		switch {
		case !isVector(args[0].Type):
			return nil, errInputType(callText(name, args), 0, quoteType(tFloats), args[0])
		case len(args) == 2 && args[1].Type.Kind != schema.Float32:
			return nil, errInputType(callText(name, args), 1, quoteType(typ(schema.Float32)), args[1])
		}
		b := &Bound{Args: argTypes(args), Result: result, Nullable: true, CanFail: true}
		b.Kernel = func(c *Ctx, args []*vector, out *vector) {
			if result.Kind == schema.Array {
				c.appendLists(out, func(i int) { normalized(c, name, args, out, i) })
				return
			}
			c.live(out, func(i int) {
				x, ok := floatsAt(args[0], i)
				if !ok {
					out.SetNull(i)
					return
				}
				out.F32[i], _ = normed(name).at(c, x, args, out, i)
			})
		}
		return b, nil
	})
	return f.printed(func(a []string) string {
		if len(a) == 1 {
			a = []string{a[0], "2.0"}
		}
		return name + "(" + joinTexts(a) + ")"
	})
}

// normed is the name of a function of a length.
type normed string

// at is the length of x by the degree of row i, which fails if it is none.
func (name normed) at(c *Ctx, x []float32, args []*vector, out *vector, i int) (float32, bool) {
	degree := float32(2)
	if len(args) == 2 {
		degree = args[1].F32[args[1].Row(i)]
	}
	n, ok := norm(x, degree)
	if !ok {
		d := string(text.AppendFloat(nil, degree))
		c.Fail(out, i, NewError("INVALID_VECTOR_NORM_DEGREE", "For the `"+string(name)+"` function, degree must be 1.0, 2.0, or float('inf'), but got "+d+".",
			map[string]string{"functionName": "`" + string(name) + "`", "degree": d}))
	}
	return n, ok
}

func normalized(c *Ctx, name string, args []*vector, out *vector, i int) {
	x, ok := floatsAt(args[0], i)
	if !ok {
		out.SetNull(i)
		return
	}
	n, ok := normed(name).at(c, x, args, out, i)
	switch {
	case !ok:
	case n == 0 && len(x) > 0:
		out.SetNull(i)
	default:
		child := out.Children[0]
		for _, e := range x {
			child.F32 = append(child.F32, e/n)
		}
		child.Len += len(x)
	}
}

var vectorAggregates = []*Aggregate{
	vectorAggregate("vector_sum", "Sum of vectors, element by element.", func(total, x []float32, _ float32) {
		for k, e := range x {
			total[k] += e
		}
	}),
	vectorAggregate("vector_avg", "Mean of vectors, element by element.", func(mean, x []float32, n float32) {
		for k, e := range x {
			mean[k] += (e - mean[k]) / n
		}
	}),
}

// vectorAggregate folds the vectors of a group; add gets how many there were,
// with the one to add. Vectors that are NULL or hold one do not count.
func vectorAggregate(name, doc string, add func(total, x []float32, n float32)) *Aggregate {
	return aggregate(name, name+"(array)", doc, aggSpec{
		sig: signature{params: []param{{quoteType(tFloats), func(_ *Session, t schema.Type) (schema.Type, bool) { return t, isVector(t) }}}},
		build: func(_ *Session, _ []Arg, types []schema.Type) (*BoundAggregate, error) {
			return collector(tFloats, []int{0}, types, func(_ *Ctx, st *States, g int32, out *vector) {
				var total []float32
				n, bad := 0, (*Error)(nil)
				st.Lists[0].Each(g, func(v *vector, r int) {
					x, ok := floatsAt(v, r)
					switch {
					case !ok || bad != nil:
						return
					case n == 0:
						total = make([]float32, len(x))
					case len(x) != len(total):
						bad = errDimension(name, len(total), len(x))
						return
					}
					n++
					add(total, x, float32(n))
				})
				if n == 0 || bad != nil {
					out.AppendNull()
					if bad != nil {
						out.Fail(out.Len-1, bad)
					}
					return
				}
				child := out.Children[0]
				child.F32, child.Len = append(child.F32, total...), child.Len+len(total)
				out.EndList()
			}), nil
		},
	})
}
