package store

import (
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"feed-replica/etcd"
	"feed-replica/faults"
)

// model is what a log has to have: an entry's term by its index.
type model struct {
	Base, BaseTerm uint64
	Terms          []uint64 // behind the base
	Term, Vote     uint64   // that were saved
	Commit         uint64   // which nobody was promised
}

func (m model) last() uint64 { return m.Base + uint64(len(m.Terms)) }

// step is a call of a store.
type step struct {
	From, Through, Term uint64 // entries; none if it ends before it begins
	ByteCount           int
	CutAt               uint64 // Compact
	InstallAt           uint64 // Install, of InstallTerm
	InstallTerm         uint64
	Hard                etcd.HardState
}

// next draws what a node could do now.
func (m model) next(random *rand.Rand) step {
	s := step{Hard: etcd.HardState{Term: m.Term, Vote: m.Vote, Commit: m.Commit},
		ByteCount: 16 + random.Intn(random.Intn(30000)+1)}
	entries := func(from uint64, count int) {
		s.From, s.Through, s.Term = from, from+uint64(count)-1, s.Hard.Term
	}
	between := func(least, most uint64) uint64 { // often the last of them
		if random.Intn(3) == 0 {
			return most
		}
		return least + uint64(random.Intn(int(most-least+1)))
	}
	laterTerm := func() { s.Hard.Term, s.Hard.Vote = m.Term+uint64(1+random.Intn(2)), uint64(random.Intn(3)) }
	s.From = 1
	switch random.Intn(10) {
	case 0, 1, 2, 3: // the leader's next entries
		entries(m.last()+1, 1+random.Intn(4))
		s.Hard.Commit += uint64(random.Intn(2)) // there is one more at least
	case 4: // another leader overwrites what was not committed
		laterTerm()
		entries(m.Commit+1+uint64(random.Intn(int(m.last()-m.Commit+1))), 1+random.Intn(2))
		s.Hard.Commit = between(m.Commit, s.Through)
	case 5, 6:
		if m.Commit > m.Base {
			s.CutAt = between(m.Base+1, m.Commit)
		}
	case 7: // a state from a leader whose log is another one
		s.InstallAt, s.InstallTerm = between(m.Commit+1, m.last()+3), m.Term
		if s.InstallAt <= m.last() || random.Intn(2) == 0 { // of the same leader it is no other log
			laterTerm()
		}
		s.Hard.Commit = s.InstallAt
		entries(s.InstallAt+1, random.Intn(3))
	case 8: // a vote
		laterTerm()
	case 9: // what was committed, alone: nothing is promised
		s.Hard.Commit = between(m.Commit, m.last())
	}
	return s
}

// again is what a leader does whose state was on its way to a node that was killed: what is committed in it stays so.
// It sends the state, or the entries, if it has them again.
func (m model) again(install step, random *rand.Rand) step {
	at := install.InstallAt
	install.Hard.Term, install.Hard.Vote = m.Term+1, 0
	install.From, install.Through, install.Term = m.Commit+1, at, install.InstallTerm
	switch lastTerm := append([]uint64{m.BaseTerm}, m.Terms...)[len(m.Terms)]; {
	case at <= m.last() && m.Terms[at-m.Base-1] == install.Term: // it has them
		install.From = at + 1
	case lastTerm >= install.Term || random.Intn(2) == 0:
		install.From = at + 1
		return install
	}
	install.InstallAt, install.Hard.Commit = 0, at
	return install
}

// after is the model behind a step.
func (m model) after(s step) model {
	switch {
	case s.CutAt != 0:
		m.BaseTerm = m.Terms[s.CutAt-m.Base-1]
		m.Terms = append([]uint64(nil), m.Terms[s.CutAt-m.Base:]...)
		m.Base = s.CutAt
		return m
	case s.InstallAt != 0:
		m.Base, m.BaseTerm, m.Terms = s.InstallAt, s.InstallTerm, nil
	}
	m.Term, m.Vote, m.Commit = s.Hard.Term, s.Hard.Vote, s.Hard.Commit
	if s.Through >= s.From {
		m.Terms = append([]uint64(nil), m.Terms[:s.From-m.Base-1]...)
		for index := s.From; index <= s.Through; index++ {
			m.Terms = append(m.Terms, s.Term)
		}
	}
	return m
}

// do does a step.
func (s *Store) do(step step) error {
	members := etcd.ConfState{Voters: []uint64{1}}
	list := entries(step.From, step.Through, step.Term, step.ByteCount)
	switch {
	case step.CutAt != 0:
		return s.Compact(step.CutAt, members, nil)
	case step.InstallAt != 0:
		return s.Install(etcd.Snapshot{Metadata: etcd.SnapMetadata{
			Index: step.InstallAt, Term: step.InstallTerm, ConfState: members}}, step.Hard, list)
	}
	return s.Save(step.Hard, list)
}

// modelOf is what a log has.
func modelOf(s *Store) model {
	m := model{Base: s.base.Metadata.Index, BaseTerm: s.base.Metadata.Term, Term: s.hard.Term, Vote: s.hard.Vote,
		Commit: s.hard.Commit}
	for index := s.FirstIndex(); index <= s.LastIndex(); index++ {
		term, _ := s.Term(index) // it is there
		m.Terms = append(m.Terms, term)
	}
	return m
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
		m := modelOf(s)
		for number := 0; number < 60; number++ {
			if random.Intn(4) > 0 {
				step := m.next(random)
				m = m.after(step)
				if err := s.do(step); err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, number, err)
				}
			} else { // a kill, or an end, and a start
				killed := copyOf(t, s.options.Directory)
				s.Close()
				if random.Intn(2) == 0 {
					killed = s.options.Directory
				}
				s = opened(t, options(killed, faults.Set{}))
				m.Commit = s.hard.Commit
			}
			if got := modelOf(s); !reflect.DeepEqual(got, m) || !isWhole(s) {
				t.Fatalf("seed %d, step %d: %+v, expected %+v", seed, number, got, m)
			}
			var sum int64
			list, _ := s.Entries(m.Base+1, m.last(), 1<<62)
			for _, entry := range list {
				sum += int64(len(entry.Data) + entryOverheadByteCount)
			}
			if m.last() > m.Base && sum != s.ByteCount() {
				t.Fatalf("seed %d, step %d: %d bytes are counted, there are %d", seed, number, s.ByteCount(), sum)
			}
		}
		s.Close()
	}
}

// Files of the log that are in use stay, which is no news.
func TestFilesInUseAreNotLogged(t *testing.T) {
	s := founded(t, 1, faults.Set{})
	defer s.Close()
	for index := uint64(2); index <= keptLogFiles+3; index++ {
		save(t, s, 1, index, entries(index, index, 1, testSegmentByteCount))
	}
	if names, _ := filepath.Glob(s.options.path(logFolder) + "/*.wal"); len(names) <= keptLogFiles {
		t.Fatalf("the log has %d files, which are not more than those that stay in any case", len(names))
	}
	core, logged := observer.New(zap.DebugLevel)
	s.options.Logger = zap.New(core)
	stop := make(chan struct{})
	close(stop)
	for err := range s.Purge(stop) {
		t.Fatal(err)
	}
	for _, each := range logged.All() {
		t.Errorf("logged: %s %s %v", each.Level, each.Message, each.ContextMap())
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
