// Package bucket keeps tapes in object storage that speaks the protocol of Amazon S3: Push
// brings them there from one store, and Pull into another.
//
// An object is a tape in the portable form, packed by zstd. Its key says which one:
//
//	PREFIX/v1/AGENT/2026/11/23/TAPE-0123456789abcdef.jsonl.zst
//
// The last digits are those of the SHA-256 of the portable form. An object is written
// where none is and never changed, so any number of processes may write at once, and
// writing again does nothing. Whoever can write to the bucket can write anything: Pull
// trusts neither names nor contents. What Create writes is no tape, and is replaced when it
// is written again.
//
// The package decides neither which tapes leave the machine nor what is printed.
package bucket

import (
	"context"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// A Bucket is reached by any number of goroutines at once.
type Bucket struct {
	Address

	client minio.Core
	creds  *credentials.Credentials
}

const (
	// Patience is how long nothing may move on a connection before it is given up.
	Patience = 30 * time.Second

	// tries is how often a request is made that fails for a reason that may pass.
	tries = 3

	// workers is how many objects are on their way at once: enough for the time that a
	// server far away takes to answer, and no more than a laptop can spare.
	workers = 4

	// maxPlain is how many bytes the portable form of a tape may have.
	maxPlain = 4 << 30

	// What is packed may unpack to maxRatio times as many bytes, and freePlain more, and no
	// tape of which that is not so is packed: a few kilobytes can unpack to any number.
	maxRatio  = 1000
	freePlain = 64 << 20
)

// Open returns the bucket with an address. It asks nobody whether it is there. Credentials
// are those of the environment (AWS_ACCESS_KEY_ID and so on, else MINIO_ACCESS_KEY and so
// on), else those of the profile in ~/.aws/credentials, else those of the machine or
// container that this runs on; without any, requests are not signed.
func Open(a Address, patience time.Duration) (*Bucket, error) {
	u, err := url.Parse(a.Endpoint)
	if err != nil {
		return nil, err
	}
	chain := []credentials.Provider{&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{}}
	if os.Getenv("AWS_EC2_METADATA_DISABLED") != "true" {
		chain = append(chain, &credentials.IAM{Client: forCredentials()})
	}
	b := &Bucket{Address: a, creds: credentials.NewChainCredentials(chain)}
	b.client.Client, err = minio.New(u.Host, &minio.Options{
		Creds:      b.creds,
		Secure:     u.Scheme == "https",
		Region:     a.Region,
		Transport:  newTransport(patience),
		MaxRetries: tries,
	})
	return b, err
}

// isBounded reports whether so many bytes may unpack to size.
func isBounded(packed, size int64) bool {
	return size <= maxPlain && size <= freePlain+maxRatio*packed
}

// spread calls work for each of a list, in several goroutines, until ctx ends; and collect
// with what it returns, in the caller's goroutine.
func spread[T, R any](ctx context.Context, list []T, work func(T) R, collect func(R)) {
	results := make(chan R)
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(workers, len(list)) {
		running.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					return
				}
				results <- work(list[i])
			}
		})
	}
	go func() {
		running.Wait()
		close(results)
	}()
	for r := range results {
		collect(r)
	}
}
