/** Opens a stage whose agents may hear by a stream. */
import { randomBytes } from 'node:crypto';

import { controlPlane } from '../../support/control-plane.ts';
import { putSecret } from './secret.ts';
import { openStage, type VoiceStage } from './stage.ts';

export interface StreamingStage extends VoiceStage {
  /** The `spec.speechToText` of an agent that streams; its key is in a Secret. */
  readonly streamingSpeechToText: Readonly<Record<string, unknown>>;
}

export async function openStreamingStage(): Promise<StreamingStage> {
  const { kubeconfig } = await controlPlane();
  const stage = await openStage({ KUBECONFIG: kubeconfig });
  const name = `streaming-${randomBytes(4).toString('hex')}`;
  const secret = await putSecret(kubeconfig, { namespace: stage.org, name, values: { key: 'a-key' } });
  const close = stage.close.bind(stage);
  return Object.assign(stage, {
    streamingSpeechToText: { provider: 'deepgram', model: 'nova-3', apiKeySecretRef: { name, key: 'key' } },
    async close() {
      await close();
      await secret.remove();
    },
  });
}
