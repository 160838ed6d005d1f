package lake

import (
	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/tapelist"
)

// A Push holds the flags of push.
type Push struct {
	Which tapelist.Subjects
	Raw   bool
	JSON  bool
}

// addressHelp explains the URL of push and pull.
const addressHelp = `
URL is s3://BUCKET/PREFIX, and behind that there may be

  ?endpoint=URL   the server, default $AWS_ENDPOINT_URL_S3, else
                  $AWS_ENDPOINT_URL, else Amazon's
  ?region=NAME    default $AWS_REGION, else $AWS_DEFAULT_REGION, else
                  us-east-1; Amazon is asked
  ?raw=1          tapes may have their secrets there

Credentials are never in it. They are $AWS_ACCESS_KEY_ID, $AWS_SECRET_ACCESS_KEY
and $AWS_SESSION_TOKEN, else the profile $AWS_PROFILE in ~/.aws/credentials,
else what the machine or container is given.`

// NewPushCmd returns the push command. run runs it; args are URL and REFs.
func NewPushCmd(run func(cmd *cobra.Command, p *Push, args []string) error) *cobra.Command {
	var p Push
	cmd := &cobra.Command{
		Use:   "push [flags] URL [REF...]",
		Short: "Bring tapes to a bucket of object storage",
		Long: `Brings tapes to a bucket of Amazon S3, or of a server that speaks its protocol:
those that are named, the newest one if none is, or those that --all, --agent
and --since select. With a tape go those of the servers that its agent started.
A tape that is being recorded waits until it has ended.

What leaves the machine is what acptap export writes, packed by zstd: everything
that was said, with the secrets that it finds replaced by [redacted]. Some are
missed: see acptap help store. --raw keeps them, if the URL allows it.

What has arrived is not sent again, nor read again, unless tags or notes on it
have changed. Objects are never changed, so any number of machines and jobs may
push to one place at once. Each is called

  PREFIX/v1/AGENT/2026/11/23/TAPE-SUM.jsonl.zst

with the first 16 digits of the SHA-256 of what is in it. zstd -d unpacks it,
and every command of acptap that takes a file takes that. frames, turns, failed
and version are metadata of the object. The URLs of new objects are printed.
` + addressHelp + "\n" + ref.Help + `

A line of --json is an object with tape, object (its URL), bytes (of the object)
and new (false if another machine or job has brought it there).

Exit status 0; 2 if a tape could not be brought there.`,
		Example: `  acptap push s3://tapes/alice
  acptap push s3://tapes/ci --all
  acptap push 's3://tapes?endpoint=https://minio.example:9000' --since 7d
  acptap push --raw 's3://vault/tapes?raw=1' 7k2m9p`,
		Args: cli.Operands(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := urlFirst(cmd, args); err != nil {
				return err
			}
			if err := p.Which.Check(args[1:]); err != nil {
				return err
			}
			return run(cmd, &p, args)
		},
	}
	p.Which.Register(cmd.Flags())
	cmd.Flags().BoolVar(&p.Raw, "raw", false, "keep secrets; the URL must have ?raw=1")
	cmd.Flags().BoolVar(&p.JSON, "json", false, "one JSON object a line")
	return cmd
}
