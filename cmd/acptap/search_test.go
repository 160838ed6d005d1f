package main

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"
)

// A search that is interrupted says so, and that is no answer.
func TestSearchInterrupted(t *testing.T) {
	store := t.TempDir()
	var stdout, stderr bytes.Buffer
	tape := filepath.Join("..", "..", "testdata", "tapes", "acp-go-sdk.jsonl")
	if code := run(t.Context(), []string{"import", "--store", store, tape}, nil, &stdout, &stderr); code != 0 {
		t.Fatalf("import: status %d: %s", code, &stderr)
	}
	stdout.Reset()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code := run(ctx, []string{"search", "--store", store, "kind:request"}, nil, &stdout, &stderr)
	if code != 2 || stdout.Len() > 0 || stderr.String() != "acptap: interrupted\n" {
		t.Errorf("status %d, stdout %q, stderr %q", code, &stdout, &stderr)
	}
}
