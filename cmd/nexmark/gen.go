package main

import (
	"math"
	"math/bits"
	"strconv"
	"time"
)

const (
	gamma = 0x9E3779B97F4A7C15
	mulE  = 0xD1342543DE82EF95
)

type rng struct{ s uint64 }

func (r *rng) next() uint64 {
	r.s += gamma
	z := r.s
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return z ^ (z >> 31)
}
func stream(seed, e uint64) rng {
	r := rng{seed ^ (e * mulE)}
	r.next()
	return r
}
func (r *rng) u(n int64) int64 { return int64(((r.next() >> 32) * uint64(n)) >> 32) }
func (r *rng) f() float64      { return float64(r.next()>>11) / (1 << 53) }
func (r *rng) price() int64    { return int64(math.Floor(100*math.Pow(10, 6*r.f()) + 0.5)) }

// str appends S(max): length 3+U[0,max-3), letters a–z, 1 in 13 the filler; spaces trimmed at both ends.
func (r *rng) str(dst []byte, max int64, filler byte) []byte {
	n := 3 + int(r.u(max-3))
	start := len(dst)
	for i := 0; i < n; i++ {
		if r.u(13) == 0 {
			dst = append(dst, filler)
		} else {
			dst = append(dst, byte('a'+r.u(26)))
		}
	}
	if filler == ' ' {
		for len(dst) > start && dst[len(dst)-1] == ' ' {
			dst = dst[:len(dst)-1]
		}
		k := start
		for k < len(dst) && dst[k] == ' ' {
			k++
		}
		if k > start {
			m := copy(dst[start:], dst[k:])
			dst = dst[:start+m]
		}
	}
	return dst
}

var (
	first   = []string{"Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"}
	last    = []string{"Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"}
	cities  = []string{"Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"}
	states  = []string{"AZ", "CA", "ID", "OR", "WA", "WY"}
	hotChan = []string{"Google", "Facebook", "Baidu", "Apple"}
)

// Gen is a generator: a pure function of the event number.
type Gen struct {
	seed    uint64
	rate    int64
	base    int64 // ms
	pool    []byte
	hotURL  [4]string
	chans   []string
	urls    []string
	lastMs  int64
	lastTxt [23]byte
}

const poolSize = 1 << 20

func NewGen(seed uint64, rate int64) *Gen {
	g := &Gen{seed: seed, rate: rate, base: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), lastMs: -1}
	r := stream(seed, 1<<60)
	g.pool = make([]byte, poolSize)
	for i := range g.pool {
		g.pool[i] = byte('a' + r.u(26))
	}
	url := func() []byte {
		b := []byte("https://www.nexmark.com/")
		for i := 0; i < 3; i++ {
			b = r.str(b, 5, '_')
			b = append(b, '/')
		}
		return append(b, "item.htm?query=1"...)
	}
	for i := range g.hotURL {
		g.hotURL[i] = string(url())
	}
	g.chans, g.urls = make([]string, 10000), make([]string, 10000)
	for k := range g.urls {
		b := url()
		if r.u(10) > 0 {
			v := int64(int32(bits.Reverse32(uint32(k))))
			if v < 0 {
				v = -v
			}
			b = strconv.AppendInt(append(b, "&channel_id="...), v, 10)
		}
		g.chans[k], g.urls[k] = "channel-"+strconv.Itoa(k), string(b)
	}
	return g
}

// TS is the event time in ms.
func (g *Gen) TS(n int64) int64 { return g.base + (n*1_000_000/g.rate)/1000 }

func (g *Gen) appendTS(b []byte, ms int64) []byte {
	if ms != g.lastMs {
		g.lastMs = ms
		t := time.UnixMilli(ms).UTC()
		copy(g.lastTxt[:], t.AppendFormat(g.lastTxt[:0], "2006-01-02 15:04:05.000"))
	}
	return append(b, g.lastTxt[:]...)
}

func lastPerson(e int64) int64 { return e / 50 }
func lastAuction(e int64) int64 {
	ep, o := e/50, e%50
	switch {
	case o < 1:
		return (ep-1)*3 + 2
	case o >= 4:
		return ep*3 + 2
	}
	return ep*3 + o - 1
}
func (r *rng) livePerson(e int64) int64 {
	m := lastPerson(e) + 1
	a := min(m, 1000)
	return m - a + r.u(a+10)
}
func (r *rng) liveAuction(e int64) int64 {
	la := lastAuction(e)
	lo := max(la-100, 0)
	return lo + r.u(la-lo+1+10)
}
func (g *Gen) filler(dst []byte, r *rng, c, d int64) []byte {
	if c > d {
		return dst
	}
	w := d - c
	s := int64(math.Floor(0.2*float64(w) + 0.5))
	n := w - s
	if s > 0 {
		n += r.u(2 * s)
	} else {
		n += r.u(1)
	}
	off := r.u(poolSize - n)
	return append(dst, g.pool[off:off+n]...)
}

// Kind is 0 person, 1 auction, 2 bid.
func Kind(e int64) int {
	switch m := e % 50; {
	case m < 1:
		return 0
	case m < 4:
		return 1
	}
	return 2
}

// Append appends event e as one JSON line without the newline.
//
//tidy:allow-long one flat list of fields in the order of the line
func (g *Gen) Append(b []byte, e int64) []byte {
	r := stream(g.seed, uint64(e))
	ts := g.TS(e)
	b = strconv.AppendInt(append(b, `{"event_id":`...), e, 10)
	switch Kind(e) {
	case 0:
		b = append(b, `,"event_type":0,"person":{"id":`...)
		b = strconv.AppendInt(b, 1000+lastPerson(e), 10)
		b = append(b, `,"name":"`...)
		m0 := len(b)
		fn := first[r.u(11)]
		ln := last[r.u(9)]
		b = append(append(append(b, fn...), ' '), ln...)
		c := int64(len(b) - m0)
		b = append(b, `","emailAddress":"`...)
		m0 = len(b)
		b = r.str(b, 7, ' ')
		b = append(b, '@')
		b = r.str(b, 5, ' ')
		b = append(b, ".com"...)
		c += int64(len(b) - m0)
		b = append(b, `","creditCard":"`...)
		m0 = len(b)
		for i := 0; i < 4; i++ {
			if i > 0 {
				b = append(b, ' ')
			}
			v := r.u(10000)
			b = append(b, byte('0'+v/1000), byte('0'+v/100%10), byte('0'+v/10%10), byte('0'+v%10))
		}
		c += int64(len(b) - m0)
		ci := cities[r.u(10)]
		st := states[r.u(6)]
		c += int64(len(ci)+len(st)) + 8
		b = append(append(append(b, `","city":"`...), ci...), `","state":"`...)
		b = append(append(b, st...), `","dateTime":"`...)
		b = g.appendTS(b, ts)
		b = append(b, `","extra":"`...)
		b = g.filler(b, &r, c, 200)
		b = append(b, `"}}`...)
	case 1:
		hot := r.u(4) > 0
		seller := int64(0)
		if hot {
			seller = lastPerson(e) / 100 * 100
		} else {
			seller = r.livePerson(e)
		}
		cat := 10 + r.u(5)
		ini := r.price()
		h := g.TS(e+100*50/3) - ts
		exp := ts + 1 + r.u(max(2*h, 1))
		b = append(b, `,"event_type":1,"auction":{"id":`...)
		b = strconv.AppendInt(b, 1000+lastAuction(e), 10)
		b = append(b, `,"itemName":"`...)
		m0 := len(b)
		b = r.str(b, 20, ' ')
		c := int64(len(b)-m0) + 48
		b = append(b, `","description":"`...)
		m0 = len(b)
		b = r.str(b, 100, ' ')
		c += int64(len(b) - m0)
		b = append(b, `","initialBid":`...)
		b = strconv.AppendInt(b, ini, 10)
		b = append(b, `,"reserve":`...)
		b = strconv.AppendInt(b, ini+r.price(), 10)
		b = append(b, `,"dateTime":"`...)
		b = g.appendTS(b, ts)
		b = append(b, `","expires":"`...)
		b = g.appendTS(b, exp)
		b = append(b, `","seller":`...)
		b = strconv.AppendInt(b, 1000+seller, 10)
		b = append(b, `,"category":`...)
		b = strconv.AppendInt(b, cat, 10)
		b = append(b, `,"extra":"`...)
		b = g.filler(b, &r, c, 500)
		b = append(b, `"}}`...)
	default:
		b = append(b, `,"event_type":2,"bid":`...)
		b = g.bidBody(b, e, ts, &r)
		b = append(b, '}')
	}
	return b
}

func (g *Gen) bidBody(b []byte, e, ts int64, r *rng) []byte {
	var auc, bidder int64
	if r.u(2) > 0 {
		auc = lastAuction(e) / 100 * 100
	} else {
		auc = r.liveAuction(e)
	}
	if r.u(4) > 0 {
		bidder = lastPerson(e)/100*100 + 1
	} else {
		bidder = r.livePerson(e)
	}
	price := r.price()
	var ch, url string
	if r.u(2) > 0 {
		k := r.u(4)
		ch, url = hotChan[k], g.hotURL[k]
	} else {
		k := r.u(10000)
		ch, url = g.chans[k], g.urls[k]
	}
	b = append(b, `{"auction":`...)
	b = strconv.AppendInt(b, 1000+auc, 10)
	b = append(b, `,"bidder":`...)
	b = strconv.AppendInt(b, 1000+bidder, 10)
	b = append(b, `,"price":`...)
	b = strconv.AppendInt(b, price, 10)
	b = append(append(b, `,"channel":"`...), ch...)
	b = append(append(b, `","url":"`...), url...)
	b = append(b, `","dateTime":"`...)
	b = g.appendTS(b, ts)
	b = append(b, `","extra":"`...)
	b = g.filler(b, r, 32, 100)
	return append(b, `"}`...)
}
