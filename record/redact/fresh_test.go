package redact_test

import "testing"

// freshTexts and freshParams have secrets as agents, tools and people write them, collected
// by purpose rather than by the rules that find them.
var freshTexts = []string{
	// Infrastructure as code.
	"resource \"aws_db_instance\" \"main\" {\n  username = \"app\"\n  password = \"«Vq8-lantern»\"\n}", "terraform apply -var 'db_password=«Vq8lantern»'", "TF_VAR_db_password=«Vq8lantern» terraform plan",
	"ansible_become_pass: «Vq8lantern»", "ansible-playbook site.yml -e \"ansible_password=«Vq8lantern»\"", "services:\n  db:\n    environment:\n      - POSTGRES_PASSWORD=«lantern»\n", "services:\n  db:\n    environment:\n      POSTGRES_PASSWORD: «lantern»\n",
	"Environment=\"API_SECRET=«Vq8lantern»\"", "helm install x --set auth.rootPassword=«Vq8lantern»", "kubectl create secret generic db --from-literal=pw=x --from-literal=password='«Vq8-lantern»'", "vault kv put secret/db password=«Vq8lantern» user=app",
	"docker run -e MYSQL_ROOT_PASSWORD=«lantern» mysql", "docker build --build-arg NPM_TOKEN=«npmtok4711aa» .", "pulumi config set --secret dbPassword «Vq8-lantern1»", "az keyvault secret set --vault-name v --name db --value «Vq8-lantern1»",
	"gcloud sql users set-password root --password=«Vq8lantern»", "aws ssm put-parameter --name /db/password --type SecureString --value «Vq8lantern77»", "heroku config:set STRIPE_SECRET=«whsec4711»", "flyctl secrets set SESSION_KEY=«Vq8lantern77»",
	// Files.
	"db.example.com:5432:app:me:«Vq8lantern»", "[mysqldump]\nuser = me\npassword = \"«Vq8#lantern»\"\n", "network={\n  ssid=\"home\"\n  psk=\"«lantern fish 22»\"\n}", "[Interface]\nPrivateKey = «yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=»\n", "PresharedKey = «FpCyhws9cxwWoV4xELtfJvjJN+zQVRPISllRWgeopVE=»",
	"WIFI:S:home;T:WPA;P:«Vq8lantern»;;", "otpauth://totp/Acme:me?secret=«JBSWY3DPEHPK3PXP»&issuer=Acme", "<Password>«Vq8lantern»</Password>", "<property name=\"password\" value=\"«lantern»\"/>", "<string name=\"api_secret\">«Vq8lantern77»</string>",
	"<key>ApiToken</key>\n<string>«Vq8lantern77»</string>", "spring:\n  datasource:\n    password: «lantern»\n", "quarkus.datasource.password=«lantern»", "\"ConnectionStrings\": { \"Default\": \"Server=h;Database=d;User Id=me;Password=«Vq8;»\" }", "registry=https://r/\n//r/:_password=«VnE4bGFudGVybg==»\n",
	"machine h login me password «lantern»", "always-auth=true\n_authToken=«4f8a9b1c-aaaa»", "user:$6$«rounds$Vq8lantern»:19000:0:99999", "me:$apr1$«Vq8lante$rn0123456789abcdefghij»", "requirepass «Vq8lantern»", "masterauth «Vq8lantern77»",
	"rpcpassword=«lantern»", "ldap.bind.credentials=«lantern»", "bindpw «Vq8lantern»",
	// Programs.
	"keytool -genkey -storepass «lantern» -keypass «lanterns»", "sqlplus me/«Vq8lantern»@h", "net use Z: \\\\h\\s /user:me «Vq8lantern»", "cmdkey /add:h /user:me /pass:«Vq8lantern»", "lftp -u me,«Vq8lantern» sftp://h", "gpg --batch --passphrase «lantern» -d x.gpg", "curl -d 'user=me&password=«lantern»' https://h", "curl --data '{\"password\":\"«lantern»\"}' https://h",
	"wget --user=me --password='«lan tern»' https://h", "mount -t cifs //h/s /m -o username=me,password=«lantern»", "PGPASSWORD='«lantern»' psql -h h", "export RESTIC_PASSWORD=«lantern»", "$env:DB_PASSWORD = '«lantern»'", "setx API_TOKEN \"«Vq8lantern»\"", "ConvertTo-SecureString \"«Vq8lantern»\" -AsPlainText -Force", "expect \"Password:\"\nsend \"«Vq8lantern»\\r\"",
	"nmcli dev wifi connect home password «Vq8lantern»", "snmpwalk -v2c -c «Vq8lantern77» h", "git remote add o https://me:«Vq8lantern»@h/r.git", "ssh-keygen -N '«lan tern»' -f k", "openssl passwd -6 «Vq8lantern»", "gh secret set TOKEN --body \"«Vq8lantern77»\"", "npm config set //r/:_authToken «Vq8lantern77»", "twine upload -u me -p «Vq8-lantern77» dist/*",
	// Code.
	"let client = Client::new(\"me\", Secret::from(\"«Vq8lantern»\"));", "String dbPassword = \"«lantern»\";", "private static final String API_SECRET = \"«lantern-fish»\";", "var cs = new NetworkCredential(\"me\", \"«Vq8lantern»\");", "define('DB_PASSWORD', '«lantern»');", "password: \"«lantern»\", # elixir", "psycopg2.connect(host=\"h\", user=\"me\", password=\"«lantern»\")",
	"conn = pymysql.connect(host='h', user='me', passwd='«lantern»')", "jwt.sign(payload, \"«Vq8lantern77-secret»\")", "app.secret_key = b'«lantern-fish»'", "sess.headers.update({'X-Auth-Token': '«Vq8lantern»'})", "axios.get(u, { headers: { Authorization: `Bearer «Vq8lantern77»` } })", "hmac.new(b\"«Vq8lantern77»\", msg, sha256)", "createClient({ url, password: '«lantern»' })", "#define WIFI_PASSWORD \"«lantern»\"",
	// What people and programs say.
	"Use login admin and password Vq8 no wait, the password is «Lantern2026!»", "I've reset your password to «Vq8lantern»; please change it.", "Temporary password: «Vq8lantern»", "new pw: «Vq8lantern»", "Your one-time password is «482913»", "Your login code: «482913»", "[INFO] connecting with password=«lantern8» user=me", "DEBUG auth header: Basic «bWU6VnE4bGFudGVybg==»", "user=me pass=«Vq8lantern» host=h",
	"> Authorization: Bearer «Vq8lantern77»", "< set-cookie: sid=«Vq8lantern77»; HttpOnly", "Mot de passe : «Vq8lantern»", "Contraseña: «Vq8lantern»",
}

var freshParams = []string{
	`{"mcpServers":[{"name":"x","command":"x","env":[{"name":"A","value":"«lantern»"}]}]}`, `{"rawInput":{"command":"curl -u me:«Vq8lantern» https://h"}}`, `{"data":{"login":{"username":"me","password":"«lantern»"}}}`, `{"text":"{\"db\":{\"pass\":\"«lantern»\"}}"}`,
	`{"newText":"API_KEY=«Vq8lantern»\nA=b\n","oldText":"API_KEY=«Zr9lantern»\nA=b\n"}`, `{"headers":{"X-Anything":"«lantern»"}}`,
}

var freshOpenTexts = []string{
	"The password field is validated by a regular expression of 12 groups.", "Renamed setPassword to updatePassword2 in user_service.go:42", "token: 1543 tokens left of 200000", "TestLogin/wrong_password2 (0.03s) PASS", "git commit -m \"Fix token refresh for v2 clients\"", "see docs/password-reset.md#step2", "func NewClient(apiKey string, timeout time.Duration) *Client",
	"the session key is \"user:42\" in Redis", "SECRET_SCANNING_ENABLED=true", "curl -s http://localhost:3000/api/users/42?expand=orders", "pip install python-jose[cryptography]==3.3.0", "commit 4f8a9b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a", "sha256:4f8a9b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a", "passport.use(new LocalStrategy(verify))",
	"SELECT id, password FROM users WHERE id = 42", "UPDATE users SET password = ? WHERE id = 42", "INSERT INTO tokens (name, count) VALUES ('the', 42)", "const { password, ...rest } = req.body;", "Error: invalid credentials (code 401) at auth.ts:42:13", "input[type=password], input[name=token2]", "key: item.id2, label: item.name", "The API key must have 32 characters", "Das Passwort muss 12 Zeichen haben", "export PATH=$HOME/.local/bin:$PATH", "| token | int64 | 42 |", "login('user1')",
	"type Row struct {\n\tPassword *uint16\n\tToken int64\n}", "apply the session token to the x-amz-s3session-token header", "accessKeyID = value.AccessKeyID", "creds.New(\"http://127.0.0.1\", func(o *Options) {", "map[string]P{\"auth\": &Params{Message: \"Authenticate?\"}}",
}

func TestRedactFresh(t *testing.T) {
	checkCorpus(t, "secret texts", freshTexts, prompt)
	checkCorpus(t, "secret params", freshParams, framed)
	checkCorpus(t, "open texts", freshOpenTexts, prompt)
}
