package report

// usualLimit is how large a page becomes, in bytes.
const usualLimit = 16 << 20

// limits are how much of a page its parts may take, in bytes. What is beyond them is left
// out, the page says so there, and names the command that shows it.
type limits struct {
	page   int
	story  int // of turns on the page, without images
	bytes  int // of frames on the page
	images int // of all of them, in base64
	image  int // of one
	rest   int // what is kept for all else
	turns  int // how many turns, or groups of omitted turns, the page links to
}

// leastRest is for the style, the script and what else every page has.
const leastRest = 160 << 10

func (in *Input) limits() limits {
	page := usualLimit
	if in.Limit > 0 {
		page = int(in.Limit)
	}
	return limits{page: page, story: page / 8 * 3, bytes: page / 2, images: page / 2, image: page / 8, rest: max(page/16, leastRest), turns: max(1000*(page>>10)/(usualLimit>>10), 20)}
}

// rows returns how much is left for the rows of frames and for their bytes.
func (l limits) rows(story, images int) int {
	return max(min(l.page/8*5, l.page-l.rest-story-images), 0)
}
