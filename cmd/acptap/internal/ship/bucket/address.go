package bucket

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// An Address says where tapes are kept.
type Address struct {
	Bucket   string
	Prefix   string // of object names, without a slash at either end; may be empty
	Endpoint string // URL of the server, without a path
	Region   string // empty: ask the server
	Raw      bool   // tapes there may contain secrets
}

// amazon is the default endpoint.
const amazon = "https://s3.amazonaws.com"

// ParseAddress parses an address of the form
//
//	s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION&raw=1
//
// If endpoint or region is missing, it takes them from the variables that other S3 programs
// read: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REGION, AWS_DEFAULT_REGION. Errors quote
// only the names of parameters, because an address may contain a password.
func ParseAddress(text string, getenv func(string) string) (a Address, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "s3" || u.Host == "" {
		return a, errors.New("the address of a bucket is s3://BUCKET/PREFIX")
	}
	if u.User != nil {
		return a, errors.New("an address has no user and no password: credentials are in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in ~/.aws/credentials")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil || u.Fragment != "" {
		return a, errors.New("after the ? an address takes endpoint, region or raw, such as ?region=eu-north-1")
	}
	for name := range query {
		if !slices.Contains([]string{"endpoint", "region", "raw"}, name) {
			return a, fmt.Errorf("an address has no parameter %q, only endpoint, region and raw", name)
		}
	}
	if err := s3utils.CheckValidBucketName(u.Host); err != nil {
		return a, fmt.Errorf("%q cannot be the name of a bucket: %w", u.Host, err)
	}
	if raw := query.Get("raw"); raw != "" && raw != "1" {
		return a, errors.New("raw of an address is 1, or is left out")
	}
	a = Address{Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), Raw: query.Get("raw") == "1"}
	a.Region = cmp.Or(query.Get("region"), getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"))
	a.Endpoint, err = origin(cmp.Or(query.Get("endpoint"), getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL"), amazon))
	if a.Endpoint != amazon && a.Region == "" {
		a.Region = "us-east-1" // accepted by servers without regions
	}
	return a, err
}

// origin returns the URL of a server: its scheme, host and port.
func origin(text string) (string, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("an endpoint is https://HOST:PORT or http://HOST:PORT, and nothing else is in it")
	}
	return u.Scheme + "://" + u.Host, nil
}

// String returns the address as users write it, without the server.
func (a Address) String() string {
	return strings.TrimSuffix("s3://"+a.Bucket+"/"+a.Prefix, "/")
}

// url returns the address of an object as users write it.
func (a Address) url(key string) string { return "s3://" + a.Bucket + "/" + key }
