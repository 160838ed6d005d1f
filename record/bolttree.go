package record

import (
	"encoding/binary"
	"fmt"
	"os"

	bolt "go.etcd.io/bbolt"
)

// The layout of bbolt's pages (bbolt 1.5, internal/common): a header of 16
// bytes, id 8 · flags 2 · count 2 · overflow 4; then the elements of 16 bytes,
// in a branch page offset 4 · key size 4 · page 8, in a leaf page flags 4 · offset
// 4 · key size 4 · value size 4, the offset counted from the element. The value of
// a leaf element with flag 1 is a bucket: the page of its root 8 · sequence 8. The
// first two pages are meta pages, in turn by the number of the transaction; 48
// bytes in they name the page of the list of free pages. Numbers are in the byte
// order of the machine.
const (
	boltHeader     = 16
	boltElement    = 16
	boltBranchPage = 1
	boltLeafPage   = 2
	boltBucket     = 1
	boltFreeList   = 48
)

// checkTree looks for branch pages that lead back to themselves, in the root of
// the file and in the buckets there. bbolt walks them by recursion, and no
// recover stops a stack that overflows. It looks too for pages that end behind
// the file, which bbolt would list one by one to free them. The root pages of
// buckets further down are checked where they are used.
func checkTree(db *bolt.DB, f *os.File) error {
	file, err := f.Stat()
	if err != nil {
		return err
	}
	return db.View(func(tx *bolt.Tx) error {
		w := treeWalk{f: f, size: int64(db.Info().PageSize), end: file.Size(), seen: map[uint64]bool{}}
		w.pages = append(w.pages, uint64(tx.Cursor().Bucket().Root()))
		w.top = true
		for len(w.pages) > 0 {
			pages := w.pages
			w.pages = nil
			for _, page := range pages {
				if err := w.page(page); err != nil {
					return fmt.Errorf("%s: page %d: %w", f.Name(), page, err)
				}
			}
			if len(w.pages) == 0 && w.top {
				w.pages, w.top = w.buckets, false
			}
		}
		return w.freeList(uint64(tx.ID()))
	})
}

type treeWalk struct {
	f       *os.File
	size    int64 // of a page
	end     int64 // of the file
	seen    map[uint64]bool
	pages   []uint64
	top     bool     // in the tree of the file's root
	buckets []uint64 // roots of the buckets that stand there
}

// head reads the head of a page, and returns how long the page is.
func (w *treeWalk) head(id uint64) (head [boltHeader]byte, size int64, err error) {
	at := int64(id) * w.size
	if _, err := w.f.ReadAt(head[:], at); err != nil {
		return head, 0, fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	size = (1 + int64(binary.NativeEndian.Uint32(head[12:]))) * w.size
	if at+size > w.end {
		return head, 0, fmt.Errorf("it ends behind the file: %w", ErrDamaged)
	}
	return head, size, nil
}

// freeList looks at the list of free pages after that transaction.
func (w *treeWalk) freeList(tx uint64) error {
	var page [8]byte
	if _, err := w.f.ReadAt(page[:], int64(tx%2)*w.size+boltFreeList); err != nil {
		return fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	if _, _, err := w.head(binary.NativeEndian.Uint64(page[:])); err != nil {
		return fmt.Errorf("%s: list of free pages: %w", w.f.Name(), err)
	}
	return nil
}

func (w *treeWalk) page(id uint64) error {
	if w.seen[id] {
		return fmt.Errorf("two pages lead to it: %w", ErrDamaged)
	}
	w.seen[id] = true
	head, size, err := w.head(id)
	if err != nil {
		return err
	}
	order := binary.NativeEndian
	flags, count := order.Uint16(head[8:]), int64(order.Uint16(head[10:]))
	if flags == boltLeafPage {
		if err := checkElements(w.f, int64(id)*w.size, size, count); err != nil || !w.top {
			return err
		}
	}
	if size > maxPlain || boltHeader+count*boltElement > size {
		return fmt.Errorf("%d elements: %w", count, ErrDamaged)
	}
	page := make([]byte, size)
	if _, err := w.f.ReadAt(page, int64(id)*w.size); err != nil {
		return fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	for i := range count {
		e := page[boltHeader+i*boltElement:]
		switch {
		case flags == boltBranchPage:
			w.pages = append(w.pages, order.Uint64(e[8:]))
		case flags == boltLeafPage && order.Uint32(e)&boltBucket != 0:
			value := uint64(order.Uint32(e[4:])) + uint64(order.Uint32(e[8:]))
			if value+8 > uint64(len(e)) {
				return fmt.Errorf("element %d: %w", i, ErrDamaged)
			}
			if root := order.Uint64(e[value:]); root != 0 { // else it is stored inside the page
				w.buckets = append(w.buckets, root)
			}
		}
	}
	return nil
}

// checkElements looks for elements of a leaf page that end behind it: bbolt may
// copy their values before it reads them.
func checkElements(f *os.File, at, size, count int64) error {
	elements := make([]byte, count*boltElement)
	if _, err := f.ReadAt(elements, at+boltHeader); err != nil && count > 0 {
		return fmt.Errorf("%w (%v)", ErrDamaged, err)
	}
	order := binary.NativeEndian
	for i := range count {
		e := elements[i*boltElement:]
		end := boltHeader + i*boltElement + int64(order.Uint32(e[4:])) + int64(order.Uint32(e[8:])) + int64(order.Uint32(e[12:]))
		if end > size {
			return fmt.Errorf("element %d ends behind its page: %w", i, ErrDamaged)
		}
	}
	return nil
}

// eachValue is Bucket.ForEach for values of which more than one is kept. Where the
// elements of pages lead to the same bytes again and again, it ends.
func eachValue(b *bolt.Bucket, f func(k, v []byte) error) error {
	file, err := os.Stat(b.Tx().DB().Path())
	if err != nil {
		return err
	}
	left := file.Size()
	return b.ForEach(func(k, v []byte) error {
		if left -= int64(len(k) + len(v)); left < 0 {
			return fmt.Errorf("%s: values that overlap: %w", b.Tx().DB().Path(), ErrDamaged)
		}
		return f(k, v)
	})
}

// checkBlockRoot is checkTree for the bucket of a block: its few keys stand in
// one leaf page.
func checkBlockRoot(b *bolt.Bucket) error {
	root := int64(b.Root())
	if root == 0 {
		return nil // inside the page of its parent
	}
	db := b.Tx().DB()
	f, err := openFile(db.Path(), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	var head [boltHeader]byte
	order, page := binary.NativeEndian, int64(db.Info().PageSize)
	_, err = f.ReadAt(head[:], root*page)
	if err != nil || order.Uint16(head[8:]) != boltLeafPage {
		return fmt.Errorf("page %d: %w", root, ErrDamaged)
	}
	return checkElements(f, root*page, (1+int64(order.Uint32(head[12:])))*page, int64(order.Uint16(head[10:])))
}
