package core

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// pacedChunkByteCount is read at once, so that a rate is even.
const pacedChunkByteCount = 256 << 10

// pacedFile is a file that is read at a rate, until it is cancelled.
type pacedFile struct {
	file   *os.File
	pace   *rate.Limiter
	ctx    context.Context
	cancel context.CancelFunc
	sent   atomic.Int64
	// When it was written last: the service writes it again once it has taken it back.
	modified time.Time
}

var errFileChanged = errors.New("the file was written while it was read")

func openPaced(path string, byteRate int64) (*pacedFile, int64, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", path)
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	limit := rate.Inf
	if byteRate > 0 {
		limit = rate.Limit(byteRate)
	}
	p := &pacedFile{file: file, pace: rate.NewLimiter(limit, pacedChunkByteCount), modified: info.ModTime()}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p, info.Size(), nil
}

// Read reads at the rate.
func (p *pacedFile) Read(b []byte) (int, error) {
	if len(b) > pacedChunkByteCount {
		b = b[:pacedChunkByteCount]
	}
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := p.file.Read(b)
	// At the end too: a part that is not of the same moment must not arrive as a whole.
	info, statErr := p.file.Stat()
	if statErr != nil {
		return 0, statErr
	}
	if !info.ModTime().Equal(p.modified) {
		return 0, errFileChanged
	}
	p.sent.Add(int64(n))
	if n > 0 {
		if err := p.pace.WaitN(p.ctx, n); err != nil {
			return 0, err
		}
	}
	return n, err
}

// Close gives the file back. The transport closes it twice, and takes an error for a failure of the copy.
func (p *pacedFile) Close() error {
	p.cancel()
	if err := p.file.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
