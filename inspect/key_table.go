package inspect

// keyTable returns all keys, in the order in which they are explained.
func keyTable() []key {
	return []key{
		{[]string{"j", "Down"}, anywhere, "down", nil, func(a *app) { a.move(1) }},
		{[]string{"k", "Up"}, anywhere, "up", nil, func(a *app) { a.move(-1) }},
		{[]string{"^D", "PgDn"}, anywhere, "a page down", nil, func(a *app) { a.turnPages(1) }},
		{[]string{"^U", "PgUp"}, anywhere, "a page up", nil, func(a *app) { a.turnPages(-1) }},
		{[]string{"g", "Home"}, anywhere, "to the first", nil, func(a *app) { a.toEnd(false) }},
		{[]string{"G", "End"}, anywhere, "to the last", nil, func(a *app) { a.toEnd(true) }},
		{[]string{"Enter"}, inList, "into the frame", says("open"), (*app).intoPane},
		{[]string{"Enter", " "}, inPane, "fold, unfold, show all of a long text", either("fold", "", func(a *app) bool { return a.pane.Folds() }), func(a *app) { a.pane.Open() }},
		{[]string{"Tab"}, inFrames, "to the other part of the screen", nil, (*app).otherPart},
		{[]string{"Esc"}, inPane, "back to the list", says("back"), (*app).leavePane},
		{[]string{"Esc"}, inList, "clear the filter; back to the store", nil, (*app).leaveList},
		{[]string{"/"}, inList, "filter", says("filter"), (*app).askFilter},
		{[]string{"/"}, inPane, "search in the frame", says("search"), (*app).askSearch},
		{[]string{"n"}, inPane, "next place with the words", nil, func(a *app) { a.searchFrame(true) }},
		{[]string{"N"}, inPane, "the one before", nil, func(a *app) { a.searchFrame(false) }},
		{[]string{":"}, inFrames, "go to a frame (:1234) or a time (:+2.5s)", nil, (*app).askPlace},
		{[]string{"e"}, inFrames, "next error, invalid line or gap", says("error"), func(a *app) { a.fail(a.model.nextBad(true)) }},
		{[]string{"E"}, inFrames, "the one before", nil, func(a *app) { a.fail(a.model.nextBad(false)) }},
		{[]string{"t"}, inFrames, "which time is shown", nil, func(a *app) { a.model.times = (a.model.times + 1) % timeForms }},
		{[]string{"z"}, inList, "fold runs of chunks, or unfold them", either("unfold", "fold", func(a *app) bool { return a.model.folded }), func(a *app) { a.model.fold() }},
		{[]string{"%"}, inFrames, "from a response to its request, and back", nil, (*app).toPair},
		{[]string{"]"}, inFrames, "next of this tool call", nil, func(a *app) { a.sameTool(true) }},
		{[]string{"["}, inFrames, "the one before", nil, func(a *app) { a.sameTool(false) }},
		{[]string{"}"}, inFrames, "next of this method", nil, func(a *app) { a.sameMethod(true) }},
		{[]string{"{"}, inFrames, "the one before", nil, func(a *app) { a.sameMethod(false) }},
		{[]string{"+"}, inFrames, "only frames with this method or value", nil, func(a *app) { a.onlyThis(false) }},
		{[]string{"-"}, inFrames, "only frames without it", nil, func(a *app) { a.onlyThis(true) }},
		{[]string{"o"}, inFrames, "only this session", nil, func(a *app) { a.only("session", a.pane.Frame.Session, false) }},
		{[]string{"O"}, inFrames, "only this turn", nil, (*app).onlyTurn},
		{[]string{"Backspace"}, inFrames, "back to the filter before", nil, (*app).earlierFilter},
		{[]string{"m"}, inFrames, "mark the frame", nil, func(a *app) { a.model.mark = a.model.current() }},
		{[]string{"D"}, inFrames, "what differs from the marked frame", nil, (*app).compareWithMark},
		{[]string{"d"}, inFrames, "what acptap has changed in the frame", nil, (*app).compareForms},
		{[]string{"yy"}, inFrames, "copy the frame", nil, (*app).copyFrame},
		{[]string{"yv"}, inFrames, "copy the value", nil, (*app).copyValue},
		{[]string{"yp"}, inFrames, "copy the path of the value, for gjson", nil, (*app).copyPath},
		{[]string{"w"}, inFrames, "write the frame to a file", nil, (*app).askWrite},
		{[]string{"v"}, inFrames, "the frame in $PAGER", nil, func(a *app) { a.view("PAGER") }},
		{[]string{"V"}, inFrames, "the frame in $EDITOR", nil, func(a *app) { a.view("EDITOR") }},
		{[]string{"X"}, inFrames, "export what the filter shows", nil, (*app).askExport},
		{[]string{"F"}, inFrames, "follow what is recorded", nil, (*app).toggleFollow},
		{[]string{"x"}, inFrames, "the frame as a tree, as it came, in hex", func(a *app) string { return a.pane.Next().String() }, func(a *app) { a.pane.Switch() }},
		{[]string{"Enter"}, inTapes, "open the tape or session", says("open"), (*app).enterLine},
		{[]string{"^X"}, inTapes, "delete the tape (asks)", says("delete"), (*app).askDelete},
		{[]string{"Enter", " "}, inChat, "fold what was said or done, or unfold it", says("fold"), (*app).enterLine},
		{[]string{"z"}, inChat, "unfold everything, or fold it", either("fold all", "unfold all", func(a *app) bool { return a.page.Unfolded }), func(a *app) { a.page.FoldAll() }},
		{[]string{"Enter"}, inText, "to the frame", says("to the frame"), (*app).enterLine},
		{[]string{"1"}, anywhere, "the tapes and sessions of the store", nil, func(a *app) { a.visit(storePlace) }},
		{[]string{"2"}, anywhere, "the frames", nil, func(a *app) { a.visit(framesPlace) }},
		{[]string{"3"}, anywhere, "the conversation", nil, func(a *app) { a.visit(chatPlace) }},
		{[]string{"4"}, anywhere, "the turns over time", nil, func(a *app) { a.visit(turnsPlace) }},
		{[]string{"5"}, anywhere, "what both sides can do", nil, func(a *app) { a.visit(capabilitiesPlace) }},
		{[]string{"6"}, anywhere, "statistics: how many, how large, how long", nil, func(a *app) { a.visit(statisticsPlace) }},
		{[]string{"s"}, inTapes, "search all tapes", says("search"), (*app).askSearchAll},
		{[]string{"s"}, anywhere &^ inTapes, "search all tapes", nil, (*app).askSearchAll},
		{[]string{"Esc"}, inStore | inChat | inText | inHelp, "back", says("back"), (*app).back},
		{[]string{"M"}, anywhere, "mouse off and on (off: the terminal selects)", nil, (*app).toggleMouse},
		{[]string{"?"}, anywhere, "the keys", says("keys"), (*app).help},
		{[]string{"q", "^C"}, anywhere, "quit", says("quit"), func(a *app) { a.quit() }},
	}
}

// move moves the selection or the cursor.
func (a *app) move(n int) {
	switch a.part() {
	case inList:
		a.model.move(n)
	case inPane:
		a.pane.Move(n)
	default:
		a.page.Move(n)
	}
}

// turnPages goes a number of pages on: what is on the screen moves as the selection or the
// cursor does.
func (a *app) turnPages(pages int) {
	switch a.part() {
	case inList:
		n := pages * max(a.model.height-1, 1)
		a.model.shift(n)
		a.model.move(n)
	case inPane:
		a.pane.Turn(pages)
	default:
		a.page.Turn(pages)
	}
}

// toEnd goes to the last line or the first.
func (a *app) toEnd(last bool) {
	switch {
	case a.part() == inList && last:
		a.model.end()
		a.model.follow = !a.snapshot.Ended
	case a.part() == inList:
		a.model.home()
	case last && a.page != nil:
		a.page.End()
	case last:
		a.move(1 << 30)
	default:
		a.move(-1 << 30)
	}
}

// intoPane gives the keys to the pane. The frame in it stays, also if others
// follow.
func (a *app) intoPane() { a.inPane, a.model.follow = true, false }

func (a *app) otherPart() {
	if a.inPane {
		a.inPane = false
	} else {
		a.intoPane()
	}
}

// leavePane ends a comparison, or goes back to the list.
func (a *app) leavePane() {
	switch {
	case a.seekedTo != "":
		a.endSeek()
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

// back leaves the keys, or goes from any other place to the frames.
func (a *app) back() {
	switch {
	case a.page != a.pages[a.place]:
		a.page = a.pages[a.place]
	case a.place == searchPlace:
		a.leaveSearch()
	case a.timeline != nil:
		a.visit(framesPlace)
	}
}

// enterLine does what the place does with the line under the cursor.
func (a *app) enterLine() {
	if a.page.Enter != nil {
		a.page.Enter(a.page.Current())
	}
}
