package funcs

import (
	"math"

	"pipelines/tables/schema"
)

// Moments: n, mean and the central sums m2, m3, m4, updated row by row and
// merged by the parallel formulas.
var momentState = []StateColumn{
	fixed("n", tDouble), fixed("mean", tDouble), fixed("m2", tDouble), fixed("m3", tDouble), fixed("m4", tDouble),
}

type moments struct{ n, mean, m2, m3, m4 float64 }

func loadMoments(st *States, g int) moments {
	f := st.Fixed
	return moments{f[0].F64[g], f[1].F64[g], f[2].F64[g], f[3].F64[g], f[4].F64[g]}
}

func (m moments) store(st *States, g int) {
	f := st.Fixed
	f[0].F64[g], f[1].F64[g], f[2].F64[g], f[3].F64[g], f[4].F64[g] = m.n, m.mean, m.m2, m.m3, m.m4
}

func (m *moments) add(x float64) {
	before := m.n
	n := before + 1
	d := x - m.mean
	dn := d / n
	term := d * dn * before
	m.mean += dn
	m.m4 += term*dn*dn*(n*n-3*n+3) + 6*dn*dn*m.m2 - 4*dn*m.m3
	m.m3 += term*dn*(n-2) - 3*dn*m.m2
	m.m2 += term
	m.n = n
}

func (m *moments) merge(o moments) {
	if o.n == 0 {
		return
	}
	n1, n2 := m.n, o.n
	n := n1 + n2
	d := o.mean - m.mean
	dn := d / n
	m4 := m.m4 + o.m4 + dn*dn*dn*d*n1*n2*(n1*n1-n1*n2+n2*n2) + 6*dn*dn*(n1*n1*o.m2+n2*n2*m.m2) + 4*dn*(n1*o.m3-n2*m.m3)
	m3 := m.m3 + o.m3 + dn*dn*d*n1*n2*(n1-n2) + 3*dn*(n1*o.m2-n2*m.m2)
	m.m2 += o.m2 + d*dn*n1*n2
	m.m3, m.m4, m.n = m3, m4, n
	m.mean += dn * n2
}

var statAggregates = []*Aggregate{
	momentAggregate("stddev", "Sample standard deviation.", sample(func(m moments) float64 { return math.Sqrt(m.m2 / (m.n - 1)) })).alias("stddev_samp", "std"),
	momentAggregate("stddev_pop", "Population standard deviation.", func(m moments) (float64, bool) { return math.Sqrt(m.m2 / m.n), true }),
	momentAggregate("variance", "Sample variance.", sample(func(m moments) float64 { return m.m2 / (m.n - 1) })).alias("var_samp"),
	momentAggregate("var_pop", "Population variance.", func(m moments) (float64, bool) { return m.m2 / m.n, true }),
	momentAggregate("skewness", "Skewness.", func(m moments) (float64, bool) {
		return math.Sqrt(m.n) * m.m3 / math.Sqrt(m.m2*m.m2*m.m2), m.m2 != 0
	}),
	momentAggregate("kurtosis", "Kurtosis.", func(m moments) (float64, bool) { return m.n*m.m4/(m.m2*m.m2) - 3, m.m2 != 0 }),
	pairAggregate("covar_pop", "expr1, expr2", "Population covariance.", func(p pairs) (float64, bool) { return p.cxy / p.n, true }),
	pairAggregate("covar_samp", "expr1, expr2", "Sample covariance.", func(p pairs) (float64, bool) { return p.cxy / (p.n - 1), p.n > 1 }),
	corrAggregate(),
	pairAggregate("regr_slope", "y, x", "Slope of the regression line.", func(p pairs) (float64, bool) { return p.cxy / p.sy, p.n > 1 && p.sy != 0 }),
	pairAggregate("regr_intercept", "y, x", "Intercept of the regression line.", func(p pairs) (float64, bool) {
		return p.mx - p.cxy/p.sy*p.my, p.n > 1 && p.sy != 0
	}),
	pairAggregate("regr_r2", "y, x", "Coefficient of determination.", func(p pairs) (float64, bool) {
		switch {
		case p.n < 1 || p.sy == 0:
			return 0, false
		case p.sx == 0:
			return 1, true
		}
		return p.cxy * p.cxy / (p.sx * p.sy), true
	}),
	pairMean("regr_avgx", "Mean of x.", 1),
	pairMean("regr_avgy", "Mean of y.", 0),
	pairAggregate("regr_sxx", "y, x", "Sum of squares of x.", func(p pairs) (float64, bool) { return p.sy, true }),
	pairAggregate("regr_syy", "y, x", "Sum of squares of y.", func(p pairs) (float64, bool) { return p.sx, true }),
	pairAggregate("regr_sxy", "y, x", "Sum of products.", func(p pairs) (float64, bool) { return p.cxy, true }),
	regrCount(),
}

func sample(f func(m moments) float64) func(m moments) (float64, bool) {
	return func(m moments) (float64, bool) { return f(m), m.n > 1 }
}

func momentAggregate(name, doc string, finish func(m moments) (float64, bool)) *Aggregate {
	return aggregate(name, name+"(expr)", doc, aggSpec{
		sig: signature{params: []param{pDouble}},
		build: func(*Session, []Arg, []schema.Type) (*BoundAggregate, error) {
			return &BoundAggregate{
				Result: tDouble, Nullable: true, State: momentState,
				Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
					xs := vs[0].F64
					each(vs[0], groups, rows, func(g, r int) {
						m := loadMoments(st, g)
						m.add(xs[r])
						m.store(st, g)
					})
				},
				Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
					for k, r := range rows {
						m := loadMoments(st, int(groups[k]))
						m.merge(loadMoments(other, int(r)))
						m.store(st, int(groups[k]))
					}
				},
				Finish: func(_ *Ctx, st *States, groups []int32, out *vector) {
					for _, g := range groups {
						m := loadMoments(st, int(g))
						appendFloat(out, m.n, func() (float64, bool) { return finish(m) })
					}
				},
			}, nil
		},
	})
}

func appendFloat(out *vector, n float64, f func() (float64, bool)) {
	if n > 0 {
		if x, ok := f(); ok {
			out.F64 = append(out.F64, x)
			out.Len++
			return
		}
	}
	out.AppendNull()
}

// pairs holds the moments of two columns: x is the first argument.
type pairs struct{ n, mx, my, cxy, sx, sy float64 }

var pairState = []StateColumn{
	fixed("n", tDouble), fixed("mean_x", tDouble), fixed("mean_y", tDouble),
	fixed("cxy", tDouble), fixed("sxx", tDouble), fixed("syy", tDouble),
}

func loadPairs(st *States, g int) pairs {
	f := st.Fixed
	return pairs{f[0].F64[g], f[1].F64[g], f[2].F64[g], f[3].F64[g], f[4].F64[g], f[5].F64[g]}
}

func (p pairs) store(st *States, g int) {
	f := st.Fixed
	f[0].F64[g], f[1].F64[g], f[2].F64[g], f[3].F64[g], f[4].F64[g], f[5].F64[g] = p.n, p.mx, p.my, p.cxy, p.sx, p.sy
}

func (p *pairs) add(x, y float64) {
	p.n++
	dx, dy := x-p.mx, y-p.my
	p.mx += dx / p.n
	p.my += dy / p.n
	p.cxy += dx * (y - p.my)
	p.sx += dx * (x - p.mx)
	p.sy += dy * (y - p.my)
}

func (p *pairs) merge(o pairs) {
	if o.n == 0 {
		return
	}
	n := p.n + o.n
	dx, dy := o.mx-p.mx, o.my-p.my
	w := p.n * o.n / n
	p.cxy += o.cxy + dx*dy*w
	p.sx += o.sx + dx*dx*w
	p.sy += o.sy + dy*dy*w
	p.mx += dx * o.n / n
	p.my += dy * o.n / n
	p.n = n
}

func pairAggregate(name, args, doc string, finish func(p pairs) (float64, bool)) *Aggregate {
	return aggregate(name, name+"("+args+")", doc, aggSpec{
		sig: signature{params: []param{pDouble, pDouble}},
		build: func(*Session, []Arg, []schema.Type) (*BoundAggregate, error) {
			b := boundPairs()
			b.Finish = func(_ *Ctx, st *States, groups []int32, out *vector) {
				for _, g := range groups {
					p := loadPairs(st, int(g))
					appendFloat(out, p.n, func() (float64, bool) { return finish(p) })
				}
			}
			return b, nil
		},
	})
}

// pairMean is avg of one of two arguments over the rows that have both.
func pairMean(name, doc string, of int) *Aggregate {
	avg := avgAggregate("avg", "", false)
	return aggregate(name, name+"(y, x)", doc, aggSpec{
		sig: signature{params: []param{pNumeric, pNumeric}},
		build: func(s *Session, args []Arg, types []schema.Type) (*BoundAggregate, error) {
			arg := args[of]
			arg.Type = types[of]
			b, err := avg.Bind(s, []Arg{arg})
			if err != nil {
				return nil, err
			}
			update := b.Update
			b.Update = func(c *Ctx, st *States, groups, rows []int32, vs []*vector) {
				both, at := make([]int32, 0, len(rows)), make([]int32, 0, len(rows))
				for k, r := range rows {
					if !vs[0].IsNull(int(r)) && !vs[1].IsNull(int(r)) {
						both, at = append(both, groups[k]), append(at, r)
					}
				}
				update(c, st, both, at, vs[of:of+1])
			}
			b.Retract, b.Version = nil, b.Version+1
			return b, nil
		},
	})
}

// corrAggregate divides by the deviations, which fails under ANSI when one of
// them is zero.
func corrAggregate() *Aggregate {
	return aggregate("corr", "corr(expr1, expr2)", "Pearson's correlation.", aggSpec{
		sig: signature{params: []param{pDouble, pDouble}},
		build: func(s *Session, _ []Arg, _ []schema.Type) (*BoundAggregate, error) {
			b := boundPairs()
			b.Finish = func(_ *Ctx, st *States, groups []int32, out *vector) {
				for _, g := range groups {
					p := loadPairs(st, int(g))
					d := math.Sqrt(p.sx * p.sy)
					appendFloat(out, p.n, func() (float64, bool) { return p.cxy / d, p.n > 1 && d != 0 })
					if d == 0 && p.n > 1 && s.ANSI {
						out.Fail(out.Len-1, errDivideByZero())
					}
				}
			}
			return b, nil
		},
	})
}

func boundPairs() *BoundAggregate {
	return &BoundAggregate{
		Result: tDouble, Nullable: true, State: pairState,
		Update: func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
			x, y := vs[0], vs[1]
			for k, r := range rows {
				if i := int(r); !x.IsNull(i) && !y.IsNull(i) {
					p := loadPairs(st, int(groups[k]))
					p.add(x.F64[x.Row(i)], y.F64[y.Row(i)])
					p.store(st, int(groups[k]))
				}
			}
		},
		Merge: func(_ *Ctx, st *States, groups, rows []int32, other *States) {
			for k, r := range rows {
				p := loadPairs(st, int(groups[k]))
				p.merge(loadPairs(other, int(r)))
				p.store(st, int(groups[k]))
			}
		},
	}
}

func regrCount() *Aggregate {
	return aggregate("regr_count", "regr_count(y, x)", "Number of pairs without null.", aggSpec{
		sig: signature{params: []param{pDouble, pDouble}},
		build: func(*Session, []Arg, []schema.Type) (*BoundAggregate, error) {
			add := func(sign int64) func(*Ctx, *States, []int32, []int32, []*vector) {
				return func(_ *Ctx, st *States, groups, rows []int32, vs []*vector) {
					countAll(st.Fixed[0].I64, sign, groups, rows, vs)
				}
			}
			b := counter("count", add(1))
			b.Retract = add(-1)
			return b, nil
		},
	})
}
