/** Asks LiveKit's model of voice activity (Silero), except about silence. */
import type { WindowModel } from './ears.ts';
import { localInference } from './local-inference.ts';

/** Loudest sample of silence, of 32,768: -66 dB. */
const INAUDIBLE = 16;
/** Windows of silence that end speech for the model, which remembers what it has heard. */
const SILENT_WINDOWS = 8;

export class VoiceActivityModel implements WindowModel {
  readonly #model: WindowModel;
  /** Number of inaudible windows in a row. */
  #silent = 0;

  constructor(model: WindowModel = localInference().createVad()) {
    this.#model = model;
  }

  async predict(window: Int16Array): Promise<number> {
    this.#silent = window.every((sample) => sample <= INAUDIBLE && sample >= -INAUDIBLE) ? this.#silent + 1 : 0;
    return this.#silent > SILENT_WINDOWS ? 0 : this.#model.predict(window);
  }
}
