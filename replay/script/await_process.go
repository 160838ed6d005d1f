package script

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// awaitProcess waits until the process or its children exit, or until a server sees something.
func (p *Player) awaitProcess(ctx context.Context, s *Step, o *Outcome) {
	if s.Verb == Echo {
		p.awaitEcho(ctx, s, o)
		return
	}
	if p.Process == nil {
		o.Got = "there is no process to watch"
		return
	}
	limit := time.NewTimer(s.Within)
	defer limit.Stop()
	if s.Verb == Exits {
		if p.awaitExit(ctx, limit.C) {
			o.State = Met
		} else {
			o.State, o.Got, o.Late = Missed, fmt.Sprintf("it still ran %v later", s.Within), true
		}
		return
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		left := p.Process.Children()
		if len(left) == 0 {
			o.State = Met
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			o.Got = "it was interrupted"
			return
		case <-limit.C:
			o.State, o.Late = Missed, true
			o.Got = fmt.Sprintf("%s still ran %v later: %s", count(len(left), "process"), s.Within, strings.Join(left, ", "))
			return
		}
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ses", n, what)
}

// awaitExit reads the output of the process until it exits.
func (p *Player) awaitExit(ctx context.Context, limit <-chan time.Time) bool {
	lines := p.In
	for {
		if p.ended {
			lines = nil
		}
		select {
		case <-p.Process.Exited():
			return true
		case line, ok := <-lines:
			if ok {
				p.take(line)
			} else {
				p.ended = true
			}
		case <-limit:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

func (p *Player) awaitEcho(ctx context.Context, s *Step, o *Outcome) {
	if p.Setting == nil {
		o.Got = "no servers here"
		return
	}
	limited, cancel := context.WithTimeout(ctx, s.Within)
	defer cancel()
	type result struct {
		missing []string
		err     error
	}
	done := make(chan result, 1)
	go func() {
		missing, err := p.Setting.Echo(limited, s.Words)
		done <- result{missing, err}
	}()
	for {
		select {
		case r := <-done:
			switch {
			case r.err != nil:
				o.Got = r.err.Error()
			case len(r.missing) == 0:
				o.State, o.Got = Met, "saw "+strings.Join(s.Words, ", ")
			case ctx.Err() != nil:
				o.Got = "it was interrupted"
			default:
				o.State, o.Late = Missed, true
				o.Got = fmt.Sprintf("not %s in %v", strings.Join(r.missing, ", "), s.Within)
			}
			return
		case line, ok := <-p.open():
			if ok {
				p.take(line)
			} else {
				p.ended = true
			}
		}
	}
}

// awaitClose waits until the other side closes its output.
func (p *Player) awaitClose(ctx context.Context, s *Step, o *Outcome) {
	limit := time.NewTimer(s.Within)
	defer limit.Stop()
	for p.receive(ctx, limit.C) {
	}
	switch {
	case p.ended:
		o.State, o.Got = Met, "it closed the connection"
	case ctx.Err() != nil:
		o.Got = "it was interrupted"
	default:
		o.State, o.Got, o.Late = Missed, fmt.Sprintf("it was still connected %v later", s.Within), true
	}
}

// open returns the lines of the other side, or nil after the last one.
func (p *Player) open() <-chan []byte {
	if p.ended {
		return nil
	}
	return p.In
}
