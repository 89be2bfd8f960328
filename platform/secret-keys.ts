/** Keys whose values go into no log line and onto no span, wherever they stand. */
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
