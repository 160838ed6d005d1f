// Package jsonlines writes output for programs: one JSON value a line, in which
// nothing can control a terminal.
package jsonlines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/acptap/acptap/record/termtext"
)

// WriteAll writes one JSON object a line for each of a list.
func WriteAll[T any](w io.Writer, list []T, line func(T) any) error {
	for _, v := range list {
		if err := Write(w, line(v)); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a value as one line of JSON.
func Write(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\n", termtext.JSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
	return err
}
