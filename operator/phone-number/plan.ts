import { phoneNumberVariants, type PhoneNumber, type PhoneNumberStatus } from '../../crds/index.ts';
import type { NumberPool } from '../../platform/number-pool.ts';
import { phoneNumberReferences } from '../references/references-of.ts';
import { notAnOrganization, unresolved } from '../references/resolve.ts';
import { ownerAmong, type World } from '../references/world.ts';
import type { Plan } from '../runtime/plan.ts';
import { commonFields, isDeleting, isSuspended, suspendedStatus } from '../status/common.ts';
import { summarize } from '../status/conditions.ts';
import type { Problem } from '../status/reasons.ts';
import { accepted, notSynced, resolvedRefs } from '../status/stages.ts';

export interface PhoneNumberPlanOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** LIVEKIT_URL is set. */
  readonly mediaServer: boolean;
  readonly nativeNumbers: Pick<NumberPool, 'has'>;
}

/** `Ready` follows the spec and its references alone as long as there is no media server to connect the number to. */
export function planPhoneNumber(phoneNumber: PhoneNumber, world: World, options: PhoneNumberPlanOptions): Plan<never, PhoneNumberStatus> {
  if (isDeleting(phoneNumber)) return { actions: [] };
  if (isSuspended(phoneNumber)) return { actions: [], status: suspendedStatus(phoneNumber, options.now) };
  const namespace = phoneNumber.metadata.namespace ?? '';
  const foreign = notAnOrganization(namespace, world);
  if (foreign.length > 0)
    return { actions: [], status: commonFields(phoneNumber, summarize([accepted(foreign)], { message: '' }), options.now) };

  const verdicts = summarize(
    [
      accepted([...numberTaken(phoneNumber, world), ...notInPool(phoneNumber, options.nativeNumbers)]),
      resolvedRefs(unresolved(namespace, phoneNumberReferences(phoneNumber), world)),
      notSynced(
        options.mediaServer
          ? {
              reason: 'MediaServerUnsupported',
              message: 'LIVEKIT_URL is set, but this version does not make trunks at the media server yet',
            }
          : {
              reason: 'MediaServerNotConfigured',
              message: 'no media server is configured, so the number is not connected; set LIVEKIT_URL for the operator',
            },
      ),
    ],
    { message: 'the number is yours and everything it names exists' },
  );
  return {
    actions: [],
    status: {
      ...commonFields(phoneNumber, verdicts, options.now),
      provider: phoneNumberVariants.find((variant) => phoneNumber.spec[variant] !== undefined),
    },
  };
}

/**
 * The oldest PhoneNumber of the deployment owns its number. Objects outside organisations own nothing, or anybody with
 * a namespace could block the numbers of others. The message names the owner only to its own organisation.
 */
function numberTaken(phoneNumber: PhoneNumber, world: World): readonly Problem[] {
  const rivals = world.phoneNumbersWith(phoneNumber.spec.number).filter((rival) => world.isOrganization(rival.metadata.namespace ?? ''));
  const owner = ownerAmong(rivals);
  if (owner === undefined || owner.metadata.uid === phoneNumber.metadata.uid) return [];
  const { namespace, name } = owner.metadata;
  const who =
    namespace === phoneNumber.metadata.namespace ? `the older PhoneNumber ${namespace}/${name}` : 'an older object of this deployment';
  return [{ reason: 'NumberTaken', message: `${phoneNumber.spec.number} belongs to ${who}; use another number or have that one deleted` }];
}

function notInPool({ spec }: PhoneNumber, pool: PhoneNumberPlanOptions['nativeNumbers']): readonly Problem[] {
  if (spec.native === undefined || pool.has(spec.number)) return [];
  const message = `${spec.number} is not in the pool of this deployment; use a number of the pool, or sip or carrier for one of your own`;
  return [{ reason: 'NumberNotInPool', message }];
}
