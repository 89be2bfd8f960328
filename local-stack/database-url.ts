/**
 * The Postgres that the person wants instead of the stack's own: DATABASE_URL, unless it comes from `parley env` of some
 * local stack. Its password is the sign: 36 hexadecimal digits for the user and database `parley` on loopback.
 */
export function externalDatabase(env: NodeJS.ProcessEnv): string | undefined {
  const url = env['DATABASE_URL'];
  if (url === undefined || url === '' || /^postgres:\/\/parley:[0-9a-f]{36}@127\.0\.0\.1:\d+\/parley$/.test(url)) return undefined;
  return url;
}
