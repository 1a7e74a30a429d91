package main

import "strconv"

var (
	words = []string{"furiously", "quickly", "carefully", "blithely", "slyly", "final", "ironic", "even", "bold", "silent", "regular", "special", "express", "pending",
		"deposits", "requests", "accounts", "packages", "foxes", "ideas", "theodolites", "pinto beans", "instructions", "dependencies", "sleep", "wake", "nag", "haggle", "cajole", "among", "above", "the", "according to"}
	colours    = []string{"almond", "antique", "aquamarine", "azure", "beige", "black", "blue", "brown", "chocolate", "coral", "cream", "cyan", "dark", "firebrick", "forest", "ghost", "gold", "green", "honey", "ivory", "khaki", "lace", "lemon", "lime", "linen", "magenta", "maroon", "navy", "olive", "orange", "peach", "pink", "plum", "purple", "red", "rose", "royal", "salmon", "sky", "slate", "smoke", "steel", "tan", "tomato", "violet", "white", "yellow"}
	regions    = []string{"AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"}
	nations    = []string{"ALGERIA", "ARGENTINA", "BRAZIL", "CANADA", "EGYPT", "ETHIOPIA", "FRANCE", "GERMANY", "INDIA", "INDONESIA", "IRAN", "IRAQ", "JAPAN", "JORDAN", "KENYA", "MOROCCO", "MOZAMBIQUE", "PERU", "CHINA", "ROMANIA", "SAUDI ARABIA", "VIETNAM", "RUSSIA", "UNITED KINGDOM", "UNITED STATES"}
	regionOf   = []int{0, 1, 1, 1, 4, 0, 3, 3, 2, 2, 4, 4, 2, 4, 0, 0, 0, 1, 2, 3, 4, 2, 3, 3, 1}
	segments   = []string{"AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"}
	priorities = []string{"1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"}
	modes      = []string{"AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"}
	handling   = []string{"COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"}
	kinds      = []string{"STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"}
	finishes   = []string{"ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"}
	metals     = []string{"TIN", "NICKEL", "BRASS", "STEEL", "COPPER"}
	sizes      = []string{"SM", "LG", "MED", "JUMBO", "WRAP"}
	boxes      = []string{"CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"}
)

// The tables, by the number that goes into their streams.
const (
	tSupplier = iota + 1
	tCustomer
	tPart
	tPartsupp
	tOrder
)

// generator makes rows; counts are those of the scale.
type generator struct {
	seed                                uint64
	suppliers, customers, parts, orders int64
}

func newGenerator(seed uint64, scale float64) *generator {
	n := func(base float64) int64 { return max(1, int64(base*scale)) }
	return &generator{seed, n(10_000), n(150_000), n(200_000), n(1_500_000)}
}

// table is a file: its header, how many steps make it, and the rows of one.
type table struct {
	name, header string
	steps        int64
	rows         func(b []byte, n int64) []byte
}

func (g *generator) tables() []table {
	return []table{
		{"region", "r_regionkey,r_name,r_comment", 5, g.region},
		{"nation", "n_nationkey,n_name,n_regionkey,n_comment", 25, g.nation},
		{"supplier", "s_suppkey,s_name,s_address,s_nationkey,s_phone,s_acctbal,s_comment", g.suppliers, g.supplier},
		{"customer", "c_custkey,c_name,c_address,c_nationkey,c_phone,c_acctbal,c_mktsegment,c_comment", g.customers, g.customer},
		{"part", "p_partkey,p_name,p_mfgr,p_brand,p_type,p_size,p_container,p_retailprice,p_comment", g.parts, g.part},
		{"partsupp", "ps_partkey,ps_suppkey,ps_availqty,ps_supplycost,ps_comment", g.parts, g.partsupp},
		{"orders", "o_orderkey,o_custkey,o_orderstatus,o_totalprice,o_orderdate,o_orderpriority,o_clerk,o_shippriority,o_comment", g.orders, g.order},
		{"lineitem", "l_orderkey,l_partkey,l_suppkey,l_linenumber,l_quantity,l_extendedprice,l_discount,l_tax,l_returnflag,l_linestatus,l_shipdate,l_commitdate,l_receiptdate,l_shipinstruct,l_shipmode,l_comment", g.orders, g.lines},
	}
}

// cells joins cells to a line: numbers as they are, texts without commas.
type cells struct{ b []byte }

func (c *cells) int(v int64) { c.b = append(strconv.AppendInt(c.b, v, 10), ',') }
func (c *cells) str(s string) {
	c.b = append(append(c.b, s...), ',')
}
func (c *cells) cents(v int64)             { c.b = append(cents(c.b, v), ',') }
func (c *cells) date(day int64)            { c.b = append(date(c.b, day), ',') }
func (c *cells) text(r *rng, lo, hi int64) { c.b = append(r.text(c.b, lo, hi), ',') }
func (c *cells) id(name string, v int64)   { c.b = append(padded(append(c.b, name...), v, 9), ',') }
func (c *cells) end() []byte {
	c.b[len(c.b)-1] = '\n'
	return c.b
}

func (c *cells) phone(r *rng, nation int64) {
	c.b = strconv.AppendInt(c.b, 10+nation, 10)
	for _, n := range []int64{999, 999, 9999} {
		c.b = strconv.AppendInt(append(c.b, '-'), r.between(n/9, n), 10)
	}
	c.b = append(c.b, ',')
}

func (g *generator) region(b []byte, n int64) []byte {
	r, c := stream(g.seed, 10, n), cells{b}
	c.int(n)
	c.str(regions[n])
	c.text(&r, 31, 115)
	return c.end()
}

func (g *generator) nation(b []byte, n int64) []byte {
	r, c := stream(g.seed, 11, n), cells{b}
	c.int(n)
	c.str(nations[n])
	c.int(int64(regionOf[n]))
	c.text(&r, 31, 114)
	return c.end()
}

func (g *generator) supplier(b []byte, n int64) []byte {
	r, c := stream(g.seed, tSupplier, n), cells{b}
	nation := r.between(0, 24)
	c.int(n + 1)
	c.id("Supplier#", n+1)
	c.text(&r, 10, 40)
	c.int(nation)
	c.phone(&r, nation)
	c.cents(r.between(-99_999, 999_999))
	c.text(&r, 25, 100)
	return c.end()
}

func (g *generator) customer(b []byte, n int64) []byte {
	r, c := stream(g.seed, tCustomer, n), cells{b}
	nation := r.between(0, 24)
	c.int(n + 1)
	c.id("Customer#", n+1)
	c.text(&r, 10, 40)
	c.int(nation)
	c.phone(&r, nation)
	c.cents(r.between(-99_999, 999_999))
	c.str(r.of(segments))
	c.text(&r, 29, 116)
	return c.end()
}

// retail is the price of a part in cents.
func retail(part int64) int64 { return 90_000 + part/10%20_001 + 100*(part%1_000) }

func (g *generator) part(b []byte, n int64) []byte {
	r, c := stream(g.seed, tPart, n), cells{b}
	key := n + 1
	c.int(key)
	for k := range 5 {
		if k > 0 {
			c.b = append(c.b, ' ')
		}
		c.b = append(c.b, r.of(colours)...)
	}
	c.b = append(c.b, ',')
	m := r.between(1, 5)
	c.str("Manufacturer#" + strconv.FormatInt(m, 10))
	c.str("Brand#" + strconv.FormatInt(m*10+r.between(1, 5), 10))
	c.str(r.of(kinds) + " " + r.of(finishes) + " " + r.of(metals))
	c.int(r.between(1, 50))
	c.str(r.of(sizes) + " " + r.of(boxes))
	c.cents(retail(key))
	c.text(&r, 5, 22)
	return c.end()
}

// supplierOf is one of the four suppliers of a part.
func (g *generator) supplierOf(part, k int64) int64 {
	return (part+k*(g.suppliers/4+(part-1)/g.suppliers))%g.suppliers + 1
}

func (g *generator) partsupp(b []byte, n int64) []byte {
	r := stream(g.seed, tPartsupp, n)
	for k := range int64(4) {
		c := cells{b}
		c.int(n + 1)
		c.int(g.supplierOf(n+1, k))
		c.int(r.between(1, 9_999))
		c.cents(r.between(100, 100_000))
		c.text(&r, 49, 198)
		b = c.end()
	}
	return b
}

// line is a row of lineitem before it is text.
type line struct {
	part, supplier, quantity, price, discount, tax int64
	ship, commit, receipt                          int64
}

// sale is an order with its lines.
type sale struct {
	key, customer, day int64
	lines              [7]line
	n                  int64
	r                  rng
}

func (g *generator) sale(n int64) sale {
	r := stream(g.seed, tOrder, n)
	s := sale{key: n/8*32 + n%8 + 1, day: r.between(0, days(lastDay)), n: r.between(1, 7)}
	// A third of the customers never orders.
	s.customer = r.between(1, g.customers)
	if s.customer%3 == 0 && s.customer > 1 {
		s.customer--
	}
	for k := range s.n {
		l := line{part: r.between(1, g.parts), quantity: r.between(1, 50), discount: r.between(0, 10), tax: r.between(0, 8)}
		l.supplier = g.supplierOf(l.part, r.between(0, 3))
		l.price = l.quantity * retail(l.part)
		l.ship, l.commit = s.day+r.between(1, 121), s.day+r.between(30, 90)
		l.receipt = l.ship + r.between(1, 30)
		s.lines[k] = l
	}
	s.r = r
	return s
}

func (g *generator) order(b []byte, n int64) []byte {
	s, c := g.sale(n), cells{b}
	total, open := int64(0), int64(0)
	for _, l := range s.lines[:s.n] {
		total += l.price * (100 + l.tax) / 100 * (100 - l.discount) / 100
		if l.ship > turn {
			open++
		}
	}
	status := "P"
	switch open {
	case 0:
		status = "F"
	case s.n:
		status = "O"
	}
	r := stream(g.seed, 20, n)
	c.int(s.key)
	c.int(s.customer)
	c.str(status)
	c.cents(total)
	c.date(s.day)
	c.str(r.of(priorities))
	c.id("Clerk#", r.between(1, max(1, g.suppliers/10)))
	c.int(0)
	c.text(&r, 19, 78)
	return c.end()
}

func (g *generator) lines(b []byte, n int64) []byte {
	s := g.sale(n)
	for k, l := range s.lines[:s.n] {
		c := cells{b}
		c.int(s.key)
		c.int(l.part)
		c.int(l.supplier)
		c.int(int64(k + 1))
		c.cents(l.quantity * 100)
		c.cents(l.price)
		c.cents(l.discount)
		c.cents(l.tax)
		flag, status := "N", "F"
		if l.receipt <= turn {
			flag = s.r.of([]string{"R", "A"})
		}
		if l.ship > turn {
			status = "O"
		}
		c.str(flag)
		c.str(status)
		c.date(l.ship)
		c.date(l.commit)
		c.date(l.receipt)
		c.str(s.r.of(handling))
		c.str(s.r.of(modes))
		c.text(&s.r, 10, 43)
		b = c.end()
	}
	return b
}
