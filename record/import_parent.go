package record

import (
	"slices"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// prove marks the parent in a tape's file as merely claimed, unless this Importer has
// imported it, or it is in the store and has the link. It also sets the id that the
// parent has here.
func (i *Importer) prove(p *Parent) {
	i.mu.Lock()
	here := i.ids[p.Tape]
	i.mu.Unlock()
	if here != "" {
		p.Tape = here
		return
	}
	p.Claimed = !i.store.hasLink(p.Tape, p.Link)
}

// imported adds an imported tape under its id in the file, told. Tapes that claimed it as
// their parent become nested in it if that is now proven.
func (i *Importer) imported(told, tape string, parent Parent) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.children == nil {
		i.children = map[string][]string{}
		if l, err := i.store.List(); err == nil {
			for _, info := range l.Tapes {
				if p := info.Start.Parent; p.Claimed && info.Tape != tape {
					i.children[p.Tape] = append(i.children[p.Tape], info.Tape)
				}
			}
		}
	}
	if told != "" {
		i.ids[told] = tape
	}
	if i.bundled[tape] = true; parent.Claimed {
		i.children[parent.Tape] = append(i.children[parent.Tape], tape)
	}
	if here := i.ids[parent.Tape]; parent.Claimed && here != "" { // imported at the same time
		i.adopt(parent.Tape, here)
	}
	i.adopt(told, tape)
}

// adopt nests in tape the imported tapes whose files name told as their parent. i.mu is held.
func (i *Importer) adopt(told, tape string) {
	i.children[told] = slices.DeleteFunc(i.children[told], func(child string) bool {
		own := i.bundled[child]
		return i.store.changeParent(child, func(p *Parent) bool {
			if !own && (told != tape || !i.store.hasLink(tape, p.Link)) {
				return false
			}
			p.Tape, p.Claimed = tape, false
			return true
		}) == nil
	})
}

// changeParent changes the parent of a sealed tape, if change returns true.
func (s *Store) changeParent(tape string, change func(*Parent) bool) error {
	file := s.tapeFile(tape)
	err := file.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket(bucketTape)
		if b == nil {
			return ErrDamaged
		}
		value := b.Get(keyInfo)
		var info Info
		if _, err := new(tags).decodeInfo(value, &info); err != nil {
			return err
		}
		if !change(&info.Start.Parent) {
			return ErrNoTape
		}
		return b.Put(keyInfo, encodeTags(&info, value))
	})
	if err != nil {
		return err
	}
	return s.index(tape)
}

// hasLink reports whether the agent on a tape was told to start a server with that link.
func (s *Store) hasLink(tape, link string) bool {
	if link == "" || !s.hasTape(tape) {
		return false
	}
	t, err := s.Open(tape)
	if err != nil {
		return false
	}
	for f, err := range t.Clone().Rows(1) {
		if err != nil || f.Dir != wire.ClientToAgent || f.Kind != wire.Request && f.Kind != wire.Batch || !f.Origin.Received() {
			continue
		}
		whole, err := t.Frame(f.Seq)
		if err != nil {
			continue
		}
		servers, _ := dialect.Servers(whole.Raw)
		if slices.ContainsFunc(servers, func(server dialect.Server) bool {
			return dialect.LinkOf(wire.ValueOf(whole.Raw[server.At.Start:server.At.End])) == link
		}) {
			return true
		}
	}
	return false
}
