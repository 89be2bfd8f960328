/** Runs in place of a parser: tries actions that none must be able to do, and reports the outcome. */
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';

import { LineWriter } from '../child/line-writer.ts';
import { sealNetwork } from '../child/seal-network.ts';

sealNetwork();
const attempts: Readonly<Record<string, () => unknown>> = {
  'read a file': () => readFileSync('/etc/hostname'),
  'write a file': () => writeFileSync('/tmp/parley-escape', 'x'),
  'run a program': () => process.getBuiltinModule('node:child_process').spawnSync('true'),
  'start a thread': () => new (process.getBuiltinModule('node:worker_threads').Worker)('', { eval: true }),
  'make code of text': () => Reflect.construct(Function, ['return 1']),
  connect: () => connect(9, '127.0.0.1'),
  fetch: () => fetch('http://127.0.0.1:9/'),
  'look up a name': () => process.getBuiltinModule('node:dns').lookup('example.com', () => undefined),
  'ask for the environment': () => {
    const names = Object.keys(process.env).filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name));
    if (names.length === 0) throw new Error('it is empty');
  },
};
const succeeded = Object.entries(attempts).flatMap(([name, attempt]) => {
  try {
    attempt();
    return [name];
  } catch {
    return [];
  }
});
const output = new LineWriter(3);
output.write({ type: 'document', document: { warnings: succeeded }, process: { residentBytes: 0, processorMs: 0 } });
output.flush();
process.exit(0);
