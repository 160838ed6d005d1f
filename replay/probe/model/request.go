package model

import (
	"net/http"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// An endpoint is an API endpoint of a model, identified by the end of its path.
type endpoint struct {
	suffix, api string
	stream      bool // answers are always streamed
	tokens      bool // it only counts tokens
}

var endpoints = []endpoint{
	{suffix: "/messages", api: "anthropic"},
	{suffix: "/messages/count_tokens", api: "anthropic", tokens: true},
	{suffix: "/chat/completions", api: "chat"},
	{suffix: "/responses", api: "responses"},
	{suffix: ":generateContent", api: "gemini"},
	{suffix: ":streamGenerateContent", api: "gemini", stream: true},
	{suffix: ":countTokens", api: "gemini", tokens: true},
}

// A question is an agent's request to its model.
type question struct {
	endpoint
	model  string
	tools  []tool
	schema wire.Value // the required format of the answer; none: text
	forced bool       // the model must call a tool
}

// A tool is a tool that an agent offers to its model.
type tool struct {
	name   string
	space  string // the namespace of the tool in the API responses, or ""
	schema wire.Value
}

// ask parses a request. ok is false if no endpoint matches.
func ask(r *http.Request, body []byte) (q question, ok bool) {
	i := slices.IndexFunc(endpoints, func(e endpoint) bool { return strings.HasSuffix(r.URL.Path, e.suffix) })
	if i < 0 || r.Method != http.MethodPost || !wire.IsJSON(body) {
		return q, false
	}
	v := wire.ValueOf(body)
	q = question{endpoint: endpoints[i], model: v.Get("model").Text(), tools: tools(v.Get("tools"))}
	q.stream = q.stream || v.Get("stream").IsTrue()
	if q.model == "" {
		_, name, _ := strings.Cut(r.URL.Path, "/models/")
		q.model = strings.TrimSuffix(name, q.suffix)
	}
	q.schema = first(v, "response_format.json_schema.schema", "text.format.schema", "output_config.format.schema", "output_format.schema",
		"generationConfig.responseJsonSchema", "generationConfig.responseSchema")
	q.forced = v.Get("tool_choice.type").Text() == "tool" || v.Get("tool_choice.type").Text() == "function" || v.Get("toolConfig.functionCallingConfig.mode").Text() == "ANY"
	return q, true
}

// first returns the first of paths that exists in v.
func first(v wire.Value, paths ...string) wire.Value {
	for _, path := range paths {
		if got := v.Get(path); got.Exists() {
			return got
		}
	}
	return wire.Value{}
}

// tools reads a list of tools. The APIs use different members for it, but none uses such a
// member for anything else.
func tools(list wire.Value) (all []tool) {
	for _, v := range list.Array() {
		group := first(v, "functionDeclarations", "function_declarations", "tools")
		if !group.IsArray() {
			all = appendTool(all, v, "")
			continue
		}
		for _, inner := range group.Array() {
			all = appendTool(all, inner, v.Get("name").Text())
		}
	}
	return all
}

func appendTool(all []tool, v wire.Value, space string) []tool {
	if f := v.Get("function"); f.IsObject() {
		v = f
	}
	t := tool{v.Get("name").Text(), space, first(v, "input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema")}
	if t.name == "" || !t.schema.IsObject() {
		return all
	}
	return append(all, t)
}
