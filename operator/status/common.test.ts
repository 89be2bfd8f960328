import { expect, it } from 'vitest';
import { z } from 'zod';

import { wellKnown } from '../../crds/index.ts';
import { commonStatus } from '../../crds/status.ts';
import { commonFields, isReconcileRequested, suspendedStatus, type Managed } from './common.ts';
import { conditionTypes } from './reasons.ts';
import { accepted } from './stages.ts';

const anObject = (requested: string): Managed => ({
  apiVersion: 'parley.dev/v1beta1',
  kind: 'Agent',
  metadata: { name: 'a', annotations: { [wellKnown.reconcileRequestedAt]: requested } },
  spec: {},
});

it.each(['', 'x'])('shortens what is long, and no character to half of one (after %j)', (before) => {
  const long = `${before}${'🎉'.repeat(2000)}`;
  const object = anObject(long);
  const status = commonFields(object, 0, [accepted([{ reason: 'InvalidSpec', message: long }])]);
  const texts = [status.lastHandledReconcileAt ?? '', ...status.conditions.map(({ message }) => message)];
  expect(texts.map((text) => [text.isWellFormed(), text.length <= 2000])).toEqual(texts.map(() => [true, true]));
  expect([isReconcileRequested(object), isReconcileRequested({ ...object, status })]).toEqual([true, false]);
});

it.each([
  ['Agent', 'spec.suspend is true, so changes are ignored; set it to false to resume'],
  ['Tool', 'spec.suspend is true, so the status stays as it is; agents follow changes of the spec all the same; set it to false to resume'],
])('says what suspending holds back: %s', (kind, message) => {
  expect(suspendedStatus({ ...anObject(''), kind }, 0).conditions).toMatchObject([{ type: 'Suspended', status: 'True', message }]);
});

it('has every type of condition in what `kubectl explain` says of them', () => {
  const described = JSON.stringify(z.toJSONSchema(z.object(commonStatus), { io: 'input' }));
  expect(described).toContain(`"${conditionTypes.slice(0, -1).join(', ')} or ${conditionTypes.at(-1)}."`);
});
