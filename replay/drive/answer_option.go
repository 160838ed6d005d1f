package drive

import (
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// chosenOption returns the option that the recorded client chose, or nil.
func chosenOption(a *recordedRequest) *trace.Option {
	id := wire.ValueOf(wire.Get(a.answer, "result", "outcome", "optionId"))
	if !id.Exists() {
		return nil
	}
	for i := range a.options {
		if a.options[i].ID == id.Text() {
			return &a.options[i]
		}
	}
	return &trace.Option{ID: id.Text()} // it was not offered
}

// optionLike returns the live option that corresponds to a recorded one: the one with the
// same id and kind, otherwise the only one of the same kind, otherwise the only one with
// the same name. An option that rejects never corresponds to one that allows. An option
// that always allows never corresponds by name alone.
func optionLike(then trace.Option, now []trace.Option) *trace.Option {
	allows := func(o *trace.Option) bool { return !strings.HasPrefix(o.Kind, "reject_") }
	fits := []func(o *trace.Option) bool{
		func(o *trace.Option) bool { return o.ID == then.ID && o.Kind == then.Kind },
		func(o *trace.Option) bool { return o.Kind == then.Kind },
		func(o *trace.Option) bool {
			return o.Name != "" && o.Name == then.Name && allows(o) == allows(&then) && o.Kind != "allow_always"
		},
	}
	for _, fit := range fits {
		if o := only(now, fit); o != nil {
			return o
		}
	}
	return nil
}
