package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/acptap/acptap/record/termtext"
)

// writeJSON writes one JSON object a line.
func writeJSON[T any](w io.Writer, list []T, line func(T) any) error {
	for _, v := range list {
		if err := writeValue(w, line(v)); err != nil {
			return err
		}
	}
	return nil
}

// writeValue writes a value as one line of JSON.
func writeValue(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\n", termtext.JSON(bytes.TrimSuffix(b.Bytes(), []byte("\n"))))
	return err
}
