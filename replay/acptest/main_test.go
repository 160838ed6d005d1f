package acptest_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acptap/acptap/replay/acptest"
)

func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise each process takes a second to exit
	acptest.Main()
	m.Run()
}

// A fakeT is a test that records what it reports.
type fakeT struct {
	testing.TB // nil in an example
	out        io.Writer

	mu       sync.Mutex
	said     strings.Builder // errors; guarded by mu
	logged   strings.Builder // guarded by mu
	cleanups []func()
}

// newT returns a test that prints its errors.
func newT() *fakeT { return &fakeT{out: os.Stdout} }

// end is the end of the test.
func (f *fakeT) end() {
	for _, c := range slices.Backward(f.cleanups) {
		c()
	}
	f.cleanups = nil
}

// try runs a test, and returns what it would have logged.
func try(t testing.TB, test func(t *fakeT)) *fakeT {
	f := &fakeT{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer f.end()
		test(f)
	}()
	<-done
	return f
}

// check checks that the errors of a test contain a text, or that there are none if it is
// empty.
func (f *fakeT) check(t testing.TB, want string) {
	t.Helper()
	if got := f.said.String(); (got == "") != (want == "") || !strings.Contains(got, want) {
		t.Errorf("got the errors %q, want %q", got, want)
	}
}

func (f *fakeT) Helper()                  {}
func (f *fakeT) Cleanup(c func())         { f.cleanups = append(f.cleanups, c) }
func (f *fakeT) Context() context.Context { return context.Background() }
func (f *fakeT) Output() io.Writer        { return logger{f} }

func (f *fakeT) Logf(format string, args ...any) { fmt.Fprintf(logger{f}, format, args...) }

func (f *fakeT) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(&f.said, format, args...)
	if f.out != nil {
		fmt.Fprintf(f.out, format, args...)
	}
}

func (f *fakeT) Error(args ...any) { f.Errorf("%s", fmt.Sprintln(args...)) }

func (f *fakeT) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	runtime.Goexit()
}

func (f *fakeT) Fatal(args ...any) { f.Fatalf("%s", fmt.Sprintln(args...)) }

type logger struct{ f *fakeT }

func (l logger) Write(b []byte) (int, error) {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	return l.f.logged.Write(b)
}
