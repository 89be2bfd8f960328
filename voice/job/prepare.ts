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
import { servedBudget } from '../../calls/usage/budget.ts';
import type { CallMeters } from '../../calls/usage/call-meters.ts';
import { countedRequests } from '../../calls/usage/counted-requests.ts';
import { countedSearch } from '../../calls/usage/counted-search.ts';
import { createProviders, ProviderError, type Providers } from '../providers/index.ts';
import type { OpenRecording } from '../recording/index.ts';
import { AgentTurns, type AboutAgent } from '../conversation/agent-turns.ts';
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
  readonly usage: CallMeters;
  readonly logger: Logger;
  readonly over: AbortSignal;
}

export interface PreparedCall {
  readonly conversation: CallConversation;
  readonly config: AgentRevisionConfig;
  readonly providers: Pick<Providers, 'close'>;
  /** Takes personal data out of texts; absent where nothing is to be taken out. */
  readonly redact: ((text: string) => string) | undefined;
}

/** Prepares the call. @throws PreparationError */
export async function prepareCall(options: PrepareOptions): Promise<PreparedCall> {
  const { services, call, usage, over } = options;
  const { store, keys, clock } = services;
  const egress = services.egress.for(call.org);
  const config = await readRevision(services, call, options.logger);
  const others = (config.agent.handoffs ?? []).length === 0 ? [] : await readOthers(services, call, options.logger);
  // What any agent of the call wants to be kept out of its records is kept out from the beginning: all of them have one transcript.
  const agents = [config, ...others.map((other) => other.config)];
  const redaction = createCallRedaction({ services, call, agents, usage, logger: options.logger });
  if (redaction !== undefined) {
    options.log.redact(redaction.log);
    options.live.withholdWords();
  }
  const logger =
    redaction === undefined ? options.logger : childLogger(options.logger, (value) => redaction.redactor.redactUncounted(value));
  const guard = createSoundGuard(agents, redaction, clock);
  const withholdsContent = agents.some(isPrivate);
  const turns = new AgentTurns({
    ...aboutAgent(call, config, call.revision),
    withholdsContent,
    conversationId: call.id,
    measure: services.measure,
  });
  const figures = new Figures();
  const opened = new OpenedProviders({ services, call, turns, figures, usage, logger });
  const resolve = ({ agent: { dynamicData: lookups = [] } }: AgentRevisionConfig, given: DynamicData) =>
    resolveDynamicData({
      org: call.org,
      lookups: call.test === null ? lookups : lookupsToMake({ lookups, given }),
      given,
      egress,
      cache: redaction?.cache(store.dynamicDataCache) ?? store.dynamicDataCache,
      keys,
      clock,
      logger,
    });
  const resolving = resolve(config, call.dynamicData);
  const [{ data, contexts }, providers] = await Promise.all([
    resolving,
    opened.of(config, resolving).catch((error: unknown) => {
      throw failedToPrepare(error, logger);
    }),
  ]);
  const keep = (all: DynamicData): void =>
    void store.calls.calls
      .keepDynamicData({ org: call.org, id: call.id, data: redaction?.keptData(all, call.dynamicData) ?? all })
      .catch((err: unknown) => logger.warn({ err }, 'failed to store the dynamic data of the call'));
  keep(data);
  // The user of a test has a keypad, whatever the type of the call.
  const hasKeypad = call.callType === 'phone_call' || call.test !== null;
  const keypad = hasKeypad ? new Keypad({ room: options.room, userIdentity: options.userIdentity, clock }) : undefined;
  const { room, userIdentity, recording, turnModel } = options;
  const searchOf = (agent: string) => countedSearch(services.search, { ...usage.of(agent), withholdsContent });
  const byName = new Map(others.map((other) => [other.agentName, other]));
  let known = data;
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
      search: searchOf(config.name),
      over,
      mocks: mocksOf(call, clock),
      onSensitiveKeys: () => guard?.coverAll(0) ?? (() => undefined),
    },
    guard,
    withholdsWords: redaction !== undefined,
    others: {
      displayNames: new Map([
        [config.name, config.displayName],
        ...others.map((each) => [each.agentName, each.config.displayName] as const),
      ]),
      find: async (agentName) =>
        agentName === config.name ? config : checkOther(services, call, agentName, byName.get(agentName)?.config),
      async resolve(agent, given) {
        const resolved = await resolve(agent, given);
        known = { ...resolved.data, ...known };
        keep(known);
        return resolved;
      },
      async open(agent) {
        const about = aboutAgent(call, agent, byName.get(agent.name)?.revision ?? call.revision);
        const its = await opened.of(agent, Promise.resolve({ data: known }));
        return { providers: its, search: searchOf(agent.name), onTakeOver: () => turns.handedOver(about) };
      },
    },
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
  return { conversation, config, providers: opened, redact: redaction && ((text) => redaction.redactor.redact(text)) };
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

/** Reads the agents that the call may be handed over to, in the revisions that it was registered with. */
async function readOthers({ store, clock }: Services, call: CallRecord, logger: Logger) {
  const read = () => store.calls.calls.others(call);
  const others = await persist(read, { clock, logger, withinMs: REVISION_MS, what: 'read the agents that the call may be handed over to' });
  return others.map(({ agentName, revision, config }) => ({ agentName, revision, config: config as AgentRevisionConfig }));
}

/** Returns an agent that can take over, or why it can't, in words for the model. */
async function checkOther(
  { store, clock }: Services,
  { org }: CallRecord,
  agentName: string,
  config: AgentRevisionConfig | undefined,
): Promise<AgentRevisionConfig | string> {
  if (config === undefined) return `${agentName} took no calls when this one began, and can't take it over. Help the user yourself`;
  const serving = await store.agentRevisions.servingByName({ org, agentName });
  const budget = serving && servedBudget(serving, clock.now());
  if (budget === undefined) return config;
  const { currency, since, micros } = budget;
  const spent = await store.calls.usage.spentSince({ org, agentName, currency, since: new Date(since) });
  return spent < micros ? config : `${config.displayName} takes no more calls today. Help the user yourself`;
}

/** Tells whether spans may have nothing of what is said: what a model is sent has the results of sensitive tools, too. */
const isPrivate = ({ agent, tools }: AgentRevisionConfig): boolean =>
  agent.redaction !== undefined || tools.some(({ spec }) => spec.sensitive === true);

/** Returns the answers that a test's call has in place of tools. */
function mocksOf({ test }: CallRecord, clock: Clock): ToolMocks | undefined {
  return test === null ? undefined : new ToolMocks({ mocks: test.tools as readonly ToolMock[], clock });
}

function aboutAgent({ org }: CallRecord, { name, agent, knowledgeBase }: AgentRevisionConfig, revision: string): AboutAgent {
  return { agent: { name, id: `${org}/${name}`, revision, knowledgeBase }, llm: agent.llm };
}

interface OpenedProvidersOptions extends Pick<PrepareOptions, 'services' | 'call' | 'usage' | 'logger'> {
  readonly turns: AgentTurns;
  readonly figures: Figures;
}

/** Providers of the agents of a call: opened when an agent is to talk first, and closed with the call. */
class OpenedProviders {
  readonly #options: OpenedProvidersOptions;
  readonly #opened = new Map<string, Promise<Providers>>();

  constructor(options: OpenedProvidersOptions) {
    this.#options = options;
  }

  /** @param config with the voice that the agent speaks with: it may be another agent's @param resolving its data, for its keywords */
  of({ name, agent }: AgentRevisionConfig, resolving: Promise<{ readonly data: DynamicData }>): Promise<Providers> {
    const key = JSON.stringify([name, agent.textToSpeech]);
    const opened = this.#opened.get(key) ?? this.#open(name, agent, resolving);
    this.#opened.set(key, opened);
    // What could not be opened is tried again with the next hand-over.
    opened.catch(() => this.#opened.delete(key));
    return opened;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.values()].map(async (opened) => (await opened.catch(() => undefined))?.close()));
  }

  #open(name: string, agent: AgentRevisionConfig['agent'], resolving: Promise<{ readonly data: DynamicData }>): Promise<Providers> {
    const { services, call, turns, figures, usage, logger } = this.#options;
    const { keys, providerDefaults, onTakeover } = services;
    const used = usage.of(name);
    return createProviders({
      org: call.org,
      agent,
      dataOf: async () => (await resolving).data,
      keys,
      egress: services.egress.for(call.org),
      defaults: providerDefaults,
      onTakeover,
      observer: observedBy(turns.requests, figures.requests, countedRequests({ ...used, purpose: 'conversation' })),
      meter: used.meter,
      logger,
    });
  }
}

function failedToPrepare(error: unknown, logger: Logger): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { part, provider, kind, status } = error;
  const reason = finishReasonOfProviderFailure(error, { answeredBefore: false });
  logger.error({ part, provider, kind, status, reason, err: error }, 'a provider has failed');
  return new PreparationError(reason, error.message, { cause: error });
}
