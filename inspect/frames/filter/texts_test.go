package filter_test

import (
	"fmt"
	"testing"

	"github.com/acptap/acptap/inspect/frames/filter"
)

func TestTexts(t *testing.T) {
	for query, want := range map[string]string{
		"":                        "[] []",
		"method:fs/* latency:>2s": "[] []",
		`"no such" !file text~a+`: "[no such] [a+]",
		`(one | text=two) !(three | four) kind:request`: "[one two] []",
		`.params.path:mean .params.n>3 .a=x .b~y$`:      "[mean x] [y$]",
	} {
		f, err := filter.Parse(query)
		if err != nil {
			t.Fatal(err)
		}
		texts, expressions := f.Texts()
		if got := fmt.Sprint(texts, expressions); got != want {
			t.Errorf("%s: got %s, want %s", query, got, want)
		}
	}
}
