/** Begins outbound phone calls over REST: registers a call, and hands it to an agent that rings. */
import type { CallRecord, PhoneRoutes } from '../../store/index.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { registerCall, requireMediaServer, type CallRegistration } from './register-call.ts';
import type { OutboundCallCreate } from './schema.ts';

export interface OutboundPhoneCallsOptions extends CallRegistration {
  readonly routes: Pick<PhoneRoutes, 'get'>;
}

export class OutboundPhoneCalls {
  readonly #options: OutboundPhoneCallsOptions;

  constructor(options: OutboundPhoneCallsOptions) {
    this.#options = options;
  }

  /**
   * Begins a call with Postgres and the media server alone, so that calls are made while the Kubernetes API is unavailable.
   *
   * @throws ApiError `not_found` for a number or an agent that isn't there, `conflict` for a number that can't call,
   * `concurrent_call_limit_reached`, `budget_exceeded`, `unavailable` where the media server is missing or doesn't answer, or no voice
   * server has room for one more call
   */
  async dial(caller: Caller, body: OutboundCallCreate): Promise<CallRecord> {
    const { routes, rooms } = this.#options;
    requireMediaServer(rooms);
    const { from_number: fromNumber, to_number: toNumber } = body;
    const route = await routes.get({ org: caller.org, number: fromNumber });
    if (route === undefined) throw notFound('Phone number');
    const override = body.override_ai_agent_id ?? undefined;
    const askedFor = route.outboundAgent ?? override;
    if (askedFor === undefined)
      throw new ApiError('conflict', `no agent calls from ${fromNumber}: set its outbound_agent_id, or name one in override_ai_agent_id`);
    if (route.outboundTrunk === null)
      throw new ApiError(
        'conflict',
        `${fromNumber} is connected to no trunk that it could call through: set its sip_termination_uri, and see the condition Synced of PhoneNumber ${route.name}`,
      );
    return registerCall(this.#options, caller, {
      agentName: askedFor,
      override: override === askedFor ? undefined : override,
      body,
      own: { callType: 'phone_call', direction: 'outbound', fromNumber, toNumber },
    });
  }
}
