package nested

import (
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// traits are the properties that a call may share with the tool call that led to it.
type traits struct {
	meta      []string // the texts in the _meta of its request
	arguments digest   // zero if there are none
	says      excerpt  // the first text of its answer
}

// Limits on what is compared.
const (
	maxMeta      = 32  // texts of a _meta
	maxMetaText  = 256 // bytes of one of them
	maxArguments = 64 << 10
)

// traitsOf returns the traits of a request with these params.
func traitsOf(params wire.Value) traits {
	return traits{meta: texts(nil, params.Get("_meta"), maxMeta), arguments: digestOf(params.Get("arguments"))}
}

// texts appends the texts in a value, at any depth, to a list, until the list has most.
func texts(list []string, v wire.Value, most int) []string {
	if v.IsString() && v.Text() != "" && len(v.Text()) <= maxMetaText {
		return append(list, strings.Clone(v.Text()))
	}
	if v.IsObject() || v.IsArray() {
		v.ForEach(func(_, v wire.Value) bool {
			if len(list) < most {
				list = texts(list, v, most)
			}
			return len(list) < most
		})
	}
	return list
}

// A digest identifies a JSON object regardless of its spelling.
type digest [16]byte

// digestOf returns the digest of an object. It is zero if v is not an object, or is empty or
// very large.
func digestOf(v wire.Value) digest {
	if !v.IsObject() || len(v.Raw()) > maxArguments {
		return digest{}
	}
	var object map[string]any
	if json.Unmarshal([]byte(v.Raw()), &object) != nil || len(object) == 0 {
		return digest{}
	}
	text, err := json.Marshal(object) // sorts the keys
	if err != nil {
		return digest{}
	}
	sum := sha256.Sum256(text)
	return digest(sum[:len(digest{})])
}

// An excerpt holds enough of a text to find it in another.
type excerpt struct {
	begins string // its first bytes
	size   int
	whole  digest
}

const (
	excerptSize  = 64
	minContained = 8 // bytes of the shortest text for which containment counts as evidence
)

func excerptOf(text string) excerpt {
	text = strings.TrimSpace(text)
	return excerpt{strings.Clone(text[:min(len(text), excerptSize)]), len(text), sum(text)}
}

func sum(text string) digest {
	all := sha256.Sum256([]byte(text))
	return digest(all[:len(digest{})])
}

// isIn reports whether text equals or contains the excerpt's text.
func (x excerpt) isIn(text string) bool {
	text = strings.TrimSpace(text)
	if x.size == 0 || len(text) < x.size {
		return false
	}
	if len(text) == x.size {
		return sum(text) == x.whole
	}
	if x.size < minContained {
		return false
	}
	for tries := 0; tries < 16; tries++ {
		i := strings.Index(text, x.begins)
		if i < 0 || len(text)-i < x.size {
			return false
		}
		if x.size <= excerptSize || sum(text[i:i+x.size]) == x.whole {
			return true
		}
		text = text[i+1:]
	}
	return false
}

// firstText returns the first text in a list of content blocks. ACP wraps each block once
// more.
func firstText(content wire.Value) string {
	text := ""
	content.ForEach(func(_, block wire.Value) bool {
		if inner := block.Get("content"); inner.IsObject() {
			block = inner
		}
		text = block.Get("text").Text()
		return text == ""
	})
	return text
}
