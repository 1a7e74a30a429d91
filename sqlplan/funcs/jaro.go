package funcs

import "unicode/utf8"

var similarityFunctions = []*Function{
	define("jaro_winkler_similarity", "string", "jaro_winkler_similarity(str1, str2)", "How alike two texts are, from 0 to 1: characters that match near each other count, and a common beginning of up to four.", signature{
		params: []param{pString, pString}, result: tDouble,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			j, ok := c.Scratch.(*jaro)
			if !ok {
				j = &jaro{}
				c.Scratch = j
			}
			c.live(out, func(i int) { out.F64[i] = j.similarity(args[0].Str(i), args[1].Str(i)) })
		},
	}).example("SELECT jaro_winkler_similarity('MARTHA', 'MARHTA')", "0.9611111111111111"),
}

// jaro is the scratch of a comparison: the characters of both texts, and which
// of them have a partner.
type jaro struct {
	a, b       []rune
	hasA, hasB []bool
}

func (j *jaro) similarity(s, t []byte) float64 {
	j.a, j.hasA = characters(j.a, j.hasA, s)
	j.b, j.hasB = characters(j.b, j.hasB, t)
	if len(j.a) == 0 && len(j.b) == 0 {
		return 1
	}
	m := j.match()
	if m == 0 {
		return 0
	}
	n := float64(m)
	sim := (n/float64(len(j.a)) + n/float64(len(j.b)) + (n-float64(j.crossed())/2)/n) / 3
	prefix := 0
	for prefix < min(4, len(j.a), len(j.b)) && j.a[prefix] == j.b[prefix] {
		prefix++
	}
	return sim + float64(prefix)*0.1*(1-sim)
}

func characters(r []rune, has []bool, s []byte) ([]rune, []bool) {
	r, has = r[:0], has[:0]
	for len(s) > 0 {
		c, n := utf8.DecodeRune(s)
		r, has, s = append(r, c), append(has, false), s[n:]
	}
	return r, has
}

// match pairs each character with the first free equal one that is less than
// half of the longer text away, and counts the pairs.
func (j *jaro) match() int {
	reach := max(max(len(j.a), len(j.b))/2-1, 0)
	n := 0
	for i, c := range j.a {
		for k := max(0, i-reach); k < min(len(j.b), i+reach+1); k++ {
			if !j.hasB[k] && j.b[k] == c {
				j.hasA[i], j.hasB[k] = true, true
				n++
				break
			}
		}
	}
	return n
}

// crossed counts the pairs whose characters stand in another order.
func (j *jaro) crossed() int {
	n, k := 0, 0
	for i, c := range j.a {
		if !j.hasA[i] {
			continue
		}
		for !j.hasB[k] {
			k++
		}
		if j.b[k] != c {
			n++
		}
		k++
	}
	return n
}
