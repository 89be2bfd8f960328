/** An egress guard together with the requests of one owner, for tests that have no other. */
import { createEgress, type Egress, type EgressGuard, type EgressOptions } from '../../platform/egress/egress.ts';

export type TestEgress = Egress & EgressGuard;

/** Opens a guard. Pass it on as it is: a copy keeps the dispatcher that it had. */
export function openEgress(options: EgressOptions = {}): TestEgress {
  const guard = createEgress(options);
  return Object.assign(guard.for('test'), {
    for: (owner: string) => guard.for(owner),
    dnsAnswered: (since: number) => guard.dnsAnswered(since),
    close: () => guard.close(),
  });
}
