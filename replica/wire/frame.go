// Package wire has the frames of the Unix socket between a service and its replica.
//
// A frame is 4 bytes with the length of what follows, 1 byte with its kind, fields of 8 bytes, and a tail of
// bytes. Numbers have their lowest byte first. The kind says how many fields there are, and how long the
// tail may be. docs/REPLICA.md, "The socket", has the same in a table, from which the other side is written.
package wire

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Frame is one frame. Fields beyond those of its kind are 0.
type Frame struct {
	Kind   Kind
	Fields [maximumFieldCount]uint64
	Tail   []byte
}

// FrameError says what is wrong with a frame, with the actual value and the limit.
type FrameError struct{ Text string }

// Error is the text.
func (e *FrameError) Error() string { return e.Text }

const (
	lengthByteCount = 4
	headByteCount   = lengthByteCount + 1
	fieldByteCount  = 8
)

// New makes a frame of a kind. To leave out or add a field is a fault of the program.
func New(kind Kind, tail []byte, fields ...uint64) Frame {
	if len(fields) != layouts[kind].fields {
		panic(fmt.Sprintf("frame %s has %d fields, got %d", kind, layouts[kind].fields, len(fields)))
	}
	frame := Frame{Kind: kind, Tail: tail}
	copy(frame.Fields[:], fields)
	return frame
}

// AppendHead appends all of a frame but its tail.
func (f Frame) AppendHead(to []byte) []byte {
	count := layouts[f.Kind].fields
	length := headByteCount - lengthByteCount + fieldByteCount*count + len(f.Tail)
	to = binary.LittleEndian.AppendUint32(to, uint32(length))
	to = append(to, byte(f.Kind))
	for _, field := range f.Fields[:count] {
		to = binary.LittleEndian.AppendUint64(to, field)
	}
	return to
}

// Append appends a whole frame.
func (f Frame) Append(to []byte) []byte { return append(f.AppendHead(to), f.Tail...) }

// ReadFrame reads one frame. It returns io.EOF only between frames; the tail belongs to the caller.
func ReadFrame(from io.Reader) (Frame, error) {
	var head [headByteCount]byte
	if _, err := io.ReadFull(from, head[:lengthByteCount]); err != nil {
		return Frame{}, err
	}
	if _, err := io.ReadFull(from, head[lengthByteCount:]); err != nil {
		return Frame{}, unexpected(err)
	}
	frame := Frame{Kind: Kind(head[lengthByteCount])}
	layout := layouts[frame.Kind]
	length := uint64(binary.LittleEndian.Uint32(head[:]))
	if layout.name == "" {
		return Frame{}, &FrameError{fmt.Sprintf("frame of %s, expected %d to %d or %d to %d", frame.Kind, byte(Hello), byte(NoCopy),
			byte(Welcome), byte(End))}
	}
	least := uint64(1 + fieldByteCount*layout.fields + layout.leastTail)
	most := uint64(1 + fieldByteCount*layout.fields + layout.mostTail)
	if most > MaximumFrameByteCount {
		most = MaximumFrameByteCount
	}
	if length < least || length > most {
		return Frame{}, &FrameError{fmt.Sprintf("frame %s of %d bytes, expected %d to %d", frame.Kind, length, least, most)}
	}
	rest := make([]byte, length-1)
	if _, err := io.ReadFull(from, rest); err != nil {
		return Frame{}, unexpected(err)
	}
	for i := 0; i < layout.fields; i++ {
		frame.Fields[i] = binary.LittleEndian.Uint64(rest[fieldByteCount*i:])
	}
	frame.Tail = rest[fieldByteCount*layout.fields:]
	return frame, nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
