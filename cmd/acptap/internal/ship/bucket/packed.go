package bucket

import (
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"

	"github.com/acptap/acptap/record"
)

// A packed is the content of an object in a temporary file. The key contains its hash, so
// all of it must exist before the first byte is sent.
type packed struct {
	*os.File
	size int64
	sum  string
}

// pack writes the portable form of a tape. It ends early when stopped returns an error. The
// caller must close the result.
func pack(tape *record.Tape, raw bool, stopped func() error) (*packed, error) {
	f, err := os.CreateTemp("", "acptap-push-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // on Windows the file stays until it is closed
	p := &packed{File: f}
	if err := p.fill(tape, raw, stopped); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

func (p *packed) fill(tape *record.Tape, raw bool, stopped func() error) error {
	enc, err := zstd.NewWriter(p.File, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return err
	}
	plain := &summed{w: enc, sum: sha256.New(), stopped: stopped}
	if err := tape.Export(plain, raw); err != nil {
		enc.Close()
		return err
	}
	if err := enc.Close(); err != nil {
		return err
	}
	p.sum = hexSum(plain.sum.Sum(nil))
	if p.size, err = p.Seek(0, io.SeekCurrent); err == nil && !isBounded(p.size, plain.size) {
		err = errTooDense
	}
	return err
}

// Close removes the file.
func (p *packed) Close() error {
	err := p.File.Close()
	os.Remove(p.Name())
	return err
}

// A summed passes on the portable form, and computes its hash and size.
type summed struct {
	w       io.Writer
	sum     hash.Hash
	size    int64
	stopped func() error
}

// Errors for tapes that no other store would accept.
var (
	errTooLong  = errors.New("it has more than 4 GiB in the portable form; acptap export writes it to a file")
	errTooDense = errors.New("it is so uniform that acptap pull would not unpack it; acptap export writes it to a file")
)

func (s *summed) Write(p []byte) (int, error) {
	if err := s.stopped(); err != nil {
		return 0, err
	}
	if s.size += int64(len(p)); s.size > maxPlain {
		return 0, errTooLong
	}
	s.sum.Write(p)
	return s.w.Write(p)
}
