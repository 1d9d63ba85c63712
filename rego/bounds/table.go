package bounds

// table has every function of OPA, by what it may cost, each with a space on both sides:
// a test fails for one that is not here. It is laid out when hookgate is built, and costs
// nothing when it starts.
var table = [...]struct {
	Bound
	names string
}{
	{Bound{Class: Fixed}, " all any assign eq equal neq gt gte lt lte is_array is_boolean is_null is_number is_object is_set " +
		"is_string count contains startswith endswith strings.count indexof type_name cast_boolean cast_null " +
		"cast_string crypto.hmac.equal crypto.hmac.md5 crypto.hmac.sha1 crypto.hmac.sha256 " +
		"crypto.hmac.sha512 crypto.md5 crypto.sha1 crypto.sha256 base64.is_valid regex.is_valid " +
		"semver.compare semver.is_valid uri.is_valid net.cidr_contains net.cidr_intersects net.cidr_overlap " +
		"net.cidr_is_valid internal.member_2 internal.member_3 object.subset max min time.add_date " +
		"time.clock time.date time.diff time.parse_duration_ns time.parse_ns time.parse_rfc3339_ns " +
		"time.weekday time.now_ns "},
	{Bound{Class: Searches, Need: pairs}, " strings.any_prefix_match strings.any_suffix_match "},
	{Bound{Class: Grows, Need: pairs}, " net.cidr_contains_matches "},
	{Bound{Class: Picks}, " and or array.concat array.flatten array.reverse array.slice cast_array cast_object cast_set " +
		"intersection union set_diff json.filter json.remove object.filter object.get object.keys " +
		"object.remove object.union object.union_n sort trim trim_left trim_prefix trim_right trim_space " +
		"trim_suffix substring graph.reachable net.cidr_merge "},
	{Bound{Class: Copies}, " base64.decode base64.encode base64url.decode base64url.encode base64url.encode_no_pad hex.decode " +
		"hex.encode urlquery.decode urlquery.encode urlquery.encode_object lower upper strings.reverse " +
		"glob.quote_meta uri.parse uuid.parse time.format rego.metadata.chain rego.metadata.rule " +
		"providers.aws.sign_req "},
	{Bound{Class: Grows, Need: replaced}, " replace "},
	{Bound{Class: Grows, Need: replacedAll}, " strings.replace_n "},
	{Bound{Class: Grows, Need: joined}, " concat "},
	{Bound{Class: Grows, Need: formatted}, " sprintf "},
	{Bound{Class: Grows, Need: template}, " strings.render_template "},
	{Bound{Class: Grows, Need: marshalled}, " json.marshal "},
	{Bound{Class: Grows, Need: marshalledArgs}, " internal.template_string "},
	{Bound{Class: Grows, Need: writtenWith}, " json.marshal_with_options "},
	{Bound{Class: Grows, Need: yamlWritten}, " yaml.marshal "},
	{Bound{Class: Grows, Need: parts}, " split strings.split_n indexof_n "},
	{Bound{Class: Grows, Need: substituted}, " regex.replace "},
	{Bound{Class: Grows, Need: patched}, " json.patch "},
	{Bound{Class: Grows, Need: walked}, " walk "},
	{Bound{Class: Grows, Need: routes}, " graph.reachable_paths "},
	{Bound{Class: Numbers, Need: longDigits}, " abs ceil floor round plus minus mul div rem format_int bits.and bits.or bits.xor bits.negate " +
		"bits.rsh "},
	{Bound{Class: Numbers, Need: shifted}, " bits.lsh "},
	{Bound{Class: Numbers, Need: added}, " sum "},
	{Bound{Class: Numbers, Need: multiplied}, " product "},
	{Bound{Class: Numbers, Need: longNumeral}, " to_number units.parse units.parse_bytes "},
	{Bound{Class: Counts, Need: ranged}, " numbers.range numbers.range_step "},
	{Bound{Class: Counts, Need: addresses}, " net.cidr_expand "},
	{Bound{Class: Searches}, " regex.match re_match regex.template_match "},
	{Bound{Class: Grows, Need: found}, " regex.find_n regex.split "},
	{Bound{Class: Grows, Need: foundGroups}, " regex.find_all_string_submatch_n "},
	{Bound{Class: Searches, Need: globbed}, " glob.match "},
	{Bound{Class: Searches, Need: crossed}, " regex.globs_match "},
	{Bound{Class: Parses, Need: parsed}, " json.unmarshal json.is_valid json.match_schema json.verify_schema "},
	{Bound{Class: Parses, Need: yamlParsed}, " yaml.unmarshal yaml.is_valid "},
	{Bound{Class: Parses, Need: language}, " graphql.is_valid graphql.parse graphql.parse_and_verify graphql.parse_query graphql.parse_schema " +
		"graphql.schema_is_valid rego.parse_module "},
	{Bound{Class: Parses, Need: fields}, " urlquery.decode_object "},
	{Bound{Class: Parses, Need: token}, " io.jwt.decode "},
	{Bound{Class: Keys, Need: certificates}, " crypto.x509.parse_and_verify_certificates crypto.x509.parse_and_verify_certificates_with_options " +
		"crypto.x509.parse_certificate_request crypto.x509.parse_certificates io.jwt.decode_verify " +
		"io.jwt.verify_eddsa io.jwt.verify_es256 io.jwt.verify_es384 io.jwt.verify_es512 io.jwt.verify_hs256 " +
		"io.jwt.verify_hs384 io.jwt.verify_hs512 io.jwt.verify_ps256 io.jwt.verify_ps384 io.jwt.verify_ps512 " +
		"io.jwt.verify_rs256 io.jwt.verify_rs384 io.jwt.verify_rs512 "},
	{Bound{Class: Keys, Need: keys}, " crypto.parse_private_keys crypto.x509.parse_keypair crypto.x509.parse_rsa_private_key " +
		"io.jwt.encode_sign io.jwt.encode_sign_raw "},
	{Bound{Class: World}, " http.send net.lookup_ip_addr opa.runtime rand.intn uuid.rfc4122 print internal.print " +
		"internal.test_case trace "},
}
