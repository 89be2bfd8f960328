import { expect, it } from 'vitest';

import { rehearsed } from './rehearsals.ts';

const state = { ready: false, reason: 'Reconciling', message: '' };
const answer = { tool_id: 'find-order-k3xq5w7z', name: 'find_order', state };

it('the dry run of a creation has no id, and a state of nothing that is there', () => {
  expect(rehearsed(answer, ['tool_id'], Buffer.from('{"name":"find_order"}'))).toEqual({
    tool_id: '',
    name: 'find_order',
    state: { ready: false, reason: 'DryRun', message: expect.stringMatching(/^nothing was made/) },
  });
});

it('keeps the id that the client has chosen, and makes up no state', () => {
  const { state: _none, ...without } = answer;
  expect(rehearsed(without, ['tool_id'], Buffer.from('{"tool_id":"find-order-k3xq5w7z"}'))).toEqual(without);
});
