package bucket

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/redact"
)

// An unusableError means that the bucket cannot be used at all: further requests would
// fail too.
type unusableError struct{ error }

func (e unusableError) Unwrap() error { return e.error }

// explain describes what is wrong with a request. It removes secrets, because servers quote
// requests.
func (b *Bucket) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var answer minio.ErrorResponse
	if errors.As(err, &answer) {
		return b.explainAnswer(answer)
	}
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err // without the URL, which is long and adds nothing
	}
	var stalled stalledError
	if errors.As(err, &stalled) {
		err = stalled // without the addresses of the sockets
	}
	return unusableError{fmt.Errorf("%s at %s: %s", b.Address, b.Endpoint, b.clean(err.Error()))}
}

// refusals are the S3 error codes (API Reference, Error Responses) for problems that only
// the user can solve.
var refusals = map[string]string{
	"NoSuchBucket":          "there is no such bucket",
	"InvalidAccessKeyId":    "the server does not know the access key",
	"SignatureDoesNotMatch": "the secret key is not that of the access key",
	"InvalidToken":          "the session token is not valid",
	"ExpiredToken":          "the credentials have expired",
	"AccessDenied":          "the credentials do not allow it",
	"RequestTimeTooSkewed":  "the clock of this machine and that of the server differ",
}

func (b *Bucket) explainAnswer(answer minio.ErrorResponse) error {
	text, known := refusals[answer.Code]
	switch {
	case answer.Code == "AccessDenied" && b.isAnonymous():
		text = "it is not for everyone, and there are no credentials: neither AWS_ACCESS_KEY_ID is set nor is there a profile in ~/.aws/credentials"
	case answer.StatusCode == 0:
		text = "the server's answer cannot be read: " + b.clean(answer.Message)
	case strings.HasPrefix(answer.Code, strconv.Itoa(answer.StatusCode)): // not an answer of S3
		text = "the server answers " + b.clean(answer.Code)
	case !known:
		text = fmt.Sprintf("the server answers %d %s: %s", answer.StatusCode, b.clean(answer.Code), b.clean(answer.Message))
	}
	err := fmt.Errorf("%s at %s: %s", b.Address, b.Endpoint, text)
	switch status := answer.StatusCode; {
	case known, status == http.StatusUnauthorized, status == http.StatusForbidden, status >= 500, 300 <= status && status < 400:
		return unusableError{err}
	}
	return err // concerns only this object
}

// maxQuoted limits how much of a server's message is quoted, in bytes.
const maxQuoted = 200

// clean returns a text without secrets, on one line.
func (b *Bucket) clean(text string) string {
	if v, err := b.creds.GetWithContext(nil); err == nil {
		for _, secret := range []string{v.SecretAccessKey, v.SessionToken} {
			if secret != "" {
				text = strings.ReplaceAll(text, secret, redact.Placeholder)
			}
		}
		text = withoutWord(text, v.AccessKeyID)
	}
	text = signature().ReplaceAllString(text, "Signature="+redact.Placeholder)
	return wire.Clip(strings.Join(strings.Fields(redact.Text(text)), " "), maxQuoted)
}

// withoutWord replaces a word in a text, but not the same letters inside another word: the
// access key ID of a test server may be "minio" or "a".
func withoutWord(text, word string) string {
	if word == "" {
		return text
	}
	var b strings.Builder
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return b.String() + text[from:]
		}
		i += from
		end := i + len(word)
		b.WriteString(text[from:i])
		if i > 0 && inWord(text[i-1]) || end < len(text) && inWord(text[end]) {
			b.WriteString(word)
		} else {
			b.WriteString(redact.Placeholder)
		}
		from = end
	}
}

func inWord(c byte) bool {
	return c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

var signature = lazyregexp.New(`Signature=[0-9a-fA-F]+`)

// isAnonymous reports whether requests are not signed.
func (b *Bucket) isAnonymous() bool {
	v, err := b.creds.GetWithContext(nil)
	return err == nil && v.AccessKeyID == ""
}
