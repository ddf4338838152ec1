package store

import "feed-replica/etcd"

// entryOverheadByteCount is about what an entry takes beside its bytes, in memory and on the disk.
const entryOverheadByteCount = 64

// sizes has the bytes of each entry behind the base.
type sizes struct {
	base    uint64 // the first size is that of the entry behind it
	entries []int32
	total   int64
}

func (s *sizes) begin(base uint64) { *s = sizes{base: base} }

// append takes entries that follow, or overwrite the end.
func (s *sizes) append(entries []etcd.Entry) {
	if len(entries) == 0 {
		return
	}
	keep := entries[0].Index - s.base - 1
	for _, size := range s.entries[keep:] {
		s.total -= int64(size)
	}
	s.entries = s.entries[:keep]
	for i := range entries {
		size := int32(len(entries[i].Data) + entryOverheadByteCount)
		s.entries = append(s.entries, size)
		s.total += int64(size)
	}
}

func (s *sizes) forget(through uint64) {
	count := through - s.base
	for _, size := range s.entries[:count] {
		s.total -= int64(size)
	}
	// A copy, so that the memory of what is forgotten is given back.
	s.entries = append([]int32(nil), s.entries[count:]...)
	s.base = through
}

func (s *sizes) above(index uint64) (sum int64) {
	if index <= s.base {
		return s.total
	}
	for i := int(index - s.base); i < len(s.entries); i++ {
		sum += int64(s.entries[i])
	}
	return sum
}

// cut is the index up to which entries can go so that as many bytes as `keep` stay, and their bytes.
func (s *sizes) cut(keep int64, limit uint64) (through uint64, byteCount int64) {
	through = s.base
	for _, size := range s.entries {
		if through >= limit || s.total-byteCount-int64(size) < keep {
			break
		}
		through++
		byteCount += int64(size)
	}
	return through, byteCount
}
