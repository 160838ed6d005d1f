package main

import (
	"context"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/proxy/control"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// screenControls connects the inspector to the proxies of a store.
type screenControls struct{ store *record.Store }

func (s screenControls) Connect(ctx context.Context, tape string, tell func(screen.ControlEvent)) (screen.Control, error) {
	c := &screenControl{ctx: ctx, pings: make(chan struct{}, 1), over: make(chan struct{})}
	var err error
	c.client, err = control.Dial(ctx, control.Path(s.store.Dir(), tape), true, func(n control.Notification) {
		switch n.Kind {
		case "held":
			h := n.Held
			tell(screen.ControlEvent{Held: &screen.HeldFrame{ID: h.ID, Dir: h.Dir, Kind: h.Kind, Rule: h.Rule, Behind: h.Behind, At: h.At}})
		case "gone":
			tell(screen.ControlEvent{Gone: n.ID})
		case "hit":
			tell(screen.ControlEvent{Hit: true})
		}
	})
	if err != nil {
		return nil, err
	}
	go c.attend(tell)
	return c, nil
}

// A screenControl is the inspector's connection to a proxy.
type screenControl struct {
	ctx    context.Context // of the connection
	client *control.Client
	pings  chan struct{} // has capacity one
	over   chan struct{} // closed when attend has returned
}

// attend pings on request, and reports the end of the connection.
func (c *screenControl) attend(tell func(screen.ControlEvent)) {
	defer close(c.over)
	for {
		select {
		case <-c.pings:
			c.client.Ping(c.ctx)
		case <-c.client.Done():
			if c.ctx.Err() == nil {
				tell(screen.ControlEvent{Over: c.client.Err()})
			}
			return
		}
	}
}

func (c *screenControl) Ping() {
	select {
	case c.pings <- struct{}{}:
	default:
	}
}

func (c *screenControl) Hold(filter string) error { return c.client.Hold(c.ctx, filter, 0, 0) }

func (c *screenControl) Frame(id uint64) ([]byte, error) { return c.client.Frame(c.ctx, id) }

func (c *screenControl) Release(id uint64, line []byte) error {
	return c.client.Release(c.ctx, id, line)
}

func (c *screenControl) ReleaseAll() error { return c.client.Release(c.ctx, 0, nil) }

func (c *screenControl) Drop(id uint64) error { return c.client.Drop(c.ctx, id) }

func (c *screenControl) Answer(id uint64, result, failure []byte) error {
	return c.client.Answer(c.ctx, id, result, failure)
}

func (c *screenControl) Inject(to wire.Direction, line []byte) (answer []byte, err error) {
	return c.client.Inject(c.ctx, to, line)
}

func (c *screenControl) Rules() (list []screen.ProxyRule, err error) {
	rules, err := c.client.Rules(c.ctx)
	for _, r := range rules {
		list = append(list, screen.ProxyRule(r))
	}
	return list, err
}

func (c *screenControl) AddRule(text string) error { return c.client.AddRules(c.ctx, "", text) }

func (c *screenControl) EnableRule(name string, on bool) error {
	return c.client.EnableRule(c.ctx, name, on)
}

func (c *screenControl) Close() {
	c.client.Close()
	<-c.over
}
