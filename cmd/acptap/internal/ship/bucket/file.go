package bucket

import (
	"context"
	"io"
	"os"
	"path"

	"github.com/minio/minio-go/v7"
)

// A File is an object that is being written. It is there after Commit, in the place of one
// that was there before, and until then nothing of it is.
type File struct {
	*os.File // with what is to be in it

	to          *Bucket
	key         string
	contentType string
}

// Create begins an object, which Commit or Discard ends. Its name stands behind the prefix of
// the address.
func (b *Bucket) Create(name, contentType string) (*File, error) {
	f, err := os.CreateTemp("", "acptap-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // on Windows it stays until it is closed
	return &File{f, b, path.Join(b.Prefix, name), contentType}, nil
}

// Commit writes the object.
func (f *File) Commit(ctx context.Context) error {
	defer f.Discard()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	_, err = f.to.client.Client.PutObject(ctx, f.to.Bucket, f.key, io.NewSectionReader(f, 0, size), size, minio.PutObjectOptions{
		ContentType:      f.contentType,
		DisableMultipart: true, // all at once or not at all
	})
	return f.to.explain(ctx, err)
}

// Discard gives up what was written and not committed.
func (f *File) Discard() {
	f.Close()
	os.Remove(f.Name())
}
