/** The gateway behind the address policy: what leads SIP somewhere is judged when it does. */
import { dialFailureOf, type SipGateway } from './gateway.ts';
import type { SipGuard } from './sip-guard.ts';
import { isSip } from './termination.ts';

export function guardedSipGateway(gateway: SipGateway, guard: Pick<SipGuard, 'vet'>): SipGateway {
  /** Of the trunk as the media server has it: that is where the call goes, whatever is written down elsewhere. */
  const objection = async (trunk: string): Promise<string | undefined> => {
    const address = await gateway.trunkAddress(trunk);
    return address === undefined ? undefined : guard.vet(address);
  };
  return {
    ...gateway,
    async dial(options) {
      try {
        const message = options.ownTrunk === true ? undefined : await objection(options.trunk);
        if (message !== undefined) return { outcome: 'failed', reason: 'carrier_error', message };
      } catch (error) {
        return { outcome: 'failed', ...dialFailureOf(error) };
      }
      return gateway.dial(options);
    },
    async refer(request) {
      const message = isSip(request.to) ? await guard.vet(request.to) : undefined;
      return message === undefined ? gateway.refer(request) : { outcome: 'failed', message };
    },
  };
}
