package filter_test

import (
	"errors"
	"fmt"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Tracker pairs requests with responses, so that a filter can ask for latencies.
func ExampleFilter_Match() {
	slow, err := filter.Parse("method:session/* latency:>=2s")
	if err != nil {
		fmt.Println(err)
		return
	}
	request := dialect.Frame{
		Frame:      wire.Frame{Seq: 1, Kind: wire.Request},
		Annotation: dialect.Annotation{Method: "session/prompt"},
	}
	response := dialect.Frame{
		Frame:      wire.Frame{Seq: 2, At: 3_000_000_000, Kind: wire.Response},
		Annotation: dialect.Annotation{Method: "session/prompt", Request: 1},
	}
	var tracker filter.Tracker
	for _, f := range []*dialect.Frame{&request, &response} {
		subject := tracker.Observe(f)
		fmt.Println(f.Kind, slow.Match(&subject))
	}
	// Output:
	// request false
	// response true
}

func ExampleParse() {
	f, err := filter.Parse(`!is:error ( method:fs/* | "no such file" )`)
	fmt.Println(f, err)

	_, err = filter.Parse("is:error (method:fs/*")
	var wrong *filter.SyntaxError
	if errors.As(err, &wrong) {
		fmt.Println(wrong)
		fmt.Print(wrong.Caret())
	}
	// Output:
	// !is:error (method:fs/* | "no such file") <nil>
	// unmatched (
	// is:error (method:fs/*
	//          ^
}

func ExampleAdd() {
	query, _ := filter.Add("kind:request", "session", "s-1", false)
	fmt.Println(query)
	query, _ = filter.Add(query, "method", "fs/read_text_file", true)
	fmt.Println(query)
	// Output:
	// kind:request session=s-1
	// kind:request session=s-1 !method:fs/read_text_file
}
