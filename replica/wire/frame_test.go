package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"math/rand"
	"strings"
	"testing"
	"testing/iotest"
)

var cluster = []byte("0123456789abcdef")

// The bytes of every kind, as docs/REPLICA.md has them: a frame never changes, a version adds kinds.
var golden = []struct {
	frame Frame
	bytes string
}{
	{New(Hello, append(cluster[:16:16], "a:1"...), 1, 0x0203, 1, 2),
		"34000000 01 0100000000000000 0302000000000000 0100000000000000 0200000000000000" +
			"30313233343536373839616263646566 613a31"},
	{New(Propose, []byte("xy"), 7, 258), "13000000 02 0700000000000000 0201000000000000 7879"},
	{New(Durable, nil, 258), "09000000 03 0201000000000000"},
	{New(Read, nil, 9), "09000000 04 0900000000000000"},
	{New(Member, []byte("b\nu"), 7, 8, uint64(AddMember), 0),
		"24000000 05 0700000000000000 0800000000000000 0100000000000000 0000000000000000 620a75"},
	{New(Transfer, nil, 3), "09000000 06 0300000000000000"},
	{New(Status, nil, 4), "09000000 07 0400000000000000"},
	{New(Copy, []byte("/s"), 5, 6), "13000000 08 0500000000000000 0600000000000000 2f73"},
	{New(NoCopy, []byte("no"), 5), "0b000000 09 0500000000000000 6e6f"},
	{New(Welcome, cluster, 1, 2, 3, 4, 5, 6),
		"41000000 40 0100000000000000 0200000000000000 0300000000000000 0400000000000000" +
			"0500000000000000 0600000000000000 30313233343536373839616263646566"},
	{New(Entry, []byte("xy"), 258, 7, uint64(Batch)),
		"1b000000 41 0201000000000000 0700000000000000 0000000000000000 7879"},
	{New(Entry, nil, 258, 7, uint64(LeaderBegins)),
		"19000000 41 0201000000000000 0700000000000000 0200000000000000"},
	{New(Committed, nil, 7, 258), "11000000 42 0700000000000000 0201000000000000"},
	{New(Role, nil, 1, 7, 2, 258),
		"21000000 43 0100000000000000 0700000000000000 0200000000000000 0201000000000000"},
	{New(Refused, []byte("t"), 7, 258, uint64(OtherIndex)),
		"1a000000 44 0700000000000000 0201000000000000 0300000000000000 74"},
	{New(ReadOK, nil, 9), "09000000 45 0900000000000000"},
	{New(ReadNo, nil, 9), "09000000 46 0900000000000000"},
	{New(Heard, nil, 258, 1000), "11000000 47 0201000000000000 e803000000000000"},
	{New(Added, []byte("t"), 258, 2), "12000000 48 0201000000000000 0200000000000000 74"},
	{New(MemberWanted, nil, uint64(PromoteMember), 2), "11000000 49 0200000000000000 0200000000000000"},
	{New(CopyWanted, nil, 5, 258), "11000000 4a 0500000000000000 0201000000000000"},
	{New(CopyDone, nil, 5), "09000000 4b 0500000000000000"},
	{New(Install, []byte("/s"), 258), "0b000000 4c 0201000000000000 2f73"},
	{New(TooOld, nil, 258), "09000000 4d 0201000000000000"},
	{New(StatusIs, []byte("{}"), 4), "0b000000 4e 0400000000000000 7b7d"},
	{New(End, []byte("t"), uint64(Replaced)), "0a000000 4f 2000000000000000 74"},
}

func decoded(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Fails if a kind, the order of fields or the width of one changes.
func TestFramesHaveTheirBytes(t *testing.T) {
	seen := map[Kind]bool{}
	for _, each := range golden {
		seen[each.frame.Kind] = true
		want := decoded(t, each.bytes)
		if got := each.frame.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: got %x, expected %x", each.frame.Kind, got, want)
		}
		// Whole, and a byte at a time.
		for _, from := range []io.Reader{bytes.NewReader(want), iotest.OneByteReader(bytes.NewReader(want))} {
			frame, err := ReadFrame(from)
			if err != nil || frame.Kind != each.frame.Kind || frame.Fields != each.frame.Fields ||
				!bytes.Equal(frame.Tail, each.frame.Tail) {
				t.Errorf("%s: read %+v, %v", each.frame.Kind, frame, err)
			}
		}
	}
	for kind, layout := range layouts {
		if layout.name != "" && !seen[Kind(kind)] {
			t.Errorf("%s has no golden bytes", layout.name)
		}
	}
}

// Fails if a frame that ends early, is too long or has an unknown kind is taken.
func TestWrongFramesAreRefused(t *testing.T) {
	for _, each := range golden {
		whole := decoded(t, each.bytes)
		for n := range whole {
			_, err := ReadFrame(bytes.NewReader(whole[:n]))
			if n == 0 && err != io.EOF || n > 0 && err != io.ErrUnexpectedEOF {
				t.Errorf("%s cut at %d: %v", each.frame.Kind, n, err)
			}
		}
	}
	for _, text := range []string{
		"00000000 01", "01000000 00", "01000000 0a", "01000000 50", "08000000 03 00000000000000",
		"0a000000 03 0000000000000000 00", "01000001 02", "11000000 08 0500000000000000 0600000000000000",
		"0a100000 4f 0000000000000000",
	} {
		b := append(decoded(t, text), make([]byte, 8<<10)...)
		var wrong *FrameError
		if _, err := ReadFrame(bytes.NewReader(b)); !errors.As(err, &wrong) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// Fails if any bytes make the reader panic, or take more memory than a frame has.
func TestAnyBytesAreReadSafely(t *testing.T) {
	random := rand.New(rand.NewSource(3))
	for run := 0; run < 20000; run++ {
		b := make([]byte, random.Intn(80))
		random.Read(b)
		if len(b) > 4 {
			b[1], b[2], b[3] = 0, 0, 0
			b[4] &= 0x5f
		}
		frame, err := ReadFrame(bytes.NewReader(b))
		if err == nil && !bytes.HasPrefix(b, frame.Append(nil)) {
			t.Fatalf("%x was read as %+v", b, frame)
		}
	}
}
