/** Creates a conversation from its agent's revision. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import type { DynamicData } from '../../crds/template.ts';
import { createTools, type CreateToolsOptions } from '../tools/create-tools.ts';
import { Conversation, type ConversationOptions, type TalkingAgent } from './conversation.ts';
import { interruptionRulesOf } from './interruption-rules.ts';
import { instructionsOf, welcomeOf } from './prompt.ts';
import { Team, type Equipment, type Member, type TeamOptions } from './team.ts';

export interface CreateConversationOptions extends Pick<
  ConversationOptions,
  | 'model'
  | 'voice'
  | 'ears'
  | 'turnEndMs'
  | 'silence'
  | 'transfer'
  | 'log'
  | 'onChange'
  | 'turns'
  | 'clock'
  | 'logger'
  | 'onEnd'
  | 'tones'
  | 'onFailure'
> {
  readonly org: string;
  readonly config: AgentRevisionConfig;
  readonly data: DynamicData;
  /** Explanations of the values, as the lookups give them. */
  readonly contexts: readonly string[];
  /** Dependencies of the tools on the process and on the call. */
  readonly tools: Omit<CreateToolsOptions, 'org' | 'agent' | 'displayNames' | 'data' | 'host' | 'clock' | 'logger' | 'stop'>;
  /** Absent where the agent hands over to nobody. */
  readonly team?: TeamOptions | undefined;
}

export function createConversation({ org, config, data, contexts, tools, team, ...options }: CreateConversationOptions): Conversation {
  const { clock, logger, model } = options;
  const began = clock.now();
  const displayNames = team?.displayNames;
  const build = (member: Member, { search = tools.search, ...equipment }: Equipment): TalkingAgent => {
    const { agent, name } = member.config;
    return {
      ...equipment,
      agent: name,
      language: agent.language,
      instructions: instructionsOf({ ...member, now: began }),
      interruptions: interruptionRulesOf(agent),
      tools: (host, stop) =>
        createTools({ ...tools, search, stop, org, agent: member.config, displayNames, data: member.data, host, clock, logger }),
      data: member.data,
    };
  };
  const first = { config, data, contexts, model };
  const agents = team && new Team({ ...team, first, build, clock, logger });
  return new Conversation({
    ...options,
    ...build(first, { model, turnEndMs: options.turnEndMs, silence: options.silence }),
    welcome: welcomeOf(config, data),
    maxDurationMs: millisecondsOf(config.agent.call.maxDuration),
    handOver: agents?.handOver,
  });
}
