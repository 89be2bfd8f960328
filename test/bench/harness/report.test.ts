import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { testFolder } from '../../support/folders.ts';
import { renderReport, writeReport, type Report } from './report.ts';

const report: Report = {
  benchmark: 'control-plane',
  startedAt: '2026-01-02T03:04:05.000Z',
  durationSeconds: 61.4,
  machine: { cpu: 'A CPU', cores: 2, memoryGiB: 24, os: 'An OS 12', kernel: '6.1', node: 'v24.1.0', go: undefined },
  disturbance: { stealShare: 0.021, idleShare: 0.4, loadBefore: 0.1 },
  scale: { rounds: 2 },
  results: { a: { p50: 1 } },
  failures: { d: 'there is no Go\nstack' },
};

it('names the machine, what disturbed it and what is missing', () => {
  const text = renderReport(report, [{ title: '(a)', columns: ['x'], rows: [['1']] }]);
  expect(text).toContain(
    'A CPU, 2 cores, 24 GiB, An OS 12 (kernel 6.1), Node 24.1.0, no Go; steal 2.1 %, idle 40.0 %, load before the run 0.10; 61 s in all.',
  );
  expect(text).toContain('### (a)');
  expect(text).toContain('**d was not measured:** there is no Go');
});

it('writes JSON into a folder that need not exist', async () => {
  const folder = testFolder();
  const path = join(folder, 'deep/result.json');
  await writeReport(report, path);
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual(JSON.parse(JSON.stringify(report)));
});
