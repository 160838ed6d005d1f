package control

import (
	"bytes"
	"runtime"
	"testing"
	"weak"

	"github.com/acptap/acptap/proxy/rule"
)

// TestOutbox: notifications that a user does not read take little memory, and lost ones are
// counted.
func TestOutbox(t *testing.T) {
	t.Run("large", func(t *testing.T) {
		c := newConn(nil, nil)
		line := bytes.Repeat([]byte("x"), 1<<20)
		kept := weak.Make(&line[0])
		c.tell(rule.Event{Held: &rule.Held{ID: 1, Raw: line}})
		line = nil
		runtime.GC()
		if kept.Value() != nil {
			t.Error("the outbox keeps a frame that it does not show")
		}
		if lines, _ := c.take(); len(lines) != 1 || !bytes.Contains(lines[0], []byte(`"size":1048576`)) {
			t.Errorf("got %s", lines)
		}
	})
	t.Run("many", func(t *testing.T) {
		c := newConn(nil, nil)
		line := bytes.Repeat([]byte("x"), 60<<10)
		for i := range uint64(500) {
			c.tell(rule.Event{Held: &rule.Held{ID: i + 1, Raw: line}})
		}
		lines, _ := c.take()
		size := 0
		for _, line := range lines {
			size += len(line)
		}
		if size > maxOutboxBytes+1<<20 || !bytes.Contains(lines[len(lines)-1], []byte(`"method":"lost"`)) {
			t.Errorf("got %d bytes, at last %.200s", size, lines[len(lines)-1])
		}
	})
}
