/** Gathers packets of Opus into pages. */
import { lacingOf, writePage } from './page.ts';

/** Samples of a page, at 48 kHz: each holds a second, so that players can seek. */
const PAGE_SAMPLES = 48_000;
const MAX_SEGMENTS = 255;

export class PageWriter {
  readonly #serial: number;
  #sequence = 0;
  #granule = 0;
  #packets: Uint8Array[] = [];
  #segments = 0;
  #samples = 0;

  constructor(serial: number) {
    this.#serial = serial;
  }

  header(packets: readonly Uint8Array[], first: boolean): Uint8Array {
    return writePage({ serial: this.#serial, sequence: this.#sequence++, granule: 0, packets, first });
  }

  /** Adds a packet. Yields the page before, where this packet begins another one: the last page is kept back for its end. */
  *add(packet: Uint8Array, samples: number): Generator<Uint8Array> {
    const segments = lacingOf(packet.length).length;
    if (this.#samples >= PAGE_SAMPLES || this.#segments + segments > MAX_SEGMENTS) yield this.#flush(this.#granule, false);
    this.#packets.push(packet);
    this.#segments += segments;
    this.#samples += samples;
    this.#granule += samples;
  }

  /** Returns the last page. @param granule where the sound ends */
  end(granule: number): Uint8Array {
    return this.#flush(granule, true);
  }

  #flush(granule: number, last: boolean): Uint8Array {
    const page = writePage({ serial: this.#serial, sequence: this.#sequence++, granule, packets: this.#packets, last });
    this.#packets = [];
    this.#segments = 0;
    this.#samples = 0;
    return page;
  }
}
