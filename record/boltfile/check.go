package boltfile

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"os"

	bolt "go.etcd.io/bbolt"

	"github.com/acptap/acptap/record/disk"
)

// The layout of bbolt's pages (bbolt 1.5, internal/common): a header of 16 bytes, id 8 ·
// flags 2 · count 2 · overflow 4; then the elements of 16 bytes, in a branch page offset 4
// · key size 4 · page 8, in a leaf page flags 4 · offset 4 · key size 4 · value size 4, the
// offset counted from the element. The value of a leaf element with flag 1 is a bucket: the
// page of its root 8 · sequence 8; if the root is 0, its only page follows there. The first
// two pages are meta pages, and the later valid one counts: magic 4 · version 4 · size of a
// page 4 · flags 4 · root 16 · list of free pages 8 · pages 8 · transaction 8 · checksum 8,
// the FNV-1a of the fields before it. A list of free pages has their numbers, 8 bytes each;
// if count is 65535, the first number is the count. Numbers are in the byte order of the
// machine.
const (
	boltHeader       = 16
	boltElement      = 16
	boltBucketHeader = 16
	boltBranchPage   = 1
	boltLeafPage     = 2
	boltBucket       = 1
	boltMagic        = 0xed0cdaed
	boltVersion      = 2
	boltMetaEnd      = boltHeader + 64
	boltManyFree     = 0xffff
)

// checkTree looks for branch pages that lead back to themselves, in the root of the file
// and in its buckets. bbolt walks them recursively, and recover cannot stop a stack
// overflow. It also looks for pages that extend past the end of the file, which bbolt would
// list one by one to free them. The root pages of nested buckets are checked where they are
// used, and checkFreeList checks what bbolt reads when it opens a file.
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
		return nil
	})
}

// maxFree limits the free pages of a file: a gibibyte. Tapes only grow, and the catalogue
// is rewritten when something is deleted from it.
const maxFree = 1 << 18

// checkFreeList checks the list of free pages of a file that bbolt is about to open for
// writing. bbolt allocates as many as the list claims to have, and recover cannot stop it
// when memory runs out. Without a list bbolt walks the trees in a goroutine of its own,
// whose panic would end the process; these files always have one.
func checkFreeList(f *os.File) error {
	file, err := f.Stat()
	if err != nil {
		return err
	}
	meta, ok := latestMeta(f)
	if !ok {
		return nil // bbolt reports what is wrong
	}
	w := treeWalk{f: f, size: meta.pageSize, end: file.Size()}
	head, size, err := w.head(meta.freeList)
	if err != nil {
		return fmt.Errorf("%s: list of free pages: %w", f.Name(), err)
	}
	order := binary.NativeEndian
	count, room := uint64(order.Uint16(head[10:])), size-boltHeader
	if count == boltManyFree {
		var first [8]byte
		if _, err := f.ReadAt(first[:], int64(meta.freeList)*w.size+boltHeader); err != nil {
			return fmt.Errorf("%s: list of free pages: %w (%v)", f.Name(), disk.ErrDamaged, err)
		}
		count, room = order.Uint64(first[:]), room-8
	}
	if count > min(maxFree, uint64(room/8)) {
		return fmt.Errorf("%s: list of %d free pages: %w", f.Name(), count, disk.ErrDamaged)
	}
	return nil
}

// A boltMeta holds the contents of a meta page.
type boltMeta struct {
	pageSize              int64
	freeList, transaction uint64
}

// latestMeta returns the meta page that bbolt uses. ok is false if both are invalid.
func latestMeta(f *os.File) (latest boltMeta, ok bool) {
	latest, ok = readMeta(f, 0)
	size := latest.pageSize
	for at, found := int64(1<<10), ok; !found && at <= 1<<24; at *= 2 { // only the second one is left, and its position depends on the page size
		latest, found = readMeta(f, at)
		size = latest.pageSize
	}
	if second, whole := readMeta(f, size); whole && (!ok || second.transaction > latest.transaction) {
		latest, ok = second, true
	}
	latest.pageSize = size
	return latest, ok
}

func readMeta(f *os.File, at int64) (m boltMeta, ok bool) {
	var b [boltMetaEnd]byte
	if _, err := f.ReadAt(b[:], at); err != nil {
		return m, false
	}
	order, sum := binary.NativeEndian, fnv.New64a()
	sum.Write(b[boltHeader : boltMetaEnd-8])
	m = boltMeta{pageSize: int64(order.Uint32(b[24:])), freeList: order.Uint64(b[48:]), transaction: order.Uint64(b[64:])}
	return m, order.Uint32(b[16:]) == boltMagic && order.Uint32(b[20:]) == boltVersion && order.Uint64(b[boltMetaEnd-8:]) == sum.Sum64()
}

type treeWalk struct {
	f       *os.File
	size    int64 // of a page
	end     int64 // of the file
	seen    map[uint64]bool
	pages   []uint64
	top     bool     // in the tree of the file's root
	buckets []uint64 // roots of the buckets in that tree
}

// head reads the head of a page, and returns the size of the page.
func (w *treeWalk) head(id uint64) (head [boltHeader]byte, size int64, err error) {
	if w.size < boltMetaEnd || id >= uint64(w.end/w.size) {
		return head, 0, fmt.Errorf("it is beyond the end of the file: %w", disk.ErrDamaged)
	}
	at := int64(id) * w.size
	if _, err := w.f.ReadAt(head[:], at); err != nil {
		return head, 0, fmt.Errorf("%w (%v)", disk.ErrDamaged, err)
	}
	size = (1 + int64(binary.NativeEndian.Uint32(head[12:]))) * w.size
	if at+size > w.end {
		return head, 0, fmt.Errorf("it extends beyond the end of the file: %w", disk.ErrDamaged)
	}
	return head, size, nil
}

func (w *treeWalk) page(id uint64) error {
	if w.seen[id] {
		return fmt.Errorf("two pages lead to it: %w", disk.ErrDamaged)
	}
	w.seen[id] = true
	head, size, err := w.head(id)
	if err != nil {
		return err
	}
	order := binary.NativeEndian
	flags, count := order.Uint16(head[8:]), int64(order.Uint16(head[10:]))
	if flags == boltLeafPage {
		if err := checkLeaf(w.f, int64(id)*w.size, size, count); err != nil || !w.top {
			return err
		}
	}
	if size > maxPage || boltHeader+count*boltElement > size {
		return fmt.Errorf("%d elements: %w", count, disk.ErrDamaged)
	}
	page := make([]byte, size)
	if _, err := w.f.ReadAt(page, int64(id)*w.size); err != nil {
		return fmt.Errorf("%w (%v)", disk.ErrDamaged, err)
	}
	for i := range count {
		e := page[boltHeader+i*boltElement:]
		switch {
		case flags == boltBranchPage:
			w.pages = append(w.pages, order.Uint64(e[8:]))
		case flags == boltLeafPage && order.Uint32(e)&boltBucket != 0:
			value := uint64(order.Uint32(e[4:])) + uint64(order.Uint32(e[8:]))
			if value+8 > uint64(len(e)) {
				return fmt.Errorf("element %d: %w", i, disk.ErrDamaged)
			}
			if root := order.Uint64(e[value:]); root != 0 {
				w.buckets = append(w.buckets, root)
			} else if err := checkInline(e[value:][:order.Uint32(e[12:])]); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
	}
	return nil
}

// maxPage limits how much of a page is read at once.
const maxPage = 8 << 20

// checkLeaf checks the elements of a leaf page.
func checkLeaf(f *os.File, at, size, count int64) error {
	elements := make([]byte, count*boltElement)
	if _, err := f.ReadAt(elements, at+boltHeader); err != nil && count > 0 {
		return fmt.Errorf("%w (%v)", disk.ErrDamaged, err)
	}
	return checkElements(elements, size)
}

// checkElements looks for elements of a leaf page that extend past its end, or that
// overlap: bbolt may copy their values before it reads them.
func checkElements(elements []byte, size int64) error {
	order, left := binary.NativeEndian, size
	for at := 0; at < len(elements); at += boltElement {
		e := elements[at:]
		length := int64(order.Uint32(e[8:])) + int64(order.Uint32(e[12:]))
		end := boltHeader + int64(at) + int64(order.Uint32(e[4:])) + length
		if left -= length; end > size || left < 0 {
			return fmt.Errorf("element %d extends beyond its page: %w", at/boltElement, disk.ErrDamaged)
		}
	}
	return nil
}

// checkInline checks the elements of a bucket that is stored inside a page, and of the
// buckets stored inside that bucket: each is smaller than the one around it.
func checkInline(bucket []byte) error {
	if len(bucket) < boltBucketHeader+boltHeader {
		return fmt.Errorf("a bucket of %d bytes: %w", len(bucket), disk.ErrDamaged)
	}
	order, page := binary.NativeEndian, bucket[boltBucketHeader:]
	end := boltHeader + int(order.Uint16(page[10:]))*boltElement
	if order.Uint16(page[8:]) != boltLeafPage || end > len(page) {
		return fmt.Errorf("a bucket inside a page: %w", disk.ErrDamaged)
	}
	if err := checkElements(page[boltHeader:end], int64(len(page))); err != nil {
		return err
	}
	for at := boltHeader; at < end; at += boltElement {
		e := page[at:]
		if order.Uint32(e)&boltBucket == 0 {
			continue
		}
		value := e[order.Uint32(e[4:])+order.Uint32(e[8:]):][:order.Uint32(e[12:])]
		if len(value) >= boltBucketHeader && order.Uint64(value) != 0 {
			continue // it has pages of its own
		}
		if err := checkInline(value); err != nil {
			return err
		}
	}
	return nil
}

// checkFlat looks for nested buckets and for values that overlap: bolt.Compact copies
// recursively.
func checkFlat(db *bolt.DB) error {
	return db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			return EachValue(b, func(k, v []byte) error {
				if v == nil {
					return fmt.Errorf("%s: a bucket in bucket %q: %w", db.Path(), name, disk.ErrDamaged)
				}
				return nil
			})
		})
	})
}

// EachValue is Bucket.ForEach for callers that keep more than one value: it fails if
// elements of pages point to the same bytes again and again. b may be nil.
func EachValue(b *bolt.Bucket, f func(k, v []byte) error) error {
	if b == nil {
		return nil
	}
	file, err := os.Stat(b.Tx().DB().Path())
	if err != nil {
		return err
	}
	left := file.Size()
	return b.ForEach(func(k, v []byte) error {
		if left -= int64(len(k) + len(v)); left < 0 {
			return fmt.Errorf("%s: values that overlap: %w", b.Tx().DB().Path(), disk.ErrDamaged)
		}
		return f(k, v)
	})
}

// CheckLeaf checks a bucket of few keys, which fit into one leaf page, as checkTree does
// for the top-level buckets of a file.
func CheckLeaf(b *bolt.Bucket) error {
	root := int64(b.Root())
	if root == 0 {
		return nil // inside the page of its parent
	}
	db := b.Tx().DB()
	f, err := disk.Open(db.Path(), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer f.Close()
	var head [boltHeader]byte
	order, page := binary.NativeEndian, int64(db.Info().PageSize)
	_, err = f.ReadAt(head[:], root*page)
	if err != nil || order.Uint16(head[8:]) != boltLeafPage {
		return fmt.Errorf("page %d: %w", root, disk.ErrDamaged)
	}
	return checkLeaf(f, root*page, (1+int64(order.Uint32(head[12:])))*page, int64(order.Uint16(head[10:])))
}
