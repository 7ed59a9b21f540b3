// Flags about the scheduler's own HTTPS server: serving, authentication, authorization. The
// sentences are what `--help` of kube-scheduler says, letter for letter.
#include "config/flags/flag_values.h"
#include "config/flags/scheduler_flags.h"

namespace berth::config {

void add_secure_serving_flags(FlagSection& section, SecureServingOptions& serving) {
  add_flag(section, "bind-address", ip_value(serving.bind_address),
           "The IP address on which to listen for the --secure-port port. The associated "
           "interface(s) must be reachable by the rest of the cluster, and by CLI/web "
           "clients. If blank or an unspecified address (0.0.0.0 or ::), all interfaces and "
           "IP address families will be used.");
  add_flag(section, "cert-dir", text_value(serving.cert_dir),
           "The directory where the TLS certs are located. If --tls-cert-file and "
           "--tls-private-key-file are provided, this flag will be ignored.");
  add_flag(section, "disable-http2-serving", bool_value(serving.disable_http2),
           "If true, HTTP2 serving will be disabled [default=false]");
  add_flag(section, "http2-max-streams-per-connection", int_value(serving.http2_max_streams),
           "The limit that the server gives to clients for the maximum number of streams in "
           "an HTTP/2 connection. Zero means to use golang's default.");
  add_flag(section, "permit-address-sharing", bool_value(serving.permit_address_sharing),
           "If true, SO_REUSEADDR will be used when binding the port. This allows binding to "
           "wildcard IPs like 0.0.0.0 and specific IPs in parallel, and it avoids waiting for "
           "the kernel to release sockets in TIME_WAIT state. [default=false]");
  add_flag(section, "permit-port-sharing", bool_value(serving.permit_port_sharing),
           "If true, SO_REUSEPORT will be used when binding the port, which allows more than "
           "one instance to bind on the same address and port. [default=false]");
  add_flag(section, "secure-port", int_value(serving.port),
           "The port on which to serve HTTPS with authentication and authorization. If 0, "
           "don't serve HTTPS at all.");
  add_flag(section, "tls-cert-file", text_value(serving.cert_file),
           "File containing the default x509 Certificate for HTTPS. (CA cert, if any, "
           "concatenated after server cert). If HTTPS serving is enabled, and --tls-cert-file "
           "and --tls-private-key-file are not provided, a self-signed certificate and key "
           "are generated for the public address and saved to the directory specified by "
           "--cert-dir.");
  add_flag(section, "tls-cipher-suites", texts_value(serving.cipher_suites),
           "Comma-separated list of cipher suites for the server. If omitted, the default Go "
           "cipher suites will be used. \n"
           "Preferred values: TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, "
           "TLS_CHACHA20_POLY1305_SHA256, TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, "
           "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, "
           "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305, "
           "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, "
           "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "
           "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, "
           "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305, "
           "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256. \n"
           "Insecure values: TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256, "
           "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA, TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA, "
           "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256, TLS_ECDHE_RSA_WITH_RC4_128_SHA, "
           "TLS_RSA_WITH_3DES_EDE_CBC_SHA, TLS_RSA_WITH_AES_128_CBC_SHA, "
           "TLS_RSA_WITH_AES_128_CBC_SHA256, TLS_RSA_WITH_AES_128_GCM_SHA256, "
           "TLS_RSA_WITH_AES_256_CBC_SHA, TLS_RSA_WITH_AES_256_GCM_SHA384, "
           "TLS_RSA_WITH_RC4_128_SHA.");
  add_flag(section, "tls-curve-preferences", int32s_value(serving.curve_preferences),
           "Comma-separated list of numeric Go crypto/tls CurveID values, as the allowed key "
           "exchange mechanisms for the server. The supported values depend on the Go version "
           "used. See https://pkg.go.dev/crypto/tls#CurveID for values supported for each Go "
           "version. The order of the list is ignored, and key exchange mechanisms are chosen "
           "by Go from this list using an internal preference order. If omitted, the default "
           "Go curves will be used.");
  add_flag(section, "tls-min-version", text_value(serving.min_tls_version),
           "Minimum TLS version supported. Possible values: VersionTLS10, VersionTLS11, "
           "VersionTLS12, VersionTLS13");
  add_flag(section, "tls-private-key-file", text_value(serving.key_file),
           "File containing the default x509 private key matching --tls-cert-file.");
  add_flag(section, "tls-sni-cert-key", cert_keys_value(serving.sni_cert_keys),
           "A pair of x509 certificate and private key file paths, optionally suffixed with a "
           "list of domain patterns which are fully qualified domain names, possibly with "
           "prefixed wildcard segments. The domain patterns also allow IP addresses, but IPs "
           "should only be used if the apiserver has visibility to the IP address requested "
           "by a client. If no domain patterns are provided, the names of the certificate are "
           "extracted. Non-wildcard matches trump over wildcard matches, explicit domain "
           "patterns trump over extracted names. For multiple key/certificate pairs, use the "
           "--tls-sni-cert-key multiple times. Examples: \"example.crt,example.key\" or "
           "\"foo.crt,foo.key:*.foo.com,foo.com\".");
}

void add_authentication_flags(FlagSection& section, AuthenticationOptions& authentication) {
  add_flag(section, "authentication-kubeconfig", text_value(authentication.kubeconfig),
           "kubeconfig file pointing at the 'core' kubernetes server with enough rights to "
           "create tokenreviews.authentication.k8s.io. This is optional. If empty, all token "
           "requests are considered to be anonymous and no client CA is looked up in the "
           "cluster.");
  add_flag(section, "authentication-skip-lookup", bool_value(authentication.skip_lookup),
           "If false, the authentication-kubeconfig will be used to lookup missing "
           "authentication configuration from the cluster.");
  add_flag(section, "authentication-token-webhook-cache-ttl",
           duration_value(authentication.token_cache_ttl),
           "The duration to cache responses from the webhook token authenticator.");
  add_flag(section, "authentication-tolerate-lookup-failure",
           bool_value(authentication.tolerate_lookup_failure),
           "If true, failures to look up missing authentication configuration from the "
           "cluster are not considered fatal. Note that this can result in authentication "
           "that treats all requests as anonymous.");
  add_flag(section, "client-ca-file", text_value(authentication.client_ca_file),
           "If set, any request presenting a client certificate signed by one of the "
           "authorities in the client-ca-file is authenticated with an identity corresponding "
           "to the CommonName of the client certificate.");
  add_flag(section, "requestheader-allowed-names",
           texts_value(authentication.request_header_allowed_names),
           "List of client certificate common names to allow to provide usernames in headers "
           "specified by --requestheader-username-headers. If empty, any client certificate "
           "validated by the authorities in --requestheader-client-ca-file is allowed.");
  add_flag(section, "requestheader-client-ca-file",
           text_value(authentication.request_header_ca_file),
           "Root certificate bundle to use to verify client certificates on incoming requests "
           "before trusting usernames in headers specified by "
           "--requestheader-username-headers. WARNING: generally do not depend on "
           "authorization being already done for incoming requests.");
  add_flag(section, "requestheader-extra-headers-prefix",
           texts_value(authentication.request_header_extra_prefixes),
           "List of request header prefixes to inspect. X-Remote-Extra- is suggested.");
  add_flag(section, "requestheader-group-headers",
           texts_value(authentication.request_header_group_headers),
           "List of request headers to inspect for groups. X-Remote-Group is suggested.");
  add_flag(section, "requestheader-uid-headers",
           texts_value(authentication.request_header_uid_headers),
           "List of request headers to inspect for UIDs. X-Remote-Uid is suggested. Requires "
           "the RemoteRequestHeaderUID feature to be enabled.");
  add_flag(section, "requestheader-username-headers",
           texts_value(authentication.request_header_username_headers),
           "List of request headers to inspect for usernames. X-Remote-User is common.");
}

void add_authorization_flags(FlagSection& section, AuthorizationOptions& authorization) {
  add_flag(section, "authorization-always-allow-paths",
           texts_value(authorization.always_allow_paths),
           "A list of HTTP paths to skip during authorization, i.e. these are authorized "
           "without contacting the 'core' kubernetes server.");
  add_flag(section, "authorization-kubeconfig", text_value(authorization.kubeconfig),
           "kubeconfig file pointing at the 'core' kubernetes server with enough rights to "
           "create subjectaccessreviews.authorization.k8s.io. This is optional. If empty, all "
           "requests not skipped by authorization are forbidden.");
  add_flag(section, "authorization-webhook-cache-authorized-ttl",
           duration_value(authorization.allow_cache_ttl),
           "The duration to cache 'authorized' responses from the webhook authorizer.");
  add_flag(section, "authorization-webhook-cache-unauthorized-ttl",
           duration_value(authorization.deny_cache_ttl),
           "The duration to cache 'unauthorized' responses from the webhook authorizer.");
}

}  // namespace berth::config
