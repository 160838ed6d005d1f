package screen

import (
	"fmt"

	"github.com/acptap/acptap/record"
)

// keyTable returns all keys by subject, in the order of their explanations. The key page
// and the help topic are generated from it.
func keyTable() []keyGroup {
	return []keyGroup{
		{"Move", []key{
			{[]string{"j", "Down"}, anywhere, "down, up", nil, func(a *app) { a.move(1) }},
			{[]string{"k", "Up"}, anywhere, asBefore, nil, func(a *app) { a.move(-1) }},
			{[]string{"^D", "PgDn"}, anywhere, "a page down, up", nil, func(a *app) { a.turnPages(1) }},
			{[]string{"^U", "PgUp"}, anywhere, asBefore, nil, func(a *app) { a.turnPages(-1) }},
			{[]string{"g", "Home"}, anywhere, "to the first, the last", nil, func(a *app) { a.toEnd(false) }},
			{[]string{"G", "End"}, anywhere, asBefore, nil, func(a *app) { a.toEnd(true) }},
			{[]string{"Tab"}, inFrames, "list or frame", nil, (*app).otherPart},
			{[]string{"Tab"}, inTapes | inChat | inTurns | inFindings | inDetails, "list, or details beside it", nil, (*app).otherPart},
			{[]string{"Enter", "Space"}, inDetails, "open; fold, unfold", says("open"), (*app).openDetail},
			{[]string{"Esc"}, inDetails, "end the search; back to the list", says("back"), (*app).leaveDetails},
			{[]string{"Enter"}, inList, "into the frame", says("open"), (*app).intoPane},
			{[]string{"Enter"}, inTapes, "open the tape or session", says("open"), (*app).enterLine},
			{[]string{"Enter"}, inFound, "to the match", says("open"), (*app).enterLine},
			{[]string{"Enter"}, inChat, "to the frame", says("frame"), (*app).enterLine},
			{[]string{"Enter"}, inTurns | inFindings | inText, "to the frame", says("to the frame"), (*app).enterLine},
			{[]string{"Space"}, inFindings, "all frames, the first ones", nil, func(a *app) { a.page.FlipHere() }},
			{[]string{"Tab"}, inDiff, "the other side", says("other side"), func(a *app) { a.diff.view.OtherSide() }},
			{[]string{"Enter"}, inDiff, "to the frame on this side", either("show", "to the frame", func(a *app) bool { return a.diff.view.Folded(a.page.Current().Item) }), (*app).enterLine},
			{[]string{"Space"}, inDiff, "fold, unfold what is equal", nil, (*app).flipDiff},
			{[]string{"Space"}, inChat, "fold, unfold", says("fold"), func(a *app) { a.page.FlipHere() }},
			{[]string{"h", "Left"}, inChat, "fold; unfold", nil, func(a *app) { a.page.FoldHere(true) }},
			{[]string{"l", "Right"}, inChat, asBefore, nil, func(a *app) { a.page.FoldHere(false) }},
			{[]string{"h", "Left"}, inPane, "fold, or to what it is in; unfold", nil, func(a *app) { a.pane.Close() }},
			{[]string{"l", "Right"}, inPane, asBefore, nil, func(a *app) { a.pane.FoldHere(false) }},
			{[]string{"Enter", "Space"}, inPane, "fold, unfold, show all", either("fold", "", func(a *app) bool { return a.pane.Folds() }), func(a *app) { a.pane.Open() }},
			{[]string{"Esc"}, inPane, "end the search; back to the list", either("clear", "back", (*app).searchesFrame), (*app).leavePane},
			{[]string{"Esc"}, inList, "clear the filter; back", either("back", "", func(a *app) bool { return len(a.cameFrom) > 0 }), (*app).leaveList},
		}},
		{"Filter and search", []key{
			{[]string{"/"}, inList, "filter", says("filter"), func(a *app) { a.askQuery("filter: ", a.query, a.filterBy) }},
			{[]string{"/"}, inLists, "filter by words", says("filter"), (*app).askWords},
			{[]string{"/"}, inPane | inTexts | inDetails, "search", says("search"), (*app).askWords},
			{[]string{"n"}, anywhere &^ inEmpty, "next, previous match", nil, func(a *app) { a.nextMatch(true) }},
			{[]string{"N"}, anywhere &^ inEmpty, asBefore, nil, func(a *app) { a.nextMatch(false) }},
			{[]string{"s"}, inTapes, "search all tapes", says("search all"), (*app).askSearchAll},
			{[]string{"s"}, anywhere &^ inTapes, "search all tapes", nil, (*app).askSearchAll},
			{[]string{"+"}, inFrames, "only this value, all but it", nil, func(a *app) { a.onlyThis(false) }},
			{[]string{"-"}, inFrames, asBefore, nil, func(a *app) { a.onlyThis(true) }},
			{[]string{"o"}, inFrames, "only this session, this turn", nil, (*app).onlySession},
			{[]string{"O"}, inFrames, asBefore, nil, (*app).onlyTurn},
			{[]string{"Backspace"}, inFrames, "the filter before", nil, (*app).earlierFilter},
		}},
		{"Go to", []key{
			{[]string{"e"}, inFrames | inChat | inTurns, "next, previous failure or finding", says("failure"), func(a *app) { a.nextFailure(true) }},
			{[]string{"E"}, inFrames | inChat | inTurns, asBefore, nil, func(a *app) { a.nextFailure(false) }},
			{[]string{"]"}, inDiff, "next, previous difference", says("difference"), func(a *app) { a.nextDifference(true) }},
			{[]string{"["}, inDiff, asBefore, nil, func(a *app) { a.nextDifference(false) }},
			{[]string{"%"}, inDiff, "the frame on the other side", nil, func(a *app) { a.openCompared(a.diff.view.Side.Other()) }},
			{[]string{"%"}, inFrames, "request of a response, and back", nil, (*app).toPair},
			{[]string{"]"}, inFrames, "next, previous of tool call", nil, func(a *app) { a.sameTool(true) }},
			{[]string{"["}, inFrames, asBefore, nil, func(a *app) { a.sameTool(false) }},
			{[]string{"}"}, inFrames, "next, previous of method", nil, func(a *app) { a.sameMethod(true) }},
			{[]string{"{"}, inFrames, asBefore, nil, func(a *app) { a.sameMethod(false) }},
			{[]string{":"}, inFrames, "frame (:1234), time (:+2.5s)", nil, (*app).askPlace},
		}},
		{"Look", []key{
			{[]string{"z"}, inList, "fold, unfold runs of chunks", either("unfold", "fold", func(a *app) bool { return a.model.folded }), func(a *app) { a.model.fold() }},
			{[]string{"z"}, inChat, "unfold, fold everything", either("fold all", "unfold all", func(a *app) bool { return a.page.Unfolded }), func(a *app) { a.page.FoldAll() }},
			{[]string{"z"}, inDiff, "unfold, fold everything", either("fold all", "unfold all", func(a *app) bool { return a.page.Unfolded }), func(a *app) { a.page.FoldAll() }},
			{[]string{"x"}, inDiff, "compare content, all, the shape", says("what counts"), (*app).nextLevel},
			{[]string{"z"}, inTurns, "only this turn, all turns", either("all turns", "this turn", func(a *app) bool { return a.page.Unfolded }), func(a *app) { a.page.FoldAll() }},
			{[]string{"x"}, inTurns, "an axis for each turn, one for all", either("axis a turn", "one axis", func(a *app) bool { return a.turns.IsJoint() }), (*app).joinTurns},
			{[]string{"+", "="}, inTurns, "more, less of the time in detail", says("zoom"), func(a *app) { a.zoomTurns(true) }},
			{[]string{"-"}, inTurns, asBefore, nil, func(a *app) { a.zoomTurns(false) }},
			{[]string{"h", "Left"}, inTurns, "earlier, later, in detail", nil, func(a *app) { a.turns.Pan(a.page.Current(), false) }},
			{[]string{"l", "Right"}, inTurns, asBefore, nil, func(a *app) { a.turns.Pan(a.page.Current(), true) }},
			{[]string{"i"}, inFrames | inFindings, "what the broken rule asks for", either("explain", "", func(a *app) bool { return a.foundHere() != nil }), (*app).explain},
			{[]string{"!"}, inFrames | inFindings, "notes of acptap check, too", nil, (*app).toggleFindingNotes},
			{[]string{"S"}, inFrames, "frames of the agent's servers, too", nil, (*app).toggleServers},
			{[]string{"x"}, inFrames, "tree, as it came, hex", func(a *app) string { return a.pane.Next().String() }, func(a *app) { a.pane.Switch() }},
			{[]string{"t"}, inFrames, "which time is shown", nil, (*app).nextTime},
			{[]string{"d"}, inFrames, "what acptap changed in it", nil, (*app).compareForms},
			{[]string{"D"}, inFrames, "compare with the last bookmark", nil, (*app).compareWithBookmark},
			{[]string{"D"}, inDiff, "what differs in the two frames", nil, (*app).compareFrames},
			{[]string{"<"}, anywhere, "a narrower, wider list", nil, func(a *app) { a.moveDivider(a.share - shareStep) }},
			{[]string{">"}, anywhere, asBefore, nil, func(a *app) { a.moveDivider(a.share + shareStep) }},
			{[]string{"F"}, inFrames, "follow what is recorded", nil, (*app).toggleFollow},
		}},
		{"Notes", []key{
			{[]string{"m"}, inFrames, "bookmark, no bookmark", nil, (*app).toggleBookmark},
			{[]string{"a"}, inFrames, "write a note on the frame", nil, (*app).askNote},
			{[]string{"'"}, inFrames, "next, previous bookmark or note", nil, func(a *app) { a.nextNote(true) }},
			{[]string{"\""}, inFrames, asBefore, nil, func(a *app) { a.nextNote(false) }},
			{[]string{"a"}, inTapes, "write a note on the tape", nil, (*app).askTapeNote},
			{[]string{"T"}, inTapes, "tags of the tape", nil, (*app).askTags},
		}},
		{"Hold", []key{
			{[]string{"H"}, inFrames, "hold frames that match a filter", nil, (*app).askHold},
			{[]string{"W"}, inFrames, "hold all of this session", nil, (*app).holdSession},
			{[]string{"p"}, inFrames, "let it go, let all go", either("go", "", (*app).anyHeld), (*app).letGo},
			{[]string{"P"}, inFrames, asBefore, either("all go", "", (*app).anyHeld), (*app).letAllGo},
			{[]string{"c"}, inFrames, "edit it, a value of it; then go", either("edit", "", (*app).anyHeld), (*app).editHeld},
			{[]string{"C"}, inFrames, asBefore, nil, (*app).editValue},
			{[]string{"r"}, inFrames, "answer it by hand", either("answer", "", (*app).anyHeld), (*app).answerHeld},
			{[]string{"K"}, inFrames, "drop it", either("drop", "", (*app).anyHeld), (*app).dropHeld},
			{[]string{"u"}, inFrames, "next, previous held frame", nil, func(a *app) { a.nextHeld(true) }},
			{[]string{"U"}, inFrames, asBefore, nil, func(a *app) { a.nextHeld(false) }},
			{[]string{"I"}, inFrames, "write a frame and send it", nil, (*app).askInject},
			{[]string{"B"}, inFrames, "send the frame again", nil, (*app).resend},
			{[]string{"T"}, inFrames, "rules of the proxy", nil, (*app).showRules},
			{[]string{"Enter"}, inRules, "switch the rule on or off", says("on, off"), (*app).flipRule},
			{[]string{"a"}, inRules, "add a rule", says("add"), (*app).addRule},
		}},
		{"Copy and write", []key{
			{[]string{"yy"}, inFrames, "copy the frame", nil, (*app).copyFrame},
			{[]string{"yv"}, inFrames, "copy the value", nil, (*app).copyValue},
			{[]string{"yp"}, inPane, "copy the path of the value", nil, (*app).copyPath},
			{[]string{"yy"}, inPages | inDetails, "copy the text around the line", nil, func(a *app) { a.copyText("text", a.searched().BlockText()) }},
			{[]string{"yv"}, inPages | inDetails, "copy the line", nil, func(a *app) { a.copyText("line", a.searched().LineText()) }},
			{[]string{"yp"}, inList | inPages, "copy TAPE:FRAME, for commands", nil, (*app).copyReference},
			{[]string{"w"}, inFrames, "write the frame to a file", nil, (*app).askWrite},
			{[]string{"w"}, inPages, "write the text to a file", nil, (*app).askWrite},
			{[]string{"X"}, inFrames, "export what the filter shows", nil, func(a *app) { a.askExport(a.tapeFile()) }},
			{[]string{"v"}, inFrames | inPages, "open in $PAGER, in $EDITOR", nil, func(a *app) { a.view("PAGER") }},
			{[]string{"V"}, inFrames | inPages, asBefore, nil, func(a *app) { a.view("EDITOR") }},
		}},
		{"Tapes", []key{
			{[]string{"m"}, inTapes, "mark the tape or session", either("mark", "", func(a *app) bool { return a.tapes.marked.key() == "" }), (*app).toggleMark},
			{[]string{"D"}, inTapes, "side by side with the marked one", either("side by side", "", func(a *app) bool { return a.tapes.marked.key() != "" }), (*app).compareTapes},
			{[]string{"o"}, inTapes, "sort by the next column, the other way round", says("sort"), func(a *app) { a.sortTapes(false) }},
			{[]string{"O"}, inTapes, asBefore, nil, func(a *app) { a.sortTapes(true) }},
			{[]string{"R"}, anywhere, "open, dismiss the new tape of the agent", nil, (*app).openRestarted},
			{[]string{"^R"}, anywhere, asBefore, nil, func(a *app) { a.restarted = record.Info{} }},
			{[]string{"^X"}, inTapes, "delete the tape (asks)", says("delete"), (*app).askDelete},
		}},
		{"Places", []key{
			{[]string{"0"}, anywhere, "summary", nil, func(a *app) { a.visit(summaryPlace) }},
			{[]string{"1"}, anywhere, "store, frames, chat, turns, capabilities, statistics, findings, diff", nil, func(a *app) { a.visit(storePlace) }},
			{[]string{"2"}, anywhere, asBefore, nil, func(a *app) { a.visit(framesPlace) }},
			{[]string{"3"}, anywhere, asBefore, nil, func(a *app) { a.visit(chatPlace) }},
			{[]string{"4"}, anywhere, asBefore, nil, func(a *app) { a.visit(turnsPlace) }},
			{[]string{"5"}, anywhere, asBefore, nil, func(a *app) { a.visit(capabilitiesPlace) }},
			{[]string{"6"}, anywhere, asBefore, nil, func(a *app) { a.visit(statisticsPlace) }},
			{[]string{"7"}, anywhere, asBefore, nil, func(a *app) { a.visit(findingsPlace) }},
			{[]string{"8"}, anywhere, asBefore, nil, func(a *app) { a.visit(diffPlace) }},
		}},
		{"Program", []key{
			{[]string{"Esc"}, inLists | inTexts, "end the search or filter; back", (*app).backHint, (*app).back},
			{[]string{"M"}, anywhere, "mouse off, on", nil, (*app).toggleMouse},
			{[]string{"?"}, anywhere, "the keys", says("keys"), (*app).help},
			{[]string{"q", "^C"}, anywhere, "quit", says("quit"), func(a *app) { a.quit() }},
		}},
	}
}

// nextTime shows the times of frames in the next form.
func (a *app) nextTime() { a.model.times = (a.model.times + 1) % timeForms }

// sortTapes sorts the list by its next column, or reverses the order.
func (a *app) sortTapes(back bool) {
	o := &a.tapes.order
	column := o.column()
	if !back {
		column = (column + 1) % (ageColumn + 1)
	}
	o.choose(column)
	a.notify(o.says())
}

// move moves the selection or the cursor.
func (a *app) move(n int) {
	if a.part() == inList {
		a.model.move(n)
		return
	}
	a.searched().Move(n)
}

// turnPages moves by pages: the visible part moves along with the selection or cursor.
func (a *app) turnPages(pages int) {
	if a.part() == inList {
		n := pages * max(a.model.height-1, 1)
		a.model.shift(n)
		a.model.move(n)
		return
	}
	a.searched().Turn(pages)
}

// toEnd goes to the last or first line.
func (a *app) toEnd(last bool) {
	switch {
	case a.part() == inList && last:
		a.model.end()
		a.model.follow = !a.snapshot.Ended
	case a.part() == inList:
		a.model.home()
	case last:
		a.searched().End()
	default:
		a.move(-1 << 30)
	}
}

// intoPane gives the pane the focus. Its frame stays, even if others are recorded.
func (a *app) intoPane() { a.inPane, a.model.follow = true, false }

func (a *app) otherPart() {
	switch {
	case a.page != nil && !a.detailed():
		a.notify(fmt.Sprintf("no details here; they are next to the list on a screen of %d columns", paneBeside))
	case a.page != nil:
		a.details.focus = !a.details.focus
	case a.inPane:
		a.inPane = false
	default:
		a.intoPane()
	}
}

// searchesFrame reports whether the pane shows matches of a search rather than of the
// filter.
func (a *app) searchesFrame() bool { return !a.pane.Words().IsZero() && !a.marksWanted() }

// leavePane ends a search or a comparison, or goes back to the list.
func (a *app) leavePane() {
	switch {
	case a.seekedTo != "":
		a.endSeek()
	case a.searchesFrame():
		a.pane.EndSearch()
	case a.pane.Comparing():
		a.pane.Show(a.pane.Frame)
	default:
		a.inPane = false
	}
}

func (a *app) toggleMouse() {
	a.mouseOff = !a.mouseOff
	a.ui.EnableMouse(!a.mouseOff)
	if a.mouseOff {
		a.notify("mouse off: the terminal selects text; M turns it on")
	}
}

func (a *app) toggleFollow() {
	if a.snapshot.Ended {
		a.notify("nothing will follow: the tape has ended")
		return
	}
	if a.model.follow = !a.model.follow; a.model.follow {
		a.model.end()
	}
}

// back ends a search, closes the key page, or returns from the summary to where the tape was
// opened, and from another place to the frames.
func (a *app) back() {
	switch {
	case !a.page.Words().IsZero():
		a.page.EndSearch()
	case a.page != a.pages[a.place]:
		a.page = a.pages[a.place]
	case a.place == searchPlace:
		a.leaveSearch()
	case a.place == diffPlace:
		a.visit(storePlace)
	case a.place == summaryPlace && a.Store != nil && len(a.cameFrom) == 0:
		a.visit(a.openedFrom)
	case a.timeline != nil:
		a.visit(framesPlace)
	}
}

// backHint returns the hint for back.
func (a *app) backHint() string {
	switch {
	case !a.page.Words().IsZero():
		return "clear"
	case a.part() == inStart:
		return ""
	}
	return "back"
}

// enterLine applies Enter to the line under the cursor.
func (a *app) enterLine() {
	if a.page.Enter != nil {
		a.page.Enter(a.page.Current())
	}
}
