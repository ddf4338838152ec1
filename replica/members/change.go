package members

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
)

// CheckName refuses names that a table, a log line or a command line could not show.
func CheckName(name string) error {
	if name == "" || len(name) > MaximumNameByteCount {
		return fmt.Errorf("name of %d bytes: expected 1 to %d", len(name), MaximumNameByteCount)
	}
	for _, c := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", c) {
			return fmt.Errorf("name %q: expected letters, digits, dots, dashes and underscores", name)
		}
	}
	return nil
}

// CheckURL refuses addresses that peers cannot use: they speak TLS, and plainly only on the machine itself.
func CheckURL(text string) error {
	if len(text) > MaximumURLByteCount {
		return fmt.Errorf("address of %d bytes exceeds the limit of %d bytes", len(text), MaximumURLByteCount)
	}
	address, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("address %q: %w", text, err)
	}
	host, port, err := net.SplitHostPort(address.Host)
	isBare := address.Path == "" && address.RawQuery == "" && address.User == nil
	if err != nil || host == "" || port == "" || !isBare {
		return fmt.Errorf("address %q: expected https://HOST:PORT", text)
	}
	switch address.Scheme {
	case "https":
		return nil
	case "http":
		if ip := net.ParseIP(host); ip == nil || ip.To4() == nil || !ip.IsLoopback() {
			return fmt.Errorf("address %q: expected https://, or http:// on 127.0.0.0/8", text)
		}
		return nil
	}
	return fmt.Errorf("address %q: expected https://HOST:PORT", text)
}

// DrawID draws a number that no member has, and no removed one had.
func (r Roster) DrawID(random io.Reader) (ID, error) {
	for {
		var b [8]byte
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return 0, fmt.Errorf("no number can be drawn: %w", err)
		}
		id := ID(binary.LittleEndian.Uint64(b[:]))
		if _, isMember := r.Members[id]; id != 0 && !isMember && !r.WasRemoved(id) {
			return id, nil
		}
	}
}

// CheckAddition refuses a member that cannot be added.
func (r Roster) CheckAddition(member Member) error {
	if err := CheckName(member.Name); err != nil {
		return err
	}
	if err := CheckURL(member.URL); err != nil {
		return err
	}
	if len(r.Members) >= MaximumMemberCount {
		return fmt.Errorf("the cluster has %d members, the limit is %d", len(r.Members), MaximumMemberCount)
	}
	for id, other := range r.Members {
		if other.Name == member.Name || other.URL == member.URL {
			return fmt.Errorf("member %s (%s) has this name or address", other.Name, id)
		}
	}
	return nil
}

// ParseList reads the members of a cluster that begins with several, as a=https://HOST:PORT,b=https://HOST:PORT.
// Each node reads the same list, so their numbers are made of it, and of the state that they begin with.
func ParseList(list string, cluster Cluster, lastIndex uint64) (Roster, error) {
	roster := Roster{}
	for _, each := range strings.Split(list, ",") {
		name, address, _ := strings.Cut(each, "=")
		member := Member{Name: name, URL: address}
		if err := roster.CheckAddition(member); err != nil {
			return Roster{}, err
		}
		seed := sha256.Sum256([]byte(fmt.Sprintf("%s %d %s %s", cluster, lastIndex, name, address)))
		id, err := roster.DrawID(bytes.NewReader(seed[:]))
		if err != nil {
			return Roster{}, err
		}
		roster.Add(id, member)
	}
	return roster, nil
}

// Encode is a member as the log has it.
func (m Member) Encode() []byte {
	b, err := json.Marshal(m)
	if err != nil {
		panic(fmt.Sprintf("member %s has no JSON: %v", m.Name, err))
	}
	return b
}

// DecodeMember reads what Encode writes.
func DecodeMember(b []byte) (Member, error) {
	var member Member
	if err := json.Unmarshal(b, &member); err != nil {
		return Member{}, fmt.Errorf("the member of a change cannot be read: %w", err)
	}
	return member, nil
}
