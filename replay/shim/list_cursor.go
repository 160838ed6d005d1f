package shim

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"hash/fnv"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// A cursor names the last session on a page of a list from the store, and has a hash of the
// directory by which the list is filtered. Without an ID it is the beginning of the list.
type cursor struct {
	Seconds int64  `json:"s"` // time of the session's last frame, since 1970
	Nanos   int    `json:"n"`
	ID      string `json:"i"`
	Filter  uint32 `json:"f"`
}

// updated returns the time of the session's last frame.
func (c cursor) updated() time.Time { return time.Unix(c.Seconds, int64(c.Nanos)) }

// cursorPrefix distinguishes the shim's cursors from the agent's.
const cursorPrefix = "acptap:"

func filterHash(cwd string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(cwd))
	return h.Sum32()
}

// json returns the cursor as a JSON string for the client.
func (c cursor) json() []byte {
	text, err := json.Marshal(c)
	if err != nil {
		panic("shim: " + err.Error()) // numbers and text
	}
	return wire.Quote(cursorPrefix + base64.RawURLEncoding.EncodeToString(text))
}

// parseCursor parses a cursor that json has made.
func parseCursor(text string) (c cursor, err error) {
	text, own := strings.CutPrefix(text, cursorPrefix)
	if !own {
		return c, errors.New("not a cursor of acptap")
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	return c, err
}

// hasOwnCursor reports whether a session/list continues a list from the store.
func hasOwnCursor(m message) bool {
	_, err := parseCursor(m.param("cursor").Text())
	return err == nil
}
