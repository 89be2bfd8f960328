/** What the failure of a provider means for the call. */
import type { FinishReason } from '../../store/index.ts';
import type { ProviderFailure, ProviderFailureKind } from '../providers/index.ts';

const later = {
  refused: 'llm_websocket_runtime_error',
  unreachable: 'llm_websocket_connection_lost',
  connection_lost: 'llm_websocket_connection_lost',
  runtime: 'llm_websocket_runtime_error',
  payload: 'llm_websocket_payload_corruption',
} as const satisfies Readonly<Record<ProviderFailureKind, FinishReason>>;

/** @param answeredBefore whether the model has answered in this call: what never worked was set up wrongly */
export function reasonOfFailure(
  { part, kind }: Pick<ProviderFailure, 'part' | 'kind'>,
  { answeredBefore }: { readonly answeredBefore: boolean },
): FinishReason {
  if (part === 'stt') return 'speech_recognition_error';
  if (part === 'tts') return 'native_platform_internal_error';
  if (!answeredBefore && (kind === 'refused' || kind === 'unreachable')) return 'llm_websocket_initialization_error';
  return later[kind];
}
