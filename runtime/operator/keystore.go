package operator

// keyStore keeps the keys of groups by number, in segments that never grow by
// copying all there is.
type keyStore struct {
	stride int
	// words has stride words a key, segmentGroups keys a segment.
	words [][]uint64
	// Encoded keys: where each stands, and the bytes.
	places [][]keyPlace
	text   []textSegment
	filled int   // the segment of text that new keys go to
	spare  []int // segments of text that are empty
	waste  int   // bytes of text that belong to removed groups
	held   int   // bytes of text
}

// keyPlace is where an encoded key stands.
type keyPlace struct{ segment, at, size uint32 }

type textSegment struct {
	bytes []byte
	live  int // bytes of keys that are there
}

const (
	segmentBits   = 15
	segmentGroups = 1 << segmentBits
	textBytes     = 1 << 20
	// packSegments are packed at once.
	packSegments = 16
)

// addKey makes room for the key with number g, the greatest so far plus one.
func (s *keyStore) addKey(g int32) {
	i := int(g) >> segmentBits
	if s.stride > 0 {
		s.words = addSegment(s.words, i, s.stride)
		s.words[i] = s.words[i][:len(s.words[i])+s.stride]
		return
	}
	s.places = addSegment(s.places, i, 1)
	s.places[i] = append(s.places[i], keyPlace{})
}

// addSegment makes room for width more in segment i: the first grows as needed,
// those after it have their full size from the start.
func addSegment[T any](segs [][]T, i, width int) [][]T {
	if i == len(segs) {
		n := 64
		if i > 0 {
			n = segmentGroups
		}
		return append(segs, make([]T, 0, n*width))
	}
	if s := segs[i]; len(s)+width > cap(s) {
		segs[i] = append(make([]T, 0, min(2*cap(s), segmentGroups*width)), s...)
	}
	return segs
}

// word is the key of group g that is one word.
func (s *keyStore) word(g uint32) uint64 { return s.words[g>>segmentBits][g&(segmentGroups-1)] }

// wordsOf are the words of group g's key.
func (s *keyStore) wordsOf(g int32) []uint64 {
	at := int(g) & (segmentGroups - 1) * s.stride
	return s.words[g>>segmentBits][at : at+s.stride]
}

func (s *keyStore) place(g int32) *keyPlace {
	return &s.places[g>>segmentBits][g&(segmentGroups-1)]
}

// key returns the encoded key of group g.
func (s *keyStore) key(g int32) []byte {
	p := s.place(g)
	if p.size == 0 {
		return nil
	}
	return s.text[p.segment].bytes[p.at : p.at+p.size]
}

// setKey stores the encoded key at a place, which has none.
func (s *keyStore) setKey(p *keyPlace, key []byte) {
	*p = keyPlace{size: uint32(len(key))}
	if len(key) == 0 {
		return
	}
	if len(s.text) == 0 || len(s.text[s.filled].bytes)+len(key) > textBytes {
		s.beginText(len(key))
	}
	t := &s.text[s.filled]
	p.segment, p.at = uint32(s.filled), uint32(len(t.bytes))
	t.bytes = append(t.bytes, key...)
	t.live += len(key)
	s.held += len(key)
}

// beginText makes an empty segment, with room for n bytes, the one that is
// filled. The first grows as needed.
func (s *keyStore) beginText(n int) {
	var fresh []byte
	if len(s.text) > 0 {
		fresh = make([]byte, 0, max(n, textBytes))
		if s.text[s.filled].live == 0 {
			s.freeText(s.filled)
		}
	}
	if k := len(s.spare); k > 0 {
		s.filled, s.spare = s.spare[k-1], s.spare[:k-1]
	} else {
		s.filled = len(s.text)
		s.text = append(s.text, textSegment{})
	}
	s.text[s.filled] = textSegment{bytes: fresh}
}

func (s *keyStore) freeText(i int) {
	s.waste -= len(s.text[i].bytes)
	s.held -= len(s.text[i].bytes)
	s.text[i] = textSegment{}
	s.spare = append(s.spare, i)
}

// discard gives the bytes of a removed key up, and a segment of which nothing is
// left; segments are packed when half of all is waste.
func (s *keyStore) discard(g int32) {
	if s.stride > 0 {
		return
	}
	p := s.place(g)
	if p.size == 0 {
		return
	}
	s.drop(*p)
	*p = keyPlace{}
	if s.waste >= 1<<16 && s.waste*2 >= s.held {
		s.pack()
	}
}

func (s *keyStore) drop(p keyPlace) {
	t := &s.text[p.segment]
	t.live -= int(p.size)
	s.waste += int(p.size)
	if t.live == 0 && int(p.segment) != s.filled {
		s.freeText(int(p.segment))
	}
}

// pack moves the keys out of some segments of which half is waste.
func (s *keyStore) pack() {
	victims, n := make([]bool, len(s.text)), 0
	for i, t := range s.text {
		if n < packSegments && len(t.bytes) > 0 && t.live*2 <= len(t.bytes) {
			victims[i] = true
			n++
		}
	}
	if n == 0 {
		return
	}
	if victims[s.filled] {
		s.beginText(0)
	}
	for _, places := range s.places {
		for i := range places {
			p := &places[i]
			at := int(p.segment)
			if p.size == 0 || at >= len(victims) || !victims[at] || at == s.filled {
				continue
			}
			old := *p
			s.setKey(p, s.text[old.segment].bytes[old.at:old.at+old.size])
			s.drop(old)
		}
	}
}

// clear forgets all keys and keeps the memory of numbers.
func (s *keyStore) clear() {
	for i := range s.words {
		s.words[i] = s.words[i][:0]
	}
	for i := range s.places {
		s.places[i] = s.places[i][:0]
	}
	if len(s.text) > 0 {
		s.text = append(s.text[:0], textSegment{bytes: s.text[0].bytes[:0]})
	}
	s.filled, s.spare, s.waste, s.held = 0, nil, 0, 0
}

// bytes estimates the memory held.
func (s *keyStore) bytes() int64 {
	n := s.held
	if len(s.text) > 0 {
		n += cap(s.text[s.filled].bytes) - len(s.text[s.filled].bytes)
	}
	if k := len(s.words); k > 0 {
		n += 8 * (cap(s.words[0]) + (k-1)*segmentGroups*s.stride)
	}
	if k := len(s.places); k > 0 {
		n += 12 * (cap(s.places[0]) + (k-1)*segmentGroups)
	}
	return int64(n)
}
