package cause

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// unwrapped returns what a JSON text holds that a tool returned, in one line: an error, or the
// members that tell something, how many rows there are, and the first of them. It is empty if the
// text is no object and no array.
func unwrapped(text string) string {
	if text = strings.TrimSpace(text); text == "" || text[0] != '{' && text[0] != '[' {
		return ""
	}
	if !wire.IsJSON([]byte(text)) {
		if text = fromPython(text); !wire.IsJSON([]byte(text)) {
			return ""
		}
	}
	return contentText(wire.ValueOf(text), maxNested)
}

// fromPython returns JSON for the lists and dictionaries that a program in Python prints, unless there
// are quotes in their texts.
func fromPython(text string) string {
	if strings.Contains(text, `"`) {
		return text
	}
	return pythonWords.Replace(text)
}

var pythonWords = strings.NewReplacer(`'`, `"`, ": True", ": true", ": False", ": false", ": None", ": null")

// Limits on what is told of a JSON text.
const (
	maxNested = 4
	maxRows   = 8
)

func contentText(v wire.Value, depth int) string {
	if v.IsArray() {
		return rowsText(v)
	}
	if fault := faultText(v); fault != "" {
		return fault
	}
	inner := ""
	v.ForEach(func(_, one wire.Value) bool {
		if (one.IsObject() || one.IsArray()) && depth > 0 {
			inner = contentText(one, depth-1)
		}
		return inner == ""
	})
	return termtext.Dotted(membersText(v, true), inner)
}

// faultText returns the error that an object tells, with its code, or nothing.
func faultText(v wire.Value) string {
	fault := v.Get("error")
	if fault.IsObject() {
		v, fault = fault, fault.Get("message")
	}
	text, code := fault.Text(), v.Get("code").String()
	if text != "" && code != "" {
		text += " (" + code + ")"
	}
	return text
}

// rowsText says how many rows there are, and what the first ones hold.
func rowsText(rows wire.Value) string {
	all, sign := rows.Array(), ", "
	var list []string
	for _, row := range all[:min(len(all), maxRows)] {
		text := row.String()
		if row.IsObject() {
			text = termtext.Spaced(membersText(row, false), seriesText(row))
		}
		if text == "" {
			continue
		}
		if strings.Contains(text, " ") {
			sign = " · "
		}
		list = append(list, text)
	}
	if len(all) > maxRows {
		list = append(list, "…")
	}
	return strings.TrimSuffix(termtext.Counted(len(all), "row")+": "+strings.Join(list, sign), ": ")
}

// seriesText returns the labels and the first and the last value of a time series as Prometheus
// returns it (HTTP API, Range vectors), or nothing.
func seriesText(row wire.Value) string {
	points := row.Get("values").Array()
	if point := row.Get("value"); point.IsArray() {
		points = []wire.Value{point}
	}
	if !row.Get("metric").IsObject() || len(points) == 0 {
		return ""
	}
	value := func(point wire.Value) string {
		if pair := point.Array(); len(pair) == 2 {
			return pair[1].Text()
		}
		return ""
	}
	text := value(points[0])
	if len(points) > 1 {
		text += " → " + value(points[len(points)-1])
	}
	return termtext.Spaced(membersText(row.Get("metric"), false), text)
}

// membersText returns the plain members of an object: named, without those that only say that there
// is something, or only their values.
func membersText(v wire.Value, named bool) string {
	var list []string
	v.ForEach(func(name, one wire.Value) bool {
		switch text := one.String(); {
		case text == "", one.IsObject(), one.IsArray():
		case !named:
			list = append(list, text)
		case !slices.Contains(envelopeNames, name.Text()):
			list = append(list, name.Text()+": "+text)
		}
		return true
	})
	if named {
		return strings.Join(list, ", ")
	}
	return strings.Join(list, " ")
}

// envelopeNames are the members beside what a tool returns.
var envelopeNames = []string{"success", "ok", "status", "count", "total", "total_count", "rowCount", "has_more", "hasMore", "isError"}
