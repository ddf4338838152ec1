package members

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
)

var someCluster = Cluster{0xfe, 1}

func someIdentity() Identity {
	return Identity{Cluster: someCluster, ID: 5, Name: "e", Members: map[ID]Member{
		1: {"a", "https://a:1"}, 5: {"e", "https://e:1"},
	}}
}

// Fails if a token or a directory gives another identity than was put in, or takes what is none.
func TestIdentitiesAreKept(t *testing.T) {
	identity, folder := someIdentity(), t.TempDir()
	got, err := ParseToken(" " + identity.Token() + "\n")
	if err != nil || !reflect.DeepEqual(got, identity) {
		t.Error(got, err)
	}
	if HasIdentity(folder) {
		t.Error("an empty directory is a node")
	}
	if err := identity.Save(folder); err != nil {
		t.Fatal(err)
	}
	if got, err := LoadIdentity(folder); err != nil || !reflect.DeepEqual(got, identity) || !HasIdentity(folder) {
		t.Error(got, err)
	}
	for name, change := range map[string]func(*Identity){
		"no node":    func(i *Identity) { i.ID = 0 },
		"no cluster": func(i *Identity) { i.Cluster = Cluster{} },
		"no members": func(i *Identity) { i.Members = nil },
		"plain HTTP": func(i *Identity) { i.Members[1] = Member{"a", "http://10.0.0.1:1"} },
	} {
		identity := someIdentity()
		change(&identity)
		if _, err := ParseToken(identity.Token()); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	for _, token := range []string{"", "!", "e30", identity.Token()[1:]} {
		if _, err := ParseToken(token); err == nil {
			t.Errorf("token %q: taken", token)
		}
	}
}

// Fails if the longest token is longer than a frame carries.
func TestTokensHaveRoom(t *testing.T) {
	identity := Identity{Cluster: someCluster, Members: map[ID]Member{}}
	for i := 0; i < MaximumMemberCount; i++ {
		identity.ID = ^ID(i)
		identity.Name = strings.Repeat("n", MaximumNameByteCount)
		identity.Members[identity.ID] = Member{identity.Name, strings.Repeat("u", MaximumURLByteCount)}
	}
	if count := len(identity.Token()); count > 16<<10 {
		t.Errorf("%d bytes", count)
	}
}

// Fails if nodes of one log could have other bytes for the same members, or a removed number is drawn.
func TestRostersAreTheSameOnAllNodes(t *testing.T) {
	var a, b Roster
	for id := ID(1); id <= 5; id++ {
		a.Add(id, Member{id.String(), "https://x:1"})
		b.Add(6-id, Member{(6 - id).String(), "https://x:1"})
	}
	for _, id := range []ID{4, 2, 4} {
		a.Remove(id)
	}
	for _, id := range []ID{2, 4} {
		b.Remove(id)
	}
	if !bytes.Equal(a.Encode(), b.Encode()) {
		t.Errorf("%s and %s", a.Encode(), b.Encode())
	}
	read, err := DecodeRoster(a.Encode())
	if err != nil || !reflect.DeepEqual(read, a) {
		t.Error(read, err)
	}
	clone := a.Clone()
	clone.Remove(1)
	if len(a.Members) != 3 || a.WasRemoved(1) {
		t.Error("a clone changes its original")
	}
	numbers := []byte{
		0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0,
	}
	if id, err := a.DrawID(bytes.NewReader(numbers)); id != 9 || err != nil {
		t.Error("none, a removed one and a member were skipped, and drawn is", id, err)
	}
	if _, err := a.DrawID(bytes.NewReader(nil)); err == nil {
		t.Error("a number was drawn of nothing")
	}
}

// Fails if a cluster grows over its limit, or an address is taken that peers cannot use.
func TestAdditionsAreChecked(t *testing.T) {
	var r Roster
	for id := ID(1); id < MaximumMemberCount; id++ {
		r.Add(id, Member{id.String(), "https://x:" + id.String()})
	}
	for url, isGood := range map[string]bool{
		"https://10.0.0.1:7440": true, "https://feed.example.org:1": true, "https://[::1]:1": true,
		"http://127.0.0.1:1": true, "http://127.9.9.9:1": true,
		"http://[::1]:1": false, "http://localhost:1": false, "http://10.0.0.1:1": false, "https://10.0.0.1": false,
		"https://:1": false, "https://u@h:1": false, "https://h:1/": false, "https://h:1?q": false, "h:1": false,
		"": false, "unix:///x": false, "https://" + strings.Repeat("h", MaximumURLByteCount) + ":1": false,
	} {
		if err := r.CheckAddition(Member{"new", url}); (err == nil) != isGood {
			t.Errorf("%.40s: %v", url, err)
		}
	}
	r.Add(99, Member{"last", "https://last:1"})
	if err := r.CheckAddition(Member{"new", "https://new:1"}); err == nil || !strings.Contains(err.Error(), "the limit is 9") {
		t.Error(err)
	}
}

// Fails if nodes that read one list find other numbers, or those of a cluster of another state; or if a list is
// taken that is none.
func TestListsGiveNumbers(t *testing.T) {
	list := "a=https://a:1,b=https://b:1,c=https://c:1"
	first, err := ParseList(list, someCluster, 7)
	if err != nil || len(first.Members) != 3 {
		t.Fatal(first, err)
	}
	if second, err := ParseList(list, someCluster, 7); err != nil || !reflect.DeepEqual(first, second) {
		t.Error(second, err)
	}
	for name, other := range map[string]Roster{
		"record":  must(ParseList(list, someCluster, 8)),
		"cluster": must(ParseList(list, Cluster{1}, 7)),
		"address": must(ParseList(strings.ReplaceAll(list, ":1", ":2"), someCluster, 7)),
	} {
		for id := range other.Members {
			if _, isSame := first.Members[id]; isSame {
				t.Errorf("another %s, and %s is the number of a node of both", name, id)
			}
		}
	}
	for _, list := range []string{"", "a", "a=", "=https://a:1", "a=https://a:1,", "a=https://a:1,a=https://b:1"} {
		if _, err := ParseList(list, someCluster, 7); err == nil {
			t.Errorf("list %q: taken", list)
		}
	}
}

func must(roster Roster, err error) Roster {
	if err != nil {
		panic(err)
	}
	return roster
}

// Fails if numbers of clusters and nodes are read otherwise than they are written.
func TestNumbersAreRead(t *testing.T) {
	var cluster Cluster
	if err := cluster.UnmarshalText([]byte("FE010000-0000-0000-0000-000000000000")); err != nil || cluster != someCluster {
		t.Error(cluster, err)
	}
	if cluster.Short() != 0xfe01000000000000 {
		t.Errorf("%x", cluster.Short())
	}
	for _, text := range []string{"", "fe", "zz010000000000000000000000000000", strings.Repeat("0", 32)} {
		if cluster.UnmarshalText([]byte(text)) == nil {
			t.Errorf("cluster %q: taken", text)
		}
	}
	var id ID
	for _, text := range []string{"", "0", "g", "11111111111111111"} {
		if id.UnmarshalText([]byte(text)) == nil {
			t.Errorf("node %q: taken", text)
		}
	}
}
