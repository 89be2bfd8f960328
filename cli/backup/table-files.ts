import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline as pipe } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';

import type { RowsOfTable } from '../../store/index.ts';
import { type BackedUpTable, measure } from './manifest.ts';

export async function saveTable(folder: string, { name, columns, rows }: RowsOfTable, signal: AbortSignal): Promise<BackedUpTable> {
  const path = join('tables', `${name}.gz`);
  await mkdir(join(folder, 'tables'), { recursive: true, mode: 0o700 });
  await pipeline(rows(), createGzip(), createWriteStream(join(folder, path), { mode: 0o600 }), { signal });
  return { ...(await measure(folder, path, signal)), name, columns: [...columns] };
}

export function savedRows(folder: string, { path, name, columns }: BackedUpTable): RowsOfTable {
  // The reader sees the failures.
  return { name, columns, rows: () => pipe(createReadStream(join(folder, path)), createGunzip(), () => undefined) };
}
