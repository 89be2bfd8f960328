/** Decides who owns a number that a REST request asks for. The operator uses the same claims in Postgres. */
import { wellKnown, type PhoneNumber } from '../../crds/index.ts';
import type { Stored } from '../../kube/types.ts';
import type { ApiDependencies, Limits } from '../dependencies.ts';
import { ApiError } from '../http/api-error.ts';
import { orUndefined } from '../resources/companions.ts';
import { cameFirst, isTaken, type FirstCome } from '../resources/first-come.ts';
import type { KindContext } from '../kinds/context.ts';

export interface NumberOwnershipOptions {
  readonly context: KindContext;
  readonly claims: ApiDependencies['store']['numberClaims'];
  readonly limits: Pick<Limits, 'nativeNumbers' | 'numberReservationMs' | 'numberAssignments'>;
}

export class NumberOwnership {
  readonly #options: NumberOwnershipOptions;

  constructor(options: NumberOwnershipOptions) {
    this.#options = options;
  }

  /**
   * @returns the contest in which the organisation competes for the number
   * @throws ApiError `conflict` where it may not have the number
   */
  async requireFree(org: string, number: string): Promise<FirstCome<PhoneNumber>> {
    const { claims, limits } = this.#options;
    const { clients, views, namespace: only } = this.#options.context;
    const { numberReservationMs: reservedMs } = limits;
    const assignees = limits.numberAssignments.assigneesOf(number);
    if (assignees !== undefined && !assignees.includes(org)) throw refused(number, 'is assigned to other organisations');
    const claim = await claims.get(number, { reservedMs });
    const binding = claim !== undefined && (assignees === undefined || assignees.includes(claim.org));
    if (binding && claim.org !== org && !claim.expired) throw refused(number, claim.reservedUntil);
    const since = binding && claim.org !== org ? (claim.reservedUntil?.getTime() ?? 0) : 0;
    const contest: FirstCome<PhoneNumber> = {
      view: views.phoneNumbers,
      index: 'number',
      value: number,
      listed: { fieldSelector: `spec.number=${number}`, ...(only !== undefined && { namespace: only }) },
      // An organisation that waits for another's number waits in vain, and objects outside organisations own none.
      isRival: async ({ metadata: { namespace: name = '', creationTimestamp } }) => {
        if (only !== undefined || name === org) return true;
        if (binding && (claim.org === org || Date.parse(creationTimestamp) < since)) return false;
        if (assignees !== undefined && !assignees.includes(name)) return false;
        const namespace = await orUndefined(clients.namespaces.get({ name }));
        return namespace?.metadata.labels?.[wellKnown.organizationLabel] === 'true';
      },
    };
    if (await isTaken(contest)) throw refused(number);
    return contest;
  }

  /** @throws ApiError `conflict` where another object has got the number meanwhile */
  async claim(created: Stored<PhoneNumber>, contest: FirstCome<PhoneNumber>): Promise<void> {
    const { claims, limits } = this.#options;
    const { number } = created.spec;
    const owner = { org: created.metadata.namespace ?? '', uid: created.metadata.uid, number };
    const first = await cameFirst(created, contest);
    const assignees = limits.numberAssignments.assigneesOf(number);
    if (!first || !(await claims.claim(owner, { reservedMs: limits.numberReservationMs, assignees }))) throw refused(number);
  }
}

/** Refuses a number of any organisation: of another's claim only its end shows. */
function refused(number: string, why: Date | string = 'is in use already'): ApiError {
  const cure = 'use another number, or have the operator of this installation release this one';
  const said = why instanceof Date ? `is reserved for another organisation until ${why.toISOString()}: ${cure}` : why;
  return new ApiError('conflict', `the phone number ${number} ${said}`);
}
