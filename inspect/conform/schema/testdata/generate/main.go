// Command generate joins the JSON schemas of ACP and MCP into shapes.zst, from checkouts of
// both specifications. Of the schemas it takes what their methods refer to, without
// texts, and marks what only the unstable schema of a version of ACP has
// (x-unstable), and which members an object had once (x-removed) or has in another
// version (x-other). A line is: protocol, name, and an object
//
//	{"methods": {NAME: {"request", "notification", "result", "task": schema, "optional": true}}, "$defs": {…}}
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// A schema is a JSON schema, or a part of one.
type schema = map[string]any

func main() {
	acp := flag.String("acp", "", "`folder` with v1, v2-early, v2, each with schema.json and schema.unstable.json")
	former := flag.String("former", "", "former schemas of ACP version 1: `files` with commas between")
	mcp := flag.String("mcp", "", "`folder` with a folder for each revision, with schema.json")
	flag.Parse()
	log.SetFlags(0)

	var lines bytes.Buffer
	versions := []string{"v1", "v2-early", "v2"}
	sets := map[string]schema{}
	for _, v := range versions {
		sets[v] = ofACP(filepath.Join(*acp, v))
	}
	for _, v := range versions {
		for _, w := range versions {
			if v != w {
				markKeys(sets[v], sets[w], "x-other")
			}
		}
	}
	for _, file := range strings.FieldsFunc(*former, func(c rune) bool { return c == ',' }) {
		markKeys(sets["v1"], stripped(read(file)).(schema), "x-removed")
	}
	for _, v := range versions {
		line(&lines, "acp", v, sets[v])
	}
	files, err := filepath.Glob(filepath.Join(*mcp, "*", "schema.json"))
	if err != nil {
		log.Fatal(err)
	}
	for _, file := range files {
		line(&lines, "mcp", filepath.Base(filepath.Dir(file)), ofMCP(file))
	}
	w, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("shapes.zst", w.EncodeAll(lines.Bytes(), nil), 0o644); err != nil {
		log.Fatal(err)
	}
}

func read(file string) any {
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var s any
	if err := json.Unmarshal(text, &s); err != nil {
		log.Fatal(file, ": ", err)
	}
	return s
}

// texts are keywords that say something to readers only.
var texts = []string{
	"$comment", "contentEncoding", "default", "description", "discriminator", "examples", "format", "title", "x-docs-ignore",
}

// stripped returns a schema without texts.
func stripped(s any) any {
	switch s := s.(type) {
	case []any:
		for i := range s {
			s[i] = stripped(s[i])
		}
	case schema:
		for _, name := range texts {
			delete(s, name)
		}
		for name, value := range s {
			if of, ok := value.(schema); ok && (name == "properties" || name == "$defs" || name == "definitions") {
				for key := range of {
					of[key] = stripped(of[key])
				}
			} else if name != "enum" && name != "const" {
				s[name] = stripped(value)
			}
		}
	}
	return s
}

func defs(s schema) schema {
	for _, key := range []string{"$defs", "definitions"} {
		if of, ok := s[key].(schema); ok {
			return of
		}
	}
	return nil
}

func at(s schema, keys ...string) schema {
	for _, key := range keys {
		s, _ = s[key].(schema)
	}
	return s
}

func refer(name string) schema { return schema{"$ref": "#/$defs/" + name} }

// ofACP returns the set of a version of ACP. Every definition of params or a result
// names its method.
func ofACP(folder string) schema {
	s := stripped(read(filepath.Join(folder, "schema.unstable.json"))).(schema)
	stable := stripped(read(filepath.Join(folder, "schema.json"))).(schema)
	methods := schema{}
	for name, d := range defs(s) {
		d := d.(schema)
		method, _ := d["x-method"].(string)
		if method == "" {
			continue
		}
		kind := map[bool]string{
			strings.HasSuffix(name, "Request"): "request", strings.HasSuffix(name, "Notification"): "notification",
			strings.HasSuffix(name, "Response"): "result",
		}[true]
		delete(d, "x-method")
		delete(d, "x-side")
		if methods[method] == nil {
			methods[method] = schema{}
		}
		to := refer(name)
		if defs(stable)[name] == nil {
			to["x-unstable"] = true
		}
		methods[method].(schema)[kind] = to
	}
	for name, d := range defs(stable) {
		d := d.(schema)
		delete(d, "x-method")
		delete(d, "x-side")
		if of, ok := defs(s)[name]; ok {
			markUnstable(of, d, name)
		}
	}
	return schema{"methods": methods, "$defs": defs(s)}
}

// markUnstable marks the members and the branches that only the unstable schema has,
// and tells what else it has otherwise.
func markUnstable(unstable, stable any, path string) {
	switch u := unstable.(type) {
	case schema:
		s, ok := stable.(schema)
		if !ok {
			log.Printf("%s: the unstable schema has another form", path)
			return
		}
		for _, key := range slices.Sorted(maps.Keys(u)) {
			switch of := u[key].(type) {
			case schema:
				if key != "properties" {
					markUnstable(of, s[key], path+"."+key)
					continue
				}
				for name, p := range of {
					if sp, ok := at(s, key)[name]; ok {
						markUnstable(p, sp, path+"."+name)
					} else {
						p.(schema)["x-unstable"] = true
					}
				}
			case []any:
				if key == "anyOf" || key == "oneOf" {
					markBranches(of, s[key], path)
				} else if !reflect.DeepEqual(of, s[key]) {
					log.Printf("%s: the unstable schema has another %s: %v, %v", path, key, of, s[key])
				}
			default:
				if !reflect.DeepEqual(of, s[key]) {
					log.Printf("%s: the unstable schema has another %s: %v, %v", path, key, of, s[key])
				}
			}
		}
	}
}

func markBranches(unstable []any, stable any, path string) {
	branches, _ := stable.([]any)
	for _, b := range unstable {
		b, ok := b.(schema)
		if !ok || slices.ContainsFunc(branches, func(s any) bool { return reflect.DeepEqual(s, b) }) {
			continue
		}
		if b["not"] == nil { // the branch for all other variants lists more of them
			b["x-unstable"] = true
		}
	}
}

// markKeys lists, at each object that two schemas describe, the members that only
// the second one has.
func markKeys(s, other schema, mark string) {
	for name, d := range defs(s) {
		known := at(d.(schema), "properties")
		if known == nil {
			continue
		}
		listed, _ := d.(schema)[mark].([]any)
		for key := range at(defs(other), name, "properties") {
			if known[key] == nil && !slices.Contains(listed, any(key)) {
				listed = append(listed, key)
			}
		}
		if listed != nil {
			slices.SortFunc(listed, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
			d.(schema)[mark] = listed
		}
	}
}

// ofMCP returns the set of a revision of MCP. The definition of a request or a
// notification has its method as a constant. Its result is named after it, or, if it
// has none of its own, is the empty one; from 2026-07-28 on a definition of the
// response says what it may be.
func ofMCP(file string) schema {
	s := stripped(read(file)).(schema)
	all := defs(s)
	numbers(all)
	framed := at(all, "CallToolRequest", "properties", "jsonrpc") != nil
	methods := schema{}
	for name, d := range all {
		method, ok := at(d.(schema), "properties", "method")["const"].(string)
		request, isRequest := strings.CutSuffix(name, "Request")
		switch {
		case !ok, !isRequest && !strings.HasSuffix(name, "Notification"):
			continue
		case framed && at(d.(schema), "properties", "jsonrpc") == nil: // an entry of a result
			continue
		}
		m := schema{}
		if required, _ := d.(schema)["required"].([]any); !slices.Contains(required, any("params")) {
			m["optional"] = true
		}
		params, ok := at(d.(schema), "properties")["params"]
		if !ok {
			params = schema{"type": "object"}
		}
		if !isRequest {
			m["notification"] = params
		} else {
			m["request"] = params
			m["result"] = resultOf(all, request)
			if at(all, target(params), "properties", "task") != nil {
				m["task"] = refer("CreateTaskResult")
			}
		}
		methods[method] = m
	}
	return schema{"methods": methods, "$defs": all}
}

// numbers makes numbers of integers. The schemas are made from TypeScript, which has
// numbers only; where the two differ, nobody is at fault.
func numbers(s any) {
	switch s := s.(type) {
	case []any:
		for _, value := range s {
			numbers(value)
		}
	case schema:
		for name, value := range s {
			numbers(value)
			if list, ok := value.([]any); ok && name == "type" {
				for i := range list {
					list[i] = number(list[i])
				}
			} else if name == "type" {
				s[name] = number(value)
			}
		}
	}
}

func number(name any) any {
	if name == "integer" {
		return "number"
	}
	return name
}

func resultOf(all schema, request string) any {
	if r := at(all, request+"ResultResponse", "properties"); r != nil {
		return r["result"]
	}
	if all[request+"Result"] != nil {
		return refer(request + "Result")
	}
	return refer("EmptyResult")
}

// target returns the name of the definition that a schema refers to.
func target(s any) string {
	ref, _ := at(schema{"": s}, "")["$ref"].(string)
	return ref[strings.LastIndexByte(ref, '/')+1:]
}

// line adds the line of a set, with the definitions that its methods refer to.
func line(to *bytes.Buffer, protocol, name string, set schema) {
	used := schema{}
	var use func(any)
	use = func(s any) {
		switch s := s.(type) {
		case []any:
			for _, e := range s {
				use(e)
			}
		case schema:
			for _, value := range s {
				use(value)
			}
			if name := target(s); name != "" && used[name] == nil {
				used[name] = defs(set)[name]
				use(used[name])
			}
		}
	}
	use(set["methods"])
	text, err := json.Marshal(schema{"methods": set["methods"], "$defs": used})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Fprintf(to, "%s %s %s\n", protocol, name, bytes.ReplaceAll(text, []byte("#/definitions/"), []byte("#/$defs/")))
}
