package redact

// tokenForms are the kinds of secrets that coding agents and their tools are given. Beside
// each stands where its form was looked up in November 2026: a rule of gitleaks 8.30.1
// (TestGitleaks holds the row to it), a file in crates/kingfisher-rules/data/rules of
// github.com/mongodb/kingfisher, a detector in pkg/detectors of
// github.com/trufflesecurity/trufflehog, or a page. Of those marked unchecked only the issuer
// is told, or where it should be written. Few issuers tell the length: then min is on the
// short side. Forms that words and ids could have too ask for more: an exact length, hex,
// digits and letters of both cases.
var tokenForms = [...]tokenForm{
	// Keys and tokens of no issuer.
	{prefix: "PRIVATE KEY-----", min: 32, also: pemLines},                       // gitleaks: private-key
	{prefix: "PRIVATE KEY BLOCK-----", min: 32, also: pgpLines, check: isArmor}, // gitleaks: private-key
	{prefix: "CBC,", min: 64, also: pemLines, check: beginsHex},                 // unchecked: RFC 1421, 4.6.1.3: DEK-Info of a key with a passphrase
	{prefix: "Private-Lines: ", min: 32, also: pemLines, check: isArmor},        // tartarus.org/~simon/putty-snapshots/htmldoc/AppendixC.html
	{prefix: "Bearer ", min: 16, also: dashDotBase64, check: hasDigit},          // datatracker.ietf.org/doc/draft-ietf-oauth-v2-bearer; digits tell it from prose
	{prefix: "bearer ", min: 16, also: dashDotBase64, check: hasDigit},          // datatracker.ietf.org/doc/draft-ietf-oauth-v2-bearer; digits tell it from prose
	{prefix: "eyJ", min: 30, also: dashDot, check: isJWT},                       // gitleaks: jwt
	{prefix: "ey", min: 30, also: dashDotBackslash, check: isJWTOfAny},          // gitleaks: jwt; of JSON with blanks
	{prefix: "ZXlK", min: 50, also: dashUnderBase64, check: hasDigitAndCase},    // gitleaks: jwt-base64; base64 of a JWT
	{prefix: "AGE-SECRET-KEY-1", min: 58, max: 58},                              // gitleaks: age-secret-key
	{prefix: "AGE-SECRET-KEY-PQ-1", min: 58},                                    // unchecked: filippo.io/age
	{prefix: "xprv", min: 107, max: 108},                                        // unchecked: BIP 32
	{prefix: "sha256~", min: 43, max: 43, also: dashUnder},                      // gitleaks: openshift-user-token
	{prefix: "tskey-", min: 20, also: dash, check: hasDigit},                    // trufflehog: tailscale
	{prefix: "ops_eyJ", min: 100, also: dashDotBase64},                          // gitleaks: 1password-service-account-token
	{prefix: "A3-", min: 31, max: 37, also: dash, check: isUpperKey},            // gitleaks: 1password-secret-key
	{prefix: "hvs.", min: 24, also: dashUnder},                                  // gitleaks: vault-service-token
	{prefix: "s.", min: 24, max: 24, check: hasDigits},                          // gitleaks: vault-service-token
	{prefix: "hvb.", min: 24, also: dashUnder},                                  // gitleaks: vault-batch-token
	{prefix: "hvr.", min: 24, also: dashUnder},                                  // unchecked: developer.hashicorp.com/vault/docs/concepts/tokens
	{prefix: ".atlasv1.", lead: 14, min: 60, also: dashUnderEqual},              // gitleaks: hashicorp-tf-api-token
	{prefix: "dp.pt.", min: 40},                                                 // gitleaks: doppler-api-token
	{prefix: "dp.st.", min: 40, also: dashDot},                                  // trufflehog: doppler
	{prefix: "dp.ct.", min: 40},                                                 // unchecked: Doppler: docs.doppler.com/reference/auth-token-formats
	{prefix: "dp.sa.", min: 40},                                                 // unchecked: Doppler: docs.doppler.com/reference/auth-token-formats
	{prefix: "dp.said.", min: 40},                                               // unchecked: Doppler: docs.doppler.com/reference/auth-token-formats
	{prefix: "dp.scim.", min: 40},                                               // unchecked: Doppler: docs.doppler.com/reference/auth-token-formats
	{prefix: "dp.audit.", min: 40},                                              // trufflehog: doppler

	// AI.
	{prefix: "sk-ant-", min: 20, also: dashUnder},                              // gitleaks: anthropic-admin-api-key
	{prefix: "sk-proj-", min: 20, also: dashUnder},                             // kingfisher: openai
	{prefix: "sk-svcacct-", min: 20, also: dashUnder},                          // kingfisher: openai
	{prefix: "sk-admin-", min: 20, also: dashUnder},                            // gitleaks: openai-api-key
	{prefix: "sk-None-", min: 20, also: dashUnder},                             // kingfisher: openai
	{prefix: "sk-", min: 20},                                                   // gitleaks: openai-api-key
	{prefix: "sk-or-", min: 20, also: dashUnder},                               // kingfisher: openrouter
	{prefix: "sk-lf-", min: 36, max: 36, also: dash, check: isUUID},            // trufflehog: langfuse
	{prefix: "sk-helicone-", min: 20, also: dash, check: hasDigit},             // unchecked: Helicone: docs.helicone.ai
	{prefix: "gsk_", min: 20},                                                  // kingfisher: groq
	{prefix: "xai-", min: 20, also: underscore},                                // trufflehog: xai
	{prefix: "hf_", min: 20},                                                   // gitleaks: huggingface-access-token
	{prefix: "api_org_", min: 34, max: 34},                                     // gitleaks: huggingface-organization-api-token
	{prefix: "r8_", min: 37, max: 37, also: dashUnder},                         // trufflehog: replicate
	{prefix: "pplx-", min: 30},                                                 // gitleaks: perplexity-api-key
	{prefix: "fw_", min: 22, max: 48, check: hasDigitAndCase},                  // unchecked: Fireworks: docs.fireworks.ai
	{prefix: "tgp_v1_", min: 40, also: dashUnder},                              // unchecked: Together: docs.together.ai
	{prefix: "csk-", min: 40, check: hasDigit},                                 // unchecked: Cerebras: inference-docs.cerebras.ai
	{prefix: "nvapi-", min: 60, also: dashUnder},                               // kingfisher: nvidia
	{prefix: "tvly-", min: 20, also: dash},                                     // kingfisher: tavily
	{prefix: "fc-", min: 32, max: 32, check: isHex},                            // kingfisher: firecrawl
	{prefix: "e2b_", min: 40, max: 40, check: isHex},                           // kingfisher: e2b
	{prefix: "lsv2_pt_", min: 32, also: underscore},                            // kingfisher: langchain
	{prefix: "lsv2_sk_", min: 32, also: underscore},                            // kingfisher: langchain
	{prefix: "pcsk_", min: 40, also: underscore},                               // kingfisher: pinecone
	{prefix: "pa-", min: 43, max: 43, also: dashUnder, check: hasDigitAndCase}, // kingfisher: voyageai
	{prefix: "al-", min: 43, max: 43, also: dashUnder, check: hasDigitAndCase}, // kingfisher: voyageai
	{prefix: "jina_", min: 50, also: dashUnder},                                // kingfisher: jina
	{prefix: "llx-", min: 40, check: hasDigit},                                 // unchecked: LlamaCloud: docs.cloud.llamaindex.ai
	{prefix: "esecret_", min: 20, check: hasDigit},                             // unchecked: Anyscale: docs.anyscale.com
	{prefix: "key_", min: 64, max: 64, check: isLowerKey},                      // kingfisher: cursor
	{prefix: "crsr_", min: 40, check: hasDigit},                                // unchecked: Cursor
	{prefix: "rpa_", min: 30, check: hasDigit},                                 // unchecked: RunPod: docs.runpod.io
	{prefix: "ak-", min: 22, max: 22, check: hasDigitAndCase},                  // kingfisher: modal
	{prefix: "as-", min: 22, max: 22, check: hasDigitAndCase},                  // kingfisher: modal
	{prefix: "apify_api_", min: 30},                                            // kingfisher: apify
	{prefix: "BSA", min: 28, max: 28, also: dashUnder, check: hasDigitAndCase}, // unchecked: Brave Search: api.search.brave.com
	{prefix: "ctx7sk-", min: 32, also: dash, check: hasDigit},                  // unchecked: Context7: context7.com/docs
	{prefix: "bb_live_", min: 20, also: dashUnder},                             // kingfisher: browserbase
	{prefix: "bb_test_", min: 20, also: dashUnder},                             // kingfisher: browserbase
	{prefix: "sk_", min: 48, max: 48, check: isHex},                            // kingfisher: elevenlabs

	{prefix: "sc_", min: 50, also: dashDotBase64, check: isAuthress},       // gitleaks: authress-service-client-access-key
	{prefix: "ext_", min: 50, also: dashDotBase64, check: isAuthress},      // gitleaks: authress-service-client-access-key
	{prefix: "scauth_", min: 50, also: dashDotBase64, check: isAuthress},   // gitleaks: authress-service-client-access-key
	{prefix: "authress_", min: 50, also: dashDotBase64, check: isAuthress}, // gitleaks: authress-service-client-access-key

	// Code and its hosts.
	{prefix: "github_pat_", min: 20, also: underscore},                             // gitleaks: github-fine-grained-pat
	{prefix: "ghp_", min: 30},                                                      // gitleaks: github-pat
	{prefix: "gho_", min: 30},                                                      // gitleaks: github-oauth
	{prefix: "ghu_", min: 30},                                                      // gitleaks: github-app-token
	{prefix: "ghs_", min: 30},                                                      // gitleaks: github-app-token
	{prefix: "ghr_", min: 30},                                                      // gitleaks: github-refresh-token
	{prefix: "glpat-", min: 20, also: dashDot},                                     // gitleaks: gitlab-pat
	{prefix: "gldt-", min: 20, also: dashDot},                                      // gitleaks: gitlab-deploy-token
	{prefix: "gloas-", min: 20, also: dashDot},                                     // gitleaks: gitlab-oauth-app-secret
	{prefix: "glrt-", min: 20, also: dashDot},                                      // gitleaks: gitlab-runner-authentication-token
	{prefix: "glrtr-", min: 20, also: dashDot},                                     // unchecked: docs.gitlab.com/security/tokens, "Token prefixes"
	{prefix: "glcbt-", min: 20, also: dashDot},                                     // gitleaks: gitlab-cicd-job-token
	{prefix: "glptt-", min: 20, also: dashDot},                                     // gitleaks: gitlab-ptt
	{prefix: "glft-", min: 20, also: dashDot},                                      // gitleaks: gitlab-feed-token
	{prefix: "glimt-", min: 20, also: dashDot},                                     // gitleaks: gitlab-incoming-mail-token
	{prefix: "glagent-", min: 20, also: dashDot},                                   // gitleaks: gitlab-kubernetes-agent-token
	{prefix: "glwt-", min: 20, also: dashDot},                                      // unchecked: docs.gitlab.com/security/tokens, "Token prefixes"
	{prefix: "glsoat-", min: 20, also: dashDot},                                    // gitleaks: gitlab-scim-token
	{prefix: "glffct-", min: 20, also: dashDot},                                    // gitleaks: gitlab-feature-flag-client-token
	{prefix: "GR1348941", min: 20, also: dashUnder},                                // gitleaks: gitlab-rrt
	{prefix: "_gitlab_session=", min: 32, max: 32},                                 // gitleaks: gitlab-session-cookie
	{prefix: "ATATT3", min: 60, also: dashUnderEqual},                              // gitleaks: atlassian-api-token
	{prefix: "ATCTT3", min: 60, also: dashUnderEqual},                              // kingfisher: bitbucket
	{prefix: "ATBB", min: 28, max: 36, check: hasDigitAndCase},                     // kingfisher: bitbucket
	{prefix: "BBDC-", min: 44, max: 44, also: base64Chars, check: hasDigitAndCase}, // kingfisher: bitbucket
	{prefix: "sgp_", min: 40, also: underscore, check: hasDigit},                   // gitleaks: sourcegraph-access-token
	{prefix: "sgd_", min: 64, max: 64, check: isHex},                               // unchecked: Sourcegraph: sourcegraph.com/docs/cli/how-tos/creating_an_access_token
	{prefix: "slk_", min: 64, max: 64, check: isHex},                               // trufflehog: sourcegraphcody
	{prefix: "AZDO", lead: 76, min: 4, max: 5},                                     // kingfisher: azuredevops

	// Builds and deployments.
	{prefix: "CCIPAT_", min: 40, also: underscore},            // kingfisher: circleci
	{prefix: "CCIPRJ_", min: 40, also: underscore},            // kingfisher: circleci
	{prefix: "bkua_", min: 40, max: 40, check: hasDigit},      // kingfisher: buildkite
	{prefix: "pul-", min: 40, max: 40, check: isHex},          // gitleaks: pulumi-api-token
	{prefix: "pnu_", min: 36, max: 36},                        // gitleaks: prefect-api-token
	{prefix: "pnb_", min: 36, max: 36},                        // unchecked: docs.prefect.io
	{prefix: "API-", min: 25, max: 32, check: isUpperKey},     // gitleaks: octopus-deploy-api-key
	{prefix: "pat.", min: 60, also: dashDot, check: hasDigit}, // gitleaks: harness-api-key
	{prefix: "sat.", min: 60, also: dashDot, check: hasDigit}, // gitleaks: harness-api-key
	{prefix: "tr_prod_", min: 20, check: hasDigit},            // unchecked: trigger.dev/docs/apikeys
	{prefix: "tr_dev_", min: 20, check: hasDigit},             // unchecked: trigger.dev/docs/apikeys
	{prefix: "signkey-prod-", min: 32, check: hasDigit},       // unchecked: inngest.com/docs/platform/signing-keys
	{prefix: "ico-", min: 32, max: 32},                        // gitleaks: infracost-api-token
	{prefix: "dbtc_", min: 30, also: dashUnder},               // unchecked: docs.getdbt.com/docs/dbt-cloud-apis/authentication
	{prefix: "dbtu_", min: 30, also: dashUnder},               // unchecked: docs.getdbt.com/docs/dbt-cloud-apis/authentication

	// Registries of packages.
	{prefix: "npm_", min: 30},                                 // gitleaks: npm-access-token
	{prefix: "pypi-", min: 66, also: dashUnder},               // gitleaks: pypi-upload-token
	{prefix: "rubygems_", min: 48, max: 48, check: isHex},     // gitleaks: rubygems-api-token
	{prefix: "cio", min: 32, max: 32, check: hasDigitAndCase}, // kingfisher: crates.io
	{prefix: "oy2", min: 43, max: 43, check: isLowerKey},      // kingfisher: nuget
	{prefix: "dckr_pat_", min: 27, also: dashUnder},           // trufflehog: dockerhub/v2
	{prefix: "dckr_oat_", min: 27, also: dashUnder},           // trufflehog: dockerhub/v2
	{prefix: "SWMTKN-1-", min: 60, also: dash},                // kingfisher: docker
	{prefix: "SWMKEY-1-", min: 40, also: base64Chars},         // kingfisher: docker
	{prefix: "CLOJARS_", min: 60, max: 60, check: hasDigit},   // gitleaks: clojars-api-token
	{prefix: "AKCp", min: 69, max: 69},                        // gitleaks: artifactory-api-key
	{prefix: "cmVmd", min: 59, max: 59},                       // gitleaks: artifactory-reference-token

	// Clouds.
	{prefix: "AKIA", min: 57, max: 57, also: pairBase64, check: isKeyPair},        // gitleaks: aws-access-token; with its secret behind it, as in the console's CSV
	{prefix: "AKIA", min: 16, max: 16, check: isBase32},                           // gitleaks: aws-access-token
	{prefix: "ASIA", min: 16, max: 16, check: isBase32},                           // gitleaks: aws-access-token
	{prefix: "A3T", min: 17, max: 17, check: beginsKeyID},                         // gitleaks: aws-access-token
	{prefix: "ABIA", min: 16, max: 16, check: isBase32},                           // gitleaks: aws-access-token
	{prefix: "ACCA", min: 16, max: 16, check: isBase32},                           // gitleaks: aws-access-token
	{prefix: "ABSK", min: 100, also: base64Chars},                                 // gitleaks: aws-amazon-bedrock-api-key-long-lived
	{prefix: "bedrock-api-key-", min: 28, also: base64Chars},                      // gitleaks: aws-amazon-bedrock-api-key-short-lived
	{prefix: "IQoJb3JpZ2lu", min: 100, also: base64Chars},                         // unchecked: AWS session token
	{prefix: "FwoGZXIvYXdz", min: 100, also: base64Chars},                         // unchecked: AWS session token
	{prefix: "amzn.mws.", min: 36, max: 36, also: dash, check: isUUID},            // unchecked: Amazon MWS
	{prefix: "amzn1.oa2-cs.v1.", min: 64, max: 64, check: isHex},                  // unchecked: developer.amazon.com/docs/login-with-amazon
	{prefix: "AIza", min: 30, also: dashUnder},                                    // gitleaks: gcp-api-key
	{prefix: "AQ.Ab8RN6", min: 30, also: dashUnder},                               // unchecked: Google
	{prefix: "ya29.", min: 20, also: dashDot},                                     // kingfisher: google
	{prefix: "GOCSPX-", min: 28, max: 28, also: dashUnder},                        // kingfisher: google
	{prefix: "1//0", min: 40, also: dashUnder},                                    // kingfisher: google
	{prefix: "Q~", lead: 4, min: 31, max: 34, also: dashDotTilde, check: isEntra}, // gitleaks: azure-ad-client-secret
	{prefix: "JQQJ9", lead: 52, min: 27, also: base64Chars},                       // unchecked: Azure: github.com/microsoft/security-utilities, "Common annotated security key"
	{prefix: "ASt", lead: 77, min: 7, also: base64Chars, check: isAzureStorage},   // kingfisher: azurestorage
	{prefix: "dop_v1_", min: 64, max: 64, check: isHex},                           // gitleaks: digitalocean-pat
	{prefix: "doo_v1_", min: 64, max: 64, check: isHex},                           // gitleaks: digitalocean-access-token
	{prefix: "dor_v1_", min: 64, max: 64, check: isHex},                           // gitleaks: digitalocean-refresh-token
	{prefix: "cfk_", min: 40, also: dashUnder},                                    // unchecked: developers.cloudflare.com/fundamentals/api/get-started/token-formats
	{prefix: "cfut_", min: 40, also: dashUnder},                                   // kingfisher: cloudflare
	{prefix: "cfat_", min: 40, also: dashUnder},                                   // unchecked: developers.cloudflare.com/fundamentals/api/get-started/token-formats
	{prefix: "v1.0-", min: 171, max: 171, also: dash, check: hasDigit},            // gitleaks: cloudflare-origin-ca-key
	{prefix: "fo1_", min: 43, max: 43, also: dashUnder},                           // gitleaks: flyio-access-token
	{prefix: "fm1a_", min: 100, also: base64Chars},                                // gitleaks: flyio-access-token
	{prefix: "fm1r_", min: 100, also: base64Chars},                                // gitleaks: flyio-access-token
	{prefix: "fm2_", min: 100, also: base64Chars},                                 // gitleaks: flyio-access-token
	{prefix: "vcp_", min: 24, also: dashUnder, check: hasDigit},                   // kingfisher: vercel
	{prefix: "vci_", min: 24, also: dashUnder, check: hasDigit},                   // kingfisher: vercel
	{prefix: "vca_", min: 24, also: dashUnder, check: hasDigit},                   // kingfisher: vercel
	{prefix: "vcr_", min: 24, also: dashUnder, check: hasDigit},                   // kingfisher: vercel
	{prefix: "vck_", min: 24, also: dashUnder, check: hasDigit},                   // kingfisher: vercel
	{prefix: "nfp_", min: 36, max: 48},                                            // kingfisher: netlify
	{prefix: "HRKU-", min: 36, also: dashUnder},                                   // gitleaks: heroku-api-key-v2
	{prefix: "sbp_", min: 40, also: underscore, check: hasDigit},                  // kingfisher: supabase
	{prefix: "sb_secret_", min: 20, also: dashUnder},                              // kingfisher: supabase
	{prefix: "pscale_tkn_", min: 32, also: dashDotEqual},                          // gitleaks: planetscale-api-token
	{prefix: "pscale_pw_", min: 32, also: dashDotEqual},                           // gitleaks: planetscale-password
	{prefix: "pscale_oauth_", min: 32, also: dashDotEqual},                        // gitleaks: planetscale-oauth-token
	{prefix: "napi_", min: 40},                                                    // unchecked: neon.com/docs/manage/api-keys
	{prefix: "npg_", min: 12, max: 24, check: hasDigitAndCase},                    // unchecked: neon.com/docs/connect
	{prefix: "rnd_", min: 28, max: 40, check: hasDigitAndCase},                    // unchecked: render.com/docs/api
	{prefix: "tk-us-", min: 48, max: 48, also: dashUnder},                         // gitleaks: scalingo-api-token
	{prefix: "SCW", min: 17, max: 17, check: isUpperKey},                          // unchecked: scaleway.com/en/docs/iam
	{prefix: "LTAI", min: 12, max: 20, check: hasDigit},                           // gitleaks: alibaba-access-key-id
	{prefix: "AKID", min: 32, max: 32, check: hasDigitAndCase},                    // unchecked: Tencent Cloud
	{prefix: "t1.", min: 86, also: dashDotEqual, check: hasDigitAndCase},          // gitleaks: yandex-access-token
	{prefix: "AQVN", min: 35, max: 38, also: dashUnder, check: hasDigit},          // gitleaks: yandex-api-key
	{prefix: "DO00", min: 16, max: 16, check: isUpperKey},                         // unchecked: DigitalOcean Spaces: docs.digitalocean.com/products/spaces
	{prefix: "AVNS_", min: 19, also: dashUnder},                                   // unchecked: aiven.io/docs
	{prefix: "xau_", min: 32, max: 32},                                            // unchecked: xata.io/docs
	{prefix: "mdb_sa_sk_", min: 30, also: dashUnder},                              // kingfisher: mongodb
	{prefix: "CCDB1_", min: 40, also: underscore},                                 // kingfisher: cockroachlabs
	{prefix: "AstraCS:", min: 80, also: colon},                                    // unchecked: docs.datastax.com/en/astra
	{prefix: "4b1d", min: 38, max: 38, check: hasDigitAndCase},                    // gitleaks: clickhouse-cloud-api-secret-key
	{prefix: "dapi", min: 32, max: 34, also: dash, check: isDatabricks},           // gitleaks: databricks-api-token
	{prefix: "dose", min: 32, max: 32, also: dashDot, check: isNoWord},            // kingfisher: databricks
	{prefix: "p8e-", min: 32, max: 32, check: hasDigit},                           // gitleaks: adobe-client-secret
	{prefix: "sk.eyJ", min: 60, also: dashDot},                                    // kingfisher: mapbox
	{prefix: "tk.eyJ", min: 60, also: dashDot},                                    // kingfisher: mapbox
	{prefix: "_mmk", lead: 36, also: underscore, check: isMaxMind},                // gitleaks: maxmind-license-key

	// Payments.
	{prefix: "sk_live_", min: 10, check: isNoWord},                               // gitleaks: stripe-access-token
	{prefix: "rk_live_", min: 10, check: isNoWord},                               // gitleaks: stripe-access-token
	{prefix: "sk_test_", min: 10, check: isNoWord},                               // gitleaks: stripe-access-token
	{prefix: "rk_test_", min: 10, check: isNoWord},                               // gitleaks: stripe-access-token
	{prefix: "sk_prod_", min: 10, check: isNoWord},                               // gitleaks: stripe-access-token
	{prefix: "rk_prod_", min: 10, check: isNoWord},                               // gitleaks: stripe-access-token
	{prefix: "whsec_", min: 32, also: base64Chars},                               // unchecked: docs.stripe.com/webhooks
	{prefix: "sq0atp-", min: 22, also: dashUnder},                                // gitleaks: square-access-token
	{prefix: "sq0csp-", min: 43, also: dashUnder},                                // kingfisher: square
	{prefix: "EAAA", min: 22, max: 60, also: dashUnder, check: hasDigitAndCase},  // gitleaks: square-access-token
	{prefix: "shpat_", min: 32, check: isHex},                                    // gitleaks: shopify-access-token
	{prefix: "shpca_", min: 32, check: isHex},                                    // gitleaks: shopify-custom-access-token
	{prefix: "shppa_", min: 32, check: isHex},                                    // gitleaks: shopify-private-app-access-token
	{prefix: "shpss_", min: 32, check: isHex},                                    // gitleaks: shopify-shared-secret
	{prefix: "shptka_", min: 32, check: isHex},                                   // unchecked: shopify.dev/changelog/length-of-the-shopify-access-token-is-increasing
	{prefix: "access_token$production$", min: 49, also: dollar},                  // unchecked: developer.paypal.com/braintree/docs/guides/authorization
	{prefix: "access_token$sandbox$", min: 49, also: dollar},                     // unchecked: developer.paypal.com/braintree/docs/guides/authorization
	{prefix: "access-production-", min: 36, max: 36, also: dash, check: isUUID},  // gitleaks: plaid-api-token
	{prefix: "access-development-", min: 36, max: 36, also: dash, check: isUUID}, // gitleaks: plaid-api-token
	{prefix: "access-sandbox-", min: 36, max: 36, also: dash, check: isUUID},     // gitleaks: plaid-api-token
	{prefix: "FLWSECK-", min: 32, also: dash},                                    // unchecked: developer.flutterwave.com/docs/authentication
	{prefix: "FLWSECK_TEST-", min: 12, also: dash, check: hasDigit},              // gitleaks: flutterwave-encryption-key
	{prefix: "live_", min: 30, max: 50, check: hasDigit},                         // gitleaks: gocardless-api-token
	{prefix: "test_", min: 35, max: 35, check: isHex},                            // gitleaks: lob-api-key
	{prefix: "duffel_live_", min: 43, also: dashUnderEqual},                      // gitleaks: duffel-api-token
	{prefix: "duffel_test_", min: 43, also: dashUnderEqual},                      // gitleaks: duffel-api-token
	{prefix: "EZAK", min: 54, max: 54},                                           // gitleaks: easypost-api-token
	{prefix: "EZTK", min: 54, max: 54},                                           // gitleaks: easypost-test-api-token
	{prefix: "shippo_live_", min: 40, max: 40, check: isHex},                     // gitleaks: shippo-api-token
	{prefix: "shippo_test_", min: 40, max: 40, check: isHex},                     // gitleaks: shippo-api-token
	{prefix: "pdl_live_apikey_", min: 40, also: underscore},                      // unchecked: developer.paddle.com/api-reference/about/authentication
	{prefix: "pdl_sdbx_apikey_", min: 40, also: underscore},                      // unchecked: developer.paddle.com/api-reference/about/authentication
	{prefix: "polar_oat_", min: 30, also: underscore},                            // unchecked: polar.sh/docs/integrate/oat
	{prefix: "Mid-server-", min: 20, also: dashUnder},                            // unchecked: docs.midtrans.com/docs/api-authorization-headers
	{prefix: "ck_", min: 40, max: 40, check: isHex},                              // unchecked: woocommerce.github.io/woocommerce-rest-api-docs
	{prefix: "cs_", min: 40, max: 40, check: isHex},                              // unchecked: woocommerce.github.io/woocommerce-rest-api-docs

	// Messages.
	{prefix: "xoxb-", min: 10, also: dash},                                                 // gitleaks: slack-bot-token
	{prefix: "xoxp-", min: 10, also: dash},                                                 // gitleaks: slack-user-token
	{prefix: "xoxa-", min: 8, also: dash},                                                  // gitleaks: slack-legacy-workspace-token
	{prefix: "xoxr-", min: 8, also: dash},                                                  // gitleaks: slack-legacy-workspace-token
	{prefix: "xoxs-", min: 10, also: dash, check: hasDigit},                                // gitleaks: slack-legacy-token
	{prefix: "xoxo-", min: 10, also: dash, check: hasDigit},                                // gitleaks: slack-legacy-token
	{prefix: "xoxe-", min: 10, also: dash, check: hasDigit},                                // gitleaks: slack-config-refresh-token
	{prefix: "xoxc-", min: 10, also: dash, check: hasDigit},                                // kingfisher: slack
	{prefix: "xoxd-", min: 10, also: dashPercentBase64, check: hasDigit},                   // kingfisher: slack
	{prefix: "xapp-", min: 10, also: dash},                                                 // gitleaks: slack-app-token
	{prefix: "xwfp-", min: 10, also: dash, check: hasDigit},                                // unchecked: Slack in a browser
	{prefix: "hooks.slack.com/services/", min: 30, also: slash, check: hasDigit},           // gitleaks: slack-webhook-url
	{prefix: "hooks.slack.com/workflows/", min: 30, also: slash, check: hasDigit},          // gitleaks: slack-webhook-url
	{prefix: "hooks.slack.com/triggers/", min: 30, also: slash, check: hasDigit},           // gitleaks: slack-webhook-url
	{prefix: "discord.com/api/webhooks/", min: 60, also: dashSlash},                        // kingfisher: discord
	{prefix: "discordapp.com/api/webhooks/", min: 60, also: dashSlash},                     // kingfisher: discord
	{prefix: "mfa.", min: 40, also: dashUnder, check: hasDigitAndCase},                     // kingfisher: discord
	{prefix: "MT", min: 55, max: 75, also: dashDot, check: isDiscord},                      // kingfisher: discord
	{prefix: "Mj", min: 55, max: 75, also: dashDot, check: isDiscord},                      // kingfisher: discord
	{prefix: "Mz", min: 55, max: 75, also: dashDot, check: isDiscord},                      // kingfisher: discord
	{prefix: "ND", min: 55, max: 75, also: dashDot, check: isDiscord},                      // kingfisher: discord
	{prefix: "NT", min: 55, max: 75, also: dashDot, check: isDiscord},                      // kingfisher: discord
	{prefix: "Nj", min: 55, max: 75, also: dashDot, check: isDiscord},                      // kingfisher: discord
	{prefix: "Nz", min: 55, max: 75, also: dashDot, check: isDiscord},                      // kingfisher: discord
	{prefix: "OD", min: 55, max: 75, also: dashDot, check: isDiscord},                      // kingfisher: discord
	{prefix: "OT", min: 55, max: 75, also: dashDot, check: isDiscord},                      // kingfisher: discord
	{prefix: "webhook.office.com/webhookb2/", min: 60, also: dashSlash},                    // kingfisher: microsoftteamswebhook
	{prefix: ":AA", lead: 8, min: 32, max: 33, also: dashUnder, check: isTelegram},         // kingfisher: telegram
	{prefix: ":AA", lead: 9, min: 32, max: 33, also: dashUnder, check: isTelegram},         // kingfisher: telegram
	{prefix: ":AA", lead: 10, min: 32, max: 33, also: dashUnder, check: isTelegram},        // kingfisher: telegram
	{prefix: "SK", min: 32, max: 32, check: isHex},                                         // gitleaks: twilio-api-key
	{prefix: "SG.", min: 66, max: 66, also: dashDotEqual, check: hasDigit},                 // gitleaks: sendgrid-api-token
	{prefix: "key-", min: 32, max: 32, check: isHex},                                       // gitleaks: mailgun-private-api-token
	{prefix: "-us", lead: 32, min: 1, max: 2, check: isMailchimp},                          // gitleaks: mailchimp-api-key
	{prefix: "md-", min: 22, max: 22, also: dashUnder, check: hasDigitAndCase},             // unchecked: mailchimp.com/developer/transactional
	{prefix: "xkeysib-", min: 64, also: dash},                                              // gitleaks: sendinblue-api-token
	{prefix: "xsmtpsib-", min: 64, also: dash},                                             // unchecked: developers.brevo.com
	{prefix: "re_", min: 30, max: 36, also: underscore, check: hasDigitAndCase},            // trufflehog: resend
	{prefix: "EAAM", min: 100, check: hasDigit},                                            // gitleaks: facebook-page-access-token
	{prefix: "EAAC", min: 100, check: hasDigit},                                            // gitleaks: facebook-page-access-token
	{prefix: "IGQ", min: 100, also: dashUnder, check: hasDigit},                            // unchecked: Instagram
	{prefix: "AAAAAAAAAAAAAAAAAAAAA", min: 60, max: 120, also: percent, check: hasPercent}, // gitleaks: twitter-bearer-token
	{prefix: "os_v2_app_", min: 60},                                                        // unchecked: documentation.onesignal.com/docs/keys-and-ids
	{prefix: "os_v2_org_", min: 60},                                                        // unchecked: documentation.onesignal.com/docs/keys-and-ids
	{prefix: "pat-na1-", min: 36, max: 36, also: dash, check: isUUID},                      // trufflehog: hubspot_apikey/v2
	{prefix: "pat-eu1-", min: 36, max: 36, also: dash, check: isUUID},                      // trufflehog: hubspot_apikey/v2

	// What is watched.
	{prefix: "NRAK-", min: 27, max: 27},                                    // gitleaks: new-relic-user-api-key
	{prefix: "NRII-", min: 32, max: 32, also: dashUnder},                   // gitleaks: new-relic-insert-key
	{prefix: "NRJS-", min: 19, max: 19, check: isHex},                      // gitleaks: new-relic-browser-api-token
	{prefix: "NRRA-", min: 42, max: 42, check: isHex},                      // unchecked: docs.newrelic.com/docs/apis/intro-apis/new-relic-api-keys
	{prefix: "glsa_", min: 41, max: 41, also: underscore},                  // gitleaks: grafana-service-account-token
	{prefix: "glc_", min: 32, also: base64Chars},                           // gitleaks: grafana-cloud-api-token
	{prefix: "eyJrIjoi", min: 60, also: base64Chars},                       // gitleaks: grafana-api-key
	{prefix: "sntrys_", min: 60, also: underscoreBase64},                   // gitleaks: sentry-org-token
	{prefix: "sntryu_", min: 64, max: 64, check: isHex},                    // gitleaks: sentry-user-token
	{prefix: "dt0c01.", min: 89, max: 89, also: dashDot},                   // gitleaks: dynatrace-api-token
	{prefix: "dt0s01.", min: 30, also: dashDot},                            // unchecked: docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients
	{prefix: "dt0s02.", min: 60, also: dashDot},                            // unchecked: docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients
	{prefix: "dt0s16.", min: 60, also: dashDot},                            // unchecked: docs.dynatrace.com/docs/manage/identity-access-management/access-tokens-and-oauth-clients
	{prefix: "hcaik_", min: 50},                                            // unchecked: docs.honeycomb.io/configure/environments/manage-api-keys
	{prefix: "phx_", min: 40, check: hasDigit},                             // kingfisher: posthog
	{prefix: "phs_", min: 30, check: hasDigit},                             // kingfisher: posthog
	{prefix: "pha_", min: 40, check: hasDigit},                             // kingfisher: posthog
	{prefix: "phr_", min: 40, check: hasDigit},                             // kingfisher: posthog
	{prefix: "sdk-", min: 36, max: 36, also: dash, check: isUUID},          // trufflehog: launchdarkly
	{prefix: "api-", min: 36, max: 36, also: dash, check: isUUID},          // trufflehog: launchdarkly
	{prefix: "squ_", min: 40, max: 40, check: isLowerKey},                  // kingfisher: sonarqube
	{prefix: "sqp_", min: 40, max: 40, check: isLowerKey},                  // kingfisher: sonarqube
	{prefix: "sqa_", min: 40, max: 40, check: isLowerKey},                  // kingfisher: sonarqube
	{prefix: "snyk_uat.", min: 40, also: dashDot},                          // unchecked: docs.snyk.io/snyk-api/authentication-for-api
	{prefix: "snyk_sat.", min: 40, also: dashDot},                          // unchecked: docs.snyk.io/snyk-api/authentication-for-api
	{prefix: "hawk.", min: 41, max: 41, also: dashDot, check: isStackHawk}, // kingfisher: stackhawk
	{prefix: "sktsec_", min: 40, also: dashUnder},                          // unchecked: docs.socket.dev

	// Work and content.
	{prefix: "ntn_", min: 30},                                           // gitleaks: notion-api-token
	{prefix: "nrt_", min: 40, also: underscore, check: hasDigit},        // kingfisher: notion
	{prefix: "secret_", min: 43, max: 43, check: hasDigitAndCase},       // kingfisher: notion
	{prefix: "lin_api_", min: 30},                                       // gitleaks: linear-api-key
	{prefix: "lin_oauth_", min: 40},                                     // unchecked: linear.app/developers
	{prefix: "figd_", min: 30, also: dashUnder},                         // kingfisher: figma
	{prefix: "pat", min: 79, max: 79, also: dashDot, check: isAirtable}, // gitleaks: airtable-personnal-access-token
	{prefix: "PMAK-", min: 59, max: 59, also: dash},                     // gitleaks: postman-api-token
	{prefix: "CFPAT-", min: 43, also: dashUnder},                        // trufflehog: contentfulpersonalaccesstoken
	{prefix: "tfp_", min: 40, also: dashDot},                            // gitleaks: typeform-api-token
	{prefix: "fio-u-", min: 64, also: dashUnderEqual},                   // gitleaks: frameio-api-token
	{prefix: "rdme_", min: 70, max: 70},                                 // gitleaks: readme-api-token
	{prefix: "msh", lead: 10, min: 30, max: 40, check: isRapidAPI},      // unchecked: docs.rapidapi.com/docs/keys
	{prefix: "s-s4t2af-", min: 64, max: 64, check: isHex},               // gitleaks: intra42-client-secret
	{prefix: "s-s4t2ud-", min: 64, max: 64, check: isHex},               // gitleaks: intra42-client-secret
	{prefix: "u-s4t2ud-", min: 64, max: 64, check: isHex},               // unchecked: api.intra.42.fr/apidoc
	{prefix: "sl.", min: 130, also: dashDot, check: hasDigit},           // gitleaks: dropbox-short-lived-api-token
	{prefix: "aio_", min: 28, max: 28, check: hasDigitAndCase},          // trufflehog: adafruitio
	{prefix: "lip_", min: 20, check: hasDigitAndCase},                   // unchecked: lichess.org/api
	{prefix: "waka_", min: 36, max: 36, also: dash, check: isUUID},      // unchecked: wakatime.com/api-key
	{prefix: "zpka_", min: 30, also: underscore},                        // unchecked: zuplo.com/docs/articles/api-key-management
	{prefix: "sm_aat_", min: 16},                                        // gitleaks: settlemint-application-access-token
	{prefix: "sm_pat_", min: 16},                                        // gitleaks: settlemint-personal-access-token
	{prefix: "sm_sat_", min: 16},                                        // gitleaks: settlemint-service-access-token
}
