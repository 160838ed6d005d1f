package redact

// tokenForms are the kinds of secrets that coding agents and their tools are given. Beside
// each stands whose it is and where to begin to look it up, or nothing where that is as in
// the row above; "seen" are forms known from secrets in public only. Few issuers tell the
// length: then min is a guess, on the short side. Forms that words and ids could have too
// ask for more: an exact length, hex, digits and letters of both cases.
var tokenForms = [...]tokenForm{
	// Keys and tokens of no issuer.
	{prefix: "PRIVATE KEY-----", min: 32, also: pemLines},                       // RFC 7468, 10, 11
	{prefix: "PRIVATE KEY BLOCK-----", min: 32, also: pgpLines, check: isArmor}, // RFC 9580, 6.2
	{prefix: "CBC,", min: 64, also: pemLines, check: beginsHex},                 // RFC 1421, 4.6.1.3: DEK-Info of a key with a passphrase
	{prefix: "Private-Lines: ", min: 32, also: pemLines, check: isArmor},        // PuTTY: the.earth.li/~sgtatham/putty, appendix "PPK file format"
	{prefix: "Bearer ", min: 16, also: dashDotBase64, check: hasDigit},          // RFC 6750, 2.1; digits tell it from prose
	{prefix: "bearer ", min: 16, also: dashDotBase64, check: hasDigit},          //
	{prefix: "eyJ", min: 30, also: dashDot, check: isJWT},                       // RFC 7519, 3.1
	{prefix: "ey", min: 30, also: dashDotBackslash, check: isJWTOfAny},          // the same, of JSON with blanks
	{prefix: "ZXlK", min: 50, also: dashUnderBase64, check: hasDigitAndCase},    // base64 of the same
	{prefix: "AGE-SECRET-KEY-1", min: 58, max: 58},                              // age-encryption.org/v1
	{prefix: "AGE-SECRET-KEY-PQ-1", min: 58},                                    // filippo.io/age
	{prefix: "xprv", min: 107, max: 108},                                        // BIP 32
	{prefix: "sha256~", min: 43, max: 43, also: dashUnder},                      // OpenShift: docs.okd.io, "Managing user-owned OAuth access tokens"
	{prefix: "tskey-", min: 20, also: dash, check: hasDigit},                    // Tailscale: tailscale.com/kb/1277/key-prefixes
	{prefix: "ops_eyJ", min: 100, also: dashDotBase64},                          // 1Password: developer.1password.com/docs/service-accounts
	{prefix: "A3-", min: 31, max: 37, also: dash, check: isUpperKey},            // 1Password Secret Key: its security design paper
	{prefix: "hvs.", min: 24, also: dashUnder},                                  // Vault: developer.hashicorp.com/vault/docs/concepts/tokens
	{prefix: "s.", min: 24, max: 24, check: hasDigits},                          // of Vault before 1.10
	{prefix: "hvb.", min: 24, also: dashUnder},                                  //
	{prefix: "hvr.", min: 24, also: dashUnder},                                  //
	{prefix: ".atlasv1.", lead: 14, min: 60, also: dashUnderEqual},              // Terraform Cloud: developer.hashicorp.com/terraform/cloud-docs/api-docs
	{prefix: "dp.pt.", min: 40},                                                 // Doppler: docs.doppler.com/reference/auth-token-formats
	{prefix: "dp.st.", min: 40, also: dashDot},                                  //
	{prefix: "dp.ct.", min: 40},                                                 //
	{prefix: "dp.sa.", min: 40},                                                 //
	{prefix: "dp.said.", min: 40},                                               //
	{prefix: "dp.scim.", min: 40},                                               //
	{prefix: "dp.audit.", min: 40},                                              //

	// AI.
	{prefix: "sk-ant-", min: 20, also: dashUnder},                              // Anthropic: docs.anthropic.com/en/api/admin-api
	{prefix: "sk-proj-", min: 20, also: dashUnder},                             // OpenAI: platform.openai.com/docs/api-reference/authentication
	{prefix: "sk-svcacct-", min: 20, also: dashUnder},                          //
	{prefix: "sk-admin-", min: 20, also: dashUnder},                            //
	{prefix: "sk-None-", min: 20, also: dashUnder},                             // seen
	{prefix: "sk-", min: 20},                                                   // OpenAI's oldest, DeepSeek: api-docs.deepseek.com
	{prefix: "sk-or-", min: 20, also: dashUnder},                               // OpenRouter: openrouter.ai/docs/api-reference/authentication
	{prefix: "sk-lf-", min: 36, max: 36, also: dash, check: isUUID},            // Langfuse: langfuse.com/docs/observability/get-started
	{prefix: "sk-helicone-", min: 20, also: dash, check: hasDigit},             // Helicone: docs.helicone.ai
	{prefix: "gsk_", min: 20},                                                  // Groq: console.groq.com/docs/quickstart
	{prefix: "xai-", min: 20},                                                  // xAI: docs.x.ai/docs/tutorial
	{prefix: "hf_", min: 20},                                                   // Hugging Face: huggingface.co/docs/hub/security-tokens
	{prefix: "api_org_", min: 34, max: 34},                                     // Hugging Face: huggingface.co/docs/api-inference, of organizations
	{prefix: "r8_", min: 37, max: 37},                                          // Replicate: replicate.com/docs/reference/http
	{prefix: "pplx-", min: 30},                                                 // Perplexity: docs.perplexity.ai
	{prefix: "fw_", min: 22, max: 48, check: hasDigitAndCase},                  // Fireworks: docs.fireworks.ai
	{prefix: "tgp_v1_", min: 40, also: dashUnder},                              // Together: docs.together.ai
	{prefix: "csk-", min: 40, check: hasDigit},                                 // Cerebras: inference-docs.cerebras.ai
	{prefix: "nvapi-", min: 60, also: dashUnder},                               // NVIDIA: docs.nvidia.com/nim
	{prefix: "tvly-", min: 20, also: dash},                                     // Tavily: docs.tavily.com
	{prefix: "fc-", min: 32, max: 32, check: isHex},                            // Firecrawl: docs.firecrawl.dev
	{prefix: "e2b_", min: 40, max: 40, check: isHex},                           // E2B: e2b.dev/docs
	{prefix: "lsv2_pt_", min: 32, also: underscore},                            // LangSmith: docs.smith.langchain.com
	{prefix: "lsv2_sk_", min: 32, also: underscore},                            //
	{prefix: "pcsk_", min: 40, also: underscore},                               // Pinecone: docs.pinecone.io
	{prefix: "pa-", min: 43, max: 43, also: dashUnder, check: hasDigitAndCase}, // Voyage: docs.voyageai.com
	{prefix: "jina_", min: 50, also: dashUnder},                                // Jina: jina.ai/embeddings
	{prefix: "llx-", min: 40, check: hasDigit},                                 // LlamaCloud: docs.cloud.llamaindex.ai
	{prefix: "esecret_", min: 20, check: hasDigit},                             // Anyscale: docs.anyscale.com
	{prefix: "key_", min: 64, max: 64, check: isHex},                           // Cursor: docs.cursor.com
	{prefix: "crsr_", min: 40, check: hasDigit},                                // Cursor, seen
	{prefix: "rpa_", min: 30, check: hasDigit},                                 // RunPod: docs.runpod.io
	{prefix: "ak-", min: 22, max: 22, check: hasDigitAndCase},                  // Modal: modal.com/docs
	{prefix: "as-", min: 22, max: 22, check: hasDigitAndCase},                  //
	{prefix: "apify_api_", min: 30},                                            // Apify: docs.apify.com/platform/integrations/api
	{prefix: "BSA", min: 28, max: 28, also: dashUnder, check: hasDigitAndCase}, // Brave Search: api.search.brave.com, seen
	{prefix: "ctx7sk-", min: 32, also: dash, check: hasDigit},                  // Context7: context7.com/docs
	{prefix: "bb_live_", min: 20, also: dashUnder},                             // Browserbase: docs.browserbase.com
	{prefix: "bb_test_", min: 20, also: dashUnder},                             //
	{prefix: "sk_", min: 48, max: 48, check: isHex},                            // ElevenLabs: elevenlabs.io/docs/api-reference/authentication

	{prefix: "sc_", min: 50, also: dashDotBase64, check: isAuthress},       // Authress: authress.io/knowledge-base
	{prefix: "ext_", min: 50, also: dashDotBase64, check: isAuthress},      //
	{prefix: "scauth_", min: 50, also: dashDotBase64, check: isAuthress},   //
	{prefix: "authress_", min: 50, also: dashDotBase64, check: isAuthress}, //

	// Code and its hosts.
	{prefix: "github_pat_", min: 20, also: underscore},           // docs.github.com, "About authentication to GitHub"
	{prefix: "ghp_", min: 30},                                    //
	{prefix: "gho_", min: 30},                                    //
	{prefix: "ghu_", min: 30},                                    //
	{prefix: "ghs_", min: 30},                                    //
	{prefix: "ghr_", min: 30},                                    //
	{prefix: "glpat-", min: 20, also: dashDot},                   // docs.gitlab.com/security/tokens, "Token prefixes"
	{prefix: "gldt-", min: 20, also: dashDot},                    //
	{prefix: "gloas-", min: 20, also: dashDot},                   //
	{prefix: "glrt-", min: 20, also: dashDot},                    //
	{prefix: "glrtr-", min: 20, also: dashDot},                   //
	{prefix: "glcbt-", min: 20, also: dashDot},                   //
	{prefix: "glptt-", min: 20, also: dashDot},                   //
	{prefix: "glft-", min: 20, also: dashDot},                    //
	{prefix: "glimt-", min: 20, also: dashDot},                   //
	{prefix: "glagent-", min: 20, also: dashDot},                 //
	{prefix: "glwt-", min: 20, also: dashDot},                    //
	{prefix: "glsoat-", min: 20, also: dashDot},                  //
	{prefix: "glffct-", min: 20, also: dashDot},                  //
	{prefix: "GR1348941", min: 20, also: dashUnder},              //
	{prefix: "_gitlab_session=", min: 32, max: 32},               // docs.gitlab.com/api/rest/authentication
	{prefix: "ATATT3", min: 60, also: dashUnderEqual},            // Atlassian: support.atlassian.com, "Manage API tokens for your Atlassian account"
	{prefix: "ATCTT3", min: 60, also: dashUnderEqual},            // Bitbucket: support.atlassian.com, "Access tokens"
	{prefix: "ATBB", min: 28, max: 36, check: hasDigitAndCase},   // Bitbucket: support.atlassian.com, "App passwords"
	{prefix: "sgp_", min: 40, also: underscore, check: hasDigit}, // Sourcegraph: sourcegraph.com/docs/cli/how-tos/creating_an_access_token
	{prefix: "sgd_", min: 64, max: 64, check: isHex},             //
	{prefix: "slk_", min: 64, max: 64, check: isHex},             //
	{prefix: "AZDO", lead: 76, min: 4, max: 4},                   // Azure DevOps: learn.microsoft.com/azure/devops, "Use personal access tokens"

	// Builds and deployments.
	{prefix: "CCIPAT_", min: 40, also: underscore},            // circleci.com/docs/managing-api-tokens
	{prefix: "CCIPRJ_", min: 40, also: underscore},            //
	{prefix: "bkua_", min: 40, max: 40, check: isHex},         // buildkite.com/docs/apis/managing-api-tokens
	{prefix: "pul-", min: 40, max: 40, check: isHex},          // pulumi.com/docs/administration/access-identity/access-tokens
	{prefix: "pnu_", min: 36, max: 36},                        // docs.prefect.io
	{prefix: "pnb_", min: 36, max: 36},                        //
	{prefix: "API-", min: 25, max: 32, check: isUpperKey},     // octopus.com/docs/octopus-rest-api
	{prefix: "pat.", min: 60, also: dashDot, check: hasDigit}, // developer.harness.io/docs/platform/automation/api
	{prefix: "sat.", min: 60, also: dashDot, check: hasDigit}, //
	{prefix: "tr_prod_", min: 20, check: hasDigit},            // trigger.dev/docs/apikeys
	{prefix: "tr_dev_", min: 20, check: hasDigit},             //
	{prefix: "signkey-prod-", min: 32, check: hasDigit},       // inngest.com/docs/platform/signing-keys
	{prefix: "ico-", min: 32, max: 32},                        // infracost.io/docs
	{prefix: "dbtc_", min: 30, also: dashUnder},               // docs.getdbt.com/docs/dbt-cloud-apis/authentication
	{prefix: "dbtu_", min: 30, also: dashUnder},               //

	// Registries of packages.
	{prefix: "npm_", min: 30},                                 // github.blog/changelog/2021-09-23-npm-has-a-new-access-token-format
	{prefix: "pypi-", min: 66, also: dashUnder},               // pypi.org/help/#apitoken
	{prefix: "rubygems_", min: 48, max: 48, check: isHex},     // guides.rubygems.org/api-key-scopes
	{prefix: "cio", min: 32, max: 32, check: hasDigitAndCase}, // crates.io, seen
	{prefix: "oy2", min: 43, max: 43, check: isLowerKey},      // learn.microsoft.com/nuget/nuget-org/scoped-api-keys
	{prefix: "dckr_pat_", min: 27, also: dashUnder},           // docs.docker.com/security/access-tokens
	{prefix: "dckr_oat_", min: 27, also: dashUnder},           //
	{prefix: "CLOJARS_", min: 60, max: 60, check: hasDigit},   // github.com/clojars/clojars-web/wiki/Deploy-Tokens
	{prefix: "AKCp", min: 69, max: 69},                        // JFrog: jfrog.com/help, "API key", seen
	{prefix: "cmVmd", min: 59, max: 59},                       // JFrog: jfrog.com/help, "Reference tokens"

	// Clouds.
	{prefix: "AKIA", min: 57, max: 57, also: pairBase64, check: isKeyPair},        // AWS, with its secret behind it as in the console's CSV
	{prefix: "AKIA", min: 16, max: 16, check: isBase32},                           // docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html
	{prefix: "ASIA", min: 16, max: 16, check: isBase32},                           //
	{prefix: "A3T", min: 17, max: 17, check: beginsKeyID},                         //
	{prefix: "ABIA", min: 16, max: 16, check: isBase32},                           //
	{prefix: "ACCA", min: 16, max: 16, check: isBase32},                           //
	{prefix: "ABSK", min: 100, also: base64Chars},                                 // docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html
	{prefix: "bedrock-api-key-", min: 28, also: base64Chars},                      //
	{prefix: "IQoJb3JpZ2lu", min: 100, also: base64Chars},                         // AWS session token, seen
	{prefix: "FwoGZXIvYXdz", min: 100, also: base64Chars},                         // AWS session token, seen
	{prefix: "amzn.mws.", min: 36, max: 36, also: dash, check: isUUID},            // Amazon MWS, seen
	{prefix: "amzn1.oa2-cs.v1.", min: 64, max: 64, check: isHex},                  // developer.amazon.com/docs/login-with-amazon
	{prefix: "AIza", min: 30, also: dashUnder},                                    // Google: cloud.google.com/docs/authentication/api-keys
	{prefix: "AQ.Ab8RN6", min: 30, also: dashUnder},                               // Google, seen
	{prefix: "ya29.", min: 20, also: dashDot},                                     // Google OAuth: developers.google.com/identity/protocols/oauth2
	{prefix: "GOCSPX-", min: 28, max: 28, also: dashUnder},                        //
	{prefix: "1//0", min: 40, also: dashUnder},                                    //
	{prefix: "Q~", lead: 4, min: 31, max: 34, also: dashDotTilde, check: isEntra}, // Entra ID: learn.microsoft.com/purview/sit-defn-azure-ad-client-secret
	{prefix: "JQQJ9", lead: 52, min: 27, also: base64Chars},                       // Azure: github.com/microsoft/security-utilities, "Common annotated security key"
	{prefix: "ASt", lead: 77, min: 7, also: base64Chars, check: isAzureStorage},   // Azure Storage
	{prefix: "dop_v1_", min: 64, max: 64, check: isHex},                           // docs.digitalocean.com/reference/api/create-personal-access-token
	{prefix: "doo_v1_", min: 64, max: 64, check: isHex},                           //
	{prefix: "dor_v1_", min: 64, max: 64, check: isHex},                           //
	{prefix: "cfk_", min: 40},                                                     // developers.cloudflare.com/fundamentals/api/get-started/token-formats
	{prefix: "cfut_", min: 40},                                                    //
	{prefix: "cfat_", min: 40},                                                    //
	{prefix: "v1.0-", min: 171, max: 171, also: dash, check: hasDigit},            // developers.cloudflare.com/fundamentals/api/get-started/ca-keys
	{prefix: "fo1_", min: 43, max: 43, also: dashUnder},                           // fly.io/docs/security/tokens
	{prefix: "fm1a_", min: 100, also: base64Chars},                                //
	{prefix: "fm1r_", min: 100, also: base64Chars},                                //
	{prefix: "fm2_", min: 100, also: base64Chars},                                 //
	{prefix: "vcp_", min: 24, check: hasDigit},                                    // vercel.com/changelog/new-token-formats-and-secret-scanning
	{prefix: "vci_", min: 24, check: hasDigit},                                    //
	{prefix: "vca_", min: 24, check: hasDigit},                                    //
	{prefix: "vcr_", min: 24, check: hasDigit},                                    //
	{prefix: "vck_", min: 24, check: hasDigit},                                    //
	{prefix: "nfp_", min: 36, max: 40},                                            // docs.netlify.com/api/get-started
	{prefix: "HRKU-", min: 36, also: dashUnder},                                   // devcenter.heroku.com/articles/authentication
	{prefix: "sbp_", min: 40, also: underscore, check: hasDigit},                  // supabase.com/docs/reference/api
	{prefix: "sb_secret_", min: 20, also: dashUnder},                              // supabase.com/docs/guides/api/api-keys
	{prefix: "pscale_tkn_", min: 32, also: dashDotEqual},                          // planetscale.com/docs/concepts/service-tokens
	{prefix: "pscale_pw_", min: 32, also: dashDotEqual},                           //
	{prefix: "pscale_oauth_", min: 32, also: dashDotEqual},                        //
	{prefix: "napi_", min: 40},                                                    // neon.com/docs/manage/api-keys
	{prefix: "npg_", min: 12, max: 24, check: hasDigitAndCase},                    // neon.com/docs/connect
	{prefix: "rnd_", min: 28, max: 40, check: hasDigitAndCase},                    // render.com/docs/api
	{prefix: "tk-us-", min: 48, max: 48, also: dashUnder},                         // developers.scalingo.com
	{prefix: "SCW", min: 17, max: 17, check: isUpperKey},                          // scaleway.com/en/docs/iam
	{prefix: "LTAI", min: 12, max: 20, check: hasDigit},                           // alibabacloud.com/help/ram, seen
	{prefix: "AKID", min: 32, max: 32, check: hasDigitAndCase},                    // Tencent Cloud, seen
	{prefix: "t1.", min: 86, also: dashDotEqual, check: hasDigitAndCase},          // yandex.cloud/docs/iam/concepts/authorization/iam-token
	{prefix: "AQVN", min: 35, max: 38, also: dashUnder, check: hasDigit},          // yandex.cloud/docs/iam/concepts/authorization/api-key
	{prefix: "DO00", min: 16, max: 16, check: isUpperKey},                         // DigitalOcean Spaces: docs.digitalocean.com/products/spaces
	{prefix: "AVNS_", min: 19, also: dashUnder},                                   // aiven.io/docs
	{prefix: "xau_", min: 32, max: 32},                                            // xata.io/docs
	{prefix: "mdb_sa_sk_", min: 30, also: dashUnder},                              // mongodb.com/docs/atlas/api/service-accounts-overview
	{prefix: "CCDB1_", min: 40, also: underscore},                                 // cockroachlabs.com/docs/cockroachcloud/managing-access
	{prefix: "AstraCS:", min: 80, also: colon},                                    // docs.datastax.com/en/astra
	{prefix: "4b1d", min: 38, max: 38, check: hasDigitAndCase},                    // clickhouse.com/docs/cloud/manage/openapi, seen
	{prefix: "dapi", min: 32, max: 32, check: isHex},                              // docs.databricks.com/dev-tools/auth/pat
	{prefix: "dose", min: 32, max: 32, check: isHex},                              // docs.databricks.com/dev-tools/auth/oauth-m2m
	{prefix: "p8e-", min: 32, max: 32, check: hasDigit},                           // Adobe: developer.adobe.com/developer-console
	{prefix: "sk.eyJ", min: 60, also: dashDot},                                    // docs.mapbox.com/help/glossary/access-token
	{prefix: "tk.eyJ", min: 60, also: dashDot},                                    //
	{prefix: "_mmk", lead: 36, also: underscore, check: isMaxMind},                // dev.maxmind.com, "License keys"

	// Payments.
	{prefix: "sk_live_", min: 10, check: isNoWord},                               // docs.stripe.com/keys
	{prefix: "rk_live_", min: 10, check: isNoWord},                               //
	{prefix: "sk_test_", min: 10, check: isNoWord},                               //
	{prefix: "rk_test_", min: 10, check: isNoWord},                               //
	{prefix: "sk_prod_", min: 10, check: isNoWord},                               //
	{prefix: "rk_prod_", min: 10, check: isNoWord},                               //
	{prefix: "whsec_", min: 32, also: base64Chars},                               // docs.stripe.com/webhooks
	{prefix: "sq0atp-", min: 22, also: dashUnder},                                // developer.squareup.com/docs/build-basics/access-tokens
	{prefix: "sq0csp-", min: 43, also: dashUnder},                                //
	{prefix: "EAAA", min: 22, max: 60, also: dashUnder, check: hasDigitAndCase},  //
	{prefix: "shpat_", min: 32, check: isHex},                                    // shopify.dev/changelog/length-of-the-shopify-access-token-is-increasing
	{prefix: "shpca_", min: 32, check: isHex},                                    //
	{prefix: "shppa_", min: 32, check: isHex},                                    //
	{prefix: "shpss_", min: 32, check: isHex},                                    //
	{prefix: "shptka_", min: 32, check: isHex},                                   //
	{prefix: "access_token$production$", min: 49, also: dollar},                  // developer.paypal.com/braintree/docs/guides/authorization
	{prefix: "access_token$sandbox$", min: 49, also: dollar},                     //
	{prefix: "access-production-", min: 36, max: 36, also: dash, check: isUUID},  // plaid.com/docs/api/items
	{prefix: "access-development-", min: 36, max: 36, also: dash, check: isUUID}, //
	{prefix: "access-sandbox-", min: 36, max: 36, also: dash, check: isUUID},     //
	{prefix: "FLWSECK-", min: 32, also: dash},                                    // developer.flutterwave.com/docs/authentication
	{prefix: "FLWSECK_TEST-", min: 12, also: dash, check: hasDigit},              //
	{prefix: "live_", min: 30, max: 50, check: hasDigit},                         // docs.mollie.com/reference/authentication, docs.lob.com, developer.gocardless.com
	{prefix: "test_", min: 35, max: 35, check: isHex},                            // docs.lob.com
	{prefix: "duffel_live_", min: 43, also: dashUnderEqual},                      // duffel.com/docs/api/overview/test-your-integration
	{prefix: "duffel_test_", min: 43, also: dashUnderEqual},                      //
	{prefix: "EZAK", min: 54, max: 54},                                           // docs.easypost.com/docs/authentication
	{prefix: "EZTK", min: 54, max: 54},                                           //
	{prefix: "shippo_live_", min: 40, max: 40, check: isHex},                     // docs.goshippo.com/docs/guides_general/authentication
	{prefix: "shippo_test_", min: 40, max: 40, check: isHex},                     //
	{prefix: "pdl_live_apikey_", min: 40, also: underscore},                      // developer.paddle.com/api-reference/about/authentication
	{prefix: "pdl_sdbx_apikey_", min: 40, also: underscore},                      //
	{prefix: "polar_oat_", min: 30, also: underscore},                            // polar.sh/docs/integrate/oat
	{prefix: "Mid-server-", min: 20, also: dashUnder},                            // docs.midtrans.com/docs/api-authorization-headers
	{prefix: "ck_", min: 40, max: 40, check: isHex},                              // woocommerce.github.io/woocommerce-rest-api-docs
	{prefix: "cs_", min: 40, max: 40, check: isHex},                              //

	// Messages.
	{prefix: "xoxb-", min: 10, also: dash},                                                 // docs.slack.dev/authentication/tokens
	{prefix: "xoxp-", min: 10, also: dash},                                                 //
	{prefix: "xoxa-", min: 8, also: dash},                                                  //
	{prefix: "xoxr-", min: 8, also: dash},                                                  //
	{prefix: "xoxs-", min: 10, also: dash, check: hasDigit},                                //
	{prefix: "xoxo-", min: 10, also: dash, check: hasDigit},                                //
	{prefix: "xoxe-", min: 10, also: dash, check: hasDigit},                                //
	{prefix: "xoxc-", min: 10, also: dash, check: hasDigit},                                // Slack in a browser, seen
	{prefix: "xoxd-", min: 10, also: percentBase64, check: hasDigit},                       //
	{prefix: "xapp-", min: 10, also: dash},                                                 //
	{prefix: "xwfp-", min: 10, also: dash, check: hasDigit},                                //
	{prefix: "hooks.slack.com/services/", min: 30, also: slash, check: hasDigit},           // docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
	{prefix: "hooks.slack.com/workflows/", min: 30, also: slash, check: hasDigit},          //
	{prefix: "hooks.slack.com/triggers/", min: 30, also: slash, check: hasDigit},           //
	{prefix: "discord.com/api/webhooks/", min: 60, also: dashSlash},                        // docs.discord.com/developers/resources/webhook
	{prefix: "discordapp.com/api/webhooks/", min: 60, also: dashSlash},                     //
	{prefix: "MT", min: 55, max: 75, also: dashDot, check: isDiscord},                      // docs.discord.com/developers/reference: an id's digits in base64, a time, a MAC
	{prefix: "Mj", min: 55, max: 75, also: dashDot, check: isDiscord},                      //
	{prefix: "Mz", min: 55, max: 75, also: dashDot, check: isDiscord},                      //
	{prefix: "ND", min: 55, max: 75, also: dashDot, check: isDiscord},                      //
	{prefix: "NT", min: 55, max: 75, also: dashDot, check: isDiscord},                      //
	{prefix: "Nj", min: 55, max: 75, also: dashDot, check: isDiscord},                      //
	{prefix: "Nz", min: 55, max: 75, also: dashDot, check: isDiscord},                      //
	{prefix: "OD", min: 55, max: 75, also: dashDot, check: isDiscord},                      //
	{prefix: "OT", min: 55, max: 75, also: dashDot, check: isDiscord},                      //
	{prefix: "webhook.office.com/webhookb2/", min: 60, also: dashSlash},                    // learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors
	{prefix: ":AA", lead: 8, min: 32, max: 33, also: dashUnder, check: isTelegram},         // core.telegram.org/bots/api#authorizing-your-bot
	{prefix: ":AA", lead: 9, min: 32, max: 33, also: dashUnder, check: isTelegram},         //
	{prefix: ":AA", lead: 10, min: 32, max: 33, also: dashUnder, check: isTelegram},        //
	{prefix: "SK", min: 32, max: 32, check: isHex},                                         // twilio.com/docs/iam/api-keys
	{prefix: "SG.", min: 66, max: 66, also: dashDotEqual, check: hasDigit},                 // sendgrid.com: github.blog/changelog, seen
	{prefix: "key-", min: 32, max: 32, check: isHex},                                       // documentation.mailgun.com
	{prefix: "-us", lead: 32, min: 1, max: 2, check: isMailchimp},                          // mailchimp.com/developer/marketing/guides/quick-start
	{prefix: "md-", min: 22, max: 22, also: dashUnder, check: hasDigitAndCase},             // mailchimp.com/developer/transactional
	{prefix: "xkeysib-", min: 64, also: dash},                                              // developers.brevo.com
	{prefix: "xsmtpsib-", min: 64, also: dash},                                             //
	{prefix: "re_", min: 30, max: 36, also: underscore, check: hasDigitAndCase},            // resend.com/docs
	{prefix: "EAAM", min: 100, check: hasDigit},                                            // developers.facebook.com/docs/facebook-login/guides/access-tokens, seen
	{prefix: "EAAC", min: 100, check: hasDigit},                                            //
	{prefix: "IGQ", min: 100, also: dashUnder, check: hasDigit},                            // Instagram, seen
	{prefix: "AAAAAAAAAAAAAAAAAAAAA", min: 60, max: 120, also: percent, check: hasPercent}, // docs.x.com, bearer of an app
	{prefix: "os_v2_app_", min: 60},                                                        // documentation.onesignal.com/docs/keys-and-ids
	{prefix: "os_v2_org_", min: 60},                                                        //
	{prefix: "pat-na1-", min: 36, max: 36, also: dash, check: isUUID},                      // developers.hubspot.com/docs/apps, private apps
	{prefix: "pat-eu1-", min: 36, max: 36, also: dash, check: isUUID},                      //

	// What is watched.
	{prefix: "NRAK-", min: 27, max: 27},                                    // docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys
	{prefix: "NRII-", min: 32, max: 32, also: dashUnder},                   //
	{prefix: "NRJS-", min: 19, max: 19, check: isHex},                      //
	{prefix: "NRRA-", min: 42, max: 42, check: isHex},                      //
	{prefix: "glsa_", min: 41, max: 41, also: underscore},                  // grafana.com/docs/grafana/latest/administration/service-accounts
	{prefix: "glc_", min: 32, also: base64Chars},                           // grafana.com/docs/grafana-cloud/security-and-account-management
	{prefix: "eyJrIjoi", min: 60, also: base64Chars},                       // Grafana's former API keys: {"k":" in base64
	{prefix: "sntrys_", min: 60, also: underscoreBase64},                   // docs.sentry.io/account/auth-tokens
	{prefix: "sntryu_", min: 64, max: 64, check: isHex},                    //
	{prefix: "dt0c01.", min: 89, max: 89, also: dashDot},                   // docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients
	{prefix: "dt0s01.", min: 30, also: dashDot},                            //
	{prefix: "dt0s02.", min: 60, also: dashDot},                            //
	{prefix: "dt0s16.", min: 60, also: dashDot},                            //
	{prefix: "hcaik_", min: 50},                                            // docs.honeycomb.io/configure/environments/manage-api-keys
	{prefix: "phx_", min: 40, check: hasDigit},                             // posthog.com/docs/api
	{prefix: "phs_", min: 30, check: hasDigit},                             //
	{prefix: "sdk-", min: 36, max: 36, also: dash, check: isUUID},          // launchdarkly.com/docs/home/account/environment/keys
	{prefix: "api-", min: 36, max: 36, also: dash, check: isUUID},          //
	{prefix: "squ_", min: 40, max: 40, check: isHex},                       // docs.sonarsource.com/sonarqube-server, "Generating and using tokens"
	{prefix: "sqp_", min: 40, max: 40, check: isHex},                       //
	{prefix: "sqa_", min: 40, max: 40, check: isHex},                       //
	{prefix: "snyk_uat.", min: 40, also: dashDot},                          // docs.snyk.io/snyk-api/authentication-for-api
	{prefix: "snyk_sat.", min: 40, also: dashDot},                          //
	{prefix: "hawk.", min: 41, max: 41, also: dashDot, check: isStackHawk}, // docs.stackhawk.com
	{prefix: "sktsec_", min: 40, also: dashUnder},                          // docs.socket.dev

	// Work and content.
	{prefix: "ntn_", min: 30},                                           // developers.notion.com/reference/authentication
	{prefix: "secret_", min: 43, max: 43, check: hasDigitAndCase},       // Notion's former ones
	{prefix: "lin_api_", min: 30},                                       // linear.app/developers
	{prefix: "lin_oauth_", min: 40},                                     //
	{prefix: "figd_", min: 30, also: dashUnder},                         // developers.figma.com/docs/rest-api/authentication
	{prefix: "pat", min: 79, max: 79, also: dashDot, check: isAirtable}, // airtable.com/developers/web/guides/personal-access-tokens
	{prefix: "PMAK-", min: 59, max: 59, also: dash},                     // learning.postman.com/docs/developer/postman-api/authentication
	{prefix: "CFPAT-", min: 43, also: dashUnder},                        // contentful.com/developers/docs/references/authentication
	{prefix: "tfp_", min: 40, also: dashDot},                            // typeform.com/developers/get-started/personal-access-token
	{prefix: "fio-u-", min: 64, also: dashUnderEqual},                   // developer.frame.io
	{prefix: "rdme_", min: 70, max: 70},                                 // docs.readme.com/main/reference
	{prefix: "msh", lead: 10, min: 30, max: 40, check: isRapidAPI},      // docs.rapidapi.com/docs/keys
	{prefix: "s-s4t2af-", min: 64, max: 64, check: isHex},               //
	{prefix: "s-s4t2ud-", min: 64, max: 64, check: isHex},               // api.intra.42.fr/apidoc
	{prefix: "u-s4t2ud-", min: 64, max: 64, check: isHex},               //
	{prefix: "sl.", min: 130, also: dashDot, check: hasDigit},           // developers.dropbox.com/oauth-guide
	{prefix: "aio_", min: 28, max: 28, check: hasDigitAndCase},          // io.adafruit.com/api/docs
	{prefix: "lip_", min: 20, check: hasDigitAndCase},                   // lichess.org/api
	{prefix: "waka_", min: 36, max: 36, also: dash, check: isUUID},      // wakatime.com/api-key
	{prefix: "zpka_", min: 30, also: underscore},                        // zuplo.com/docs/articles/api-key-management
	{prefix: "sm_aat_", min: 16},                                        // console.settlemint.com, application access tokens
	{prefix: "sm_pat_", min: 16},                                        //
	{prefix: "sm_sat_", min: 16},                                        //
}
