package bucket_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/bucket"
	"github.com/acptap/acptap/record"
)

// TestEndlessListing: if a listing has no end, Pull copies what has been listed, and reports
// the listing.
func TestEndlessListing(t *testing.T) {
	s := newServer(t)
	mustPush(t, tapes(t, 2), s.bucket(t, ""))
	keys := s.keys(t)
	contents := func(keys ...string) string {
		var b strings.Builder
		for _, key := range keys {
			fmt.Fprintf(&b, "<Contents><Key>%s</Key><Size>1</Size><LastModified>2026-11-22T10:00:00Z</LastModified></Contents>", key)
		}
		return b.String()
	}
	all := contents(keys...)
	long := strings.Repeat(contents("v1/x"), 17<<20/len(contents("v1/x")))
	for name, tt := range map[string]struct {
		page func(n int) (contents, next string) // the nth page, from 1
		want string
	}{
		"the same page": {func(int) (string, string) { return all, "again" }, "came again"},
		"the same empty page": {func(n int) (string, string) {
			if n == 1 {
				return all, "again"
			}
			return "", "again"
		}, "the same page came again"},
		"the same keys on new pages": {func(n int) (string, string) { return all, fmt.Sprint(n) }, "came again"},
		"two empty pages in turn":    {func(n int) (string, string) { return all[:len(all)*max(0, 2-n)], fmt.Sprint(n % 2) }, "the same page came again"},
		"keys that are no tapes": {func(n int) (string, string) {
			return all[:len(all)*max(0, 2-n)] + contents("v1/a", "v1/b", "v1/c"), fmt.Sprint(n)
		}, `"v1/`},
		"a page that does not end":    {func(n int) (string, string) { return all + long, "" }, "a page has more than 16 MiB"},
		"empty pages without a cycle": {func(n int) (string, string) { return all[:len(all)*max(0, 2-n)], fmt.Sprint(n) }, "there are more than 20000 pages"},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && strings.Contains(tt.want, "pages") {
				t.Skip("20,000 requests")
			}
			n := 0
			list := func(w http.ResponseWriter, r *http.Request) {
				n++
				contents, next := tt.page(n)
				fmt.Fprintf(w, "<ListBucketResult><Name>tapes</Name><IsTruncated>%v</IsTruncated><NextContinuationToken>%s</NextContinuationToken>%s</ListBucketResult>", next != "", next, contents)
			}
			s.answer(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Has("list-type") {
					list(w, r)
					return
				}
				s.fake.ServeHTTP(w, r)
			})
			defer s.answer(nil)
			store := record.OpenStore(t.TempDir())
			pulled, err := pull(t.Context(), store, s.bucket(t, ""), bucket.Selection{})
			if err == nil || !strings.Contains(err.Error(), "s3://tapes at "+s.URL+": the list of its objects does not end: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			whole := tt.want != "a page has more than 16 MiB" // of which minio reads nothing
			if here, err := store.Tapes(); err != nil || whole && len(here) != 2 {
				t.Errorf("%d tapes were pulled, %v: %+v", len(here), err, pulled)
			}
		})
	}
}
