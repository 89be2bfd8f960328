import type { PhoneNumber, PhoneNumberStatus } from '../../crds/index.ts';
import type { WorldReader } from '../runtime/cluster-world.ts';
import type { KindLogic } from '../runtime/controller.ts';
import { nothingToDo, observing } from '../runtime/simple-logic.ts';
import type { NumberPool } from '../../platform/number-pool.ts';
import { planPhoneNumber } from './plan.ts';

export function phoneNumberLogic(options: {
  readonly worlds: WorldReader;
  readonly mediaServer: boolean;
  readonly nativeNumbers: Pick<NumberPool, 'has'>;
}): KindLogic<PhoneNumber, never, PhoneNumberStatus> {
  const { mediaServer, nativeNumbers } = options;
  return {
    kind: 'PhoneNumber',
    statusFields: ['observedGeneration', 'conditions', 'lastHandledReconcileAt', 'provider'],
    decide: observing<PhoneNumber, never, PhoneNumberStatus>(options.worlds, (phoneNumber, world, now) =>
      planPhoneNumber(phoneNumber, world, { now, mediaServer, nativeNumbers }),
    ),
    carryOut: nothingToDo,
  };
}
