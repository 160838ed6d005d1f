package bucket_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/bucket"
	"github.com/acptap/acptap/record"
)

// refusal is an answer of S3 that quotes everything it was sent, as no server should.
func refusal(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		fmt.Fprintf(w, `<Error><Code>%s</Code><Message>no: %s %s %s</Message></Error>`, code, accessKey, secretKey, r.Header.Get("Authorization"))
	}
}

// Problems with the bucket, or with the connection to it, are reported at once, in words
// without credentials.
func TestUnusable(t *testing.T) {
	cut := func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }
	hang := func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	s, store, empty := newServer(t), tapes(t, 5), record.OpenStore(t.TempDir())
	for name, tt := range map[string]struct {
		front http.HandlerFunc
		want  string
	}{
		"access":    {refusal(403, "AccessDenied"), "the credentials do not allow it"},
		"key":       {refusal(403, "InvalidAccessKeyId"), "the server does not know the access key"},
		"secret":    {refusal(403, "SignatureDoesNotMatch"), "the secret key is not that of the access key"},
		"expired":   {refusal(400, "ExpiredToken"), "the credentials have expired"},
		"bucket":    {refusal(404, "NoSuchBucket"), "there is no such bucket"},
		"clock":     {refusal(403, "RequestTimeTooSkewed"), "the clock of this machine"},
		"forbidden": {refusal(403, "Odd"), "the server answers 403 Odd: no: [redacted]"},
		"broken":    {refusal(500, "InternalError"), "the server answers 500 InternalError"},
		"no XML": {func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, secretKey+"\x1b[2J", http.StatusBadGateway)
		}, "the server answers 502 Bad Gateway"},
		"no S3": {func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			http.Error(w, "<html>hello", http.StatusMultipleChoices) // following a redirect, net/http closes the body twice at once, which minio-go does not stand
		}, "the server answers 300"},
		"cut":     {cut, "the server closed the connection"},
		"hanging": {hang, "nothing came for 1s"},
	} {
		s.answer(tt.front)
		patience := time.Minute
		if name == "hanging" {
			patience = time.Second
		}
		list, err := push(t.Context(), t, store, s.patient(t, "", patience), false)
		check := func(doing string) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "s3://tapes at "+s.URL) {
				t.Errorf("%s: %s: got %v, want %s", name, doing, err, tt.want)
			} else if text := err.Error(); strings.Contains(text, accessKey) || strings.Contains(text, secretKey) || strings.Contains(strings.ReplaceAll(text, "Signature=[redacted]", ""), "Signature=") {
				t.Errorf("%s: %s: %s", name, doing, text)
			}
		}
		if check("push"); len(list) > 0 {
			t.Errorf("%s: %+v", name, list)
		}
		_, err = pull(t.Context(), empty, s.patient(t, "", patience), bucket.Selection{})
		check("pull")
	}
	s.answer(nil)
	mustPush(t, store, s.bucket(t, ""))
	if n := len(s.keys(t)); n != 5 { // one that was given up may have arrived all the same
		t.Errorf("%d tapes are there later", n)
	}
}

// TestShortAccessKey: the access key id is blanked where it is a word, not inside others.
func TestShortAccessKey(t *testing.T) {
	s := newServer(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		io.WriteString(w, `<Error><Code>Odd</Code><Message>a bad day at a-b: key=a, "a" has a_b and aaa/a</Message></Error>`)
	})
	_, err := pull(t.Context(), record.OpenStore(t.TempDir()), s.bucket(t, ""), bucket.Selection{})
	const r = "[redacted]"
	want := "the server answers 403 Odd: " + r + " bad day at a-b: key=" + r + `, "` + r + `" has a_b and aaa/` + r
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got  %v\nwant … %s", err, want)
	}
}

func TestNoServer(t *testing.T) {
	s := newServer(t)
	s.Close()
	_, err := push(t.Context(), t, tapes(t, 3), s.bucket(t, ""), false)
	if err == nil || !strings.Contains(err.Error(), "refused") || !strings.Contains(err.Error(), s.URL) {
		t.Error(err)
	}
}

func TestNoCredentials(t *testing.T) {
	s := newServer(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	s.answer(refusal(403, "AccessDenied"))
	if _, err := push(t.Context(), t, tapes(t, 1), s.bucket(t, ""), false); err == nil || !strings.Contains(err.Error(), "there are no credentials") {
		t.Error(err)
	}
}

// The profile in the file of credentials is used.
func TestProfile(t *testing.T) {
	s := newServer(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	file := filepath.Join(t.TempDir(), "credentials")
	if err := os.WriteFile(file, []byte("[ci]\naws_access_key_id = AKIDOFTHEPROFILE\naws_secret_access_key = "+secretKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	t.Setenv("AWS_PROFILE", "ci")
	signed := make(chan string, 1)
	s.answer(func(w http.ResponseWriter, r *http.Request) {
		signed <- r.Header.Get("Authorization")
		refusal(404, "NoSuchBucket")(w, r)
	})
	pull(t.Context(), record.OpenStore(t.TempDir()), s.bucket(t, ""), bucket.Selection{})
	if got := <-signed; !strings.Contains(got, "AKIDOFTHEPROFILE/") || !strings.Contains(got, "/us-east-1/s3/") {
		t.Errorf("signed %q", got)
	}
}

// A server that refuses one object because of its content gets the others.
func TestRefusedObject(t *testing.T) {
	s, store := newServer(t), tapes(t, 5)
	whole := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "tape03") {
			refusal(400, "EntityTooLarge")(w, r)
			return
		}
		whole.ServeHTTP(w, r)
	})
	list, err := push(t.Context(), t, store, s.bucket(t, ""), false)
	failed := 0
	for _, one := range list {
		if one.Err != nil {
			failed++
			if !strings.Contains(one.Err.Error(), "tape 20261122T100000003-tape03: ") || !strings.Contains(one.Err.Error(), "400 EntityTooLarge") {
				t.Error(one.Err)
			}
		}
	}
	if err != nil || failed != 1 || len(s.keys(t)) != 4 {
		t.Errorf("%d objects, %+v, %v", len(s.keys(t)), list, err)
	}
}

// A server that does not know conditions gets the objects all the same.
func TestNoConditions(t *testing.T) {
	s, store := newServer(t), tapes(t, 2)
	whole := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			refusal(501, "NotImplemented")(w, r)
			return
		}
		whole.ServeHTTP(w, r)
	})
	if n := mustPush(t, store, s.bucket(t, "")); n != 2 || len(s.keys(t)) != 2 {
		t.Errorf("%d new objects of %d", n, len(s.keys(t)))
	}
}

// A connection that is cut, or from which nothing more comes, in the middle of an object
// costs that object.
func TestCutDownload(t *testing.T) {
	for name, end := range map[string]func(*http.Request){
		"it ends too early":   func(*http.Request) { panic(http.ErrAbortHandler) },
		"nothing came for 2s": func(r *http.Request) { <-r.Context().Done() },
	} {
		s := newServer(t)
		mustPush(t, tapes(t, 5), s.bucket(t, ""))
		whole := s.Config.Handler
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "tape03") {
				whole.ServeHTTP(&half{ResponseWriter: w, end: func() { end(r) }}, r)
				return
			}
			whole.ServeHTTP(w, r)
		})
		store := record.OpenStore(t.TempDir())
		list, err := pull(t.Context(), store, s.patient(t, "", 2*time.Second), bucket.Selection{})
		failed := 0
		for _, one := range list {
			if one.Err != nil {
				failed++
				if !strings.HasPrefix(one.Err.Error(), one.Object+": "+name) || !strings.Contains(one.Tape, "tape03") {
					t.Error(one.Err)
				}
			}
		}
		here, _ := store.Tapes()
		if err != nil || failed != 1 || len(here) != 4 {
			t.Errorf("%s: %d tapes, %+v, %v", name, len(here), list, err)
		}
		s.Config.Handler = whole
		if got := mustPull(t, store, s.bucket(t, ""), bucket.Selection{}); len(got) != 1 {
			t.Errorf("%s: again: %q", name, got)
		}
	}
}

// A half writes half of the first bytes that it is given, and ends.
type half struct {
	http.ResponseWriter
	end func()
}

func (h *half) Write(p []byte) (int, error) {
	h.ResponseWriter.Write(p[:len(p)/2])
	h.ResponseWriter.(http.Flusher).Flush()
	h.end()
	return 0, errors.New("cut")
}

// Whoever interrupts gets to know no more than that.
func TestInterrupted(t *testing.T) {
	s, store := newServer(t), tapes(t, 5)
	interrupted := func() context.Context {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		s.answer(func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // else the end of the connection is not seen
			cancel()
			<-r.Context().Done()
		})
		return ctx
	}
	if list, err := push(interrupted(), t, store, s.bucket(t, ""), false); !errors.Is(err, context.Canceled) || len(list) > 0 {
		t.Errorf("push: %+v, %v", list, err)
	}
	if _, err := pull(interrupted(), store, s.bucket(t, ""), bucket.Selection{}); !errors.Is(err, context.Canceled) {
		t.Errorf("pull: %v", err)
	}
}
