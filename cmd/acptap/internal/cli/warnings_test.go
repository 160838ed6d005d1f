package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// Warnings appear in order.
func TestQueueOrder(t *testing.T) {
	var b bytes.Buffer
	q := &Warnings{Stderr: &b}
	var want strings.Builder
	for i := range 100 {
		q.Print("%d", i)
		fmt.Fprintf(&want, "acptap: %d\n", i)
	}
	<-q.written
	if b.String() != want.String() {
		t.Errorf("got %q", b.String())
	}
}
