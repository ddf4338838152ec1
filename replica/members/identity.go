package members

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Cluster is the number of a cluster: the instance id of the state that it was made of.
type Cluster [16]byte

// String is the number in 32 hexadecimal digits.
func (c Cluster) String() string { return hex.EncodeToString(c[:]) }

// Short is the part that the transport between peers compares.
func (c Cluster) Short() uint64 { return binary.BigEndian.Uint64(c[:8]) }

// MarshalText is String.
func (c Cluster) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what String writes, also with the dashes of a UUID.
func (c *Cluster) UnmarshalText(text []byte) error {
	b, err := hex.DecodeString(strings.ReplaceAll(string(text), "-", ""))
	if err != nil || len(b) != len(c) {
		return fmt.Errorf("cluster %q: expected 32 hexadecimal digits", text)
	}
	copy(c[:], b)
	if *c == (Cluster{}) {
		return fmt.Errorf("cluster %q: expected a number other than 0", text)
	}
	return nil
}

// Identity is who a node is. It lives in the node's directory and never in a configuration: a node whose
// directory was wiped has none, and cannot come back as the voter that it was.
type Identity struct {
	Cluster Cluster       `json:"cluster"`
	ID      ID            `json:"node"`
	Name    string        `json:"name"`
	Members map[ID]Member `json:"members"` // whom a node that joins asks; the log knows better
}

const identityName = "node.json"

// Token is the identity as one word, which the leader gives to a node that is added.
func (i Identity) Token() string {
	b, err := json.Marshal(i)
	if err != nil {
		panic(fmt.Sprintf("node %s has no JSON: %v", i.ID, err))
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// ParseToken reads a token.
func ParseToken(token string) (Identity, error) {
	b, err := base64.RawURLEncoding.DecodeString(strings.TrimSpace(token))
	if err != nil {
		return Identity{}, fmt.Errorf("the token cannot be read: %w", err)
	}
	return parseIdentity(b, "the token")
}

func parseIdentity(b []byte, what string) (Identity, error) {
	var identity Identity
	decoder := json.NewDecoder(bytes.NewReader(b))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&identity); err != nil {
		return Identity{}, fmt.Errorf("%s cannot be read: %w", what, err)
	}
	if identity.ID == 0 || identity.Cluster == (Cluster{}) || len(identity.Members) == 0 {
		return Identity{}, fmt.Errorf("%s: expected a cluster, a node and members", what)
	}
	for _, member := range identity.Members {
		if err := CheckURL(member.URL); err != nil {
			return Identity{}, fmt.Errorf("%s: member %s: %w", what, member.Name, err)
		}
	}
	return identity, nil
}

// HasIdentity says whether a directory is a node's.
func HasIdentity(directory string) bool {
	_, err := os.Lstat(filepath.Join(directory, identityName))
	return err == nil
}

// LoadIdentity reads who the node of a directory is.
func LoadIdentity(directory string) (Identity, error) {
	path := filepath.Join(directory, identityName)
	b, err := os.ReadFile(path)
	if err != nil {
		return Identity{}, err
	}
	return parseIdentity(b, path)
}

// Save writes the identity, whole or not at all. It is the last thing that makes a directory a node's.
func (i Identity) Save(directory string) error {
	b, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("node %s has no JSON: %v", i.ID, err))
	}
	path := filepath.Join(directory, identityName)
	file, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(append(b, '\n')); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	folder, err := os.Open(directory)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
