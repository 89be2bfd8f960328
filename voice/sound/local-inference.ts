/** LiveKit's models on this machine: voice activity (Silero), and the end of a turn. */
import { createRequire } from 'node:module';

import type * as localInferencePackage from '@livekit/local-inference';

export type LocalInference = typeof localInferencePackage;

const require = createRequire(import.meta.url);

/** Loads the models. @throws Error where the package has no binary for this system */
export function localInference(): LocalInference {
  try {
    return require('@livekit/local-inference') as LocalInference;
  } catch (cause) {
    throw new Error(
      '@livekit/local-inference has no binary for this system: run the voice role on Linux with glibc (x64 or arm64), macOS or Windows',
      { cause },
    );
  }
}
