package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// WriteJSONLines writes each element of list as a JSON object on its own line.
func WriteJSONLines[T any](w io.Writer, list []T, line func(T) any) error {
	for _, v := range list {
		if err := WriteJSON(w, line(v)); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON writes a value as one line of JSON.
func WriteJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\n", termtext.JSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
	return err
}

// Members describes the members of a JSON object that structs marshal to, for a command's
// help: one line each, with the field's help tag, in at most 80 columns. If the tag ends
// with a colon, the names of the value's members follow.
func Members(objects ...any) string {
	const widest = 16 // limit for the width of the first column
	var names, texts []string
	width := 0
	for _, object := range objects {
		for f := range reflect.TypeOf(object).Fields() {
			name, text := memberName(f), f.Tag.Get("help")
			if name == "" {
				continue
			}
			if strings.HasSuffix(text, ":") {
				text += " " + memberNames(f.Type)
			}
			names, texts = append(names, name), append(texts, text)
			width = max(width, len(name))
		}
	}
	width = min(width, widest)
	var b strings.Builder
	for i, name := range names {
		for _, line := range termtext.Wrap(texts[i], 80-width-4) {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, name, line)
			name = ""
		}
	}
	return b.String()
}

// memberName returns the name of a field in JSON, or "" if it has none.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.TrimPrefix(name, "-")
}

// memberNames lists the members of a struct, or of the structs in a list, each with its
// own members in brackets.
func memberNames(t reflect.Type) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return ""
	}
	var names []string
	for f := range t.Fields() {
		name, inner := memberName(f), memberNames(f.Type)
		if name != "" && inner != "" {
			inner = " (" + inner + ")"
		}
		if f.Anonymous || name != "" {
			names = append(names, name+inner)
		}
	}
	return strings.Join(names, ", ")
}
