/** Prepares a call: revision, dynamic data, providers and conversation. */
import type { Room } from '@livekit/rtc-node';

import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { DynamicData } from '../../crds/template.ts';
import type { Clock } from '../../platform/clock.ts';
import { childLogger, type Logger } from '../../platform/logging.ts';
import { observedBy } from '../../platform/telemetry/gen-ai/model-requests.ts';
import type { CallRecord, FinishReason } from '../../store/index.ts';
import { lookupsToMake, resolveDynamicData } from '../dynamic-data/resolve.ts';
import { finishReasonOfProviderFailure } from '../finish-reason.ts';
import { Keypad } from '../phone/index.ts';
import { countedRequests, type ProviderUsage } from '../../calls/usage/counted-requests.ts';
import { countedSearch } from '../../calls/usage/counted-search.ts';
import { createProviders, ProviderError, type Providers } from '../providers/index.ts';
import type { OpenRecording } from '../recording/index.ts';
import { AgentTurns } from '../conversation/agent-turns.ts';
import { Figures } from '../conversation/figures.ts';
import type { TurnModel } from '../sound/turn-detector.ts';
import { ToolMocks, type ToolMock } from '../tools/tool-mocks.ts';
import { CallConversation, type CallConversationOptions } from './call-conversation.ts';
import { createCallRedaction, createSoundGuard } from './call-redaction.ts';
import type { LiveEvents } from './live-events.ts';
import type { LogWriter } from './log-writer.ts';
import { persist } from './persist.ts';
import type { Services } from './services.ts';

/** Longest time that Postgres may give no answer, in milliseconds. */
const REVISION_MS = 20_000;

/** Thrown where the call cannot be held. */
export class PreparationError extends Error {
  override readonly name = 'PreparationError';
  readonly reason: FinishReason;

  constructor(reason: FinishReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

export interface PrepareOptions extends Pick<CallConversationOptions, 'transfer' | 'onEnd'> {
  readonly live: LiveEvents;
  readonly services: Services;
  readonly call: CallRecord;
  readonly room: Room;
  readonly userIdentity: string;
  readonly recording: OpenRecording | undefined;
  readonly turnModel: TurnModel | undefined;
  readonly log: LogWriter;
  readonly usage: ProviderUsage;
  readonly logger: Logger;
  readonly over: AbortSignal;
}

export interface PreparedCall {
  readonly conversation: CallConversation;
  readonly config: AgentRevisionConfig;
  readonly providers: Providers;
  /** Takes personal data out of texts; absent where nothing is to be taken out. */
  readonly redact: ((text: string) => string) | undefined;
}

/** Prepares the call. @throws PreparationError */
export async function prepareCall(options: PrepareOptions): Promise<PreparedCall> {
  const { services, call, usage, over } = options;
  const { store, keys, clock } = services;
  const egress = services.egress.for(call.org);
  const config = await readRevision(services, call, options.logger);
  const { agent } = config;
  const redaction = createCallRedaction({ services, call, config, usage, logger: options.logger });
  if (redaction !== undefined) {
    options.log.redact(redaction.log);
    options.live.withholdWords();
  }
  const logger =
    redaction === undefined ? options.logger : childLogger(options.logger, (value) => redaction.redactor.redactUncounted(value));
  const guard = createSoundGuard(config, redaction, clock);
  const turns = turnsOf(services, call, config);
  const figures = new Figures();
  const { dynamicData: lookups = [] } = agent;
  const resolving = resolveDynamicData({
    org: call.org,
    lookups: call.test === null ? lookups : lookupsToMake({ lookups, given: call.dynamicData }),
    given: call.dynamicData,
    egress,
    cache: redaction?.cache(store.dynamicDataCache) ?? store.dynamicDataCache,
    keys,
    clock,
    logger,
  });
  const [{ data, contexts }, providers] = await Promise.all([
    resolving,
    providersOf({ services, call, agent, resolving, turns, figures, usage, logger }),
  ]);
  store.calls.calls
    .keepDynamicData({ org: call.org, id: call.id, data: redaction?.keptData(data, call.dynamicData) ?? data })
    .catch((err: unknown) => logger.warn({ err }, 'failed to store the dynamic data of the call'));
  // The user of a test has a keypad, whatever the type of the call.
  const hasKeypad = call.callType === 'phone_call' || call.test !== null;
  const keypad = hasKeypad ? new Keypad({ room: options.room, userIdentity: options.userIdentity, clock }) : undefined;
  const { room, userIdentity, recording, turnModel } = options;
  const conversation = new CallConversation({
    org: call.org,
    config,
    data,
    contexts,
    room,
    userIdentity,
    providers,
    turnModel,
    recording: recording && { encoder: services.recordingEncoder, file: recording.file, onStart: () => recording.started() },
    tools: {
      ...services.tools,
      keypad,
      egress,
      keys,
      search: countedSearch(services.search, { ...usage, withholdsContent: isPrivate(config) }),
      over,
      mocks: mocksOf(call, clock),
      onSensitiveKeys: () => guard?.coverAll(0) ?? (() => undefined),
    },
    guard,
    transfer: options.transfer,
    log: options.log,
    turns,
    clock,
    logger,
    onEnd: options.onEnd,
    live: options.live,
    figures,
  });
  keypad?.listen({ onKey: () => conversation.keyPressed(), onEntry: (entry) => conversation.pressed(entry) });
  return { conversation, config, providers, redact: redaction && ((text) => redaction.redactor.redact(text)) };
}

/** Reads the revision that the call was registered with, even if another one serves now. */
async function readRevision({ store, clock }: Services, call: CallRecord, logger: Logger): Promise<AgentRevisionConfig> {
  const { org, talkingAgent: agentName, revision } = call;
  const read = () => store.agentRevisions.get({ org, agentName, revision });
  const stored = await persist(read, { clock, logger, withinMs: REVISION_MS, what: 'read the revision of the call' });
  if (stored === undefined)
    throw new PreparationError('native_platform_internal_error', `agent ${agentName}: revision ${revision} is not in the database`);
  return stored.config as AgentRevisionConfig;
}

/** Tells whether spans may have nothing of what is said: what a model is sent has the results of sensitive tools, too. */
const isPrivate = ({ agent, tools }: AgentRevisionConfig): boolean =>
  agent.redaction !== undefined || tools.some(({ spec }) => spec.sensitive === true);

/** Returns the answers that a test's call has in place of tools. */
function mocksOf({ test }: CallRecord, clock: Clock): ToolMocks | undefined {
  return test === null ? undefined : new ToolMocks({ mocks: test.tools as readonly ToolMock[], clock });
}

function turnsOf({ measure }: Services, { id, org, revision }: CallRecord, config: AgentRevisionConfig): AgentTurns {
  const { name, agent, knowledgeBase } = config;
  const withholdsContent = isPrivate(config);
  return new AgentTurns({
    withholdsContent,
    agent: { name, id: `${org}/${name}`, revision, knowledgeBase },
    llm: agent.llm,
    conversationId: id,
    measure,
  });
}

interface ProvidersWanted extends Pick<PrepareOptions, 'services' | 'call' | 'usage' | 'logger'> {
  readonly agent: AgentRevisionConfig['agent'];
  readonly resolving: Promise<{ readonly data: DynamicData }>;
  readonly turns: AgentTurns;
  readonly figures: Figures;
}

async function providersOf({ services, call, agent, resolving, turns, figures, usage, logger }: ProvidersWanted): Promise<Providers> {
  const { keys, providerDefaults, onTakeover } = services;
  try {
    return await createProviders({
      org: call.org,
      agent,
      dataOf: async () => (await resolving).data,
      keys,
      egress: services.egress.for(call.org),
      defaults: providerDefaults,
      onTakeover,
      observer: observedBy(turns.requests, figures.requests, countedRequests({ ...usage, purpose: 'conversation' })),
      meter: usage.meter,
      logger,
    });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    const { part, provider, kind, status } = error;
    const reason = finishReasonOfProviderFailure(error, { answeredBefore: false });
    logger.error({ part, provider, kind, status, reason, err: error }, 'a provider has failed');
    throw new PreparationError(reason, error.message, { cause: error });
  }
}
