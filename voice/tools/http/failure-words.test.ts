import { expect, it } from 'vitest';

import { withoutInternals, wordsOfFailure } from './failure-words.ts';

it.each([
  ['connect', 'connect', 'nothing was done'],
  ['dns', 'dns', 'nothing was done'],
  ['timeout', 'connect', 'nothing was done'],
  ['timeout', 'head', 'not known whether'],
  ['reset', 'head', 'not known whether'],
  ['protocol', 'body', 'not known whether'],
  ['forbidden_address', 'check', 'not set up correctly'],
] as const)('says of %s in the phase %s: %s', (kind, phase, words) => {
  expect(wordsOfFailure({ kind, phase })).toContain(words);
});

it.each([
  ['no such order', 'no such order'],
  ['see http://10.0.0.7:8080/orders?id=1 for more', 'see the service for more'],
  ['connect ECONNREFUSED 10.0.0.7:5432', 'connect ECONNREFUSED the service'],
  ['orders.shop.svc.cluster.local:80 is away', 'the service is away'],
  ['API.example.com:8443 is away', 'the service is away'],
  ['Order 12.5 of 2026-11-23 is paid', 'Order 12.5 of 2026-11-23 is paid'],
  ['broken\n    at find (/srv/app/index.js:1:2)\n    at main (/srv/app/index.js:9:2)', 'broken'],
  ['broken\n  File "/srv/app.py", line 3, in find', 'broken'],
])('leaves in %j what a caller may hear', (said, heard) => {
  expect(withoutInternals(said, 'api.example.com:8443')).toBe(heard);
});

it('leaves out the members of a stack, at any depth', () => {
  const said = { detail: [{ message: 'no such order', stackTrace: ['find'], code: 7 }], stack: 'Error: at …', traceback: null };
  expect(withoutInternals(said, 'host')).toEqual({ detail: [{ message: 'no such order', code: 7 }] });
});
