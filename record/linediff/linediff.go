// Package linediff compares two lists of lines.
package linediff

// A Match says that N lines at A in one list equal those at B in the other.
type Match struct{ A, B, N int }

// Common returns a longest common subsequence of two lists of lines, in order. If the lists
// differ so much that finding it would take too long, it returns a shorter one.
func Common(a, b []string) []Match {
	number := make(map[string]uint64)
	intern := func(lines []string) []uint64 {
		list := make([]uint64, len(lines))
		for i, line := range lines {
			n, ok := number[line]
			if !ok {
				n = uint64(len(number))
				number[line] = n
			}
			list[i] = n
		}
		return list
	}
	return CommonSums(intern(a), intern(b))
}

// CommonSums is Common for lines of which equal ones, and no others, have the same number.
func CommonSums(a, b []uint64) []Match {
	c := comparison{a: a, b: b}
	c.compare(0, len(a), 0, len(b))
	return c.found
}

// Lines returns all lines of both lists, each prefixed: common ones with a blank, those
// only in a with -, those only in b with +.
func Lines(a, b []string) []string {
	lines := make([]string, 0, max(len(a), len(b)))
	i, j := 0, 0
	for _, same := range append(Common(a, b), Match{A: len(a), B: len(b)}) {
		for ; i < same.A; i++ {
			lines = append(lines, "-"+a[i])
		}
		for ; j < same.B; j++ {
			lines = append(lines, "+"+b[j])
		}
		for range same.N {
			lines = append(lines, " "+a[i])
			i, j = i+1, j+1
		}
	}
	return lines
}

// A comparison finds the shortest edit script by E. W. Myers, «An O(ND) difference
// algorithm and its variations», 1986, in the linear-space variant of section 4b.
type comparison struct {
	a, b        []uint64
	forth, back []int // space for middle: furthest x on each diagonal, from the beginning and from the end
	found       []Match
}

// maxEdits limits the search for one point of the path, which takes quadratic time and
// space. Beyond it the lines count as replaced.
const maxEdits = 4096

// compare adds what a[lo:hi] and b[from:to] have in common.
func (c *comparison) compare(lo, hi, from, to int) {
	n := 0
	for lo+n < hi && from+n < to && c.a[lo+n] == c.b[from+n] {
		n++
	}
	c.add(Match{lo, from, n})
	lo, from = lo+n, from+n
	n = 0
	for lo < hi-n && from < to-n && c.a[hi-1-n] == c.b[to-1-n] {
		n++
	}
	hi, to = hi-n, to-n
	if lo < hi && from < to {
		if x, y, ok := c.middle(lo, hi, from, to); ok {
			c.compare(lo, x, from, y)
			c.compare(x, hi, y, to)
		}
	}
	c.add(Match{hi, to, n})
}

func (c *comparison) add(m Match) {
	if m.N == 0 {
		return
	}
	if k := len(c.found) - 1; k >= 0 && c.found[k].A+c.found[k].N == m.A && c.found[k].B+c.found[k].N == m.B {
		c.found[k].N += m.N
		return
	}
	c.found = append(c.found, m)
}

// middle returns a point of a shortest path from (lo, from) to (hi, to) other than these;
// the lines at both ends must differ. ok is false if the search would take too long.
func (c *comparison) middle(lo, hi, from, to int) (x, y int, ok bool) {
	n, m := hi-lo, to-from
	limit := min((n+m+1)/2, maxEdits)
	forth, back := c.diagonals(2*limit + 3)
	// A diagonal is x-y. The paths from the end count x and y from there, so that their
	// diagonal k is delta-k here.
	delta, zero := n-m, limit+1
	for d := range limit + 1 {
		low, high := -d+2*max(0, d-m), d-2*max(0, d-n) // others have left the rectangle
		for k := low; k <= high; k += 2 {
			x := advance(forth, zero, d, k)
			for x < n && x-k < m && c.a[lo+x] == c.b[from+x-k] {
				x++
			}
			forth[zero+k] = x
			if r := delta - k; delta%2 != 0 && -d < r && r < d && x+back[zero+r] >= n {
				return lo + x, from + x - k, true
			}
		}
		for k := low; k <= high; k += 2 {
			x := advance(back, zero, d, k)
			for x < n && x-k < m && c.a[hi-1-x] == c.b[to-1-x+k] {
				x++
			}
			back[zero+k] = x
			if r := delta - k; delta%2 == 0 && -d <= r && r <= d && x+forth[zero+r] >= n {
				return hi - x, to - x + k, true
			}
		}
	}
	return 0, 0, false
}

// diagonals returns the two lists, filled with zeros.
func (c *comparison) diagonals(n int) (forth, back []int) {
	if len(c.forth) < n {
		c.forth, c.back = make([]int, n), make([]int, n)
	}
	forth, back = c.forth[:n], c.back[:n]
	clear(forth)
	clear(back)
	return forth, back
}

// advance returns where the d-th edit ends on diagonal k, coming from the better of its
// two neighbours.
func advance(furthest []int, zero, d, k int) int {
	left, right := furthest[zero+k-1], furthest[zero+k+1]
	if k == -d || k != d && left < right {
		return right
	}
	return left + 1
}
