package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// Secrets by the name that stands before them: each must be gone. What stands
// between « and » is the secret.
var secretTexts = []string{
	// Short ones, and ones without digits, behind a telling name.
	"password: «hunter»", "password=«hunter»", "Password : «Sommerregen»", "passwd=«x7»", "db_pwd=«abcdef»", "DB_PASS=«letmein»",
	"SMTP_PASS = «letmein»", "passphrase: «correct-horse»", `passphrase = "«correct horse battery»"`, `"password": "«correct horse»"`,
	// KEY = value, with blanks and without.
	"API_KEY = «abcdefgh»", "export API_KEY=«abcdefgh»", "export OPENAI_API_KEY = '«abc def»'", "set TOKEN=«abcdef»", "$env:API_TOKEN = \"«abcdef»\"",
	"AWS_SECRET_ACCESS_KEY = «wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY»", "aws_secret_access_key=«wJalrXUtnFEMI/K7MDENG»", "aws_session_token = «IQoJb3JpZ2luX2VjEXAMPLE»",
	"AZURE_CLIENT_SECRET=«a~b.c-d_e»", "ACCOUNT_KEY=«Zm9vYmFy==»", "GITHUB_TOKEN=«abcdefabcdef»", "DOCKER_PASSWORD=«dckr»", "+DB_PASSWORD=«geheim»", "STRIPE_WEBHOOK_SECRET=«whsecabc»",
	"JWT_SECRET=«changeme»", "SESSION_SECRET=«keyboard-cat»", "NPM_TOKEN=«abcdef»", "ENCRYPTION_KEY=«0123456789abcdef»", "SIGNING_KEY=«s1gn»",
	// ini, properties, YAML, netrc, npmrc, Dockerfile, TOML.
	"[default]\naws_access_key_id = x\naws_secret_access_key = «abcdefabcdef»\n", "[client]\nuser=root\npassword=«s3cret!»\n", "[auth]\ntoken = «abcdef»\n",
	"spring.datasource.password=«geheim»", "db.password : «geheim»", "api:\n  key_id: a\n  api_key: «abcdef»\n", "- name: db\n  password: «geheim»\n", "secret: '«it is»'",
	"machine api.example.com login me password «geheim»", "machine h\n  login me\n  password «geheim»\n", "//registry.npmjs.org/:_authToken=«abcdef-abc»", "_auth=«dXNlcjpwYXNz»",
	"ENV DB_PASSWORD «geheim»", "ENV DB_PASSWORD=«geheim»", "ARG NPM_TOKEN=«abcdef»", "client-secret = \"«abcdef»\"",
	// Headers.
	"Authorization: Basic «dXNlcjpwYXNz»", "authorization: Bearer «abcdefghij»", "Authorization: token «abcdefghijklm»", "Proxy-Authorization: Basic «YTpi»",
	"Cookie: sid=«abc»; theme=«dark»", "Set-Cookie: session=«abcdef»; Path=/", "X-Api-Key: «abcdef»", "x-auth-token: «abcdef»", "PRIVATE-TOKEN: «abcdef»",
	// Command lines.
	"curl -u me:«geheim» https://h/", "curl --user 'me:«geheim»' https://h/", "curl -H 'Authorization: Bearer «abcdefghij»' https://h/", `curl -H "X-Api-Key: «abc»" https://h/`,
	"mysql -u root --password=«geheim» db", "tool --token=«abcdef» run", "tool --api-key '«abc def»' run", "tool --client-secret «abc123def» run",
	// URLs.
	"https://h/p?api_key=«abcdef»&x=1", "https://h/p?x=1&access_token=«abcdef»", "https://h/p?sig=«abc%2Bdef%3D»&se=2026", "https://h/p?key=«tvly-dev-Ab12Cd34Ef56»&x=1", "GET /p?x=1&Key=«0123456789abcdef»", "postgres://me:«geheim»@h/db", "redis://:«geheim»@h:6379",
	"https://h/o?X-Amz-Signature=«0123456789abcdef»&X-Amz-Date=1", "wss://h/?token=«abc»", "https://«0123456789abcdef0123»@git.example.com/x.git", "mongodb+srv://me:«ge!heim»@h/db",
	// Connection strings.
	"Server=h;Database=d;User Id=me;Password=«geheim»;", "Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=«abcdef=»", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=«Zm9v==»;",
	"Server=h;Uid=me;Pwd=«geheim»;",
	// Code and markup.
	"const password = '«geheim»';", `api_key="«abcdef»"`, "'password' => '«geheim»'", "password := \"«geheim»\"", "<password>«geheim»</password>", "CREATE USER me PASSWORD '«geheim»'",
	"MYSQL_ROOT_PASSWORD: «rootpw»", "PGPASSWORD=«geheim» psql -h h", "MONGO_INITDB_ROOT_PASSWORD=«abc»", "heroku config:set SECRET_KEY_BASE=«abcdef»", "kubectl create secret generic x --from-literal=password=«geheim»",
	"password is \"«geheim»\"", "user: me\npass: «geheim»", "Passwort: «geheim»", "OPENAI_API_KEY «abcdefgh1234»", "vault token: «hvs.abcdef12345»", "sshpass -p '«geheim»' ssh h", "TWILIO_AUTH_TOKEN='«abcdef»'",
	"{'api_key': '«abcdef»'}", "apiKey: '«abcdef»',", "headers={'Authorization': 'Bearer «abcdefgh»'}", "\"X-API-Key\": \"«abc»\"", "aws configure set aws_secret_access_key «abcdEF12345678»", "GF_SECURITY_ADMIN_PASSWORD=«admin1»", "<add key=\"DbPassword\" value=\"«geheim»\"/>",
	"Data Source=h;User=me;Password=«ge heim»;", "AccountKey=«abc==»;EndpointSuffix=x", "ftp://me:«pw»@h/", "git clone https://oauth2:«abcdef»@h/x.git", "secret_key_base: «abcdef0123»", "django SECRET_KEY = '«abc-def»'", "client_secret=«abc»&grant_type=x", "token=«abcdef123456»", "NEXTAUTH_SECRET=«x1y2»", "REDIS_URL=redis://:«geheim»@h",
	// What else assigns.
	"password ?= \"«geheim»\"", "$dbPassword .= \"«geheim»\";", "API_TOKEN ::= \"«abcdef»\"", "var apiToken string = \"«abcdef»\"", "API_KEY: str = \"«abcdef»\"", "const TOKEN: &'static str = \"«abc-def»\";",
	"System.setProperty(\"DB_PASSWORD\", \"«geheim»\")", "os.environ.setdefault('API_TOKEN', '«abcdef»')", "<password>\n  «geheim»\n</password>", `curl -u "me:«ge heim»" https://h`, "curl -u «ab12cd34ef56ab78»: https://h",
	`curl -u me:"«ge heim»" https://h`, "curl -u me:'«geheim»' https://h", `"login" -u «ab12cd34ef56ab78»: ht34sr`, `password="«geheim»" token="«abcdef»"`, "mount -o username=me,password=«geheim»,password=«lantern»",
	"apiVersion: v1\ndata:\n  a: «Z2VoZWlt»\n  b: |\n    «Z2VoZWltZXI=»\nkind: Secret\n", "kind: Secret\nstringData:\n  user.name: \"«geheim»\"\ntype: Opaque\n",
	"1\t-----BEGIN PRIVATE KEY-----\n2\t«MIIEpAIBAAKCAQEAMIIEpAIBAAKCAQEA»\n3\t«MIIFpAIBAAKCAQEAMIIEpAIBAAKCAQEA»\n4\t-----END PRIVATE KEY-----",
	`{"user":"me","password":"«geheim»"}`, `{"a":{"clientSecret":"«geheim»"}}`, `{\"password\":\"«geheim»\"}`,
}

// secretFrames are params of messages, with secrets by structure.
var secretFrames = []string{
	`{"kind":"Secret","data":{"a":"«Z2VoZWlt»"}}`, `{"jwt":"«abc»"}`, `{"cookies":[{"name":"sid","value":"«abc»","domain":"h"}]}`, `{"cookies":{"sid":"«abc»"}}`, `{"cookie":"«a=b»"}`, `{"passwords":["«zq1»","«zq2»"]}`, `{"apiKeys":["«zq1»"]}`,
	`{"accessTokens":{"a":"«zq1»"}}`, `{"connectionString":"Server=h;Password=«geheim»;Database=d"}`, `{"connectionString":"postgres://me:«geheim»@h/d"}`, `{"connection_string":"«opaque»"}`, `{"dsn":"postgres://me:«geheim»@h/d"}`,
	`{"args":["-k","«abcdef0123456789»"]}`, `{"args":["-p","«abcdef0123456789»"]}`, `{"args":["-u","me:«geheim»"]}`, `{"args":["--user","me:«geheim»"]}`, `{"args":["--token","«abc»"]}`, `{"args":["--token=«abc»"]}`,
	`{"args":["-H","Authorization: Bearer «abc»"]}`, `{"args":["--header","X-Api-Key: «abc»"]}`, `{"args":["-e","DB_PASSWORD=«abc»"]}`, `{"args":["sh","-c","curl -u me:«geheim» https://h"]}`, `{"args":["-P","«abcdef0123456789»"]}`,
	`{"command":"mysql --password «geheim» db"}`, `{"command":"sshpass -p «geheim» ssh h"}`, `{"command":"mysql -u root -p«geheim» db"}`, `{"command":"DB_PASSWORD=«geheim» make"}`, `{"cmd":"redis-cli -a «geheim» ping"}`,
	`{"command":["docker","login","-u","me","-p","«geheim7geheim»"]}`,
	`{"credentials":{"username":"me","password":"«abc»"}}`, `{"credentials":{"type":"basic","value":"«abc»"}}`, `{"auth":{"token":"«abc»"}}`, `{"auths":{"h":{"auth":"«dXNlcjpwYXNz»"}}}`, `{"password":{"value":"«abc»"}}`,
	`{"variables":[{"key":"API_TOKEN","value":"«abc»"}]}`, `{"fields":[{"name":"password","value":"«abc»"}]}`, `{"secrets":{"A":"«abc»","B":["«def»"]}}`, `{"body":"{\"password\":\"«geheim»\"}"}`,
	`{"body":"{\"a\":\"{\\\"password\\\":\\\"«geheim»\\\"}\"}"}`, `{"dbPwd":"«abc»"}`, `{"db-password":"«abc»"}`, `{"DB_PASSWORD":"«abc»"}`, `{"clientSecret":"«abc»"}`, `{"client_secret":"«abc»"}`, `{"ClientSecret":"«abc»"}`,
	`{"x":{"y":[{"privateKey":"«abc»"}]}}`, `{"sessionToken":"«abc»"}`, `{"accountKey":"«abc»"}`, `{"webhookUrl":"«https://h/abc»"}`, `{"newPassword":"«abc»"}`, `{"password_confirmation":"«abc»"}`, `{"passwordHash":"«abc»"}`,
	`{"password1":"«abc»"}`, `{"API_KEY_2":"«abc»"}`, `{"pass":"«abc»"}`, `{"smtpPass":"«abc»"}`, `{"otp":"«123abc»"}`, `{"bearer":"«abc»"}`, `{"bearerToken":"«abc»"}`, `{"refresh_token":"«abc»"}`, `{"id_token":"«abc»"}`,
	`{"private_key":"«abc»"}`, `{"sshKey":"«abc»"}`, `{"signingKey":"«abc»"}`, `{"client-key-data":"«abc»"}`, `{"password":«12345678»}`,
}

// openTexts and openFrames hold no secret: nothing may be gone.
var openTexts = []string{
	"max_tokens: 4096", "max_tokens=4096", "the token count is 17", "tokens: 17", "input_tokens: 12, output_tokens: 7", "token = next(tokens)", "password: string;", "password: str,", "password = None",
	"const password = getPassword()", "password = os.environ['DB_PASSWORD']", "API_KEY=$API_KEY", "API_KEY=${API_KEY}", "apiKey: process.env.API_KEY", "token=<your token>", "TOKEN={{ secrets.TOKEN }}", "password = input(",
	"the password is needed", "Password: ", "enter your password: then press return", "passwordless login: yes", "keyboard: qwertz", "key: value", "monkey=banana", "primary_key=id", "PRIMARY KEY = id", "foreignKey: user_id",
	"public_key: ssh-rsa", "secretary: Anna", "tokenizer: bert-base", "tokenizer=bert-base-cased", "tokenType: access", "cookiecutter: yes", "bypass: true", "compass=north", "PWD=/home/me", "OLDPWD=/tmp", "author: Anna Bell",
	"authority=h:80", "if password == other:", "return token", "https://h/a?page=2&pageToken=abc", "https://h/?keyword=abc", "https://me@h/x", "git@github.com:a/b.git", "use --token to give a token", "see --password for more", "docker run -p 8080:80 x",
	"mkdir -p a/b/c", "curl -k https://h", `curl -u me: "https://h"`, "docker run -u 1000:1000 x", "def f(token, password):", "secret: true", "secret=false", "password=null", "no cookie: none", "token: Token", "self.password = password", "this.token = token;", "f(api_key=api_key)",
	"type Token = string", "let token: Token = x;", "case token := <-tokens:", "a token, a secret: and more", "hasPassword: yes", "`password`: the password of the user", "| password | string | yes |", "nextToken: abc", "next_page_token=abcdef12345", "stop_token: eos",
	"const token = lexer.next();", "tokens per second: 12345", "cookie: chocolate", "password must be at least 8 characters", "func (p *Parser) token() Token {", "let secret: SecretString;", "key=abc", "https://h/p?key=users/1", "https://h/p?x=1&key=name-of-some-thing&y=2", "/browse?key=ACP-12345", "key=0123456789abcdef", "The API key: see the docs", "token: TokenKind::Ident,", "expect(token).toBe(null)",
	"Authorization: required", "authorization: none", "if token == \"(\" {", "password_hash: Option<String>,", "pub password: String,", "password: z.string().min(8)", "password: { type: String, required: true }", "private readonly secret: string;", "cookies: Cookie[]", "interface Auth { token?: string }",
	"secret-scanning: enabled", "token_count=12345", "passed: 12, failed: 3", "author=anna", "Set-Cookie header is missing", "monkey: banana1234567", "hotkey: ctrl+k", "git push -u origin main:main", "chown -R user:group x", "rsync -a src/ dst/", "token := p.next()", "assert password != user", "turkey=abc12345", "sk-learn", "--token-limit=5000",
	"ssh -p 2222 host", "tar -xzf x -C y", "make -k all", "type: password", "input type=\"password\"", "label: \"Password:\"", "name: token", "error: invalid token: unexpected end", "SyntaxError: Unexpected token } in JSON", "unexpected token: identifier", "missing credentials: run login", "secret: kubernetes.io/tls",
	"kind: ConfigMap\ndata:\n  a: Z2VoZWlt\n", "kind: Secret\nmetadata:\n  name: abcdef\n", "describe(\"token\", \"works12345\")", "let kind: string = \"token\"", "-----BEGIN PRIVATE KEY----- is the first line, and the last is -----END PRIVATE KEY-----",
	"--password-file=/run/secrets/x", "password_file: /run/x", "secretName: my-secret", "secretKeyRef:\n  name: x\n  key: y", "keyId: abcdef", "api_key_name: x", "token_endpoint: https://h/token", "password_policy: strong", "cookie_policy=strict",
}

var openFrames = []string{
	`{"max_tokens":4096}`, `{"maxTokens":"4096"}`, `{"tokenCount":"17"}`, `{"tokens":["the","cat"]}`, `{"input_tokens":"1"}`, `{"token":""}`, `{"password":null}`, `{"password":true}`, `{"token":5}`, `{"passwordless":"yes"}`, `{"keyboard":"g"}`, `{"key":"Enter"}`, `{"keys":["a","b"]}`,
	`{"publicKey":"ssh-rsa a"}`, `{"primaryKey":"id"}`, `{"secretary":"Anna"}`, `{"tokenizer":"bert"}`, `{"tokenType":"access"}`, `{"token_type":"access"}`, `{"nextPageToken":"x"}`, `{"progressToken":"p-1"}`, `{"inputTokens":"12"}`, `{"hasPassword":"no"}`, `{"passwordPolicy":"strong"}`,
	`{"secretName":"n"}`, `{"keyId":"k"}`, `{"author":"Anna"}`, `{"authors":["Anna"]}`, `{"authority":"h"}`, `{"compass":"n"}`, `{"bypass":"yes"}`, `{"pwd":"/home/me"}`, `{"PWD":"/home/me"}`, `{"args":["-p","8080:80","-k","-u","1000:1000","-t","name"]}`, `{"args":["--port","80","-p","a/b/c"]}`,
	`{"command":"mkdir -p a/b && curl -k https://h"}`, `{"command":"ls","args":["-k","name"]}`, `{"properties":{"password":{"type":"string","description":"d"}}}`, `{"cookieCount":"7"}`, `{"authorizationUrl":"https://h"}`, `{"credentialType":"basic"}`, `{"token_endpoint":"https://h"}`,
	`{"kind":"ConfigMap","data":{"a":"Z2VoZWlt"}}`, `{"stopToken":"eos"}`, `{"design_token":"blue"}`, `{"fields":[{"name":"city","value":"Bonn"}]}`, `{"text":"{\"a\":1}"}`, `{"text":"[1, 2]"}`, `{"sessionId":"s","toolCallId":"t"}`, `{"tokenLimit":"x"}`,
}

// The content of an image is not searched: it may look like a token by chance.
func TestImage(t *testing.T) {
	const id = "/AKIA" + "QRSTUVWXYZ234567/"
	data := strings.Repeat("aB3d", 4<<10) + id + strings.Repeat("aB3d", 4<<10)
	for frame, want := range map[string]bool{framed(`{"data":"` + data + `"}`): true, framed(`{"data":"` + data + ` "}`): false} {
		if got := string(redacted(wire.ClientToAgent, []byte(frame))) == frame; got != want {
			t.Errorf("%.80s … is unchanged: %v, want %v", frame, got, want)
		}
	}
}

// framed returns a message with these params.
func framed(params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
}

// secretsIn returns the text without the marks around the secrets, and these.
func secretsIn(marked string) (text string, secrets []string) {
	for rest := marked; ; {
		before, more, ok := strings.Cut(rest, "«")
		text += before
		if !ok {
			return text, secrets
		}
		secret, behind, _ := strings.Cut(more, "»")
		text, secrets, rest = text+secret, append(secrets, secret), behind
	}
}

// TestRedactCorpus reports how many of the secrets are found, and how many non-secrets.
func TestRedactCorpus(t *testing.T) {
	checkCorpus(t, "secret texts", secretTexts, prompt)
	checkCorpus(t, "secret params", secretFrames, framed)
	checkCorpus(t, "open texts", openTexts, prompt)
	checkCorpus(t, "open params", openFrames, framed)
}

func checkCorpus(t *testing.T, kind string, marked []string, wrap func(string) string) {
	t.Helper()
	found := 0
	for _, one := range marked {
		text, secrets := secretsIn(one)
		in := wrap(text)
		out := string(redacted(wire.ClientToAgent, []byte(in)))
		ok := json.Valid([]byte(out))
		if len(secrets) == 0 {
			ok = ok && out == in
		}
		for _, secret := range secrets {
			ok = ok && !isLeft(secret, in, out)
		}
		if again := string(redacted(wire.ClientToAgent, []byte(out))); again != out {
			t.Errorf("%s: %s is %s, and redacted again %s", kind, in, out, again)
		}
		if ok {
			found++
			continue
		}
		t.Errorf("%s: %s is redacted to %s", kind, in, out)
	}
	if len(marked) > 0 {
		t.Logf("%s: %d of %d are as they should be", kind, found, len(marked))
	}
}

// isLeft reports whether the beginning or the end of a secret, or all of it, occurs as
// often in out as in in.
func isLeft(secret, in, out string) bool {
	const enough = 6
	for _, part := range []string{secret, secret[:min(enough, len(secret))], secret[max(0, len(secret)-enough):]} {
		part = wrapped(part)
		if strings.Count(in, part) > 0 && strings.Count(out, part) >= strings.Count(in, part) {
			return true
		}
	}
	return false
}

// wrapped returns text as it stands within a JSON string.
func wrapped(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(q[1 : len(q)-1])
}

func quote(text string) string { return `"` + wrapped(text) + `"` }
