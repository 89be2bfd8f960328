/** What a call listens, thinks and speaks with, from the settings of its agent. */
import type { llm, stt, tts } from '@livekit/agents';

import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { Config } from '../../platform/config.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import type { Credentials } from './credentials.ts';
import { ProviderFailure } from './provider-failure.ts';

/** What the operator has set for providers, see PARLEY_PROVIDERS. */
export type ProviderDefaults = Config['PARLEY_PROVIDERS'];

export interface Providers {
  readonly llm: llm.LLM;
  readonly stt: stt.STT;
  readonly tts: tts.TTS;
  /** Ends what is under way. */
  close(): Promise<void>;
}

export interface CreateProvidersOptions {
  /** The organisation in whose namespace the keys are. */
  readonly org: string;
  readonly agent: AgentRevisionConfig['agent'];
  readonly credentials: Credentials;
  /** Guards every address that the agent names; what the operator has set needs no guard. */
  readonly egress: Egress;
  readonly defaults: ProviderDefaults;
  readonly logger: Logger;
}

/** @throws ProviderFailure where a provider can't be used as it is configured */
export function createProviders({ agent }: CreateProvidersOptions): Promise<Providers> {
  throw new ProviderFailure({ part: 'llm', kind: 'refused', provider: agent.llm.provider, message: 'not yet' });
}
