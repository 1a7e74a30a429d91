package funcs

import "pipelines/tables/column"

// twister is the Mersenne Twister, by which Spark shuffles arrays and makes
// UUIDs of a seed.
type twister struct {
	state [624]uint32
	at    int
}

// newTwister starts from the two words of a seed.
func newTwister(seed int64) *twister {
	t := &twister{at: 624}
	s := &t.state
	s[0] = 19650218
	for i := 1; i < 624; i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	key := [2]uint32{uint32(uint64(seed) >> 32), uint32(seed)}
	i, j := 1, 0
	next := func() {
		if i++; i == 624 {
			s[0], i = s[623], 1
		}
	}
	for range 624 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + key[j] + uint32(j)
		next()
		j = 1 - j
	}
	for range 623 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		next()
	}
	s[0] = 1 << 31
	return t
}

// word returns the next 32 bits.
func (t *twister) word() uint32 {
	if t.at == 624 {
		t.at = 0
		for k := range t.state {
			y := t.state[k]&(1<<31) | t.state[(k+1)%624]&(1<<31-1)
			t.state[k] = t.state[(k+397)%624] ^ y>>1 ^ y&1*0x9908b0df
		}
	}
	y := t.state[t.at]
	t.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

func (t *twister) long() uint64 {
	hi := uint64(t.word()) << 32
	return hi | uint64(t.word())
}

// below returns a number in [0, n).
func (t *twister) below(n int) int {
	m := int32(n)
	if m&-m == m {
		return int(int64(m) * int64(t.word()>>1) >> 31)
	}
	for {
		bits := int32(t.word() >> 1)
		if v := bits % m; bits-v+(m-1) >= 0 {
			return int(v)
		}
	}
}

// shuffleSeeded is shuffle with a seed: each place of a list is exchanged with
// one before it or itself.
func shuffleSeeded(c *Ctx, lists *vector, seed int64, out *vector) {
	t := seededOf(c, seed, newTwister)
	var rows []int32
	c.appendLists(out, func(i int) {
		from, to := lists.List(i)
		rows = rows[:0]
		for k := range to - from {
			j := t.below(k + 1)
			rows = append(rows, int32(from+k))
			rows[k], rows[j] = rows[j], rows[k]
		}
		column.AppendRows(out.Children[0], lists.Children[0], rows)
	})
}

// uuidFunction is uuid([seed]).
func uuidFunction() *Function {
	return define("uuid", "misc", "uuid([seed])", "Random UUID.", signature{
		params: []param{pBigint}, min: -1, result: tString, nulls: NullAware, neverNull: true,
		check: func(_ *Session, call string, args []Arg) error { return foldableSeed(call, args) },
		kernel: func(c *Ctx, args []*vector, out *vector) {
			if len(args) > 0 {
				seed := int64(0)
				if !args[0].IsNull(0) {
					seed = intAt(args[0], 0)
				}
				t := seededOf(c, seed, newTwister)
				c.appendRows(out, func(_ int, b []byte) []byte { return appendUUID(b, t.long(), t.long()) })
				return
			}
			c.appendRows(out, func(i int, b []byte) []byte {
				g := newGenerator(c, 0, i)
				return appendUUID(b, g.next(), g.next())
			})
		},
	}).volatility(Volatile)
}

// foldableSeed checks the seed of a function, if there is one.
func foldableSeed(call string, seed []Arg) error {
	if len(seed) == 0 || seed[0].Const != nil {
		return nil
	}
	return NewError("SEED_EXPRESSION_IS_UNFOLDABLE", "The seed expression \""+seed[0].Text+"\" of the expression \""+call+"\" must be foldable.",
		map[string]string{"seedExpr": `"` + seed[0].Text + `"`, "exprWithSeed": `"` + call + `"`})
}
