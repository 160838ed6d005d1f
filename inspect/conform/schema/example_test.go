package schema_test

import (
	"fmt"

	"github.com/acptap/acptap/inspect/conform/schema"
	"github.com/acptap/acptap/proxy/dialect"
)

func ExampleShape_Check() {
	prompt := schema.Of(dialect.ACPv1, "").Params("session/prompt", true)
	prompt.Check([]byte(`{"prompt":[{"type":"text","text":7}],"model":"big"}`), func(p schema.Problem) {
		fmt.Println(p.Kind, p.Path)
	})
	// Output:
	// type prompt[0].text
	// unknown-key model
	// missing sessionId
}
