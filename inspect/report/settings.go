package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A newValue says that a session's mode, or one of its options, got another value.
type newValue struct {
	run     int
	seq     uint64
	at      time.Duration
	untimed bool
	what    string // mode, or the option's name
	text    string // both values
}

// settings holds what is known about the modes and options of the sessions.
type settings struct {
	now     map[string]map[string]string // value by id of the mode or option, by session
	names   map[string]string            // of values, by id
	changes map[string][]newValue        // by session
}

// modeID is the id of the mode, which no option has.
const modeID = "\x00mode"

// take processes a frame that the trace has.
func (s *settings) take(run int, f *dialect.Frame, t *trace.Trace) {
	opens := f.Kind == wire.Response && f.Does(dialect.Opens)
	if !opens && f.Update != "current_mode_update" && f.Update != "config_option_update" &&
		(f.Kind != wire.Response || !f.Does(dialect.SetsMode|dialect.SetsOption)) {
		return
	}
	i := slices.IndexFunc(t.Sessions, func(one *trace.Session) bool { return one.ID == f.Session })
	if i < 0 {
		return
	}
	if s.now == nil {
		s.now, s.names, s.changes = map[string]map[string]string{}, map[string]string{}, map[string][]newValue{}
	}
	state, now := &t.Sessions[i].Conversation.State, map[string]string{}
	if opens {
		for _, mode := range wire.ValueAt(f.Raw, "result.modes.availableModes").Array() {
			s.names[modeID+mode.Get("id").Text()] = mode.Get("name").Text()
		}
	}
	if state.Mode != "" {
		now[modeID], s.names[modeID] = state.Mode, "mode"
	}
	for _, o := range wire.ValueOf(state.Config).Array() {
		id := o.Get("id").Text()
		now[id], s.names[id] = o.Get("currentValue").Text(), o.Get("name").Text()
		for _, value := range o.Get("options").Array() {
			s.names[id+value.Get("value").Text()] = value.Get("name").Text()
		}
	}
	before := s.now[f.Session]
	s.now[f.Session] = now
	for id, value := range now {
		if was := before[id]; was != "" && was != value && value != "" && len(s.changes[f.Session]) < maxEntities {
			s.changes[f.Session] = append(s.changes[f.Session], newValue{run, f.Seq, f.At, f.Untimed, termtext.Piece(cmp.Or(s.names[id], id)), s.name(id, was) + " → " + s.name(id, value)})
		}
	}
	slices.SortStableFunc(s.changes[f.Session], func(a, b newValue) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.seq, b.seq), cmp.Compare(a.what, b.what))
	})
}

// name returns what people call a value.
func (s *settings) name(id, value string) string {
	return termtext.Piece(cmp.Or(s.names[id+value], value))
}

// withChanges returns items with what changed in a turn, in order.
func (r *reader) withChanges(session string, t *trace.Turn, items []item) []item {
	for _, c := range r.settings.changes[session] {
		if c.run != t.Run || c.seq < t.Prompt || !t.Open() && c.seq > t.End {
			continue
		}
		one := item{Kind: "change", Frame: r.frame(c.run, c.seq), Title: termtext.Labelled(c.what, c.text)}
		if !c.untimed {
			one.At = since(t, c.at)
		}
		i := slices.IndexFunc(items, func(o item) bool { return o.Frame.tape == one.Frame.tape && o.Frame.seq > c.seq })
		if i < 0 {
			i = len(items)
		}
		items = slices.Insert(items, i, one)
	}
	return items
}
