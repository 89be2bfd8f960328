/** Names of secrets have one of these words, in any writing: `apiKey`, `DB_PASSWORD`, `x-auth-token`. Part of a regular expression. */
export const SECRET_WORDS =
  'passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|signing[_-]?key|authorization|credential|cookie|session[_-]?id|signature';

/** Values of these keys go into no log line and onto no span, wherever they stand. */
export const SECRET_KEYS: ReadonlySet<string> = new Set([
  'authorization',
  'Authorization',
  'password',
  'token',
  'secret',
  'api_key',
  'apiKey',
  'app_password',
  'sip_trunk_password',
  'carrier_auth_token',
  'cal_api_key',
]);
