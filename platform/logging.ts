import { pino, type DestinationStream, type Logger } from 'pino';

export type { Logger } from 'pino';

/** Keys whose values never reach a log line, wherever they stand (three levels deep). */
const secretKeys = [
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
];

/** JSON lines on standard output with `level`, `time` (RFC 3339) and `role`. */
export function createLogger(options: { readonly role: string; readonly level: string; readonly destination?: DestinationStream }): Logger {
  return pino(
    {
      level: options.level,
      base: { role: options.role },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretKeys.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[redacted]' },
      serializers: { err: pino.stdSerializers.err },
    },
    options.destination ?? pino.destination({ fd: 1, sync: false }),
  );
}
