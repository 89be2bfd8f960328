/** The agents of a conversation: the one that it begins with, and those that may take over. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { callerNames, formatValue, type DynamicData } from '../../crds/template.ts';
import { dynamicDataToBring, missingDynamicData } from '../../calls/call-settings.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CreateToolsOptions } from '../tools/create-tools.ts';
import type { PreparedHandOver, PrepareHandOver, TalkingAgent } from './conversation.ts';
import { askForSummary } from './summary.ts';

/** Longest time for the summary of a hand-over, in milliseconds: the user waits meanwhile. */
const SUMMARY_TIMEOUT_MS = 6_000;
/** Longest summary of a hand-over, in characters. */
const MAX_SUMMARY = 2_000;

const SUMMARY_REQUEST =
  'The call is about to be handed over to a colleague, who has heard nothing of it. Write down for them in at most five short sentences who ' +
  'the user is, what they want, and what was said and done. Write nothing else.';

/** Configuration of an agent, with the data that it has in the conversation. */
export interface Member {
  readonly config: AgentRevisionConfig;
  readonly data: DynamicData;
  /** Explanations of the values, as the lookups give them. */
  readonly contexts: readonly string[];
}

/** What an agent answers and hears with. */
export interface Equipment extends Pick<TalkingAgent, 'model' | 'turnEndMs' | 'silence' | 'onTakeOver'> {
  /** Search in its knowledge base; that of the first agent where absent. */
  readonly search?: CreateToolsOptions['search'] | undefined;
}

/** What a conversation needs for hand-overs. */
export interface TeamOptions {
  /** Names that people see, by the names of all agents that may take part. */
  readonly displayNames: ReadonlyMap<string, string>;
  /** Finds an agent, in the revision that this conversation keeps. @returns why it can't take over, in words for the model */
  readonly find: (name: string) => Promise<AgentRevisionConfig | string>;
  /** Looks up the data of an agent. @param given values that were handed over */
  readonly resolve: (config: AgentRevisionConfig, given: DynamicData) => Promise<Pick<Member, 'data' | 'contexts'>>;
  /** Opens the providers of an agent, once for each of its voices. */
  readonly equip: (member: Member) => Promise<Equipment>;
}

interface TeamParts extends TeamOptions {
  readonly first: Member & Pick<TalkingAgent, 'model'>;
  /** Makes the agent talk in the conversation. */
  readonly build: (member: Member, equipment: Equipment) => TalkingAgent;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class Team {
  readonly #parts: TeamParts;
  /** Agents that have talked, as they did last. */
  readonly #members = new Map<string, Member & Pick<TalkingAgent, 'model'>>();

  constructor(parts: TeamParts) {
    this.#parts = parts;
    this.#members.set(parts.first.config.name, parts.first);
  }

  /** Prepares the agent that is to take over. Never rejects: what fails is refused. */
  readonly handOver: PrepareHandOver = async (request) => {
    const { displayNames, logger } = this.#parts;
    const shown = displayNames.get(request.to) ?? request.to;
    try {
      return await this.#prepare(request, shown);
    } catch (err) {
      logger.warn({ err, agent: request.to }, 'failed to prepare an agent for a hand-over; the call goes on without it');
      return refused(`${shown} can't answer at the moment. Help the user yourself, or try again later`);
    }
  };

  async #prepare({ to, from, context, voice, values, messages }: Parameters<PrepareHandOver>[0], shown: string): Promise<PreparedHandOver> {
    const { find, resolve, equip, build, first, displayNames } = this.#parts;
    const found = await find(to);
    if (typeof found === 'string') return refused(found);
    const known = this.#members.get(to);
    const given = { ...callerOf(first.data), ...known?.data, ...values };
    const missing = missingDynamicData({ requiredDynamicData: dynamicDataToBring(found.agent) }, given);
    if (missing.length > 0)
      return refused(`${shown} needs values that were not handed over: ${missing.join(', ')}. Help the user yourself`);
    const former = this.#members.get(from)!;
    const config = voice === 'Keep' ? withVoiceOf(former.config, found) : found;
    const summary = context === 'Summary' ? this.#summarize(former.model, messages) : undefined;
    const looked = known === undefined ? resolve(config, given) : { data: given, contexts: known.contexts };
    const member = { config, ...(await looked) };
    const equipment = await equip(member);
    this.#members.set(to, { ...member, model: equipment.model });
    const note = noteOf(displayNames.get(from) ?? from, values);
    return { outcome: 'ready', agent: build(member, equipment), note, summary: await summary };
  }

  async #summarize(model: TalkingAgent['model'], messages: Parameters<PrepareHandOver>[0]['messages']): Promise<string | undefined> {
    const { clock, logger } = this.#parts;
    const options = { model, messages, request: SUMMARY_REQUEST, withinMs: SUMMARY_TIMEOUT_MS, maxLength: MAX_SUMMARY, clock };
    return askForSummary(options).catch((err: unknown) => {
      logger.warn({ err }, 'failed to summarise a call; handing over all that was said');
      return undefined;
    });
  }
}

const refused = (why: string): PreparedHandOver => ({ outcome: 'refused', message: `Nothing was done: ${why}.` });

/** Returns who calls whom: that is the same for all agents of a call. */
const callerOf = (data: DynamicData): DynamicData =>
  Object.fromEntries(callerNames.flatMap((name) => (Object.hasOwn(data, name) ? [[name, data[name]] as const] : [])));

const withVoiceOf = ({ agent: { textToSpeech } }: AgentRevisionConfig, config: AgentRevisionConfig): AgentRevisionConfig => ({
  ...config,
  agent: { ...config.agent, textToSpeech },
});

/** Tells the model of an agent that it takes over. */
function noteOf(from: string, values: DynamicData): string {
  const passed = Object.entries(values).map(([name, value]) => `${name}: ${formatValue(value)}`);
  return [
    `(${from} has handed the call over to you: from now on you answer.`,
    ...(passed.length === 0 ? [] : [`It passed on: ${passed.join('; ')}.`]),
    'Answer what I said last, without welcoming me again.)',
  ].join(' ');
}
