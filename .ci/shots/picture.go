package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// sheets is how many pages of paper stand in one picture: the first ones, and the last.
const sheets = 8

// shootPaper writes a picture of the pages of paper on which the browser would print what
// it shows. Without pdftoppm it writes the PDF file.
func shootPaper(ctx context.Context, path string) error {
	printed, err := chromedp.Run(ctx, func(ctx context.Context, target *chromedp.Target) (page.PrintToPDFResult, error) {
		return cdp.Call(ctx, target, page.PrintToPDF, page.PrintToPDFParams{PaperWidth: 8.27, PaperHeight: 11.69})
	})
	if err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	if _, err := exec.LookPath("pdftoppm"); err != nil {
		return os.WriteFile(strings.TrimSuffix(path, ".png")+".pdf", printed.Data, 0o644)
	}
	count := bytes.Count(printed.Data, []byte("/Type /Page\n")) // as Skia writes it
	dir, err := os.MkdirTemp("", "shots")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "paper.pdf")
	if err := os.WriteFile(file, printed.Data, 0o600); err != nil {
		return err
	}
	render := func(first, last int) error {
		out, err := exec.CommandContext(ctx, "pdftoppm", "-png", "-r", "72", "-f", strconv.Itoa(first), "-l", strconv.Itoa(last), file, filepath.Join(dir, "page")).CombinedOutput()
		if err != nil {
			return fmt.Errorf("pdftoppm: %w: %s", err, out)
		}
		return nil
	}
	if err := render(1, min(count, sheets-1)); err != nil {
		return err
	}
	if count >= sheets {
		if err := render(count, count); err != nil {
			return err
		}
	}
	return joinSheets(dir, path)
}

// partHeight is the height of the parts of a high picture, in pixels.
const partHeight = 1500

// cut writes the parts of a picture that is higher than one: NAME.1.png and so on.
func cut(path string) error {
	whole, err := readPicture(path)
	if err != nil || whole.Bounds().Dy() <= partHeight {
		return err
	}
	for i := 0; i*partHeight < whole.Bounds().Dy(); i++ {
		part := image.NewRGBA(image.Rect(0, 0, whole.Bounds().Dx(), min(partHeight, whole.Bounds().Dy()-i*partHeight)))
		draw.Draw(part, part.Bounds(), whole, image.Pt(0, i*partHeight), draw.Src)
		if err := writePicture(part, fmt.Sprintf("%s.%d.png", strings.TrimSuffix(path, ".png"), i+1)); err != nil {
			return err
		}
	}
	return nil
}

func readPicture(path string) (image.Image, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return png.Decode(bytes.NewReader(text))
}

func writePicture(picture image.Image, path string) error {
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&out, picture); err != nil {
		return err
	}
	return os.WriteFile(path, out.Bytes(), 0o644)
}

// joinSheets puts the pages of a directory beside each other, four in a row.
func joinSheets(dir, path string) error {
	names, err := filepath.Glob(filepath.Join(dir, "page-*.png"))
	if err != nil {
		return err
	}
	slices.Sort(names)
	const width, height, gap, inRow = 596, 842, 10, 4 // A4 at 72 dots an inch
	rows := (len(names) + inRow - 1) / inRow
	all := image.NewRGBA(image.Rect(0, 0, min(len(names), inRow)*(width+gap), rows*(height+gap)))
	draw.Draw(all, all.Bounds(), image.NewUniform(color.Gray{0x60}), image.Point{}, draw.Src)
	for i, name := range names {
		sheet, err := readPicture(name)
		if err != nil {
			return err
		}
		at := image.Pt(i%inRow*(width+gap), i/inRow*(height+gap))
		draw.Draw(all, sheet.Bounds().Add(at), sheet, image.Point{}, draw.Src)
	}
	return writePicture(all, path)
}
