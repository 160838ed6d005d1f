package report

// usualLimit is the default limit of a page's size, in bytes.
const usualLimit = 16 << 20

// limits are how many bytes the parts of a page may take. Anything beyond is omitted; the
// page says so in that place, with the command that shows it.
type limits struct {
	page   int
	story  int // of turns, without images
	bytes  int // of frames
	images int // of all images, in base64
	image  int // of one image
	rest   int // reserved for everything else
	turns  int // how many turns, or groups of omitted turns, the page links to
}

// leastRest is reserved for the style, the script and the other parts of every page.
const leastRest = 160 << 10

func (in *Input) limits() limits {
	page := usualLimit
	if in.Limit > 0 {
		page = int(in.Limit)
	}
	return limits{page: page, story: page / 8 * 3, bytes: page / 2, images: page / 2, image: page / 8, rest: max(page/16, leastRest), turns: max(1000*(page>>10)/(usualLimit>>10), 20)}
}

// rows returns how many bytes are left for the rows and the bytes of frames.
func (l limits) rows(story, images int) int {
	return max(min(l.page/8*5, l.page-l.rest-story-images), 0)
}
