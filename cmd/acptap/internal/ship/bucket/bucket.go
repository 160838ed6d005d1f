// Package bucket keeps tapes in object storage that speaks the protocol of Amazon S3: Push
// copies them there from one store, and Pull copies them to another.
//
// An object is a tape in the portable form, compressed by zstd. Its key identifies the
// tape:
//
//	PREFIX/v1/AGENT/2026/11/23/TAPE-0123456789abcdef.jsonl.zst
//
// The last digits are those of the SHA-256 of the portable form. Push creates objects but
// never changes them, so any number of processes may push concurrently, and pushing again
// does nothing. Anyone who can write to the bucket can write anything, so Pull trusts
// neither names nor contents. Objects written by Create are not tapes; writing them again
// replaces them.
//
// The package decides neither which tapes leave the machine nor what to print.
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

// A Bucket is safe for concurrent use.
type Bucket struct {
	Address

	client minio.Core
	creds  *credentials.Credentials
}

const (
	// Patience limits how long a connection may make no progress.
	Patience = 30 * time.Second

	// tries limits how often a request is tried that fails for a transient reason.
	tries = 3

	// workers is the number of objects transferred concurrently: enough to hide the
	// latency of a distant server, and no more than a laptop can spare.
	workers = 4

	// maxPlain limits the size of the portable form of a tape, in bytes.
	maxPlain = 4 << 30

	// An object may unpack to at most maxRatio times its size plus freePlain bytes,
	// because a few kilobytes could unpack to any size. Tapes that exceed this are not
	// packed.
	maxRatio  = 1000
	freePlain = 64 << 20
)

// Open returns the bucket at an address, without checking that it exists. It takes
// credentials from the environment (AWS_ACCESS_KEY_ID and so on, or MINIO_ACCESS_KEY and so
// on), from the profile in ~/.aws/credentials, or from the machine or container that it
// runs on; if there are none, requests are not signed.
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

// isBounded reports whether packed bytes may unpack to size.
func isBounded(packed, size int64) bool {
	return size <= maxPlain && size <= freePlain+maxRatio*packed
}

// spread calls work for each element of list in several goroutines, until ctx ends. It
// calls collect with each result in the caller's goroutine.
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
