package bucket

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"

	"github.com/klauspost/compress/zstd"
)

// An unpacked reads the portable form of a tape from an object. It returns io.EOF only if
// the content has the hash in the object's key.
type unpacked struct {
	dec  *zstd.Decoder
	r    io.Reader // reads from dec
	hash hash.Hash
	want string
	size int64
	from *counter
}

// A counter counts the bytes that were read.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// A contentError says what is wrong with the content of an object or its transfer.
type contentError string

func (e contentError) Error() string { return string(e) }

const (
	errNotPortable contentError = "what is in it is not the portable form of a tape"
	errOtherBytes  contentError = "what is in it is not what its name says: it was changed or damaged"
	errTooMuch     contentError = "it unpacks to far more than it has, and is not read on"
)

// maxWindow limits how far back compressed data may refer, in bytes, and thereby the
// memory for unpacking. acptap itself uses at most 8 MiB.
const maxWindow = 8 << 20

// unpack starts reading an object whose key has the hash want. The caller must close the
// result.
func unpack(r io.Reader, want string) (*unpacked, error) {
	from := &counter{Reader: r}
	dec, err := zstd.NewReader(from, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, inWords(err)
	}
	u := &unpacked{dec: dec, hash: sha256.New(), want: want, from: from}
	in := bufio.NewReaderSize(dec, 64<<10)
	u.r = in
	// Other forms that an import accepts may end before the last byte has been read.
	if begins, err := in.Peek(len(header)); !bytes.Equal(begins, []byte(header)) {
		dec.Close()
		if err != nil && err != io.EOF {
			return nil, inWords(err)
		}
		return nil, errNotPortable
	}
	return u, nil
}

// header is the beginning of the portable form.
const header = `{"acptap":`

func (u *unpacked) close() { u.dec.Close() }

func (u *unpacked) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	u.hash.Write(p[:n])
	if u.size += int64(n); !isBounded(u.from.n, u.size) {
		return 0, errTooMuch
	}
	switch {
	case err == io.EOF && hexSum(u.hash.Sum(nil)) != u.want:
		return n, errOtherBytes
	case err != nil && err != io.EOF:
		return n, inWords(err)
	}
	return n, err
}

// inWords explains why bytes cannot be received or unpacked.
func inWords(err error) contentError {
	var stalled stalledError
	switch {
	case errors.As(err, &stalled):
		return contentError(stalled.Error())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early: the connection was cut, or a part of it is missing"
	case errors.Is(err, zstd.ErrMagicMismatch):
		return "it is not packed by zstd, or has extra bytes at its end"
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return contentError(fmt.Sprintf("it takes more than %d MiB of memory to unpack it", maxWindow>>20))
	}
	return contentError("it cannot be unpacked: " + err.Error())
}
