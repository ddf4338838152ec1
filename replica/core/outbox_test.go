package core

import (
	"fmt"
	"reflect"
	"testing"

	"feed-replica/etcd"
	"feed-replica/wire"
)

// listSource is a log in a list.
type listSource struct {
	first   uint64
	entries []etcd.Entry
	path    string
}

func (l listSource) FirstIndex() uint64 { return l.first }

func (l listSource) StatePath(index uint64) string {
	if index+1 != l.first {
		return ""
	}
	return l.path
}

func (l listSource) Entries(from, through, _ uint64) ([]etcd.Entry, error) {
	if from < l.first {
		return nil, etcd.ErrCompacted
	}
	return l.entries[from-l.first : through-l.first+1], nil
}

// told is what an outbox says until it has no more, in short.
func told(t *testing.T, o *outbox, log entrySource) (list []string) {
	t.Helper()
	for o.hasMore() {
		frames, err := o.take(5, log)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range frames {
			switch f.Kind {
			case wire.Entry:
				list = append(list, fmt.Sprintf("%d/%d:%d %s", f.Fields[0], f.Fields[1], f.Fields[2], f.Tail))
			case wire.Role:
				list = append(list, fmt.Sprintf("ROLE %d of %d from %d", f.Fields[0], f.Fields[1], f.Fields[3]))
			default:
				list = append(list, fmt.Sprintf("%s %d %s", f.Kind, f.Fields[0]+f.Fields[1], f.Tail))
			}
		}
	}
	return list
}

func logOf(first uint64, parts ...string) (log listSource) {
	log.first = first
	for i, part := range parts {
		entry := etcd.Entry{Index: first + uint64(i), Term: 3, Data: []byte(part)}
		switch part {
		case "no-op":
			entry.Data = nil
		case "members":
			entry.Type = etcd.ConfChangeEntry
		}
		log.entries = append(log.entries, entry)
	}
	return log
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, expected %q", got, want)
	}
}

// Fails if ROLE comes before the entries that the service has to have, or own batches come with bodies or
// out of order with others.
func TestRoleComesBehindTheLastEntry(t *testing.T) {
	log := logOf(11, "a", "no-op", "b", "c", "members", "d")
	var o outbox
	o.begin(10, 11)
	o.lead(3, 12)
	expect(t, told(t, &o, log), "11/3:0 a")
	o.committed = 12
	expect(t, told(t, &o, log), "12/3:2 ", "ROLE 1 of 3 from 12")
	o.committed = 16
	expect(t, told(t, &o, log), "COMMITTED 17 ", "15/3:1 ", "COMMITTED 19 ")
}

// Fails if a service that has everything is not told that it leads, or one that is deposed is told nothing.
func TestRoleIsToldWithoutEntries(t *testing.T) {
	var o outbox
	o.begin(10, 10)
	o.lead(3, 10)
	expect(t, told(t, &o, logOf(11)), "ROLE 1 of 3 from 10")
	o.follow(4, 2)
	o.lead(5, 10)
	expect(t, told(t, &o, logOf(11)), "ROLE 0 of 4 from 0", "ROLE 1 of 5 from 10")
	o.follow(6, 2)
	o.committed = 11
	expect(t, told(t, &o, logOf(11, "x")), "ROLE 0 of 6 from 0", "11/3:0 x")
}

// Fails if the own batches of an earlier term, or of a session before, come without bodies.
func TestBatchesOfOthersHaveBodies(t *testing.T) {
	log := logOf(11, "a", "b")
	log.entries[0].Term = 2
	var o outbox
	o.begin(10, 10)
	o.lead(3, 10)
	told(t, &o, log)
	o.committed = 12
	expect(t, told(t, &o, log), "11/2:0 a", "COMMITTED 15 ")
	o = outbox{}
	o.begin(10, 12)
	o.lead(3, 12)
	expect(t, told(t, &o, log), "11/2:0 a", "12/3:0 b", "ROLE 1 of 3 from 12")
}

// Fails if a service whose next entry is forgotten is not told so, once, or is told of entries behind.
func TestForgottenEntriesAreSaid(t *testing.T) {
	log := logOf(21, "a")
	for path, want := range map[string]string{"/state": "INSTALL 20 /state", "": "TOO_OLD 21 "} {
		log.path = path
		var o outbox
		o.begin(10, 21)
		expect(t, told(t, &o, log), want)
		o.committed = 22
		expect(t, told(t, &o, log))
	}
}

// Fails if HEARD piles up.
func TestOnlyTheNewestHeardIsSaid(t *testing.T) {
	var o outbox
	o.begin(10, 10)
	for i := uint64(1); i < 5; i++ {
		word := wire.New(wire.Heard, nil, i, 0)
		o.heard = &word
	}
	expect(t, told(t, &o, logOf(11)), "HEARD 4 ")
}
