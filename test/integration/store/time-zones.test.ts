import { expect, it } from 'vitest';

import { isTimeZone, wallTime } from '../../../platform/local-time.ts';
import { freshStore, session } from './support.ts';

it('Postgres knows every time zone that is accepted, and means the same by it', async () => {
  const { url } = await freshStore();
  const client = await session(url);
  const { rows } = await client.query<{ name: string }>('SELECT name FROM pg_timezone_names');
  const accepted = new Set([...Intl.supportedValuesOf('timeZone'), ...rows.map(({ name }) => name)].filter((name) => isTimeZone(name)));
  expect(accepted.size).toBeGreaterThan(400);
  for (const moment of ['2026-01-15T12:00:00Z', '2026-07-15T12:00:00Z']) {
    const { rows: times } = await client.query<{ name: string; time: string }>(
      `SELECT name, to_char($1::timestamptz AT TIME ZONE name, 'YYYY-MM-DD"T"HH24:MI:SS') AS time FROM unnest($2::text[]) AS name`,
      [moment, [...accepted]],
    );
    expect(times.filter(({ name, time }) => time !== wallTime(Date.parse(moment), name))).toEqual([]);
  }
});
