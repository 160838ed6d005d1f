package redact_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
)

// A class is a way in which secrets appear. What stands between « and » is secret, as in
// secretTexts; the open ones look alike and hold no secret.
type class struct {
	name             string
	texts, params    []string // with secrets
	open, openParams []string
}

var (
	awsKeyID  = "AK" + "IA4F8J2K9L0M1N3P5Q" // with digits that base32 lacks
	awsTempID = "AS" + "IAY34FZKBOKMUTVV7A"
	zeroWidth = "\u200b"
	seed      = "legal winner thank year wave sausage worth useful legal winner thank yellow"
	seed24    = "abandon amount liar amount expire adjust cage candy arch gather drum buyer index basic upgrade rude hockey bitter sleep surge joke vote nothing marble"
)

func in64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// lines cuts base64 as the program does.
func lines(code string) string { return code[:76] + "\n" + code[76:] }

var classes = []class{
	{
		name: "AWS key ids",
		texts: []string{
			"aws_access_key_id = «" + awsKeyID + "»", "AWS_ACCESS_KEY_ID=«" + awsTempID + "»", "export AWS_ACCESS_KEY_ID='«abcdefgh1234»'",
			"key " + awsKeyID[:4] + "«" + awsKeyID[4:] + "» was denied", "Credential=" + "«" + awsTempID + "»" + "/20260102/us-east-1/s3/aws4_request",
		},
		params:     []string{`{"accessKeyId":"«` + awsKeyID + `»"}`, `{"AccessKeyId":"«abcdefgh1234»"}`, `{"aws_access_key_id":"«abcdefgh1234»"}`},
		open:       []string{"AKIA is how they begin", "AKIAIOSFODNN7EXAMPLE is from the docs", "SOMEAKIA4F8J2K9L0M1N3P5Q", "key_id: abcdef", "arn:aws:iam::123456789012:user/me"},
		openParams: []string{`{"keyId":"4f8j2k9l"}`, `{"accessKeyIdLength":"20"}`},
	},
	{
		name: "passwords in URLs",
		texts: []string{
			"postgres://me:«pa/ss»@db.example.com:5432/app", "mysql://root:«p@ss/w@rd»@h.example.com/db", "redis://:«a/b/c=»@cache:6379/0", "https://me:«x@y»@git.example.com/a.git",
			"amqp://guest:«gu?st#1»@mq.example.com/vhost", "mongodb+srv://u:«ab/cd@ef»@cluster0.x.mongodb.net/?retryWrites=true", "DATABASE_URL=postgres://me:«Zk/9@q»@h/db", "see <smtp://u:«a/b1»@mail.example.com> for it",
		},
		open: []string{
			"http://localhost:3000/@vite/client", "https://registry.npmjs.org/@types/node", "http://h:8080/u@example.com", "https://example.com/a:b/c@d", "http://{host}:{port}/x@y", "https://h:443/path?mail=me@example.com",
			"see https://a.example.com/x:y and mail me@example.com", "ssh://git@h:22/a@b", "http://[::1]:8080/@id/x",
		},
	},
	{
		name: "keys with the issuer's form",
		texts: []string{
			"STRIPE_KEY=sk_live_«4f8a9b»", "OPENAI_KEY=sk-«proj4f8a9b1c»", "export ANTHROPIC_KEY=\"«sk-ant-x1y2z3»\"", "GEMINI_KEY=«AIzaSyA1b2C3d4E5»", "SENDGRID_KEY=«SG.4f8a9b.c1d2»", "GROQ_KEY: «gsk_4f8a9b1c2d»", "MAPS_KEY=«aB3dE5fG7hI9jK1lM»",
			"stripeKey: '«sk_test_4f8a9b»'", "resend_key = \"«re_4f8a9b1c_2d»\"",
		},
		params:     []string{`{"openaiKey":"«sk-4f8a9b1c2d»"}`, `{"STRIPE_KEY":"«sk_live_4f8a9b»"}`},
		open:       []string{"CACHE_KEY=user-profile-1234", "PRIMARY_KEY=user_id", "SORT_KEY=created_at_2024", "sort_key: sk-learn", "HOT_KEY=ctrl+k", "cacheKey: 'sk-users-and-more'", "PUBLIC_KEY=pk_live_4f8a9b1c2d3e", "partition_key: tenant_42", "S3_KEY=builds/2026/11/app.tar.gz", "QUERY_KEY=page2", "IDEMPOTENCY_KEY=order-1234", "KEY=value12345"},
		openParams: []string{`{"cacheKey":"users-4f8a9b"}`, `{"primaryKey":"id_1234567"}`, `{"key":"Enter1234567"}`},
	},
	{
		name: "numbers",
		texts: []string{
			"password: «12345678»", "DB_PASSWORD=«20251123»", "passcode = «4711»", `{"password": «31415926», `, "PIN: «4711»", "your PIN is «4711»", "otp: «482913»", "your verification code is «482913»", "pin = «0815»", "The one-time code: «482913»", "secret: «99887766»",
			"config = {'password': «31415926»}", "cvv: «123456»",
		},
		params:     []string{`{"password":«31415926»}`, `{"secret":«99887766»}`, `{"pin":«47110815»}`, `{"otp":«482913»}`, `{"apiKey":«99887766»}`, `{"db":{"passwd":«99887766»}}`, `{"passcode":"«4711»"}`, `{"pin":"«4711»"}`, `{"otp_code":«482913»}`},
		open:       []string{"pin: 13", "GPIO pin 4711", "token: 50256", "the token is 50256", "error code: 482913", "status code is 404", "zip code: 12345", "max_tokens: 123456", "password length: 12345678", "the code is 482913 lines long", "pin = 7", "pins: 4711"},
		openParams: []string{`{"token":50256}`, `{"pin":13}`, `{"credentials":{"port":5432}}`, `{"code":-32601}`, `{"secretVersion":20260102}`, `{"tokens":123456}`, `{"password":12}`},
	},
	{
		name: "command lines",
		texts: []string{
			"tool -k «Ab12Cd34Ef56Gh78» run", "tool --key=«Ab12Cd34Ef56Gh78» run", "tool --key «Ab12Cd34Ef56Gh78»", "docker login -u me -p «geheim» registry.example.com", "docker login -u me -p '«ge heim»'", "podman login --username me -p «geheim7» quay.io", "mysql -u root -p«geheim» db",
			"mysqldump -uroot -p'«geheim»' db > x.sql", "$ mysql -h h -p«S3cret» -e 'select 1'", `curl -b "«sid=abc123»" https://h/`, "curl -s -b '«session=4f8a; theme=dark»' https://h/", "curl --cookie '«sid=abc123»' https://h/", "echo «geheim» | sudo -S apt update", "echo '«ge heim»' | sudo -S ls", "sudo -S whoami <<< '«geheim»'",
			"echo «geheim» | docker login -u me --password-stdin", "sshpass -p«geheim» ssh h", "redis-cli -h h -a «geheim» ping", "ldapsearch -x -D cn=me -w «geheim» -b dc=x", "openssl enc -aes-256-cbc -k «geheim» -in a", "openssl rsa -in k.pem -passin pass:«geheim»", "zip -P «geheim» a.zip b",
			"7z x -p«geheim» a.7z", "sqlcmd -S h -U sa -P «geheim»", "smbclient //h/s -U me%«geheim»", "mongo -u me -p «geheim» h/db", "htpasswd -b .htpasswd me «geheim»", "echo 'me:«geheim»' | chpasswd", "sudo docker exec db mysql -uroot -p«geheim»", "az login -u me -p «geheim»", "helm registry login h -u me -p «geheim»",
			"echo «4f8a9b1c2d3e» | gh auth login --with-token", "printf '«geheim»\\n' | sudo -S id", "vault login «s3cr3ttoken»", "http -a me:«geheim» https://h/", "`mysql -p«geheim»` works",
		},
		params: []string{
			`{"command":"docker login -u me -p «geheim» h"}`, `{"command":"tool --key «Ab12Cd34Ef56Gh78»"}`, `{"args":["--key","«Ab12Cd34Ef56Gh78»"]}`, `{"args":["--key=«Ab12Cd34Ef56Gh78»"]}`, `{"command":"docker","args":["login","-u","me","-p","«geheim»"]}`, `{"command":"curl","args":["-b","«sid=abc»"]}`,
			`{"command":"echo «geheim» | sudo -S ls"}`, `{"command":"bash","args":["-c","echo «geheim» | sudo -S ls"]}`, `{"command":["mysql","-uroot","-p«geheim»"]}`, `{"command":["docker","login","-p","«geheim»"]}`, `{"command":"mysql","args":["-uroot","-p«geheim»"]}`,
		},
		open: []string{
			"docker run -p 8080:80 nginx", "mysql -u root -p db", "curl -k https://h", "curl -b cookies.txt https://h/", "grep -k name x", "ssh -p 2222 h", "sudo -S is for stdin", "echo done | sudo tee /etc/x", "echo hello | grep h", "docker login", "mkdir -p a1/b2/c3d4e5f6", "sort -k 2 -t , x", "use -p to give a port", "tool --key path/to/key.pem", "tool --key=./id_ed25519",
			"the mysql -p flag asks for it", "tar -xzf a1b2c3d4e5f6.tgz", "git show -s 4f8a9b1", "docker build -t app:1.2.3 .", "jq --key name", "redis-cli -h h ping", "echo y | docker login", "cp -a build1234/x y", "mysql --port=3306 --protocol tcp", "after login -p is the port", "zip -r a.zip b", "sqlcmd -S h -E", "kubectl logs -p pod-abc123", "ps -p 1234", "echo $PASSWORD | sudo -S ls", "docker login -u me -p $PASSWORD",
			"mysql -p$PASSWORD db", "vault login -method=oidc", "openssl s_client -connect h:443",
		},
		openParams: []string{`{"args":["-p","8080:80"]}`, `{"command":"curl -b cookies.txt h"}`, `{"args":["--key","./id_ed25519"]}`, `{"command":"docker","args":["run","-p","8080:80"]}`, `{"command":"ssh -p 2222 h"}`, `{"command":"echo hello | sudo tee x"}`},
	},
	{
		name: "code",
		texts: []string{
			`client.setPassword("«geheim»");`, `conf.SetApiKey('«abc-def»')`, `builder.withToken("«geheim-x»")`, `cfg["password"] = "«geheim»"`, `os.environ["OPENAI_API_KEY"] = "«abc-def»"`, `$config['db']['password'] = '«geheim»';`, `ENV['SECRET_TOKEN'] ||= '«geheim»'`, `settings[:password] = "«geheim»"`, `process.env["API_TOKEN"]='«geheim»'`,
			"CREATE USER 'me'@'%' IDENTIFIED BY '«geheim»';", "ALTER USER me IDENTIFIED WITH mysql_native_password BY '«geheim»'", "create user me identified by «geheim1»;", "SET PASSWORD FOR 'me'@'h' = '«geheim»';", "SET PASSWORD FOR me = PASSWORD('«geheim»')", "ALTER ROLE me WITH PASSWORD '«geheim»'", "GRANT ALL ON x.* TO me IDENTIFIED BY \"«geheim»\"",
			`req.Header.Set("X-Api-Key", "«geheim»")`, `.header("Authorization", "Bearer «abcdefgh»")`, `req.SetBasicAuth("me", "«geheim»")`, `requests.get(u, auth=("me", "«geheim»"))`, `auth=HTTPBasicAuth('me', '«geheim»')`, `localStorage.setItem("token", "«geheim-x»")`, `set_password("«geheim»")`, `user.set_password('«geheim»')`, `new SecretKey("«geheim-x1»")`,
			`config.password.set("«geheim»")`, `conf.put("db.password", "«geheim»")`, `setPassword(\"«geheim»\")`, `map["api_key"]: "«geheim»"`, `Password("«geheim»")`, `data[\"password\"] = \"«geheim»\"`, "t.Setenv(\"API_TOKEN\", \"«geheim»\")",
		},
		open: []string{
			`getPassword("user")`, `setPassword(password)`, `client.setToken(tok)`, `getSecret("db-password")`, `token("name")`, `cookie("sid")`, `expectToken(")")`, `cfg["password"] = password`, `os.environ["API_KEY"] = key`, `x = cfg["password"]`, `if d["token"] == "abc":`, `setTokenType("Bearer")`, `input.setPasswordVisible("yes")`,
			"identified by their ids", "users are identified by email", `test("password", "works")`, `describe("set password", () => {`, `setKeyboard("qwertz")`, `withTokens("5")`, `document.getElementById("password")`, `t("enter password")`, `find_field("password")`, `setPassword("")`, `setPassword("${password}")`, `setPassword(process.env.PASSWORD)`, `header("Content-Type", "application/json")`,
			`auth=(user, password)`, `SetBasicAuth(user, pass)`, `tokens["the"] = 5`, `locals["token"] = None`, `readSecret("name1")`, `fmt.Println("password", "is wrong")`, `Field("password", "must be set")`, `setMaxTokens("4096")`, `labels["password"] = "Password"`, `hasToken("x1")`, `Assert.NotNull("token", "message")`,
		},
	},
	{
		name: "prose",
		texts: []string{
			"the password is «hunter2»", "The password is «Tr0ub4dor&3», and the user is me.", "my api key is «4f8a9b1c2d3e»", "Your API key is: «4f8a9b1c2d3e»", "the password was changed to «hunter2»", "set the password to «S3cret!»", "use password «hunter2» to log in", "log in with the password `«geheim»`", "The admin password is **«hunter2»**.",
			"**Password:** «geheim»", "**Password**: «geheim»", "- **API Key:** `«abc-def»`", "* __Token__: «geheim12»", "**Client secret:** «geheim-x1»", "API key: «4f8a9b1c2d3e»", "Access token: «4f8a9b1c2d3e»", "Secret Key: «abCD1234»", "the token is now «4f8a9b1c2d3e»", "the root password should be «Wint3r2026»", "Passwort ist «Geheim123»", "passphrase is \"«correct horse battery»\"",
			"| Password | «hunter2» |", "| **API key** | `«4f8a9b1c»` |", "| user | password |\n|---|---|\n| me | «hunter2» |\n| you | «geheim9» |", "| Name | Value |\n| --- | --- |\n| DB_PASSWORD | «geheim1» |", "the secret is “«geheim»”", "*password*: «geheim»", "<b>Password:</b> «geheim1»", "credentials: me / «hunter2»", "The password for the server is «hunter2».",
			"sign in as admin with password «hunter2».", "Password = **«geheim1»**", "the secret key «4f8a9b1c2d3e4f5a» leaked",
		},
		open: []string{
			"the password is required", "the password is wrong", "The token is expired.", "the token is a JWT", "the password is hashed with SHA256", "the key is base64-encoded", "the secret is base64", "a token is 32-byte", "the password is 8-20 characters long", "the token is OAuth2", "password is case-sensitive", "the password was changed yesterday", "set the password to something strong",
			"set the token to null", "the API key is in config.json5", "the password is in ~/x1/y2", "use password authentication", "use token auth2", "**Password:** required", "**Token**: a string", "- **API key:** see the docs", "| Password | string |", "| Token | Count |\n|---|---|\n| the | 12 |", "| password | the password of the user |", "| name | type |\n|---|---|\n| token | string |", "the API key is HMAC-SHA256",
			"the token is v2", "password is $PASSWORD1", "the token is at position 12", "the secret is `$SECRET1`", "with password reset2fa", "the access token is UTF-8", "the password is stored as bcrypt", "password policy: 12 characters", "the secret is in kubernetes1", "token is RS256", "our token is ERC20", "the token is x509", "The password is 12 characters", "the token is t1",
			"the password is ********", "the password is <password1>", "password is `required`", "the token is `null`", "set `token` to `true`", "| secret | required | yes |", "the token is https://h/x1", "the password is password-protected", "the token is user.token1",
		},
	},
	{
		name: "YAML",
		texts: []string{
			"password: |\n  «geheim»\nuser: me", "db:\n  password: >-\n    «geheim»\n  user: me", "api_key: |-\n  «abc»\n", "private_key: |\n  «abc»\n  «def»\nb: c", "env:\n  - name: DB_PASSWORD\n    value: «geheim»\n", "env:\n  - name: DB_PASSWORD\n    value: \"«geheim»\"\n  - name: A\n    value: b", "- key: API_TOKEN\n  value: «geheim»", "passwords:\n  - «geheim1»\n  - «geheim2»\n",
			"password: !vault |\n  «geheim1»\nx: y", "password:\n  «geheim1»\nx: y", "password: # of the db\n  «geheim1»\n", "name = \"API_TOKEN\"\nvalue = \"«geheim»\"", "secrets:\n  db: «geheim1»\n  api: «geheim2»\nother: x1234567", "password: &pw «geheim1»\n", "password: !!str «geheim1»\n",
		},
		open: []string{
			"description: |\n  the password of\n  the user\nx: y", "password: |\n", "token: |\nnext: x", "env:\n  - name: CITY\n    value: bonn1", "tokens:\n  - the\n  - cat\n", "password:\n  type: string\n  description: d", "secret:\n  enabled: true", "token:\n  required: yes", "secrets:\n  - name: x\n", "secrets: inherit\n", "name: token\nvalue: 12", "env:\n  - name: DB_PASSWORD\n    valueFrom:\n      secretKeyRef:\n        name: x1\n        key: y1",
			"password:\n\nThe user must give it.", "secrets:\n  TOKEN: ${{ secrets.TOKEN }}\n", "credentials:\n  file: a/b1.json",
		},
	},
	{
		name: "coloured and zero-width",
		texts: []string{
			"\x1b[32mpassword\x1b[0m: \x1b[33m«geheim»\x1b[0m", "\x1b[1mAPI_KEY\x1b[22m=\x1b[36m«abcdef»\x1b[39m", "pass\x1b[1mword\x1b[0m=«geheim1»", openaiKey[:3] + "«" + "\x1b[1m" + openaiKey[3:] + "»\x1b[0m", "ghp_\x1b[31m«" + githubToken[4:] + "»",
			"s" + zeroWidth + openaiKey[1:3] + "«" + openaiKey[3:] + "»", openaiKey[:3] + "«" + openaiKey[3:12] + zeroWidth + openaiKey[12:] + "»", "pass" + zeroWidth + "word: «hun\u2060ter»", "\x1b]8;;https://h\x07token\x1b]8;;\x07=«abcdef123456»", "\x1b[38;5;10mpassword:\x1b[m «geheim»", "pass\u00adword=«geheim1»", "DB_PASSWORD\ufeff=«geheim»",
			`{\"password\":\"` + `\u001b[32m«geheim»\u001b[0m` + `\"}`,
		},
		open: []string{"\x1b[32mok\x1b[0m: done", "\x1b[31mpassword\x1b[0m is required", "\x1b[", "a" + zeroWidth + "b", "to\u00adken: string", "\x1b[1mtoken\x1b[0m: \x1b[2mstring\x1b[0m", "\x1b]0;title", "\u200bpassword:\u200b", "caf\u00e9 \u2014 token count: 17"},
	},
	{
		name: "base64 of text",
		texts: []string{
			"«" + in64("DB_PASSWORD=geheim\nUSER=me\n") + "»", "echo «" + in64("API_KEY=abcdefgh1234") + "» | base64 -d", "data:text/plain;base64,«" + in64("password: hunter2\n") + "»", "x: «" + in64(`{"client_secret":"abc","x":1}`) + "»",
			"«" + in64("//registry.npmjs.org/:_authToken=abc") + "»", "$ base64 .env\n«" + lines(in64(strings.Repeat("# a comment\n", 4)+"DB_PASSWORD=geheim\n")) + "»\n$",
		},
		params: []string{
			`{"contents":[{"uri":"file:///.env","blob":"` + in64("DB_PASSWORD=") + "«" + in64("geheim\nA=b\n") + `»"}]}`, `{"data":"` + in64("token is sk-") + "«" + in64(openaiKey[3:]+"\n") + `»"}`,
			`{"blob":"` + in64(strings.Repeat("# a comment of a line\n", 600)+"DB_PASSWORD=") + "«" + in64("geheim\n") + `»"}`,
			`{"resource":{"uri":"file:///a.json","mimeType":"application/json","blob":"` + in64(`{"password":`) + "«" + in64(`"abc"}`) + `»"}}`, `{"blob":"` + in64("DB_PASSWORD=") + "«" + base64.RawURLEncoding.EncodeToString([]byte("geheim?>\n")) + `»"}`,
		},
		open:       []string{in64("a text that has nothing to hide"), "usr/local/share/applications/mimeinfo", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnop", "sha512-" + strings.Repeat("aB3d", 20), "aWYgKHRva2VuKSB7IHJldHVybiB0b2tlbiB9", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"},
		openParams: []string{`{"blob":"` + in64("max_tokens: 4096, and no more\n") + `"}`, `{"data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"}`},
	},
	{
		name: "seed phrases",
		texts: []string{
			"«" + seed + "»", "seed phrase: «" + seed + "»", "my wallet: «" + seed24 + "».", "mnemonic = \"«" + seed + "»\"", "«" + strings.ReplaceAll(seed, " ", "\n") + "»\n", "it is «" + strings.ReplaceAll(seed, " ", ", ") + "»",
			"1. «" + numbered(seed) + "»\n",
		},
		params: []string{`{"text":"«` + seed + `»"}`, `{"seedPhrase":"«` + seed + `»"}`, `{"mnemonic":"«` + seed24 + `»"}`},
		open: []string{
			"apt install curl wget make cmake vim git tmux htop tree unzip zip nano less", "the legal winner should thank the year and wave to the useful sausage of worth", "legal winner thank year wave sausage worth useful", "red green blue black white yellow orange purple pink brown grey silver",
			"one two three four five six seven eight nine ten eleven twelve thirteen",
		},
	},
	{
		name: "OAuth",
		texts: []string{
			"grant_type=authorization_code&code=«SplxlOBeZQQYbYS6WxSbIA»&redirect_uri=https%3A%2F%2Fh", "http://localhost:8080/callback?code=«SplxlOBeZQQYbYS6WxSbIA»&state=x", `HTTP/1.1 200 OK` + "\n\n" + `{"access_token": "«2YotnFZFEjr1zCsicMWpAA»", "refresh_token": "«tGzv3JOkF0XG5Qx2TlKWIA»", "expires_in": 3600}`,
			"code_verifier=«dBjftJeZ4CVPmB92K27uhbUJU1p1r»&client_id=x", "client_id=x&client_secret=«geheim»", `{"device_code": "«GmRhmhcxhwAzkoEqiMEg»", `, "client_assertion=«abcdefgh12345678»&x=1",
		},
		params: []string{
			`{"grant_type":"authorization_code","code":"«SplxlOBeZQQ»","client_id":"x"}`, `{"access_token":"«abc»","token_type":"Bearer","expires_in":3600,"refresh_token":"«def»","id_token":"«ghi»"}`, `{"code_verifier":"«abc»"}`, `{"device_code":"«abc»","user_code":"WDJB-MJHT","interval":5}`, `{"client_assertion":"«abc»"}`,
			`{"body":"{\"access_token\":\"«abc»\",\"code\":\"«xyz»\",\"grant_type\":\"authorization_code\"}"}`, `{"code":"«abc»","redirect_uri":"http://h"}`,
		},
		open:       []string{"code=200&status=ok", "?code=ENOENT", "https://h/?code=1234567890123456", "error code=invalid_request", "grant_type=authorization_code", "token_type=Bearer&expires_in=3600", "code_challenge_method=S256", `{"code": "ERR_MODULE_NOT_FOUND", `},
		openParams: []string{`{"code":"ENOENT"}`, `{"grant_type":"authorization_code","expires_in":3600}`, `{"token_type":"Bearer","expires_in":3600,"scope":"a b"}`, `{"code":"x = 1","language":"python"}`, `{"code_challenge_method":"S256"}`},
	},
	{
		name: "what a fresh corpus brought",
		texts: []string{
			`boto3.Session("` + awsKeyID + `", "«wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzKEYa»")`, `boto3.client("s3", aws_access_key_id="` + "«" + awsKeyID + "»" + `", aws_secret_access_key='«abcDEF123»')`,
			"AWS Secret Access Key [None]: «wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzKEYa»", "Password for me@db: «hunter2»", "Password for https://me@git.example.com: «hunter2x»", "Enter passphrase for key '/home/me/.ssh/id_rsa': «Kl4ppe!x»",
			"env:\n  MAPTILER_KEY: «0f3a9b1c2d3e4f5a6b7c8d9e0f1a2b3c»", "MAPTILER_KEY=«0f3a9b1c2d3e4f5a6b7c8d9e0f1a2b3c»", "SIM_PIN=«4711»", "sim_pin: «4711»", "my cvv: «123»", "PUK: «12345678»", "The PUK is «12345678».",
			`page.login("me", "«geheim»")`, `smtp.login('me@example.com', '«geheim-x1»')`, `client.authenticate("root", "«geheim»")`,
			"INSERT INTO users (name, password) VALUES ('me', '«geheim»');", "INSERT INTO `users` (`id`, `api_key`, `age`) VALUES (1, '«abc-def»', 3), (2, '«ghi-jkl»', 4)",
			"passphrase: «correct horse battery staple»", "PASSPHRASE=«correct horse battery staple»", "[db]\npassword = «abc;def1»\n", "password=«abc12%def&x»\n", "password: !!str «1234567%8a»\n", "password: «%4geheim»\n",
			"| Password | «a/b1C2d3» |", "| user | password |\n|---|---|\n| me | «hun/ter2X» |", "┌────┬────┐\n│ 1. «" + boxed(seed) + "» │\n└────┘", "the credentials are me / «hunter2»", "credentials are admin / «geheim»", "Das Passwort für den Router lautet «Geheim123».", "Das WLAN-Passwort ist: «Geheim123»",
		},
		open: []string{
			`page.login("me")`, `session.login(user, password)`, `log("me", "geheim")`, `boto3.client("s3", "eu-central-1")`, "Password for me@db: ", "Password for the server: see the docs", "passphrase: the words of the wallet", "password: must be at least eight characters long", "GPIO_PIN=17", "INSERT INTO users (name, age) VALUES ('me', 3)", "INSERT INTO users (name, password) VALUES (?, ?)",
			"INSERT INTO users (password) VALUES ($1)", "CACHE_KEY=0f3a9b1c2d3e4f5a6b7c8d9e0f1a2b3c", "| password | a/b |", "| Token | docs/api1 |", "credentials are in a / b files", "password: %s", "password=%PASSWORD%", "cvv: 12", "Das Passwort für den Router fehlt", "token=abc;", "the credentials are username / password", "login('page', 'title of it')", "commit_key: see", "AWS Region [None]: eu-central-1",
		},
	},
	{
		name: "what a second fresh corpus brought",
		texts: []string{
			`Client("AC4f8a9b1c2d3e4f5a6b7c8d9e0f1a2b3c", "«9c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f»")`, "set API_TOKEN to «4f8a9b1c-2d3e» in the pipeline", "the value of DB_PASSWORD is «hunter2»", "THE PASSWORD IS «HUNTER22»",
			`"me:«ge@heim»@tcp(h:3306)/db?x=1"`, "me:«geheim»@unix(/run/mysqld.sock)/db", `"host=h user=me password=«geheim» dbname=d"`, "net use Z: \\\\h\\s «Vq8lantern» /user:me",
			"variable \"db_password\" {\n  type    = string\n  default = \"«lantern»\"\n}", "Parameters:\n  DbPassword:\n    Type: String\n    NoEcho: true\n    Default: «lantern»\n",
			`let apiToken: String? = "«lantern-x»"`, `char password[] = "«lantern»";`, `char password[32] = "«lantern»";`, `const TOKEN: Option<&str> = Some("«lantern-x»");`, `public string ApiKey { get; set; } = "«lantern-x»";`,
			`const secret = process.env.JWT_SECRET || "«lantern»";`, `token ?? '«lantern»'`, `os.getenv('SECRET_KEY') or '«lantern»'`, `os.getenv("DB_PASSWORD", "«lantern»")`, "DB_PASSWORD=\"${DB_PASSWORD:-«lantern»}\"", `@Value("${db.password:«lantern»}")`,
			`mysqli_connect('h', 'me', '«lantern»', 'db')`, `DriverManager.getConnection(url, "me", "«lantern»")`, `new PDO($dsn, 'me', '«lantern»')`,
			"log in as admin / «Vq8lantern!» on https://h", "Login: `admin` / `«Vq8lantern»`", "ssh to h (root / «Vq8lantern») and restart", "You can log in as me@h.example.com:«Vq8lantern».", "Zugangsdaten: admin / «Vq8lantern»",
			"use «Vq8lantern» as the root password", "Use `«Vq8lantern»` as passphrase, please", "«Vq8lantern» is my password", "Nimm «Vq8lantern» als Passwort.", "use «a1b2c3d4e5f6g7» as the API key",
			"my wifi password at home: «Vq8lantern» (for now)", "the password in production is «Vq8lantern»", "the password you want is «Vq8lantern»", "password → «Vq8lantern»", "my pw is «Vq8lantern»",
			"Benutzer \"me\", Kennwort \"«Vq8lantern»\".", "Mein Passwort bei der Bank ist «Vq8lantern»", "Le mot de passe de la base est «Vq8lantern», merci.", "la clé API est «Vq8lantern»", "La contraseña del servidor es «Vq8lantern»", "A senha é «Vq8lantern»", "het wachtwoord is «Vq8lantern»",
			"name,email,password\nme,me@h,«Vq8lantern»\nyou,you@h,«Zr9lantern»\n", "\"user\";\"api key\"\r\n\"me\";\"«Vq8;lantern»\"\r\n", "user\ttoken\nme\t«Vq8lantern»", "id|password\n1|«Vq8lantern»",
			"+----+------------+\n| id | password   |\n+----+------------+\n|  1 | «Vq8lantern» |\n+----+------------+", " id | api_key\n----+---------\n  1 | «Vq8lantern»\n(1 row)", "-[ RECORD 1 ]--\nid       | 1\npassword | «Vq8lantern»\n",
			"exp 09/28, CVV «417»", "the cvc is «417»", "echo «Vq8lantern» | az devops login", "kinit me <<< '«Vq8lantern»'", "gh auth login --with-token <<< «Vq8lantern»", "mc alias set m http://h me «Vq8lantern»",
			"rclone config create r sftp pass «Vq8lantern»", "vault kv put secret/db user=me password=«lantern»", "xfreerdp /u:me /p:«Vq8lantern» /v:h", `curl -H "Authorization: ApiKey «Vq8lantern»" https://h`,
			"<b>Password:</b> <code>«Vq8lantern»</code>", "<td>Password</td><td>«Vq8lantern»</td>",
		},
		open: []string{
			"http://user:password@h.example.com/db", `"%s:%s@tcp(%s:%d)/%s"`, "f(host=host, user=user, password=password, dbname=x)", `dict.get("token", "none")`, `config.get("password", "hint")`, `if x == "a_token" or "b_token" in y`, `password || "Password is required"`,
			"${DB_PASSWORD:?must be set}", "${secrets.TOKEN}", "variable \"db_password\" {\n  type = string\n}", "variable \"region\" {\n  default = \"eu-central-1\"\n}", "Parameters:\n  InstanceType:\n    Default: t3.micro1\n", "credentials: init.credentials ?? 'same-origin'",
			"their credentials mode set to \"include\"", "secrets in the file as `acptap export` does", "use bcrypt2b as the password hash", "SHA256 is the password hash", "use it as the password", "the file as2 is the password policy", "the password type is bearer2x",
			"import a,token\nthen go2there12", "user, password, err := parse12(x)\na, b, c12345 = f()", "name,city,token_count\nme,Bonn12345,12", "name,password\nme,required\n", "a, token, b\nx12345, y12345, z12345", " id | name\n----+------\n  1 | Vq8lantern", "cat token | grep Vq8lantern",
			"src / lib2handlers", "login and sign up / register", "PIN 4711 is not linked, GPIO PIN 17", "CVV 12", "<td>token</td><td>uint64</td>", "kinit <<< $KEYTAB_1", `kinit <<< "$KEYTAB_1"`, "the password at line 42 is wrong", "the token → the next page", "le mot de passe est obligatoire", "la contraseña es obligatoria",
			"int tokens[] = { 1, 2 };", "password[0] == 'x'", "char *token[16] = { 0 };",
		},
	},
}

// boxed returns words as in the cells of a box.
func boxed(words string) string {
	var box strings.Builder
	for i, word := range strings.Fields(words) {
		if i > 0 {
			fmt.Fprintf(&box, "%s%d. ", [...]string{" │\n│ ", "      │ "}[i%2], i+1)
		}
		box.WriteString(word)
	}
	return box.String()
}

// numbered returns words as in a list, without the first number.
func numbered(words string) string {
	var list strings.Builder
	for i, word := range strings.Fields(words) {
		if i > 0 {
			fmt.Fprintf(&list, "\n%d. ", i+1)
		}
		list.WriteString(word)
	}
	return list.String()
}

// Every class is searched for, and what looks like it is left alone.
func TestRedactClasses(t *testing.T) {
	for _, c := range classes {
		t.Run(c.name, func(t *testing.T) {
			checkCorpus(t, "secret texts", c.texts, prompt)
			checkCorpus(t, "secret params", c.params, framed)
			checkCorpus(t, "open texts", c.open, prompt)
			checkCorpus(t, "open params", c.openParams, framed)
		})
	}
}

// classTexts and classParams return the samples of all classes.
func classTexts() (all []string) {
	for _, c := range classes {
		all = append(append(all, c.texts...), c.open...)
	}
	return append(append(all, freshTexts...), freshOpenTexts...)
}

func classParams() (all []string) {
	for _, c := range classes {
		all = append(append(all, c.params...), c.openParams...)
	}
	return append(all, freshParams...)
}
