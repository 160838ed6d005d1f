package bucket_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/bucket"
)

func TestParseAddress(t *testing.T) {
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, tt := range []struct {
		text string
		env  func(string) string
		want bucket.Address
	}{
		{"s3://tapes", env(), bucket.Address{Bucket: "tapes", Endpoint: "https://s3.amazonaws.com"}},
		{"s3://tapes/", env("AWS_REGION", "eu-north-1"), bucket.Address{Bucket: "tapes", Endpoint: "https://s3.amazonaws.com", Region: "eu-north-1"}},
		{"s3://tapes/a/b/?raw=1", env("AWS_DEFAULT_REGION", "x"), bucket.Address{Bucket: "tapes", Prefix: "a/b", Endpoint: "https://s3.amazonaws.com", Region: "x", Raw: true}},
		{"s3://tapes?endpoint=http://127.0.0.1:9000/", env(), bucket.Address{Bucket: "tapes", Endpoint: "http://127.0.0.1:9000", Region: "us-east-1"}},
		{"s3://tapes?endpoint=minio:9000&region=r", env("AWS_ENDPOINT_URL", "http://other", "AWS_REGION", "s"), bucket.Address{Bucket: "tapes", Endpoint: "https://minio:9000", Region: "r"}},
		{"s3://tapes", env("AWS_ENDPOINT_URL", "http://a", "AWS_ENDPOINT_URL_S3", "http://b"), bucket.Address{Bucket: "tapes", Endpoint: "http://b", Region: "us-east-1"}},
	} {
		if got, err := bucket.ParseAddress(tt.text, tt.env); err != nil || got != tt.want {
			t.Errorf("%s: got %+v, %v, want %+v", tt.text, got, err, tt.want)
		}
	}
	for text, want := range map[string]string{
		"":                                       "s3://BUCKET/PREFIX",
		"tapes":                                  "s3://BUCKET/PREFIX",
		"https://s3.amazonaws.com/tapes":         "s3://BUCKET/PREFIX",
		"s3:///tapes":                            "s3://BUCKET/PREFIX",
		"s3://hush:hush@tapes":                   "no user and no password",
		"s3://tapes?token=hush":                  `no parameter "token"`,
		"s3://tapes?raw=yes":                     "raw of an address is 1",
		"s3://tapes?endpoint=ftp://hush":         "an endpoint is",
		"s3://tapes?endpoint=https://hush:x@h":   "an endpoint is",
		"s3://tapes?endpoint=https://h/hush":     "an endpoint is",
		"s3://tapes?endpoint=https://h%3Fk=hush": "an endpoint is",
		"s3://tapes?%zz":                         "after the ? an address takes",
		"s3://tapes#hush":                        "after the ? an address takes",
		"s3://T":                                 "cannot be the name of a bucket",
		"s3://hu sh":                             "s3://BUCKET/PREFIX",
	} {
		if got, err := bucket.ParseAddress(text, env()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %+v, %v, want %s", text, got, err, want)
		}
	}
}

// Any address that can be parsed has a form that parses to the same address, and that
// contains no password.
func FuzzParseAddress(f *testing.F) {
	for _, text := range []string{"s3://tapes/a?raw=1&region=x&endpoint=http://h:1", "s3://a:b@c", "s3://tapes/%2e%2e/%00?endpoint=%20"} {
		f.Add(text)
	}
	none := func(string) string { return "" }
	f.Fuzz(func(t *testing.T, text string) {
		a, err := bucket.ParseAddress(text, none)
		if err != nil {
			return
		}
		again, err := bucket.ParseAddress("s3://"+a.Bucket+"?region="+"r&endpoint="+a.Endpoint, none)
		if err != nil || again.Bucket != a.Bucket || again.Endpoint != a.Endpoint {
			t.Errorf("%q is %+v, and again %+v, %v", text, a, again, err)
		}
	})
}
