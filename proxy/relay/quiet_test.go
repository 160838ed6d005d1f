package relay

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestQuietSocket: a silent WebSocket does not count as idle.
func TestQuietSocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := connections{begin: func(Facts) *tape { return new(tape) }}
		c, _ := s.enter(question{upgrade: true})
		s.answered(c)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		if c.ended != "" {
			t.Errorf("ended: %s", c.ended)
		}
		s.over(c, becauseSocket)
		s.leave(c)
		s.close("end")
		if c.ended != becauseSocket || len(s.all) != 0 {
			t.Errorf("ended: %q, %d connections are left", c.ended, len(s.all))
		}
	})
}
