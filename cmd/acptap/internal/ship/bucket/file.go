package bucket

import (
	"context"
	"io"
	"os"
	"path"

	"github.com/minio/minio-go/v7"
)

// A File is an object being written. Commit replaces an existing object with it; before
// that, none of it is in the bucket.
type File struct {
	*os.File // the temporary file with its content

	to          *Bucket
	key         string
	contentType string
}

// Create starts an object, which the caller must end with Commit or Discard. The address's
// prefix is added to its name.
func (b *Bucket) Create(name, contentType string) (*File, error) {
	f, err := os.CreateTemp("", "acptap-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name()) // on Windows the file stays until it is closed
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

// Discard drops an object that was not committed.
func (f *File) Discard() {
	f.Close()
	os.Remove(f.Name())
}
