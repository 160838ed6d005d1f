package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Tables in a bucket are those in a directory.
func TestTablesInBucket(t *testing.T) {
	var mu sync.Mutex
	put := map[string][]byte{}
	storage(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				put[r.URL.Path] = body
				mu.Unlock()
				r.Body = io.NopCloser(bytes.NewReader(body))
			}
			h.ServeHTTP(w, r)
		})
	})
	store, dir := t.TempDir(), t.TempDir()
	must(t, 0, "import", "--store", store, "../../testdata/nested")
	must(t, 0, "export", "--store", store, "--format", "parquet", "-o", dir, "--all")
	must(t, 0, "export", "--store", store, "--format", "parquet", "-o", "s3://tapes/a/b", "--all")
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.parquet"))
	if err != nil || len(files) < 8 || len(files) != len(put) {
		t.Fatalf("%d objects, %d files: %v", len(put), len(files), err)
	}
	for _, file := range files {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		key := "/tapes/a/b" + filepath.ToSlash(strings.TrimPrefix(file, dir))
		if !bytes.Contains(put[key], want) { // the client may sign it in chunks
			t.Errorf("%s: %d bytes, want %d", key, len(put[key]), len(want))
		}
	}
}
