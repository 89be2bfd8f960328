/** Runs `parley kb add` as its user does. */
import { spawn } from 'node:child_process';

import { expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { run } from '../../support/run.ts';
import { parley, parleyEntry } from '../../support/stack.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { add, addsAllButThree, addStage } from './kb-add-stage.ts';

const stage = suiteFixture(addStage);

it('adds a folder but for three bad files, which it names, and doubles nothing when it is repeated', async () => {
  expect(await addsAllButThree(stage, 30)).toHaveLength(29);
});

it('takes standard input, names documents, and prints JSON', async () => {
  const base = await stage.aBase();
  const args = ['kb', 'add', base.id, '-', '--name', 'notes.md', '--metadata', 'topic=gates', '-o', 'json'];
  const done = await run(parley, args, { env: base.env, input: '# Gates\n\nThey open at nine.\n' });
  expect(done.code, done.stderr).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({
    documents: [{ file: 'notes.md', status: 'completed', document_id: expect.stringMatching(/^doc_/) }],
    summary: { completed: 1, failed: 0 },
  });
  const nameless = await add(base, '-');
  expect([nameless.code, nameless.stderr]).toEqual([1, expect.stringMatching(/no name[\s\S]*--name notes\.md/)]);
});

it('is interrupted without harm: what was uploaded is reported, and repeating it adds the rest', async () => {
  const base = await stage.aBase();
  const files = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`text-${n}.txt`, `Text ${n}.`]));
  const path = await stage.aFolder('interrupted', files);
  const child = spawn(process.execPath, [parleyEntry, 'kb', 'add', base.id, path], {
    env: { ...process.env, ...base.env },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  await eventually(async () => expect((await base.documents()).length).toBeGreaterThan(5));
  child.kill('SIGINT');
  expect(await ended, output).toBe(130);
  expect(output).toMatch(/(being ingested|not uploaded): 60 files\n {2}→ repeat the command to go on/);

  const rest = await add(base, path);
  expect([rest.code, rest.stderr]).toEqual([0, expect.stringContaining(': 60 files')]);
  const documents = await base.documents();
  expect(documents.map(({ filename }) => filename).toSorted()).toEqual(Object.keys(files).toSorted());
  expect(documents.every(({ status }) => status === 'completed')).toBe(true);
});

it('fails as a whole, and clearly, where there is nothing to add to', async () => {
  const base = await stage.aBase();
  const path = await stage.aFolder('one', { 'a.txt': 'A text.' });
  const unknown = await add({ ...base, id: 'nothing' }, path);
  expect([unknown.code, unknown.stdout, unknown.stderr]).toEqual([1, '', expect.stringMatching(/404/)]);
  const unreachable = await add({ ...base, env: { ...base.env, PARLEY_URL: 'http://127.0.0.1:9' } }, path);
  expect([unreachable.code, unreachable.stderr]).toEqual([1, expect.stringContaining('does not answer')]);
});
