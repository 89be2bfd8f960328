import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, expect, it } from 'vitest';

import { testFolder } from '../test/support/folders.ts';
import { ComponentLog } from './component-log.ts';

let folder: string;
beforeEach(() => void (folder = testFolder()));

it('goes on where an earlier process stopped', () => {
  const file = join(folder, 'component.log');
  for (const word of ['one', 'two']) {
    const log = new ComponentLog(file);
    log.write(Buffer.from(`${word}\n`));
    log.close();
  }
  expect(readFileSync(file, 'utf8')).toBe('one\ntwo\n');
});

it('is set aside when it has grown, and takes no more than two files', () => {
  const file = join(folder, 'component.log');
  const log = new ComponentLog(file, 10);
  for (const line of ['aaaaaaaaaaaa\n', 'bbbbbbbbbbbb\n', 'cccccccccccc\n']) log.write(Buffer.from(line));
  expect(readFileSync(file, 'utf8')).toBe('cccccccccccc\n');
  expect(readFileSync(`${file}.1`, 'utf8')).toBe('bbbbbbbbbbbb\n');
  log.close();
});

it('shows its last lines', () => {
  const log = new ComponentLog(join(folder, 'component.log'));
  expect(log.tail()).toEqual([]);
  log.write(Buffer.from('1\n2\n3\n'));
  expect(log.tail(2)).toEqual(['2', '3']);
  log.close();
});
