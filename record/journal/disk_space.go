package journal

import (
	"fmt"
	"path/filepath"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
)

// ready returns an error if bytes should not be stored yet because others could not be:
// small records might still fit somewhere, and use up the space reserved for marks.
func (j *Writer) ready(kind Kind) error {
	if !kind.IsBytes() || j.lost == ([wire.Directions]int64{}) {
		return nil
	}
	return j.mayGrow()
}

// mayGrow returns an error if bytes must not continue in another segment: the backlog is
// too large, or there would be no space for the segment after it, which is reserved for
// marks. Called with mu held.
func (j *Writer) mayGrow() error {
	backlog := j.base + SegmentSize - j.saved.Load()
	if backlog > maxBacklog {
		return fmt.Errorf("%d bytes wait to be sealed", backlog)
	}
	free, err := disk.Free(filepath.Dir(j.files.path))
	switch {
	case err != nil: // unknown
	case backlog > 16*SegmentSize && free < MinFree:
		return fmt.Errorf("%d bytes wait to be sealed, and only %d are free on the disk", backlog, free)
	case free < 2*SegmentSize:
		return fmt.Errorf("only %d bytes are free on the disk", free)
	}
	return nil
}

func (j *Writer) markGaps() error {
	for dir := range wire.Directions {
		if j.lost[dir] == 0 {
			continue
		}
		if err := j.write(dir, KindGap, 0, wire.Marked{Gap: j.lost[dir]}.JSON()); err != nil {
			return err
		}
		j.lost[dir] = 0
	}
	return nil
}
