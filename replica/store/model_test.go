package store

import (
	"math/rand"
	"os"
	"strconv"
	"testing"

	"feed-replica/etcd"
	"feed-replica/faults"
)

// model is what a log has to have: an entry's term by its index.
type model struct {
	base  uint64
	terms []uint64 // behind the base
}

func (m *model) last() uint64 { return m.base + uint64(len(m.terms)) }

func (m *model) append(from, through, term uint64) {
	m.terms = m.terms[:from-m.base-1]
	for index := from; index <= through; index++ {
		m.terms = append(m.terms, term)
	}
}

func seeds(t *testing.T, count int64) (list []int64) {
	if text := os.Getenv("FEED_SEED"); text != "" {
		seed, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return []int64{seed}
	}
	for seed := int64(1); seed <= count; seed++ {
		list = append(list, seed)
	}
	return list
}

// Fails if a log, cut, installed over, overwritten, killed and opened at random, is ever not the model's.
func TestLogIsThatOfTheModel(t *testing.T) {
	for _, seed := range seeds(t, 12) {
		random := rand.New(rand.NewSource(seed))
		s := founded(t, 1, faults.Set{})
		m := &model{base: 1}
		term, commit := uint64(1), uint64(1)
		for step := 0; step < 60; step++ {
			switch random.Intn(10) {
			case 0, 1, 2, 3: // the leader's next entries
				from := m.last() + 1
				through := from + uint64(random.Intn(4))
				m.append(from, through, term)
				commit += uint64(random.Intn(int(through - commit + 1)))
				save(t, s, term, commit, entries(from, through, term, 16+random.Intn(30000)))
			case 4: // another leader overwrites what was not committed
				term += uint64(1 + random.Intn(2))
				from := commit + 1 + uint64(random.Intn(int(m.last()-commit+1)))
				m.append(from, from+1, term)
				save(t, s, term, commit, entries(from, from+1, term, 16+random.Intn(30000)))
			case 5:
				if commit > m.base {
					through := m.base + 1 + uint64(random.Intn(int(commit-m.base)))
					if err := s.Compact(through, etcd.ConfState{Voters: []uint64{1}}, nil); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					m.terms = append([]uint64(nil), m.terms[through-m.base:]...)
					m.base = through
				}
			case 6: // a state from a leader whose log is another one
				at := commit + 1 + uint64(random.Intn(int(m.last()-commit)+3))
				old := term
				term++
				snapshot := etcd.Snapshot{Metadata: etcd.SnapMetadata{Index: at, Term: old,
					ConfState: etcd.ConfState{Voters: []uint64{1}}}}
				if err := s.Install(snapshot, etcd.HardState{Term: term, Commit: at}, nil); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				*m, commit = model{base: at}, at
			default: // a kill, or an end, and a start
				killed := copyOf(t, s.options.Directory)
				s.Close()
				if random.Intn(2) == 0 {
					killed = s.options.Directory
				}
				s = opened(t, options(killed, faults.Set{}))
			}
			if got := s.LastIndex(); got != m.last() || s.FirstIndex() != m.base+1 || !isWhole(s) {
				t.Fatalf("seed %d, step %d: log %d to %d, expected %d to %d", seed, step,
					s.FirstIndex(), got, m.base+1, m.last())
			}
			for i, want := range m.terms {
				if got, err := s.Term(m.base + 1 + uint64(i)); got != want || err != nil {
					t.Fatalf("seed %d, step %d: term %d at %d, expected %d: %v", seed, step, got,
						m.base+1+uint64(i), want, err)
				}
			}
			var sum int64
			list, _ := s.Entries(m.base+1, m.last(), 1<<62)
			for _, entry := range list {
				sum += int64(len(entry.Data) + entryOverheadByteCount)
			}
			if m.last() > m.base && sum != s.ByteCount() {
				t.Fatalf("seed %d, step %d: %d bytes are counted, there are %d", seed, step, s.ByteCount(), sum)
			}
		}
		s.Close()
	}
}

// Fails if the log is cut too early, too far, beyond what is needed, or for each entry of a slow service.
func TestLogIsCutBetweenItsBounds(t *testing.T) {
	s := founded(t, 1, faults.Set{})
	defer s.Close()
	size := 1000 - entryOverheadByteCount
	trailing := Trailing{Least: 10_000, Most: 20_000}
	save(t, s, 1, 1, entries(2, 21, 1, size)) // 20 entries of 1,000 bytes
	if at := s.CutIndex(trailing, 100); at != 0 {
		t.Fatalf("cut at %d with 20,000 bytes", at)
	}
	save(t, s, 1, 21, entries(22, 22, 1, size))
	for limit, want := range map[uint64]uint64{100: 12, 12: 12, 11: 11, 4: 4, 3: 0, 1: 0, 0: 0} {
		if at := s.CutIndex(trailing, limit); at != want {
			t.Errorf("limit %d: cut at %d, expected %d", limit, at, want)
		}
	}
	if err := s.Compact(12, etcd.ConfState{Voters: []uint64{1}}, nil); err != nil {
		t.Fatal(err)
	}
	if s.ByteCount() != 10_000 || s.ByteCountAbove(20) != 2_000 || s.ByteCountAbove(3) != 10_000 || s.FirstIndex() != 13 {
		t.Error(s.ByteCount(), s.ByteCountAbove(20), s.FirstIndex())
	}
}
