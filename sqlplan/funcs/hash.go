package funcs

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"math"
	"math/bits"

	"pipelines/tables/column"
	"pipelines/tables/schema"
)

var hashFunctions = []*Function{
	hashFunction("hash", "Murmur3 hash of the values.", tInt, 42, murmur3{}).example("SELECT hash('Spark', array(123), 2)", "-1321691492"),
	hashFunction("xxhash64", "64-bit xxHash of the values.", tBigint, 42, xxhash{}).example("SELECT xxhash64('Spark', array(123), 2)", "5602566077635097486"),
	digest("md5", func(s []byte) []byte { h := md5.Sum(s); return h[:] }).example("SELECT md5('Spark')", "8cde774d6f7333752ed72cacddb05126"),
	digest("sha1", func(s []byte) []byte { h := sha1.Sum(s); return h[:] }).alias("sha").example("SELECT sha('Spark')", "85f5955f4b27a9a4c2aab6ffe5d7189fc298b92c"),
	define("crc32", "hash", "crc32(expr)", "Cyclic redundancy check.", signature{
		params: []param{pBinary}, result: tBigint,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.live(out, func(i int) { out.I64[i] = int64(crc32.ChecksumIEEE(args[0].Str(i))) })
		},
	}).example("SELECT crc32('Spark')", "1557323817"),
	define("sha2", "hash", "sha2(expr, bitLength)", "SHA-2 digest of 224, 256 (also 0), 384 or 512 bits.", signature{
		params: []param{pBinary, pInt}, result: tString, mayNull: true,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte {
				s := args[0].Str(i)
				switch args[1].I32[args[1].Row(i)] {
				case 224:
					h := sha256.Sum224(s)
					return hex.AppendEncode(b, h[:])
				case 0, 256:
					h := sha256.Sum256(s)
					return hex.AppendEncode(b, h[:])
				case 384:
					h := sha512.Sum384(s)
					return hex.AppendEncode(b, h[:])
				case 512:
					h := sha512.Sum512(s)
					return hex.AppendEncode(b, h[:])
				}
				out.SetNull(i)
				return b
			})
		},
	}).example("SELECT length(sha2('Spark', 256))", "64"),
}

func digest(name string, f func(s []byte) []byte) *Function {
	return define(name, "hash", name+"(expr)", "Digest as hexadecimal text.", signature{
		params: []param{pBinary}, result: tString,
		kernel: func(c *Ctx, args []*vector, out *vector) {
			c.appendRows(out, func(i int, b []byte) []byte { return hex.AppendEncode(b, f(args[0].Str(i))) })
		},
	})
}

// hasher is one of Spark's two hashes over single values.
type hasher interface {
	int32(x uint32, seed int64) int64
	int64(x uint64, seed int64) int64
	bytes(s []byte, seed int64) int64
}

func hashFunction(name, doc string, result schema.Type, seed int64, h hasher) *Function {
	return custom(name, "hash", name+"(expr1, expr2, ...)", doc, func(_ *Session, args []Arg) (*Bound, error) {
		if err := checkCount(name, 1, 1<<20, len(args)); err != nil {
			return nil, err
		}
		b := &Bound{Result: result, Nulls: NullAware}
		for _, a := range args {
			if typeHolds(a.Type, schema.Variant) {
				return nil, errMismatch("HASH_VARIANT_TYPE", callText(name, args), "Input to the function `"+name+"` cannot contain elements of the \"VARIANT\" type yet.",
					map[string]string{"functionName": "`" + name + "`"})
			}
			if typeHolds(a.Type, schema.Map) {
				return nil, errMismatch("HASH_MAP_TYPE", callText(name, args), "Input to the function `"+name+
					"` cannot contain elements of the \"MAP\" type. In Spark, same maps may have different hashcode, thus hash expressions are prohibited on \"MAP\" elements.",
					map[string]string{"functionName": "`" + name + "`"})
			}
			b.Args = append(b.Args, a.Type)
		}
		b.Kernel = func(c *Ctx, args []*vector, out *vector) {
			c.Each(func(i int) {
				x := seed
				for _, v := range args {
					x = hashValue(h, v, i, x)
				}
				setInt(out, i, x)
			})
		}
		return b, nil
	})
}

// typeHolds reports whether a value of the type may hold one of the kind.
func typeHolds(t schema.Type, kind schema.Kind) bool {
	switch t.Kind {
	case kind:
		return true
	case schema.Array:
		return typeHolds(*t.Elem, kind)
	case schema.Map:
		return typeHolds(*t.Key, kind) || typeHolds(*t.Elem, kind)
	case schema.Struct:
		for _, f := range t.Fields {
			if typeHolds(f.Type, kind) {
				return true
			}
		}
	}
	return false
}

// hashValue folds row i of v into the hash as Spark does; nulls leave it.
//
//tidy:allow-long one flat switch over the types
func hashValue(h hasher, v *vector, i int, seed int64) int64 {
	if v.IsNull(i) {
		return seed
	}
	if v.Dict != nil {
		v, i = v.Dict, int(v.Index[i])
	}
	i = v.Row(i)
	switch v.Type.Kind {
	case schema.Boolean:
		return h.int32(uint32(boolInt[int32](v.Bool[i])), seed)
	case schema.Int8:
		return h.int32(uint32(int32(v.I8[i])), seed)
	case schema.Int16:
		return h.int32(uint32(int32(v.I16[i])), seed)
	case schema.Int32, schema.Date, schema.YearMonthInterval:
		return h.int32(uint32(v.I32[i]), seed)
	case schema.Int64, schema.Timestamp, schema.TimestampNTZ, schema.DayTimeInterval:
		return h.int64(uint64(v.I64[i]), seed)
	case schema.Float32:
		x := v.F32[i]
		switch {
		case x == 0:
			x = 0
		case x != x:
			return h.int32(0x7fc00000, seed)
		}
		if x == 0 {
			return h.int32(0, seed)
		}
		return h.int32(math.Float32bits(x), seed)
	case schema.Float64:
		x := v.F64[i]
		switch {
		case x == 0:
			return h.int64(0, seed)
		case x != x:
			return h.int64(0x7ff8000000000000, seed)
		}
		return h.int64(math.Float64bits(x), seed)
	case schema.Decimal:
		if v.Type.Precision <= column.MaxDecimal64 {
			return h.int64(uint64(v.I64[i]), seed)
		}
		return h.bytes(bigEndian(v.I128[i]), seed)
	case schema.String, schema.Binary:
		return h.bytes(v.Str(i), seed)
	case schema.Array:
		from, to := v.List(i)
		for k := from; k < to; k++ {
			seed = hashValue(h, v.Children[0], k, seed)
		}
	case schema.CalendarInterval: // microseconds, days, months
		for k := len(v.Children) - 1; k >= 0; k-- {
			seed = hashValue(h, v.Children[k], i, seed)
		}
	case schema.Struct, schema.Variant:
		for _, c := range v.Children {
			seed = hashValue(h, c, i, seed)
		}
	}
	return seed
}

// bigEndian is Java's BigInteger.toByteArray: the shortest two's complement.
func bigEndian(v column.Int128) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], uint64(v.Hi))
	binary.BigEndian.PutUint64(b[8:], v.Lo)
	k := 0
	for k < 15 && (b[k] == 0 && b[k+1] < 0x80 || b[k] == 0xff && b[k+1] >= 0x80) {
		k++
	}
	return b[k:]
}

// murmur3 is Spark's Murmur3_x86_32: the tail of a text is hashed byte by byte.
type murmur3 struct{}

func mixK(k uint32) uint32 { return bits.RotateLeft32(k*0xcc9e2d51, 15) * 0x1b873593 }

func mixH(h, k uint32) uint32 { return bits.RotateLeft32(h^k, 13)*5 + 0xe6546b64 }

func fmix(h, length uint32) int64 {
	h ^= length
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16
	return int64(int32(h))
}

func (murmur3) int32(x uint32, seed int64) int64 { return fmix(mixH(uint32(seed), mixK(x)), 4) }

func (murmur3) int64(x uint64, seed int64) int64 {
	h := mixH(uint32(seed), mixK(uint32(x)))
	return fmix(mixH(h, mixK(uint32(x>>32))), 8)
}

func (murmur3) bytes(s []byte, seed int64) int64 {
	h, n := uint32(seed), uint32(len(s))
	for ; len(s) >= 4; s = s[4:] {
		h = mixH(h, mixK(binary.LittleEndian.Uint32(s)))
	}
	for _, c := range s {
		h = mixH(h, mixK(uint32(int32(int8(c)))))
	}
	return fmix(h, n)
}

// xxhash is Spark's XXH64.
type xxhash struct{}

const (
	xx1 = 0x9E3779B185EBCA87
	xx2 = 0xC2B2AE3D27D4EB4F
	xx3 = 0x165667B19E3779F9
	xx4 = 0x85EBCA77C2B2AE63
	xx5 = 0x27D4EB2F165667C5
)

func xxFinish(h uint64) int64 {
	h ^= h >> 33
	h *= xx2
	h ^= h >> 29
	h *= xx3
	h ^= h >> 32
	return int64(h)
}

func xxRound(acc, x uint64) uint64 { return bits.RotateLeft64(acc+x*xx2, 31) * xx1 }

func (xxhash) int32(x uint32, seed int64) int64 {
	h := uint64(seed) + xx5 + 4
	h ^= uint64(x) * xx1
	h = bits.RotateLeft64(h, 23)*xx2 + xx3
	return xxFinish(h)
}

func (xxhash) int64(x uint64, seed int64) int64 {
	h := uint64(seed) + xx5 + 8
	h ^= xxRound(0, x)
	h = bits.RotateLeft64(h, 27)*xx1 + xx4
	return xxFinish(h)
}

func (xxhash) bytes(s []byte, seed int64) int64 {
	n := uint64(len(s))
	p1, p2 := uint64(xx1), uint64(xx2)
	h := uint64(seed) + xx5
	if len(s) >= 32 {
		v1, v2, v3, v4 := uint64(seed)+p1+p2, uint64(seed)+p2, uint64(seed), uint64(seed)-p1
		for ; len(s) >= 32; s = s[32:] {
			v1 = xxRound(v1, binary.LittleEndian.Uint64(s))
			v2 = xxRound(v2, binary.LittleEndian.Uint64(s[8:]))
			v3 = xxRound(v3, binary.LittleEndian.Uint64(s[16:]))
			v4 = xxRound(v4, binary.LittleEndian.Uint64(s[24:]))
		}
		h = bits.RotateLeft64(v1, 1) + bits.RotateLeft64(v2, 7) + bits.RotateLeft64(v3, 12) + bits.RotateLeft64(v4, 18)
		for _, v := range [...]uint64{v1, v2, v3, v4} {
			h = (h^xxRound(0, v))*p1 + xx4
		}
	}
	h += n
	for ; len(s) >= 8; s = s[8:] {
		h = bits.RotateLeft64(h^xxRound(0, binary.LittleEndian.Uint64(s)), 27)*p1 + xx4
	}
	if len(s) >= 4 {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(s))*p1, 23)*p2 + xx3
		s = s[4:]
	}
	for _, c := range s {
		h = bits.RotateLeft64(h^uint64(c)*xx5, 11) * p1
	}
	return xxFinish(h)
}
