package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// startBrowser starts the browser that takes the pictures. It ends with the context.
func startBrowser(ctx context.Context) (context.Context, context.CancelFunc, error) {
	path := ""
	for _, name := range []string{os.Getenv("ACPTAP_BROWSER"), "chromium-headless-shell", "google-chrome", "chromium"} {
		if found, err := exec.LookPath(name); name != "" && err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, nil, errors.New("no browser: apt-get install -y --no-install-recommends chromium-headless-shell fonts-dejavu-core fonts-noto-color-emoji")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, endProcess := chromedp.NewExecAllocator(ctx, options...)
	ctx, endBrowser := chromedp.NewContext(ctx)
	end := func() { endBrowser(); endProcess() }
	if err := chromedp.Do(ctx); err != nil {
		end()
		return nil, nil, fmt.Errorf("starting %s: %w", path, err)
	}
	return ctx, end, nil
}

// command returns a step that sends a command of the protocol.
func command[P, R any](method cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, target *chromedp.Target) (_ chromedp.Void, err error) {
		_, err = cdp.Call(ctx, target, method, params)
		return
	}
}

// A look is how a page is looked at.
type look struct {
	name   string
	width  int64
	media  []*emulation.MediaFeature
	vision emulation.SetEmulatedVisionDeficiencyType
	parts  bool // the picture is written in parts, too, whose text can be read in a viewer that fits all into a window
}

func looks() []look {
	feature := func(name, value string) []*emulation.MediaFeature {
		return []*emulation.MediaFeature{{Name: name, Value: value}}
	}
	dark := feature("prefers-color-scheme", "dark")
	const seen = emulation.SetEmulatedVisionDeficiencyTypeNone
	return []look{
		{"light-390", 390, nil, seen, true}, {"light-1400", 1400, nil, seen, true}, {"light-2200", 2200, nil, seen, false},
		{"dark-390", 390, dark, seen, false}, {"dark-1400", 1400, dark, seen, true},
		{"forced", 1400, feature("forced-colors", "active"), seen, false},
		{"deuteranopia", 1400, nil, emulation.SetEmulatedVisionDeficiencyTypeDeuteranopia, false},
	}
}

// highest is where pictures of pages end, in pixels.
const highest = 6000

// shoot writes pictures of a page, DIR/NAME-LOOK.png and DIR/NAME-print.png.
func shoot(ctx context.Context, html, dir, name string) error {
	ctx, end := chromedp.NewContext(ctx)
	defer end()
	address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(html)}).String()
	for _, l := range looks() {
		// Loaded each time: what a page draws depends on the width that it had then.
		err := chromedp.Do(ctx,
			chromedp.EmulateViewport(l.width, 900),
			command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: l.media}),
			command(emulation.SetEmulatedVisionDeficiency, emulation.SetEmulatedVisionDeficiencyParams{Type: l.vision}),
			chromedp.Navigate(address))
		if err == nil {
			err = ready(ctx)
		}
		if err == nil {
			err = grow(ctx, l.width, "document.documentElement")
		}
		path := filepath.Join(dir, name+"-"+l.name+".png")
		if err == nil {
			err = picture(ctx, "document.documentElement", path)
		}
		if err == nil && l.parts {
			err = cut(path)
		}
		if err != nil {
			return fmt.Errorf("%s-%s: %w", name, l.name, err)
		}
	}
	return shootPaper(ctx, filepath.Join(dir, name+"-print.png"))
}

// ready waits until the page's script is done.
func ready(ctx context.Context) error {
	said, err := chromedp.Run(ctx, chromedp.Evaluate[string](`new Promise(done => {
		const look = () => {
			const {ready, error} = document.documentElement.dataset;
			ready || error ? done(error ?? '') : setTimeout(look, 5);
		};
		look();
	})`, chromedp.EvalAwaitPromise))
	if err == nil && said != "" {
		err = fmt.Errorf("the page says: %s", said)
	}
	return err
}

// grow makes the window as high as an element, as a page draws only what is near the window,
// and waits until that is drawn.
func grow(ctx context.Context, width int64, element string) error {
	for before := int64(0); ; {
		height, err := chromedp.Run(ctx, chromedp.Evaluate[int64](fmt.Sprintf(`new Promise(done => {
			const look = () => ![0, innerHeight].includes(%d) ? requestAnimationFrame(look)
				: requestAnimationFrame(() => requestAnimationFrame(() => done(%s.scrollHeight)));
			look();
		})`, before, element), chromedp.EvalAwaitPromise))
		if err != nil {
			return err
		}
		height = min(height, highest)
		if height <= before {
			return nil
		}
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, height)); err != nil {
			return err
		}
		before = height
	}
}

// picture writes a picture of an element, as far as it is in the window.
func picture(ctx context.Context, element, path string) error {
	clip, err := chromedp.Run(ctx, chromedp.Evaluate[page.Viewport](fmt.Sprintf(`(() => {
		const {x, y, width} = %[1]s.getBoundingClientRect();
		return {x, y, width, height: Math.min(%[1]s.scrollHeight, %[2]d), scale: 1};
	})()`, element, highest)))
	if err != nil {
		return err
	}
	png, err := chromedp.Run(ctx, func(ctx context.Context, target *chromedp.Target) (page.CaptureScreenshotResult, error) {
		return cdp.Call(ctx, target, page.CaptureScreenshot, page.CaptureScreenshotParams{Clip: &clip})
	})
	if err != nil {
		return err
	}
	return os.WriteFile(path, png.Data, 0o644)
}
