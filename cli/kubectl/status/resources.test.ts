import { describe, expect, it } from 'vitest';

import { reportResource } from './resources.ts';

const time = '2026-01-01T00:00:00Z';

function agent(conditions: readonly { type: string; status: string; reason: string; message?: string }[], more: object = {}) {
  return {
    apiVersion: 'parley.dev/v1beta1',
    kind: 'Agent',
    metadata: { name: 'a', namespace: 'acme', generation: 2, creationTimestamp: time },
    status: { observedGeneration: 2, conditions: conditions.map((one) => ({ message: '', lastTransitionTime: time, ...one })) },
    ...more,
  } as Parameters<typeof reportResource>[0];
}

describe('reportResource', () => {
  it('is ready with Ready for the present generation, and with that alone', () => {
    const conditions = [{ type: 'Ready', status: 'True', reason: 'Available' }];
    expect(reportResource(agent(conditions))).toMatchObject({ state: 'ready', reason: 'Available', since: time });
    expect(reportResource(agent(conditions, { status: { ...agent(conditions).status, observedGeneration: 1 } }))).toMatchObject({
      state: 'not ready',
      reason: 'NotObserved',
    });
    expect(reportResource(agent([]))).toMatchObject({ state: 'not ready', ready: 'Unknown' });
  });

  it('distinguishes what waits from what is stalled, with what to do', () => {
    const failed = { type: 'Ready', status: 'False', reason: 'SecretNotFound', message: 'Secret acme/keys does not exist' };
    expect(reportResource(agent([failed]))).toMatchObject({ state: 'not ready', cure: expect.stringMatching(/Secret/) });
    const stalled = { type: 'Stalled', status: 'True', reason: 'InvalidTimeZone' };
    expect(reportResource(agent([{ ...failed, reason: 'InvalidTimeZone' }, stalled]))).toMatchObject({ state: 'stalled' });
  });

  it('says of a reason that it does not know no more than there is to say', () => {
    expect(reportResource(agent([{ type: 'Ready', status: 'False', reason: 'constructor' }])).cure).toMatch(/Wait/);
  });

  it('knows what is suspended and what is being deleted', () => {
    expect(reportResource(agent([], { spec: { suspend: true } }))).toMatchObject({ state: 'suspended' });
    const metadata = { ...agent([]).metadata, deletionTimestamp: time };
    expect(reportResource(agent([], { metadata }))).toMatchObject({ state: 'not ready', reason: 'Deleting' });
  });
});
