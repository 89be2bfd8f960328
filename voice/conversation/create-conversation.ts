/** Creates a conversation from its agent's revision. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import type { DynamicData } from '../../crds/template.ts';
import { createTools, type CreateToolsOptions } from '../tools/create-tools.ts';
import { Conversation, type ConversationOptions } from './conversation.ts';
import { interruptionRulesOf } from './interruption-rules.ts';
import { instructionsOf, welcomeOf } from './prompt.ts';

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
  readonly tools: Omit<CreateToolsOptions, 'org' | 'agent' | 'data' | 'host' | 'clock' | 'logger' | 'stop'>;
}

export function createConversation({ org, config, data, contexts, tools, ...options }: CreateConversationOptions): Conversation {
  const { agent } = config;
  const { clock, logger } = options;
  return new Conversation({
    ...options,
    language: agent.language,
    instructions: instructionsOf({ config, data, contexts, now: clock.now() }),
    welcome: welcomeOf(config, data),
    interruptions: interruptionRulesOf(agent),
    maxDurationMs: millisecondsOf(agent.call.maxDuration),
    tools: (host, stop) => createTools({ ...tools, stop, org, agent: config, data, host, clock, logger }),
    data,
  });
}
