package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

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
