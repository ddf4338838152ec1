package core

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"go.uber.org/zap"

	"feed-replica/wire"
)

// Limits of the socket.
const (
	maximumConnectionCount = 16 // one is the service; others ask for the status
	readBufferByteCount    = 64 << 10
	writeBufferByteCount   = 256 << 10
	kernelBufferByteCount  = 1 << 20
	socketMode             = 0o660
	lastWordPatience       = time.Second
)

// Listener is the Unix socket that the service speaks to.
type Listener struct {
	core     *Core
	listener *net.UnixListener
	open     sync.WaitGroup
	slots    chan struct{}
}

// Listen opens the socket. What is left of an earlier process is replaced; another process is not.
func Listen(core *Core, path string) (*Listener, error) {
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
		return nil, fmt.Errorf("--socket: another process listens on %s", path)
	}
	// Other errors are those of a process that lives, as that too many wait for it.
	if errors.Is(err, syscall.ECONNREFUSED) {
		if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
			os.Remove(path) // if it cannot be removed, Listen says why
		}
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("--socket: %w", err)
	}
	if err := os.Chmod(path, socketMode); err != nil {
		listener.Close()
		return nil, fmt.Errorf("--socket: %w", err)
	}
	return &Listener{core: core, listener: listener, slots: make(chan struct{}, maximumConnectionCount)}, nil
}

// Serve takes connections until Close. It returns nil after that.
func (l *Listener) Serve() error {
	for {
		conn, err := l.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("--socket: %w", err)
		}
		select {
		case l.slots <- struct{}{}:
		default:
			l.core.logger.Warn("a connection of the socket is refused", zap.Int("limit", maximumConnectionCount))
			conn.Close()
			continue
		}
		l.open.Add(2)
		c := &connection{core: l.core, conn: conn, session: newSession(l.core.options.Now())}
		c.session.onEnd = func() { conn.SetWriteDeadline(time.Now().Add(lastWordPatience)) }
		go func() {
			defer l.open.Done()
			c.read()
			<-l.slots
		}()
		go func() {
			defer l.open.Done()
			c.write()
		}()
	}
}

// Close ends the listener, and waits for the last words of its connections.
func (l *Listener) Close() {
	l.listener.Close()
	closed := make(chan struct{})
	go func() {
		l.open.Wait()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(lastWordPatience):
	}
}

// connection moves the bytes of a session.
type connection struct {
	core    *Core
	conn    *net.UnixConn
	session *session
}

// read hands frames to the core. As it waits for the core, the socket fills, and the service waits.
func (c *connection) read() {
	// Without larger buffers a batch takes more turns, and nothing else.
	_ = c.conn.SetReadBuffer(kernelBufferByteCount)
	_ = c.conn.SetWriteBuffer(kernelBufferByteCount)
	err := c.readFrames()
	var wrong *wire.FrameError
	if errors.As(err, &wrong) {
		c.core.logger.Warn("the service said something wrong", zap.Error(err))
		c.session.end(lastWord(wire.BadFrame, err.Error()))
	} else {
		c.session.end(stops())
	}
	done := make(chan struct{})
	select {
	case c.core.requests <- request{session: c.session, isEnd: true, done: done}:
		select {
		case <-done:
		case <-c.core.done:
		}
	case <-c.core.done:
	}
}

func (c *connection) readFrames() error {
	from := bufio.NewReaderSize(c.conn, readBufferByteCount)
	for {
		frame, err := wire.ReadFrame(from)
		if err != nil {
			return err
		}
		c.session.heardAt(c.core.options.Now())
		select {
		case c.core.requests <- request{session: c.session, frame: frame}:
		case <-c.core.done:
			return io.EOF
		}
	}
}

// write says what the outbox has, until the session ends.
func (c *connection) write() {
	defer c.conn.Close()
	to := bufio.NewWriterSize(c.conn, writeBufferByteCount)
	node := uint64(c.core.options.Identity.ID)
	head := make([]byte, 0, 64)
	for {
		frames, isLast, err := c.session.next(node, c.core.store)
		if err != nil {
			c.core.logger.Error("the service cannot be told", zap.Error(err))
			return
		}
		for i := range frames {
			head = frames[i].AppendHead(head[:0])
			to.Write(head) // an error stays, and comes out of Flush
			to.Write(frames[i].Tail)
		}
		if isLast || !c.session.hasMore() {
			if err := to.Flush(); err != nil || isLast {
				return
			}
		}
	}
}

// next waits for what is to be said. The last frames of an ended session are its notice alone.
func (s *session) next(node uint64, log entrySource) (frames []wire.Frame, isLast bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.isEnded && !s.outbox.hasMore() {
		s.wake.Wait()
	}
	if s.isEnded {
		return []wire.Frame{*s.notice}, true, nil
	}
	frames, err = s.outbox.take(node, log)
	return frames, false, err
}

func (s *session) hasMore() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isEnded || s.outbox.hasMore()
}
