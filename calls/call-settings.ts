/** Reads from an agent's revision what the registration of a call needs. */
import type { AgentRevisionConfig } from '../crds/agent-revision.ts';
import type { AgentSpec } from '../crds/index.ts';
import { millisecondsOf } from '../crds/duration.ts';

export interface CallSettings {
  readonly displayName: string;
  readonly maxDurationMs: number;
  readonly recordingEnabled: boolean;
  /** Undefined: recordings are kept as long as the organisation keeps them. */
  readonly recordingRetentionMs: number | undefined;
  /** Names that the call must bring, without those that the agent looks up itself when the call begins. */
  readonly requiredDynamicData: readonly string[];
}

/** @param config the config of a revision, as it was stored */
export function callSettingsOf(config: unknown): CallSettings {
  const { displayName, agent } = config as AgentRevisionConfig;
  return {
    displayName,
    maxDurationMs: millisecondsOf(agent.call.maxDuration),
    recordingEnabled: agent.recording.mode === 'Always',
    recordingRetentionMs: agent.recording.retention === undefined ? undefined : millisecondsOf(agent.recording.retention),
    requiredDynamicData: dynamicDataToBring(agent),
  };
}

/** Returns the required names that no lookup of the agent supplies. */
export function dynamicDataToBring({
  requiredDynamicData = [],
  dynamicData,
}: Pick<AgentSpec, 'requiredDynamicData' | 'dynamicData'>): readonly string[] {
  const lookedUp = new Set((dynamicData ?? []).flatMap(({ response = [] }) => response.map(({ name }) => name)));
  return requiredDynamicData.filter((name) => !lookedUp.has(name));
}

/** Returns the required names that a call doesn't bring; `null` counts as missing. */
export function missingDynamicData(
  { requiredDynamicData }: Pick<CallSettings, 'requiredDynamicData'>,
  given: Readonly<Record<string, unknown>>,
): readonly string[] {
  return requiredDynamicData.filter((name) => !Object.hasOwn(given, name) || given[name] === null);
}
