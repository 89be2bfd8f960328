/** Opens a stage whose agent has a phone number, behind a telephone gateway. */
import { mediaServer } from '../../support/media-server.ts';
import { startSipGateway, type SipGatewayDouble } from '../../support/sip-gateway.ts';
import { openStage, type VoiceStage, type StageOptions } from './stage.ts';

export const ownNumber = '+15550100';

export interface PhoneStage extends VoiceStage {
  readonly gateway: SipGatewayDouble;
}

export async function openPhoneStage(
  change: NodeJS.ProcessEnv = {},
  options: Pick<StageOptions, 'redispatches'> = {},
): Promise<PhoneStage> {
  const gateway = await startSipGateway(await mediaServer());
  const stage = await openStage(change, { ...options, server: gateway.server });
  await stage.store.phoneRoutes.put({
    org: stage.org,
    uid: 'uid-number',
    name: 'front-desk',
    number: ownNumber,
    type: 'SIP',
    inboundAgent: 'receptionist',
    outboundAgent: 'receptionist',
    outboundTrunk: 'ST_own',
  });
  const close = stage.close.bind(stage);
  return Object.assign(stage, {
    gateway,
    async close() {
      await close();
      await gateway.close();
    },
  });
}
