// Command pack writes a directory as an archive whose bytes depend on nothing but its files:
// the names are sorted, and all files get one time and no owner.
//
//	pack TIME DIR ARCHIVE     TIME in seconds since 1970; ARCHIVE ends in .tar.gz, .tgz or .zip
//	pack sbom TIME PROGRAM…   writes to stdout which modules the programs were built from
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 3 || args[0] != "sbom" && len(args) > 3 {
		return fmt.Errorf("want TIME DIR ARCHIVE, or sbom TIME PROGRAM…")
	}
	sbom := args[0] == "sbom"
	if sbom {
		args = args[1:]
	}
	seconds, err := strconv.ParseInt(args[0], 10, 64)
	if err != nil {
		return err
	}
	at := time.Unix(seconds, 0).UTC()
	if sbom {
		return writeSBOM(os.Stdout, args[1:], at)
	}
	f, err := os.Create(args[2])
	if err != nil {
		return err
	}
	defer f.Close()
	write := writeTar
	if strings.HasSuffix(args[2], ".zip") {
		write = writeZip
	}
	if err := write(f, args[1], at); err != nil {
		return err
	}
	return f.Close()
}

// each calls add for each file below dir, sorted, with its name in the archive, which begins
// with the name of dir.
func each(dir string, add func(name string, mode fs.FileMode, r io.Reader, size int64) error) error {
	return filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if info.Mode()&0o100 != 0 {
			mode = 0o755
		}
		return add(path.Join(filepath.Base(dir), filepath.ToSlash(rel)), mode, f, info.Size())
	})
}

func writeTar(w io.Writer, dir string, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	err = each(dir, func(name string, mode fs.FileMode, r io.Reader, size int64) error {
		if err := t.WriteHeader(&tar.Header{Name: name, Mode: int64(mode), Size: size, ModTime: at, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		_, err := io.Copy(t, r)
		return err
	})
	if err != nil {
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

func writeZip(w io.Writer, dir string, at time.Time) error {
	z := zip.NewWriter(w)
	err := each(dir, func(name string, mode fs.FileMode, r io.Reader, _ int64) error {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: at}
		h.SetMode(mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, r)
		return err
	})
	if err != nil {
		return err
	}
	return z.Close()
}

// writeSBOM writes what the programs of one module were built from, as CycloneDX 1.6
// (https://cyclonedx.org/docs/1.6/json/).
func writeSBOM(w io.Writer, programs []string, at time.Time) error {
	type component struct {
		Type    string `json:"type"`
		Name    string `json:"name"`
		Version string `json:"version"`
		PURL    string `json:"purl"`
	}
	module := func(kind, name, version string) component {
		return component{kind, name, version, "pkg:golang/" + strings.ToLower(name) + "@" + version}
	}
	var main component
	var list []component
	for _, program := range programs {
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return err
		}
		main = module("application", info.Main.Path, info.Main.Version)
		list = append(list, module("library", "stdlib", strings.TrimPrefix(info.GoVersion, "go")))
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			list = append(list, module("library", m.Path, m.Version))
		}
	}
	slices.SortFunc(list, func(a, b component) int { return strings.Compare(a.PURL, b.PURL) })
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"metadata":   map[string]any{"timestamp": at.Format(time.RFC3339), "component": main},
		"components": slices.Compact(list),
	})
}
