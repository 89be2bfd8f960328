/**
 * A call in text: the conversation of a call without a room. docs/adr/0051 lists the differences from a call.
 *
 * A turn is over when the agent waits: nothing is being said, no tool runs and no answer is pending.
 */
import { setImmediate as nextTask } from 'node:timers/promises';

import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { parseJson } from '../../platform/json.ts';
import type { ProviderPrice } from '../../platform/config/prices.ts';
import type { Logger } from '../../platform/logging.ts';
import { observedBy, type Measurement } from '../../platform/telemetry/gen-ai/model-requests.ts';
import type { FinishReason } from '../../store/index.ts';
import type { FetchInterceptor, ProviderDefaults, ProviderError, ProviderKeyReader } from '../../calls/provider-access/index.ts';
import { countedRequests, type ProviderUsage } from '../../calls/usage/counted-requests.ts';
import { countedSearch } from '../../calls/usage/counted-search.ts';
import type { DynamicData } from '../../crds/template.ts';
import { FinishDecision } from '../../voice/finish-reason.ts';
import { createLanguageModel } from '../../voice/providers/create-language-model.ts';
import { AgentTurns } from '../../voice/conversation/agent-turns.ts';
import type { Conversation } from '../../voice/conversation/conversation.ts';
import { createConversation } from '../../voice/conversation/create-conversation.ts';
import type { Entry } from '../../voice/conversation/entry.ts';
import type { TeamOptions } from '../../voice/conversation/team.ts';
import { textVoice } from '../../voice/conversation/text-voice.ts';
import type { CreateToolsOptions } from '../../voice/tools/create-tools.ts';
import { DriverError, type AgentDriver, type AgentTurn } from '../driver.ts';
import type { ToolCallRecord } from '../result.ts';
import { TextKeypad } from './text-keypad.ts';
import { lookupsToMake, resolveDynamicData, type DynamicDataCache, type ResolveOptions } from '../../voice/dynamic-data/resolve.ts';

export interface TextServices {
  readonly keys: ProviderKeyReader;
  readonly egress: Egress;
  readonly defaults: ProviderDefaults;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tools: Pick<CreateToolsOptions, 'search' | 'mailer' | 'calendar' | 'tokens'>;
  readonly prices?: readonly ProviderPrice[];
  readonly measure?: ((measurement: Measurement) => void) | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface TextCallOptions {
  readonly services: TextServices;
  readonly org: string;
  readonly config: AgentRevisionConfig;
  /** Other agents that may take over, by their names. */
  readonly others?: ReadonlyMap<string, AgentRevisionConfig> | undefined;
  readonly dynamicData: DynamicData;
  readonly mocks?: CreateToolsOptions['mocks'];
  readonly intercept?: FetchInterceptor | undefined;
  readonly usage?: ProviderUsage | undefined;
  /** The call's beginning as its prompt states it, in milliseconds since the epoch; now by default. */
  readonly now?: number | undefined;
  /** Lets no request leave the machine. */
  readonly offline?: boolean;
}

type LanguageModel = Awaited<ReturnType<typeof createLanguageModel>>;

export class TextCall implements AgentDriver {
  readonly #options: TextCallOptions;
  readonly #decision = new FinishDecision();
  readonly #keypad = new TextKeypad();
  #conversation: Conversation | undefined;
  #entries: Entry[] = [];
  #failure: ProviderError | undefined;
  readonly #broken = Promise.withResolvers<never>();
  #closed: Promise<void> | undefined;
  /** The clock of the recording in a replay. */
  #clock: Clock;
  #began = 0;
  readonly #models = new Map<string, Promise<LanguageModel>>();

  constructor(options: TextCallOptions) {
    this.#options = options;
    this.#clock = options.services.clock;
    // If no turn is under way, nobody else handles the rejection.
    this.#broken.promise.catch(() => undefined);
  }

  async start(): Promise<AgentTurn> {
    const conversation = await this.#prepare();
    this.#conversation = conversation;
    // The call was given up while there was nothing to close yet.
    if (this.#closed !== undefined) await this.#release();
    return this.#turn(() => conversation.begin());
  }

  say(text: string): Promise<AgentTurn> {
    return this.#turn((conversation) => {
      // A user who speaks instead presses nothing.
      this.#keypad.giveUp();
      conversation.written(text);
    });
  }

  press(keys: string): Promise<AgentTurn> {
    return this.#turn((conversation) => {
      for (const entry of this.#keypad.enter(keys)) conversation.pressed(entry);
    });
  }

  /** Ends a conversation that can't go on: everything that waits for the agent rejects with this error. */
  fail(error: DriverError): void {
    this.#broken.reject(error);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #prepare(): Promise<Conversation> {
    const { services, org, config, others = new Map<string, AgentRevisionConfig>(), mocks, usage, now } = this.#options;
    const { keys, egress, tools, measure, clock, logger } = services;
    const turns = new AgentTurns({ ...aboutAgent(config), measure });
    const [{ data, contexts }, model] = await Promise.all([this.#dataOf(config, this.#options.dynamicData), this.#modelOf(config, turns)]);
    const realBegin = clock.now();
    if (now !== undefined) this.#clock = { ...clock, now: () => now + (clock.now() - realBegin) };
    this.#began = this.#clock.now();
    const configs = new Map([...others, [config.name, config]]);
    const team: TeamOptions = {
      displayNames: new Map([...configs].map(([name, { displayName }]) => [name, displayName])),
      find: async (name) => configs.get(name) ?? `${name} can't be reached in this conversation. Help the user yourself`,
      resolve: (each, given) => this.#dataOf(each, given),
      equip: async ({ config: each }) => ({
        model: await this.#modelOf(each, turns),
        onTakeOver: () => turns.handedOver(aboutAgent(each)),
      }),
    };
    return createConversation({
      org,
      config,
      data,
      contexts,
      model,
      voice: textVoice,
      tools: {
        ...tools,
        search: usage === undefined ? tools.search : countedSearch(tools.search, usage),
        egress,
        keys,
        keypad: this.#keypad,
        over: this.#decision.signal,
        mocks,
      },
      team,
      // The tool decides whether the call is handed over; there is no one to hand it over to.
      transfer: async () => {
        this.#decision.decide('call_transferred');
        return { outcome: 'done' };
      },
      turns,
      log: { add: (entries) => void this.#entries.push(...entries) },
      clock: this.#clock,
      logger,
      onEnd: (reason, farewell) => void this.#decision.decide(reason, farewell),
      onFailure: (failure) => (this.#failure ??= failure),
    });
  }

  #dataOf({ agent }: AgentRevisionConfig, given: DynamicData) {
    const { services, org, offline = false } = this.#options;
    return dataOf({ ...services, org, lookups: agent.dynamicData ?? [], given, offline });
  }

  /** Opens the model of an agent, once. */
  #modelOf({ name, agent }: AgentRevisionConfig, turns: AgentTurns): Promise<LanguageModel> {
    const { services, org, intercept, usage } = this.#options;
    const observer = observedBy(turns.requests, usage && countedRequests({ ...usage, purpose: 'conversation' }));
    const open = (): Promise<LanguageModel> =>
      createLanguageModel({ ...services, org, agent, intercept, observer, summarizesFirst: true }).catch((cause: Error) => {
        throw new DriverError(cause.message, { cause });
      });
    const model = this.#models.get(name) ?? open();
    this.#models.set(name, model);
    return model;
  }

  async #turn(act: (conversation: Conversation) => void): Promise<AgentTurn> {
    const conversation = this.#conversation;
    if (conversation === undefined || this.#closed !== undefined) throw new DriverError('the call is over');
    const began = this.#clock.now();
    this.#entries = [];
    act(conversation);
    await this.#waits(conversation);
    const finish = this.#decision.reason === undefined ? undefined : await this.#decision.made();
    if (finish !== undefined) {
      // The apology doesn't matter: the failure is reported.
      if (this.#failure === undefined) await finish.farewell?.();
      await this.close();
      // Tools may go on for a moment: they belong to the turn.
      await conversation.quiet();
    }
    const { turn, firstWordsAt } = turnOf(this.#entries, this.#began);
    return {
      ...turn,
      ...(firstWordsAt !== undefined && { firstWordsMs: Math.max(0, firstWordsAt - began) }),
      ...(finish !== undefined && { ended: finish.reason as FinishReason }),
      ...(this.#failure !== undefined && { failure: this.#failure.message }),
    };
  }

  /** Waits until nothing is under way, a tool waits for the user's keys, or the call has to end. */
  async #waits(conversation: Conversation): Promise<void> {
    const over = this.#decision.made();
    do {
      await Promise.race([conversation.quiet(), this.#keypad.waiting, over, this.#broken.promise]);
      // The end of a speech may start something right after it.
      await nextTask();
    } while (this.#decision.reason === undefined && !conversation.isQuiet && !this.#keypad.isWaiting);
    if (this.#keypad.isWaiting) await Promise.race([conversation.said(), over]);
  }

  async #close(): Promise<void> {
    this.#decision.decide('user_ended_call');
    await this.#release();
  }

  async #release(): Promise<void> {
    await this.#conversation?.close().catch(() => undefined);
    for (const model of this.#models.values()) void model.then((opened) => opened.close()).catch(() => undefined);
  }
}

const aboutAgent = ({ name, agent, knowledgeBase }: AgentRevisionConfig) => ({ agent: { name, knowledgeBase }, llm: agent.llm });

function turnOf(
  entries: readonly Entry[],
  began: number,
): { readonly turn: Pick<AgentTurn, 'messages' | 'toolCalls'>; readonly firstWordsAt: number | undefined } {
  const spoken = entries.flatMap(({ message }) => (message?.role === 'agent' ? [message] : [])).toSorted((a, b) => a.seq - b.seq);
  const toolCalls = entries.flatMap(({ toolCall }) => toolCall ?? []).toSorted((a, b) => a.seq - b.seq);
  return {
    turn: {
      messages: spoken.map(({ content }) => content),
      toolCalls: toolCalls.map((call) => recordOf(call, began)),
    },
    firstWordsAt: spoken[0]?.spokenAt.getTime(),
  };
}

type StoredToolCall = NonNullable<Entry['toolCall']>;

/** Converts a stored tool call to a result's. @param began milliseconds since the epoch, from which `atMs` counts */
export function recordOf(
  { agent, name, arguments: args, result, failed, beganAt, durationMs }: Omit<StoredToolCall, 'seq'>,
  began: number,
): ToolCallRecord {
  const value = parseJson(result ?? 'null', result);
  return {
    name,
    ...(typeof agent === 'string' && { agent }),
    arguments: args as ToolCallRecord['arguments'],
    ...(failed ? { error: errorOf(value) } : { result: value }),
    atMs: Math.max(0, beganAt.getTime() - began),
    durationMs,
  };
}

function errorOf(value: unknown): string {
  const { error } = (typeof value === 'object' && value !== null ? value : {}) as { readonly error?: unknown };
  return typeof error === 'string' ? error : JSON.stringify(value);
}

/** Stores nothing, so that each test asks for itself. */
const NO_CACHE: DynamicDataCache = { get: async () => undefined, put: async () => undefined };

/**
 * Resolves the data of a call in text: the values of the test, and those that the agent looks up. It skips a lookup whose values are all
 * given: that is how a test replaces it.
 * @throws DriverError where a lookup would be made offline
 */
async function dataOf({ offline, ...options }: Omit<ResolveOptions, 'cache'> & { readonly offline: boolean }) {
  const lookups = lookupsToMake(options);
  const [first] = lookups;
  if (offline && first !== undefined) {
    const names = (first.response ?? []).map(({ name }) => name).join(', ');
    throw new DriverError(
      `the agent looks up "${first.name}" before the call, and replayed tests make no requests: give ${names === '' ? 'its values' : names} in spec.dynamicData`,
      { path: 'spec.dynamicData' },
    );
  }
  return resolveDynamicData({ ...options, lookups, cache: NO_CACHE });
}
