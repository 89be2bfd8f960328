/**
 * Runs the model of the end-of-turn detector once for all calls of an agent server: the processes of calls ask through the library's IPC.
 * LiveKit's own process for it fails the agent server when it does not start, is not replaced when it dies, and then answers no call any
 * more.
 */
import { localInference, type LocalInference } from './local-inference.ts';
import type { Logger } from '../../platform/logging.ts';

type Library = Pick<LocalInference, 'initEot' | 'predict'>;

/** Has the members of LiveKit's `InferenceProcExecutor` that an agent server and its pool of processes use. */
export class SharedTurnModel {
  /** Always true: the library would report the agent server as unhealthy otherwise, and calls do without the model. */
  readonly isAlive = true;
  readonly #load: () => Library;
  readonly #logger: Logger;
  #library: Library | undefined;

  constructor(logger: Logger, load: () => Library = localInference) {
    this.#logger = logger;
    this.#load = load;
  }

  async start(): Promise<void> {
    try {
      const library = this.#load();
      library.initEot();
      this.#library = library;
    } catch (err) {
      this.#logger.warn(
        { err },
        'cannot load the end-of-turn detector; turns end by silence alone. Run on glibc (x64 or arm64) with 350 MB of free memory, or set turnDetection.mode: Silence',
      );
    }
  }

  async initialize(): Promise<void> {}

  /**
   * Runs the model in a thread of its own. @param data.pcm base64 of 16 bit samples at 16 kHz @throws Error where the model did not load
   */
  async doInference(_method: string, data: unknown): Promise<{ readonly probability: number }> {
    if (this.#library === undefined) throw new Error('the end-of-turn detector did not load');
    const pcm = Uint8Array.from(Buffer.from((data as { readonly pcm: string }).pcm, 'base64'));
    return { probability: await this.#library.predict(new Int16Array(pcm.buffer)) };
  }

  async close(): Promise<void> {}
}
